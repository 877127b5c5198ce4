package redisstore

import (
	"slices"
	"testing"
	"time"

	"github.com/slidegate/slidegate/core"
)

func TestLimitsArePackedInMicroseconds(t *testing.T) {
	const minute = 60_000_000
	for _, c := range []struct {
		limit core.Limit
		want  []float64 // flags, quota, width, n, span
		keep  time.Duration
	}{
		{core.PerMinute(7), []float64{1, 7, minute, 1, 2}, 2 * time.Minute},
		{core.PerMinute(7).Smooth(6), []float64{1, 7, minute, 6, 7}, 70 * time.Second},
		{core.PerMinute(7).Strict(1000), []float64{0, 7, minute, 1000, 1001}, 60_060 * time.Millisecond},
		{core.PerMinute(7).Fixed(), []float64{0, 7, minute, 1, 1}, time.Minute},
		{core.PerMinute(7).Exact(), []float64{0, 7, 1, 1, minute}, time.Minute},
		{core.PerMinute(6).Bucket(3), []float64{0, 6, minute, 0, 3}, 30 * time.Second},
		{core.PerMinute(0).Bucket(3), []float64{0, 0, minute, 0, 0}, 2 * time.Minute},
		{core.PerMinute(7).DryRun(), []float64{3, 7, minute, 1, 2}, 2 * time.Minute},
		{core.Per(core.MaxQuota, core.MaxWindow).Bucket(core.MaxQuota), []float64{0, core.MaxQuota, 3653 * 24 * 60 * minute, 0, core.MaxQuota}, core.MaxWindow},
	} {
		packed := packLimit(c.limit)
		var got []float64
		for i := 1; i < len(packed.bytes)/8; i++ {
			got = append(got, numberAt(packed.bytes, i))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%v is packed as %v, want %v", c.limit, got, c.want)
		}
		if packed.keep < c.keep || packed.keep > c.keep+2*time.Millisecond {
			t.Errorf("%v is kept for %v, want %v, rounded up", c.limit, packed.keep, c.keep)
		}
	}
}

func TestFingerprintsSayWhatSameCountsSays(t *testing.T) {
	l := core.PerMinute(5).Named("a")
	limits := []core.Limit{
		l, core.PerMinute(9).Named("a"), l.DryRun(), l.Named("b"), core.PerHour(5).Named("a"), l.Smooth(2), l.Strict(1), l.Strict(2),
		l.Exact(), l.Fixed(), l.Bucket(1), l.Bucket(9),
	}
	for _, a := range limits {
		for _, b := range limits {
			if got, want := fingerprint(a) == fingerprint(b), a.SameCounts(b); got != want {
				t.Errorf("%v and %v: one fingerprint: %t, SameCounts: %t", a, b, got, want)
			}
		}
	}
}

func TestLimitCacheIsBounded(t *testing.T) {
	var c limitCache
	for quota := range int64(3 * cachedLimits) {
		if got, want := c.of(core.PerMinute(quota)), packLimit(core.PerMinute(quota)); got != want {
			t.Fatalf("a quota of %d is packed as one of another", quota)
		}
		if len(c.limits) > cachedLimits {
			t.Fatalf("%d limits are kept, want at most %d", len(c.limits), cachedLimits)
		}
	}
}
