package redisstore_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/redisstore"
)

// A client of go-redis stands where this example has one whose server is not
// there. Each of two processes then admits half of the quota.
func ExampleNew() {
	client := redisstore.Func(func(context.Context, string, string, []string, []string) (any, error) {
		return nil, errors.New("dial tcp 127.0.0.1:6379: connect: connection refused")
	})
	limiter := core.MustNew(core.Config{
		Rules: []core.Rule{{
			Name: "login", Limits: []core.Limit{core.PerHour(4).Exact()}, Failure: core.Degrade,
			Key: func(r core.Request) (string, error) { return r.Peer(), nil },
		}},
		Store: redisstore.New(client, redisstore.Config{Instances: 2}),
	})
	for range 3 {
		d, err := limiter.Allow(context.Background(), "192.0.2.1")
		fmt.Println("allowed:", d.Allowed, "degraded:", d.Degraded, "error:", err)
	}
	// Output:
	// allowed: true degraded: true error: <nil>
	// allowed: true degraded: true error: <nil>
	// allowed: false degraded: true error: <nil>
}
