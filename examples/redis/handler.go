package main

import (
	"fmt"
	"net/http"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/keyfuncs"
	"github.com/slidegate/slidegate/nethttp"
	"github.com/slidegate/slidegate/redisstore"
)

// newHandler is all that it takes to share limits through Redis: a client of your
// own, and a store made of it.
func newHandler(client *redis.Client) http.Handler {
	limiter := core.MustNew(core.Config{
		Rules: []core.Rule{core.By(keyfuncs.IP, core.PerHour(quota))},
		// While Redis is unavailable each server holds clients to its part. The
		// default timeout of 50 ms is for machines of their own; here one machine
		// runs everything at once.
		Store: redisstore.New(client, redisstore.Config{Instances: 2, Timeout: time.Second}),
	})
	return nethttp.New(limiter)(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "hello")
	}))
}

// newClient returns a client that obeys deadlines, so that the store can call it
// directly. Any other client of go-redis v9 works as well.
func newClient(addr string) *redis.Client {
	return redis.NewClient(&redis.Options{Addr: addr, ContextTimeoutEnabled: true})
}
