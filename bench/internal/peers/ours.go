package peers

import (
	"context"
	"net/http"

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
