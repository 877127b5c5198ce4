package peers

import (
	"context"
	"hash/maphash"
	"net/http"
	"runtime"
	"sync"
	"time"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/keyfuncs"
	"github.com/slidegate/slidegate/nethttp"
)

const ourModule = "github.com/slidegate/slidegate"

// slidegate is ours as it comes: smooth(1), the memory store, default headers.
func slidegate() Limiter {
	return Limiter{
		Name: Ours, Module: ourModule, Bounded: true, Lends: true,
		Decider: func(l Load) Decider { return decider(NewLimiter(l, Limit(l))) },
		Middleware: func(l Load, next http.Handler) http.Handler {
			return nethttp.New(NewLimiter(l, Limit(l)))(next)
		},
	}
}

// slidegateWithTwoLimits has a second limit in the same rule, which may deny too.
func slidegateWithTwoLimits() Limiter {
	limits := func(l Load) []core.Limit { return []core.Limit{Limit(l), core.PerDay(2 * l.quota())} }
	return Limiter{
		Name: TwoLimits, Module: ourModule, Bounded: true, Lends: true,
		Decider: func(l Load) Decider { return decider(NewLimiter(l, limits(l)...)) },
		Middleware: func(l Load, next http.Handler) http.Handler {
			return nethttp.New(NewLimiter(l, limits(l)...))(next)
		},
	}
}

// Limit is our limit for a situation.
func Limit(l Load) core.Limit { return core.Per(l.quota(), window) }

// NewLimiter makes one of ours for a situation, keyed by address.
func NewLimiter(l Load, limits ...core.Limit) *core.Limiter {
	return core.MustNew(core.Config{
		Store: &core.Memory{MaxKeys: l.Keys},
		Rules: []core.Rule{core.By(keyfuncs.IP, limits...)},
	})
}

func decider(limiter *core.Limiter) Decider {
	ctx := context.Background()
	return func(key string) bool {
		d, _ := limiter.Allow(ctx, key)
		return d.Allowed
	}
}

// floor does what every exact keyed limiter has to do, and nothing else: one
// seeded hash, which chooses a shard so that it is of use, one lock, one reading
// of the clock and one look-up in a map. It has as many shards as ours.
func floor() Limiter {
	return Limiter{Name: Floor, Decider: func(Load) Decider { return newFloor().count }}
}

type floorStore struct {
	base   time.Time
	seed   maphash.Seed
	shards []floorShard
}

type floorShard struct {
	mu     sync.Mutex
	counts map[string]*floorCount
	_      [48]byte // keeps two locks out of one cache line
}

type floorCount struct {
	units int64
	last  time.Duration
}

func newFloor() *floorStore {
	n := 1
	for n < 8*runtime.GOMAXPROCS(0) {
		n *= 2
	}
	f := &floorStore{base: time.Now(), seed: maphash.MakeSeed(), shards: make([]floorShard, n)}
	for i := range f.shards {
		f.shards[i].counts = map[string]*floorCount{}
	}
	return f
}

func (f *floorStore) count(key string) bool {
	s := &f.shards[maphash.String(f.seed, key)&uint64(len(f.shards)-1)]
	s.mu.Lock()
	now := time.Since(f.base)
	c := s.counts[key]
	if c == nil {
		c = &floorCount{}
		s.counts[key] = c
	}
	c.units++
	c.last = now
	s.mu.Unlock()
	return true
}
