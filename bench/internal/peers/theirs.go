package peers

import (
	"context"
	"math"
	"net"
	"net/http"
	"sync"
	"time"

	tollboothlib "github.com/didip/tollbooth/v7"
	tollboothlimiter "github.com/didip/tollbooth/v7/limiter"
	httpratelib "github.com/go-chi/httprate"
	"github.com/labstack/echo/v4/middleware"
	"github.com/sethvargo/go-limiter/httplimit"
	"github.com/sethvargo/go-limiter/memorystore"
	throttledlib "github.com/throttled/throttled/v2"
	"github.com/throttled/throttled/v2/store/memstore"
	ululelib "github.com/ulule/limiter/v3"
	"github.com/ulule/limiter/v3/drivers/middleware/stdlib"
	"github.com/ulule/limiter/v3/drivers/store/memory"
	"golang.org/x/time/rate"
)

// httprate decides in its handler only, which sets header fields on the way. Its
// decision alone is put together from its counter: under one lock, as in the
// handler, but with one reading of the clock instead of two.
func httprate() Limiter {
	return Limiter{
		Name: "httprate", Module: "github.com/go-chi/httprate",
		Decider: func(l Load) Decider {
			var mu sync.Mutex
			counter := httpratelib.NewLocalLimitCounter(window)
			return func(key string) bool {
				mu.Lock()
				defer mu.Unlock()
				now := time.Now().UTC()
				current := now.Truncate(window)
				units, before, _ := counter.Get(key, current, current.Add(-window))
				share := float64(window-now.Sub(current)) / float64(window)
				if int64(math.Round(float64(before)*share+float64(units)))+1 > l.quota() {
					return false
				}
				_ = counter.IncrementBy(key, current, 1)
				return true
			}
		},
		Middleware: func(l Load, next http.Handler) http.Handler {
			byAddress := func(r *http.Request) (string, error) {
				host, _, err := net.SplitHostPort(r.RemoteAddr)
				return httpratelib.CanonicalizeIP(host), err
			}
			return httpratelib.LimitBy(int(l.quota()), window, byAddress)(next)
		},
	}
}

// ulule is a fixed window that begins with a key's first request.
func ulule() Limiter {
	return Limiter{
		Name: "ulule", Module: "github.com/ulule/limiter/v3",
		Decider: func(l Load) Decider {
			limiter := Ulule(l)
			ctx := context.Background()
			return func(key string) bool {
				c, _ := limiter.Get(ctx, key)
				return !c.Reached
			}
		},
		Middleware: func(l Load, next http.Handler) http.Handler {
			return stdlib.NewMiddleware(Ulule(l)).Handler(next)
		},
	}
}

// Ulule makes the limiter, which has a middleware for Gin too.
func Ulule(l Load) *ululelib.Limiter {
	return ululelib.New(memory.NewStore(), ululelib.Rate{Period: window, Limit: l.quota()})
}

// tollbooth is a token bucket; its quota is one of a second. It decides by
// address and path, as it does by default, with the lookup that is right
// without a proxy. It is version 7; version 8 is not measured.
func tollbooth() Limiter {
	limiter := func(l Load) *tollboothlimiter.Limiter {
		return tollboothlib.NewLimiter(l.perSecond(), nil).
			SetBurst(int(l.quota())).
			SetIPLookups([]string{"RemoteAddr"})
	}
	return Limiter{
		Name: "tollbooth", Module: "github.com/didip/tollbooth/v7",
		Decider: func(l Load) Decider {
			limiter := limiter(l)
			return func(key string) bool { return !limiter.LimitReached(key) }
		},
		Middleware: func(l Load, next http.Handler) http.Handler {
			return tollboothlib.LimitHandler(limiter(l), next)
		},
	}
}

// perSecond is the rate of token buckets: ample, or one an hour.
func (l Load) perSecond() float64 {
	if l.Denies {
		return 1 / window.Seconds()
	}
	return Ample
}

// throttled is GCRA over a map or, where a capacity is asked for, over its LRU.
func throttled() Limiter {
	limiter := func(l Load) throttledlib.RateLimiterCtx {
		pace := throttledlib.PerSec(Ample)
		if l.Denies {
			pace = throttledlib.PerHour(1)
		}
		quota := throttledlib.RateQuota{MaxRate: pace, MaxBurst: int(l.quota()) - 1}
		limiter, err := throttledlib.NewGCRARateLimiterCtx(must(memstore.NewCtx(max(l.Keys, defaultKeys))), quota)
		return must(limiter, err)
	}
	return Limiter{
		Name: "throttled", Module: "github.com/throttled/throttled/v2", Bounded: true,
		Decider: func(l Load) Decider {
			limiter := limiter(l)
			ctx := context.Background()
			return func(key string) bool {
				limited, _, err := limiter.RateLimitCtx(ctx, key, 1)
				return !limited && err == nil
			}
		},
		Middleware: func(l Load, next http.Handler) http.Handler {
			m := throttledlib.HTTPRateLimiterCtx{RateLimiter: limiter(l), VaryBy: &throttledlib.VaryBy{RemoteAddr: true}}
			return m.RateLimit(next)
		},
	}
}

// defaultKeys is our own default capacity, which throttled gets too.
const defaultKeys = 65_536

// goLimiter is a fixed window that begins with a key's first request. It starts
// a goroutine, which Close would end; it sleeps for six hours.
func goLimiter() Limiter {
	return Limiter{
		Name: "go-limiter", Module: "github.com/sethvargo/go-limiter",
		Decider: func(l Load) Decider {
			store := must(memorystore.New(&memorystore.Config{Tokens: uint64(l.quota()), Interval: window}))
			ctx := context.Background()
			return func(key string) bool {
				_, _, _, ok, _ := store.Take(ctx, key)
				return ok
			}
		},
		Middleware: func(l Load, next http.Handler) http.Handler {
			store := must(memorystore.New(&memorystore.Config{Tokens: uint64(l.quota()), Interval: window}))
			return must(httplimit.NewMiddleware(store, httplimit.IPKeyFunc())).Handle(next)
		},
	}
}

// xTimeRate is what many programs have in place of a library: a token bucket a
// key, in a map under a mutex, which nothing ever leaves.
func xTimeRate() Limiter {
	return Limiter{
		Name: "x-time-rate", Module: "golang.org/x/time",
		Decider: func(l Load) Decider {
			var mu sync.Mutex
			buckets := map[string]*rate.Limiter{}
			return func(key string) bool {
				mu.Lock()
				bucket := buckets[key]
				if bucket == nil {
					bucket = rate.NewLimiter(rate.Limit(l.perSecond()), int(l.quota()))
					buckets[key] = bucket
				}
				mu.Unlock()
				return bucket.Allow()
			}
		},
	}
}

// echoStore is the store of Echo's own limiter.
func echoStore() Limiter {
	return Limiter{
		Name: "echo", Module: "github.com/labstack/echo/v4",
		Decider: func(l Load) Decider {
			store := EchoStore(l)
			return func(key string) bool {
				allowed, _ := store.Allow(key)
				return allowed
			}
		},
	}
}

// EchoStore makes the store, which keeps keys for as long as a window.
func EchoStore(l Load) middleware.RateLimiterStore {
	return middleware.NewRateLimiterMemoryStoreWithConfig(middleware.RateLimiterMemoryStoreConfig{
		Rate: rate.Limit(l.perSecond()), Burst: int(l.quota()), ExpiresIn: window,
	})
}

// must returns a limiter that was made with arguments written here.
func must[T any](made T, err error) T {
	if err != nil {
		panic(err)
	}
	return made
}
