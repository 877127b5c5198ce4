package verify_test

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/slidegate/slidegate/core"
)

// TestNoWindowHoldsMoreThanIsPromised attacks single limits: bursts of all that
// remains, timed around the edges of slots and at the very retry instants. No
// window then holds more units than its algorithm promises.
func TestNoWindowHoldsMoreThanIsPromised(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := drawSingle(t)
		t.Repeat(map[string]func(*rapid.T){
			"move":         s.onward,
			"wait and ask": func(t *rapid.T) { s.jumpToRetry(t); s.drain(t) },
			"drain":        s.drain,
			"ask":          func(t *rapid.T) { s.ask(t, 1) },
			"straddle":     s.straddle,
		})
		s.checkWindows(t)
	})
}

// straddle spends all at the end of a slot, and again as soon as the next has
// begun: the attack that doubles a fixed window.
func (s *single) straddle(t *rapid.T) {
	slot := slotAt(s.clock.at, s.limit) + 1
	s.clock.forward(slotStart(slot, s.limit) - 1 - s.clock.at)
	s.drain(t)
	s.clock.forward(rapid.SampledFrom([]int64{1, 2, int64(s.limit.Window()) / 10}).Draw(t, "gap"))
	s.drain(t)
}

// A promise is how many units any span may hold. A span of W·share ends at an
// admission and is open at its start; share is num/den.
type promise struct {
	num, den int64
	units    int64
}

func promises(l core.Limit) []promise {
	q, n := l.Quota(), int64(l.Slots())
	instant, window := promise{0, 1, l.Burst()}, func(units int64) promise { return promise{1, 1, units} }
	switch l.Algorithm() {
	case core.Strict, core.Exact:
		return []promise{instant, window(q)}
	case core.Smooth:
		return []promise{instant, {n - 1, n, q}, window(max(0, 2*q-1))}
	case core.Fixed:
		return []promise{instant, window(2 * q)}
	}
	return []promise{instant, window(q + l.Burst())}
}

// checkWindows sums up every span that ends at an admission.
func (s *single) checkWindows(t rapid.TB) {
	t.Helper()
	for _, p := range promises(s.limit) {
		for end := range s.log {
			var units int64
			for i := end; i >= 0 && p.covers(s.limit, s.log[end].at-s.log[i].at); i-- {
				if !s.log[i].refunded {
					units += s.log[i].cost
				}
			}
			if units > p.units {
				t.Fatalf("%v: %d units in a window of %d/%d·W that ends at %d, promised are at most %d",
					s.limit, units, p.num, p.den, s.log[end].at, p.units)
			}
		}
	}
}

// covers reports whether two instants that far apart lie in one span: at one
// instant, or less than num/den·W apart.
func (p promise) covers(l core.Limit, apart int64) bool {
	if apart == 0 {
		return true
	}
	left := new(big.Int).Mul(big.NewInt(apart), big.NewInt(p.den))
	right := new(big.Int).Mul(big.NewInt(int64(l.Window())), big.NewInt(p.num))
	return left.Cmp(right) < 0
}
