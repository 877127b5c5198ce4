package redispeers

import (
	"context"

	"github.com/go-redis/redis_rate/v10"
	"github.com/redis/go-redis/v9"
	throttledlib "github.com/throttled/throttled/v2"
	goredisstore "github.com/throttled/throttled/v2/store/goredisstore.v9"
	ululelib "github.com/ulule/limiter/v3"
	ululeredis "github.com/ulule/limiter/v3/drivers/store/redis"
)

// client has the options that ours has; no call of another limiter has
// a deadline that it could obey.
func client(addr string) (*redis.Client, func()) {
	c := redis.NewClient(&redis.Options{Addr: addr, ContextTimeoutEnabled: true})
	return c, func() { _ = c.Close() }
}

// redisRate is GCRA in one script.
func redisRate(addr string, load Load) (Decider, func(), error) {
	c, end := client(addr)
	limiter, limit := redis_rate.NewLimiter(c), gcra(load)
	return func(ctx context.Context, key string) (bool, error) {
		return allowed(limiter.Allow(ctx, key, limit))
	}, end, nil
}

// gcra is a limit whose burst is its whole quota, as the library makes it.
func gcra(load Load) redis_rate.Limit {
	return redis_rate.Limit{Rate: int(load.Quota), Burst: int(load.Quota), Period: load.Window}
}

func allowed(r *redis_rate.Result, err error) (bool, error) {
	return err == nil && r.Allowed > 0, err
}

// redisRateThree asks three limits one after another, as that library's users
// must, and stops at the first refusal.
func redisRateThree(addr string, load Load) (Decider, func(), error) {
	c, end := client(addr)
	limiter := redis_rate.NewLimiter(c)
	suffixes := [3]string{":second", ":minute", ":hour"}
	var limits [3]redis_rate.Limit
	for i, l := range load.three() {
		limits[i] = gcra(l)
	}
	return func(ctx context.Context, key string) (bool, error) {
		for i, limit := range limits {
			if ok, err := allowed(limiter.Allow(ctx, key+suffixes[i], limit)); !ok {
				return false, err
			}
		}
		return true, nil
	}, end, nil
}

// ulule is a fixed window that begins with a key's first request.
func ulule(addr string, load Load) (Decider, func(), error) {
	c, end := client(addr)
	store, err := ululeredis.NewStore(c)
	if err != nil {
		end()
		return nil, nil, err
	}
	limiter := ululelib.New(store, ululelib.Rate{Period: load.Window, Limit: load.Quota})
	return func(ctx context.Context, key string) (bool, error) {
		r, err := limiter.Get(ctx, key)
		return !r.Reached, err
	}, end, nil
}

// throttled is GCRA in the client: it reads, and writes if nothing has changed
// meanwhile.
func throttled(addr string, load Load) (Decider, func(), error) {
	c, end := client(addr)
	store, err := goredisstore.NewCtx(c, "")
	if err != nil {
		end()
		return nil, nil, err
	}
	limiter, err := throttledlib.NewGCRARateLimiterCtx(store, throttledlib.RateQuota{
		MaxRate: throttledlib.PerDuration(int(load.Quota), load.Window), MaxBurst: int(load.Quota) - 1,
	})
	if err != nil {
		end()
		return nil, nil, err
	}
	return func(ctx context.Context, key string) (bool, error) {
		limited, _, err := limiter.RateLimitCtx(ctx, key, 1)
		return !limited, err
	}, end, nil
}
