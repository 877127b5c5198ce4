package core_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/slidegate/slidegate/core"
)

// ample never denies, so that a benchmark measures admissions only.
const ample = core.MaxQuota

// allowedLimits are limits whose allowed path is measured, by the name of the
// benchmark.
var allowedLimits = []struct {
	name  string
	rules [][]core.Limit
}{
	{"algorithm=smooth/slots=1", [][]core.Limit{{core.PerMinute(ample)}}},
	{"algorithm=smooth/slots=10", [][]core.Limit{{core.PerMinute(ample).Smooth(10)}}},
	{"algorithm=strict/slots=60", [][]core.Limit{{core.PerMinute(ample).Strict(60)}}},
	{"algorithm=exact", [][]core.Limit{{core.Per(core.MaxExactQuota, core.MinWindow).Exact()}}},
	{"algorithm=fixed", [][]core.Limit{{core.PerMinute(ample).Fixed()}}},
	{"algorithm=bucket", [][]core.Limit{{core.PerMinute(ample).Bucket(ample)}}},
	{"limits=2", [][]core.Limit{{core.PerSecond(ample), core.PerMinute(ample)}}},
	{"rules=2", [][]core.Limit{{core.PerSecond(ample)}, {core.PerMinute(ample)}}},
}

// benchLimiter returns a limiter and a key for each of its rules.
func benchLimiter(c core.Config, rules [][]core.Limit) (*core.Limiter, []string) {
	var keys []string
	for i, limits := range rules {
		key := "198.51.100." + strconv.Itoa(i)
		keys = append(keys, key)
		c.Rules = append(c.Rules, core.By(func(core.Request) (string, error) { return key, nil }, limits...))
	}
	return core.MustNew(c), keys
}

// BenchmarkAllow measures an admission under one known key.
func BenchmarkAllow(b *testing.B) {
	for _, c := range allowedLimits {
		b.Run(c.name, func(b *testing.B) {
			limiter, keys := benchLimiter(core.Config{}, c.rules)
			ctx := context.Background()
			b.ReportAllocs()
			for b.Loop() {
				_, _ = limiter.Allow(ctx, keys...)
			}
		})
	}
}

// BenchmarkAllowParallel measures admissions by all processors at once, under
// one key and under many.
func BenchmarkAllowParallel(b *testing.B) {
	for _, keys := range []int{1, 100_000} {
		b.Run(fmt.Sprintf("keys=%d", keys), func(b *testing.B) {
			limiter, _ := benchLimiter(core.Config{Store: &core.Memory{MaxKeys: 2 * keys}}, [][]core.Limit{{core.PerMinute(ample)}})
			drawn := zipfKeys(keys)
			allowOnce(limiter, drawn)
			ctx := context.Background()
			b.ReportAllocs()
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for i := rand.IntN(len(drawn)); pb.Next(); i++ {
					_, _ = limiter.Allow(ctx, drawn[i%len(drawn)])
				}
			})
		})
	}
}

// zipfKeys draws from a number of keys, a few of them very often, as the clients
// of a public service come.
func zipfKeys(n int) []string {
	zipf := rand.NewZipf(rand.New(rand.NewPCG(1, 2)), 1.1, 1, uint64(n-1))
	drawn := make([]string, 1<<18)
	for i := range drawn {
		drawn[i] = fmt.Sprintf("client-%06d", zipf.Uint64())
	}
	return drawn
}

// BenchmarkAllowManyKeys measures admissions under keys that are drawn from
// many, with room for all of them, and with room for a tenth.
func BenchmarkAllowManyKeys(b *testing.B) {
	const keys = 100_000
	drawn := zipfKeys(keys)
	for _, room := range []int{keys, keys / 10} {
		b.Run(fmt.Sprintf("keys=%d/maxkeys=%d", keys, room), func(b *testing.B) {
			limiter, _ := benchLimiter(core.Config{Store: &core.Memory{MaxKeys: room}}, [][]core.Limit{{core.PerMinute(ample)}})
			allowEach(b, limiter, drawn)
		})
	}
}

// BenchmarkAllowNewKeys measures a flood: the memory is full and every request
// has a key of its own.
func BenchmarkAllowNewKeys(b *testing.B) {
	keys := make([]string, 4*core.DefaultMaxKeys)
	for i := range keys {
		keys[i] = fmt.Sprintf("client-%06d", i)
	}
	b.Run(fmt.Sprintf("maxkeys=%d", core.DefaultMaxKeys), func(b *testing.B) {
		limiter, _ := benchLimiter(core.Config{}, [][]core.Limit{{core.PerMinute(ample)}})
		allowEach(b, limiter, keys)
	})
}

// allowEach goes round the keys, of which each has been seen before, if not
// forgotten since.
func allowEach(b *testing.B, limiter *core.Limiter, keys []string) {
	allowOnce(limiter, keys)
	ctx := context.Background()
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		_, _ = limiter.Allow(ctx, keys[i])
		if i++; i == len(keys) {
			i = 0
		}
	}
}

func allowOnce(limiter *core.Limiter, keys []string) {
	for _, key := range keys {
		_, _ = limiter.Allow(context.Background(), key)
	}
}

// BenchmarkDenied measures a denial, whose retry time has to be found.
func BenchmarkDenied(b *testing.B) {
	for _, c := range []struct {
		name  string
		limit core.Limit
	}{
		{"algorithm=smooth/slots=1", core.PerDay(100)},
		{"algorithm=strict/slots=60", core.PerDay(100).Strict(60)},
		{"algorithm=exact", core.PerDay(100).Exact()},
		{"algorithm=bucket", core.PerDay(100).Bucket(100)},
	} {
		b.Run(c.name, func(b *testing.B) {
			limiter, _ := benchLimiter(core.Config{}, [][]core.Limit{{c.limit}})
			ctx := context.Background()
			_, _ = limiter.AllowN(ctx, c.limit.Burst(), "key")
			b.ReportAllocs()
			for b.Loop() {
				_, _ = limiter.Allow(ctx, "key")
			}
		})
	}
}

// BenchmarkSetHeaders measures the fields of one decision in a header of its
// own. What http.Header allocates for its values is counted.
func BenchmarkSetHeaders(b *testing.B) {
	one, two := [][]core.Limit{{core.PerMinute(100)}}, [][]core.Limit{{core.PerSecond(10), core.PerMinute(100)}}
	for _, c := range []struct {
		name   string
		format core.HeaderFormat
		rules  [][]core.Limit
		spent  int64 // before the decision
	}{
		{"format=draft11/limits=1", core.HeadersDraft11, one, 0},
		{"format=draft11/limits=2", core.HeadersDraft11, two, 0},
		{"format=draft11/limits=2/denied=true", core.HeadersDraft11, two, 10},
		{"format=draft7/limits=2", core.HeadersDraft7, two, 0},
		{"format=draft6/limits=2", core.HeadersDraft6, two, 0},
	} {
		b.Run(c.name, func(b *testing.B) {
			limiter, keys := benchLimiter(core.Config{Headers: c.format}, c.rules)
			_, _ = limiter.AllowN(context.Background(), c.spent, keys...)
			d, _ := limiter.Allow(context.Background(), keys...)
			header := core.HeaderMap{}
			b.ReportAllocs()
			for b.Loop() {
				clear(header)
				d.SetHeaders(header)
			}
		})
	}
}

// TestAllowedPathAllocatesNothing: an admission under a known key takes no
// memory, through Allow and through Check.
func TestAllowedPathAllocatesNothing(t *testing.T) {
	for _, c := range allowedLimits {
		t.Run(c.name, func(t *testing.T) {
			limiter, keys := benchLimiter(core.Config{}, c.rules)
			ctx, request := context.Background(), core.Request(bareRequest{})
			allow := func() {
				if d, err := limiter.Allow(ctx, keys...); !d.Allowed || err != nil {
					t.Fatalf("Allow: %v, %v", d.States(), err)
				}
			}
			check := func() {
				if d, err := limiter.Check(request); !d.Allowed || err != nil {
					t.Fatalf("Check: %v, %v", d.States(), err)
				}
			}
			if got := testing.AllocsPerRun(200, allow); got != 0 {
				t.Errorf("Allow allocates %v times, want 0", got)
			}
			if got := testing.AllocsPerRun(200, check); got != 0 {
				t.Errorf("Check allocates %v times, want 0", got)
			}
		})
	}
}

// A bareRequest is a request that only has a context.
type bareRequest struct{ core.Request }

func (bareRequest) Context() context.Context { return context.Background() }
