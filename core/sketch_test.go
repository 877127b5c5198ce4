package core_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/slidegate/slidegate/core"
)

// An admission is what one request was admitted with.
type admission struct {
	at    time.Duration
	units int64
}

// most returns the most units that were admitted in any interval [t, t + length).
func most(log []admission, length time.Duration) int64 {
	var most, sum int64
	first := 0
	for _, a := range log {
		for log[first].at <= a.at-length {
			sum -= log[first].units
			first++
		}
		sum += a.units
		most = max(most, sum)
	}
	return most
}

// Few subjects are kept and many come, so that all are forgotten again and
// again while they matter; a subject that is denied is told when to come back
// and does so to the nanosecond.
func TestForgottenSubjectsKeepTheirLimits(t *testing.T) {
	const quota, window = 5, 60 * time.Second
	for _, c := range []struct {
		limit  core.Limit
		length time.Duration
		most   int64
	}{
		{core.Per(quota, window).Strict(1), window, quota},
		{core.Per(quota, window).Strict(7), window, quota},
		{core.Per(quota, window).Strict(60), window, quota},
		{core.Per(quota, window).Exact(), window, quota},
		{core.Per(quota, window), window, 2*quota - 1},
		{core.Per(quota, window).Smooth(6), window * 5 / 6, quota},
		{core.Per(quota, window).Bucket(3), window, quota + 3},
		{core.Per(1_000, window).Strict(10), window, 1_000},
	} {
		for _, keep := range []int{1, 3, 20} {
			t.Run(fmt.Sprintf("%v keeping %d", c.limit, keep), func(t *testing.T) {
				logs := floodLogs(t, c.limit, keep)
				for key, log := range logs {
					if got := most(log, c.length); got > c.most {
						t.Errorf("%s was admitted with %d units within %v, want at most %d", key, got, c.length, c.most)
					}
				}
			})
		}
	}
}

// floodLogs runs subjects in random order through a memory that keeps few of
// them, checks each retry time, and returns what each was admitted with.
func floodLogs(t *testing.T, limit core.Limit, keep int) map[string][]admission {
	t.Helper()
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	now := time.Unix(1_800_000_000, 0)
	start := now
	memory := &core.Memory{MaxKeys: keep}
	limiter := core.MustNew(core.Config{
		Rules: []core.Rule{core.By(noKey, limit)},
		Store: memory,
		Now:   func() time.Time { return now },
	})
	allow := func(cost int64, key string) core.Decision {
		d, err := limiter.AllowN(context.Background(), cost, key)
		if err != nil && !d.Never {
			t.Fatal(err)
		}
		return d
	}
	logs := map[string][]admission{}
	for range 6_000 {
		key := fmt.Sprintf("key-%d", random.IntN(12))
		cost := 1 + random.Int64N(max(1, limit.Quota()/4))
		d := allow(cost, key)
		if !d.Allowed && !d.Never && random.IntN(4) == 0 {
			now = now.Add(d.RetryAfter - 1)
			if allow(cost, key).Allowed {
				t.Fatalf("seed %d: %s with cost %d was admitted a nanosecond before the %v that it was told", seed, key, cost, d.RetryAfter)
			}
			now = now.Add(1)
			d = allow(cost, key)
			if !d.Allowed {
				t.Fatalf("seed %d: %s with cost %d was denied after the wait that it was told", seed, key, cost)
			}
		}
		if d.Allowed {
			logs[key] = append(logs[key], admission{now.Sub(start), cost})
		}
		switch random.IntN(10) {
		case 0:
			now = now.Add(time.Duration(random.Int64N(int64(limit.Window()) / 2)))
		case 1, 2, 3:
			now = now.Add(time.Duration(random.Int64N(int64(limit.Window()) / 50)))
		}
	}
	if keep < 12 && memory.Stats().LiveEvictions == 0 {
		t.Error("nothing was forgotten alive; the test shows nothing")
	}
	return logs
}

func TestResetOfAForgottenSubjectStartsItAfresh(t *testing.T) {
	limiter := core.MustNew(core.Config{
		Rules: []core.Rule{{Name: "r", Key: noKey, Limits: []core.Limit{core.PerHour(2)}}},
		Store: &core.Memory{MaxKeys: 1},
	})
	ctx := context.Background()
	remaining := func(key string) int64 {
		t.Helper()
		states, err := limiter.Peek(ctx, "r", key)
		if err != nil {
			t.Fatal(err)
		}
		return states[0].Remaining
	}
	for range 2 {
		if d, err := limiter.Allow(ctx, "victim"); err != nil || !d.Allowed {
			t.Fatal(d, err)
		}
	}
	if d, err := limiter.Allow(ctx, "other"); err != nil || !d.Allowed {
		t.Fatal(d, err)
	}
	if got := remaining("victim"); got != 0 {
		t.Errorf("remaining of a forgotten subject = %d, want 0", got)
	}
	if err := limiter.Reset(ctx, "r", "victim"); err != nil {
		t.Fatal(err)
	}
	if got := remaining("victim"); got != 2 {
		t.Errorf("remaining after Reset = %d, want 2", got)
	}
}

func TestSketchesCanBeSwitchedOff(t *testing.T) {
	memory := &core.Memory{MaxKeys: 1, SketchBytes: -1}
	limiter := core.MustNew(core.Config{Rules: []core.Rule{core.By(noKey, core.PerHour(1))}, Store: memory})
	for _, key := range []string{"a", "b", "a"} {
		if d, err := limiter.Allow(context.Background(), key); err != nil || !d.Allowed {
			t.Errorf("%s: %v, %v; want allowed", key, d.Allowed, err)
		}
	}
	if got := memory.Stats(); got.LiveEvictions != 2 || got.ChargedNewcomers != 0 {
		t.Errorf("stats = %+v, want 2 live evictions and no newcomer charged", got)
	}
}

// Honest clients that come once, while ten times as many keys as are kept are
// made up in every window.
func TestHonestNewcomersPassUnderAFlood(t *testing.T) {
	for _, c := range []struct {
		quota   int64
		percent float64
	}{{100, 0}, {5, 3}} {
		t.Run(fmt.Sprintf("quota %d", c.quota), func(t *testing.T) {
			const keep = 2_000
			now := time.Unix(1_800_000_000, 0)
			limiter := core.MustNew(core.Config{
				Rules: []core.Rule{core.By(noKey, core.PerMinute(c.quota))},
				Store: &core.Memory{MaxKeys: keep},
				Now:   func() time.Time { return now },
			})
			refused, honest := 0, 0
			step := time.Minute / (10 * keep)
			for i := range 3 * 10 * keep {
				now = now.Add(step)
				key := fmt.Sprintf("flood-%d", i)
				if i%10 == 0 {
					key = fmt.Sprintf("honest-%d", i)
				}
				d, err := limiter.Allow(context.Background(), key)
				if err != nil {
					t.Fatal(err)
				}
				if i%10 == 0 {
					honest++
					if !d.Allowed {
						refused++
					}
				}
			}
			share := 100 * float64(refused) / float64(honest)
			t.Logf("%d of %d honest newcomers refused: %.2f %%", refused, honest, share)
			if share > c.percent {
				t.Errorf("%.2f %% of honest newcomers were refused, want at most %v %%", share, c.percent)
			}
		})
	}
}

func TestWhatABucketBeganWithOutlivesAChangeOfQuota(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	limits := []core.Limit{core.PerHour(10).Bucket(10)}
	limiter := core.MustNew(core.Config{
		Rules: []core.Rule{{
			Key:       func(r core.Request) (string, error) { return r.Path(), nil },
			LimitsFor: func(core.Request) ([]core.Limit, error) { return limits, nil },
		}},
		Store: &core.Memory{MaxKeys: 1},
		Now:   func() time.Time { return now },
	})
	check := func(key string) core.Decision {
		d, err := limiter.Check(pathRequest{path: key})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for range 6 {
		check("a")
	}
	check("b") // a is forgotten
	check("a") // and begins with 6 units
	limits = []core.Limit{core.PerHour(1_000).Bucket(10)}
	if got := check("a").States()[0].Remaining; got != 2 {
		t.Errorf("remaining under a faster bucket = %d, want 2: 6 units inherited, 2 charged since", got)
	}
	now = now.Add(time.Minute) // the faster bucket would have filled
	if got := check("a").States()[0].Remaining; got != 3 {
		t.Errorf("remaining a minute later = %d, want 3: 6 units inherited still, 1 charged", got)
	}
}

type pathRequest struct {
	core.Request
	path string
}

func (pathRequest) Context() context.Context { return context.Background() }
func (r pathRequest) Path() string           { return r.path }

// Plans of one rule have quotas that differ by far, and whoever had to make room
// comes back with what it had left, whichever plan was forgotten first.
func TestPlansOfDifferentQuotasDoNotBlurEachOther(t *testing.T) {
	for _, first := range []string{"free", "pro"} {
		now := time.Unix(1_800_000_000, 0)
		limiter := core.MustNew(core.Config{
			Rules: []core.Rule{{
				Key: func(r core.Request) (string, error) { return r.Path(), nil },
				LimitsFor: func(r core.Request) ([]core.Limit, error) {
					if r.Path() == "free" {
						return []core.Limit{core.PerHour(10)}, nil
					}
					return []core.Limit{core.PerHour(100_000)}, nil
				},
				Cost: func(r core.Request) (int64, error) {
					if r.Path() == "pro" {
						return 1_000, nil
					}
					return 2, nil
				},
			}},
			Store: &core.Memory{MaxKeys: 1},
			Now:   func() time.Time { return now },
		})
		check := func(key string) int64 {
			d, err := limiter.Check(pathRequest{path: key})
			if err != nil {
				t.Fatal(err)
			}
			return d.States()[0].Remaining
		}
		check(first)
		check("free")
		check("pro")
		check("other")
		if got := check("free"); got < 4 {
			t.Errorf("%s forgotten first: a free customer that spent 2 or 4 of 10 and 2 now has %d left", first, got)
		}
		if got := check("pro"); got < 96_000 {
			t.Errorf("%s forgotten first: a pro customer that spent at most 2,000 of 100,000 and 1,000 now has %d left", first, got)
		}
	}
}

func TestLimitsThatDifferByRequestTakeNoMemoryWithoutEnd(t *testing.T) {
	const many = 3_000
	limiter := core.MustNew(core.Config{
		Rules: []core.Rule{{
			Key: func(r core.Request) (string, error) { return r.Path(), nil },
			LimitsFor: func(r core.Request) ([]core.Limit, error) {
				return []core.Limit{core.PerMinute(10).Named("tenant-" + r.Path())}, nil
			},
		}},
		Store: &core.Memory{MaxKeys: 10},
	})
	round := func(prefix string) uint64 {
		for i := range many {
			if _, err := limiter.Check(pathRequest{path: fmt.Sprint(prefix, i)}); err != nil {
				t.Fatal(err)
			}
		}
		runtime.GC()
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return stats.HeapAlloc
	}
	round("a") // fills the cache of plans
	round("b")
	before := round("c")
	if after := round("d"); after > before+before/4 {
		t.Errorf("the heap grew from %d to %d bytes with %d more names of limits", before, after, many)
	}
}

func TestPeekKeepsNobodyInAFullMemory(t *testing.T) {
	limiter := core.MustNew(core.Config{
		Rules: []core.Rule{{Name: "r", Key: noKey, Limits: []core.Limit{core.PerHour(5)}}},
		Store: &core.Memory{MaxKeys: 2, SketchBytes: -1},
	})
	allow := func(key string) {
		t.Helper()
		if _, err := limiter.Allow(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
	remaining := func(key string) int64 {
		t.Helper()
		states, err := limiter.Peek(t.Context(), "r", key)
		if err != nil {
			t.Fatal(err)
		}
		return states[0].Remaining
	}
	allow("old")
	allow("new")
	remaining("old") // is no use of the key
	allow("newest")
	if got := remaining("old"); got != 5 {
		t.Errorf("the key that was only looked at has %d left, want 5: it was the one to make room", got)
	}
	if got := remaining("new"); got != 4 {
		t.Errorf("the key that was used later has %d left, want 4", got)
	}
}
