package verify_test

import (
	"fmt"
	"time"

	"pgregory.net/rapid"

	"github.com/slidegate/slidegate/core"
)

// Generators of limits. They prefer numbers at which something changes, and
// slots that do not divide the window.

var windows = rapid.OneOf(
	rapid.SampledFrom([]time.Duration{
		core.MinWindow, 7 * time.Millisecond, time.Second, 90500 * time.Millisecond, time.Minute, time.Hour, 24 * time.Hour, core.MaxWindow,
	}),
	rapid.Map(rapid.Int64Range(int64(core.MinWindow), int64(core.MinWindow)+1000), duration),
	rapid.Map(rapid.Int64Range(int64(core.MinWindow), int64(core.MaxWindow)), duration),
)

func duration(ns int64) time.Duration { return time.Duration(ns) }

var quotas = rapid.OneOf(
	rapid.Int64Range(0, 12),
	rapid.Int64Range(1, 300),
	rapid.SampledFrom([]int64{0, 1, 2, 1000, core.MaxExactQuota, 1 << 32, core.MaxQuota - 1, core.MaxQuota}),
	rapid.Int64Range(1, core.MaxQuota),
)

var slots = rapid.OneOf(
	rapid.IntRange(1, 13),
	rapid.SampledFrom([]int{1, 2, 60, 999, core.MaxSlots}),
	rapid.IntRange(1, core.MaxSlots),
)

// limitOf draws a valid limit that counts as the algorithm says.
func limitOf(t *rapid.T, a core.Algorithm, name string) core.Limit {
	l := core.Per(quotas.Draw(t, "quota"), windows.Draw(t, "window")).Named(name)
	switch a {
	case core.Smooth:
		l = l.Smooth(slots.Draw(t, "slots"))
	case core.Strict:
		l = l.Strict(slots.Draw(t, "slots"))
	case core.Exact:
		l = core.Per(min(l.Quota(), core.MaxExactQuota), l.Window()).Named(name).Exact()
	case core.Fixed:
		l = l.Fixed()
	case core.Bucket:
		l = bucketOf(l, max(1, quotas.Draw(t, "burst")))
	}
	if err := l.Validate(); err != nil {
		t.Fatal(err)
	}
	return l
}

// bucketOf lowers the burst until the bucket fills soon enough.
func bucketOf(l core.Limit, burst int64) core.Limit {
	for l.Bucket(burst).Validate() != nil {
		burst = 1 + burst/10
	}
	return l.Bucket(burst)
}

var algorithms = rapid.SampledFrom([]core.Algorithm{core.Smooth, core.Strict, core.Exact, core.Fixed, core.Bucket})

// requoted returns the limit with another quota, for the same counts. A bucket
// keeps its own where the other would take a century to pay a full burst off.
func requoted(l core.Limit, quota int64) core.Limit {
	to := core.Per(quota, l.Window()).Named(l.Name())
	switch l.Algorithm() {
	case core.Smooth:
		to = to.Smooth(l.Slots())
	case core.Strict:
		to = to.Strict(l.Slots())
	case core.Exact:
		to = core.Per(min(quota, core.MaxExactQuota), l.Window()).Named(l.Name()).Exact()
	case core.Fixed:
		to = to.Fixed()
	case core.Bucket:
		if to = to.Bucket(max(1, l.Burst())); to.Validate() != nil {
			return l
		}
	}
	if l.IsDryRun() {
		to = to.DryRun()
	}
	return to
}

// drawRules draws the limits of one to three rules, one to three each, named
// after their place.
func drawRules(t *rapid.T) [][]core.Limit {
	rules := make([][]core.Limit, rapid.SampledFrom([]int{1, 1, 2, 3}).Draw(t, "rules"))
	for i := range rules {
		for j := range rapid.SampledFrom([]int{1, 1, 2, 3}).Draw(t, "limits") {
			l := limitOf(t, algorithms.Draw(t, "algorithm"), fmt.Sprintf("%d-%d", i, j))
			if rapid.IntRange(0, 9).Draw(t, "dry run") == 0 {
				l = l.DryRun()
			}
			rules[i] = append(rules[i], l)
		}
	}
	return rules
}
