package siege_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/slidegate/slidegate/bench/internal/siege"
	"github.com/slidegate/slidegate/core"
)

// against runs a test for every attack on limits of a quota.
func against(t *testing.T, quota int64, test func(t *testing.T, limit core.Limit, attack siege.Attack)) {
	limit := core.PerMinute(quota)
	for _, limit := range []core.Limit{limit, limit.Strict(60), limit.Exact()} {
		for name, attack := range siege.Attacks() {
			t.Run(fmt.Sprintf("limit=%v/attack=%s", limit, name), func(t *testing.T) {
				t.Parallel()
				test(t, limit, attack)
			})
		}
	}
}

// TestHonestClientIsNotCrowdedOutMoreAndMore: what is remembered of a client
// that is forgotten again and again does not add up from window to window.
func TestHonestClientIsNotCrowdedOutMoreAndMore(t *testing.T) {
	const windows, runs = 20, 8
	against(t, 20, func(t *testing.T, limit core.Limit, attack siege.Attack) {
		s := siege.Siege{Limit: limit, MaxKeys: 32, Attack: attack}
		refused := s.MeanHalf(windows, runs)
		t.Logf("refused, window by window: %.2f", refused)
		if grown := siege.Growth(refused); grown > siege.Chance {
			t.Errorf("the share of refusals has grown by %.2f", grown)
		}
	})
}

// TestFloodGainsNothing: who has its own count washed out is given no more for
// it.
func TestFloodGainsNothing(t *testing.T) {
	against(t, 20, func(t *testing.T, limit core.Limit, attack siege.Attack) {
		s := siege.Siege{Limit: limit, MaxKeys: 32, Attack: attack}
		if gain := s.Gain(10); gain > 1 {
			t.Errorf("a key that floods and returns got %.2f of its quota in a window", gain)
		}
	})
}

func TestFloodOfTenTimesTheCapacitySparesNewcomers(t *testing.T) {
	const windows, recovery = 6, 3
	for quota, most := range map[int64]float64{100: 0, 5: 0.03} {
		for _, limit := range []core.Limit{core.PerMinute(quota), core.PerMinute(quota).Strict(60)} {
			t.Run(fmt.Sprintf("limit=%v", limit), func(t *testing.T) {
				t.Parallel()
				s := siege.Siege{Limit: limit, MaxKeys: 1024, Attack: siege.Sweep}
				refused := s.Newcomers(windows)
				if got := slices.Max(refused); got > most {
					t.Errorf("a share of %.3f was refused, want at most %.2f; by window: %.3f", got, most, refused)
				}
				if got := slices.Max(refused[windows+recovery:]); got > 0 {
					t.Errorf("a share of %.3f was refused %d windows after the flood", got, recovery)
				}
			})
		}
	}
}

// TestNewcomersRecoverFromEveryAttack, also from those that refuse many of them.
func TestNewcomersRecoverFromEveryAttack(t *testing.T) {
	const windows, recovery = 4, 3
	against(t, 5, func(t *testing.T, limit core.Limit, attack siege.Attack) {
		s := siege.Siege{Limit: limit, MaxKeys: 1024, Attack: attack}
		refused := s.Newcomers(windows)
		t.Logf("refused, window by window: %.3f", refused)
		if got := slices.Max(refused[windows+recovery:]); got > 0 {
			t.Errorf("a share of %.3f was refused %d windows after the flood", got, recovery)
		}
	})
}
