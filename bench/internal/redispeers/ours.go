package redispeers

import (
	"context"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/keyfuncs"
	"github.com/slidegate/slidegate/redisstore"
)

const ourModule = "github.com/slidegate/slidegate"

// patience is how long ours waits for Redis here: so long that a busy machine
// makes no outage of a measurement.
const patience = 10 * time.Second

// A storeMaker makes our store for a server, and the function that closes its
// connections.
type storeMaker func(addr string, config redisstore.Config) (*redisstore.Store, func(), error)

// ours starts our limiter with a store and limits.
func ours(storeOf storeMaker, limitsOf func(Load) []core.Limit) starter {
	return func(addr string, load Load) (Decider, func(), error) {
		store, end, err := storeOf(addr, redisstore.Config{Timeout: patience})
		if err != nil {
			return nil, nil, err
		}
		allow, err := deciderOf(store, limitsOf(load))
		if err != nil {
			end()
			return nil, nil, err
		}
		return allow, end, nil
	}
}

// deciderOf makes a limiter of ours that fails when its store does.
func deciderOf(store *redisstore.Store, limits []core.Limit) (Decider, error) {
	limiter, err := core.New(core.Config{
		Rules:   []core.Rule{core.By(keyfuncs.IP, limits...)},
		Store:   store,
		Failure: core.FailClosed,
	})
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, key string) (bool, error) {
		d, err := limiter.Allow(ctx, key)
		return d.Allowed, err
	}, nil
}

func oneLimit(load Load) []core.Limit { return []core.Limit{core.Per(load.Quota, load.Window)} }

func threeLimits(load Load) (limits []core.Limit) {
	for _, l := range load.three() {
		limits = append(limits, oneLimit(l)...)
	}
	return limits
}

// goRedis has the client obey deadlines, as our documentation asks for.
func goRedis(addr string, config redisstore.Config) (*redisstore.Store, func(), error) {
	client := redis.NewClient(&redis.Options{Addr: addr, ContextTimeoutEnabled: true})
	return redisstore.New(client, config), func() { _ = client.Close() }, nil
}

// goRedisAsItComes has every call handed over to a goroutine.
func goRedisAsItComes(addr string, config redisstore.Config) (*redisstore.Store, func(), error) {
	client := redis.NewClient(&redis.Options{Addr: addr})
	return redisstore.New(client, config), func() { _ = client.Close() }, nil
}

func rueidisClient(addr string, config redisstore.Config) (*redisstore.Store, func(), error) {
	client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{addr}, DisableCache: true})
	if err != nil {
		return nil, nil, err
	}
	config.ObeysDeadlines = true
	return redisstore.New(redisstore.Func(func(ctx context.Context, command, script string, keys, args []string) (any, error) {
		b := client.B().Arbitrary(command, script, strconv.Itoa(len(keys)))
		return client.Do(ctx, b.Keys(keys...).Args(args...).Build()).ToAny()
	}), config), client.Close, nil
}
