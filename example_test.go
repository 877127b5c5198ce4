package slidegate_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/keyfuncs"
	"github.com/slidegate/slidegate/nethttp"
)

var api = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") })

func get(h http.Handler, path string) *http.Response {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w.Result()
}

// One line limits a handler.
func Example() {
	mux := http.NewServeMux()
	mux.Handle("/", nethttp.Limit(core.By(keyfuncs.IP, core.PerMinute(100)))(api))

	response := get(mux, "/")
	fmt.Println(response.StatusCode)
	fmt.Println(response.Header.Get("RateLimit-Policy"))
	fmt.Println(response.Header.Get("RateLimit"))
	// Output:
	// 200
	// "minute";q=100;w=60
	// "minute";r=99;t=60
}

// Several limits and keys are decided as one: a denied request is charged to
// none of them.
func Example_severalRules() {
	now := time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
	isSearch := func(r core.Request) bool { return r.Path() == "/search" }
	costOf := func(core.Request) (int64, error) { return 5, nil }

	limiter, err := core.New(core.Config{
		Rules: []core.Rule{
			core.By(keyfuncs.IP, core.PerSecond(10), core.PerMinute(100)),
			{
				Name:   "search",
				Key:    keyfuncs.IP,
				Limits: []core.Limit{core.PerMinute(12).Strict(60)},
				When:   isSearch,
				Cost:   costOf,
			},
		},
		Now: func() time.Time { return now },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	handler := nethttp.New(limiter)(api)

	for range 3 {
		response := get(handler, "/search")
		fmt.Println(response.StatusCode, response.Header.Get("RateLimit"))
	}
	// Output:
	// 200 "second";r=9;t=1, "minute";r=99;t=60, "search-minute";r=7;t=60
	// 200 "second";r=8;t=1, "minute";r=98;t=60, "search-minute";r=2;t=60
	// 429 "search-minute";r=2;t=61
}

// A handler of your own answers denied requests in place of the problem body.
func Example_onDenied() {
	limiter := core.MustNew(core.Config{
		Rules: []core.Rule{core.By(keyfuncs.IP, core.PerHour(0))},
	})
	limit := nethttp.New(limiter, nethttp.OnDenied(func(w http.ResponseWriter, _ *http.Request, d core.Decision) {
		http.Error(w, "Slow down, please.", http.StatusTooManyRequests)
	}))

	response := get(limit(api), "/")
	fmt.Println(response.StatusCode, response.Header.Get("Content-Type"))
	// Output:
	// 429 text/plain; charset=utf-8
}

// A key function of your own takes the request of the framework.
func Example_key() {
	tenant := nethttp.Key(func(r *http.Request) (string, error) {
		name, _, _ := strings.Cut(r.Host, ".")
		if name == "" {
			return "", core.ErrNoKey
		}
		return name, nil
	})
	handler := nethttp.Limit(core.By(tenant, core.PerMinute(100)))(api)

	response := get(handler, "http://acme.example.com/")
	fmt.Println(response.Header.Get("RateLimit"))
	// Output:
	// "minute";r=99;t=60
}

// Without HTTP: one key a rule.
func Example_allow() {
	ctx := context.Background()
	limiter := core.MustNew(core.Config{
		Rules: []core.Rule{core.By(keyfuncs.Global, core.PerMinute(2))},
	})
	for range 3 {
		decision, err := limiter.Allow(ctx, "job-queue")
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(decision.Allowed, decision.RetryAfter > 0)
	}
	// Output:
	// true false
	// true false
	// false true
}
