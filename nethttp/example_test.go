package nethttp_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/keyfuncs"
	"github.com/slidegate/slidegate/nethttp"
)

var hello = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") })

// Two requests a minute from each address.
func ExampleLimit() {
	h := nethttp.Limit(core.By(keyfuncs.IP, core.PerMinute(2)))(hello)

	for range 3 {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
		fmt.Println(w.Code, w.Header().Get("RateLimit-Policy"))
	}
	// Output:
	// 200 "minute";q=2;w=60
	// 200 "minute";q=2;w=60
	// 429 "minute";q=2;w=60
}

// A denial in the application's own words. The header fields are set already.
func ExampleOnDenied() {
	limiter := core.MustNew(core.Config{Rules: []core.Rule{core.By(keyfuncs.IP, core.PerHour(1).Exact())}})
	h := nethttp.New(limiter, nethttp.OnDenied(func(w http.ResponseWriter, _ *http.Request, d core.Decision) {
		w.WriteHeader(http.StatusTooManyRequests)
		fmt.Fprintf(w, "come back in %s seconds; you used up: %s", w.Header().Get("Retry-After"), d.Problem().Violated)
	}))(hello)

	for range 2 {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
		fmt.Println(w.Code, w.Body)
	}
	// Output:
	// 200 hello
	// 429 come back in 3600 seconds; you used up: [hour]
}

// A key from what only the request of net/http has: here, a wildcard of the
// route.
func ExampleKey() {
	byTenant := nethttp.Key(func(r *http.Request) (string, error) {
		return r.PathValue("tenant"), nil
	})
	mux := http.NewServeMux()
	mux.Handle("GET /{tenant}/files", nethttp.Limit(core.By(byTenant, core.PerMinute(1)))(hello))

	for _, path := range []string{"/red/files", "/red/files", "/blue/files"} {
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		fmt.Println(path, w.Code)
	}
	// Output:
	// /red/files 200
	// /red/files 429
	// /blue/files 200
}

// The handler tells what is left.
func ExampleDecisionFrom() {
	limiter := core.MustNew(core.Config{Rules: []core.Rule{core.By(keyfuncs.IP, core.PerMinute(10), core.PerDay(500))}})
	h := nethttp.New(limiter, nethttp.ExposeDecision())(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d, _ := nethttp.DecisionFrom(r.Context())
		for _, limit := range d.States() {
			fmt.Fprintln(w, limit.Limit.Name(), limit.Remaining)
		}
	}))

	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	fmt.Print(w.Body)
	// Output:
	// minute 9
	// day 499
}

// Several limits in one limiter are decided as one: what the second rule denies
// is not charged to the first.
func ExampleNew() {
	limiter := core.MustNew(core.Config{Rules: []core.Rule{
		{Name: "address", Key: keyfuncs.IP, Limits: []core.Limit{core.PerSecond(10), core.PerMinute(100)}},
		{Name: "login", Key: keyfuncs.Header("X-Account"), Limits: []core.Limit{core.PerHour(2).Named("logins").Exact()}},
	}})
	h := nethttp.New(limiter)(hello)

	for _, account := range []string{"alice", "alice", "alice", "bob"} {
		r := httptest.NewRequest("POST", "/login", nil)
		r.Header.Set("X-Account", account)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		fmt.Printf("%s %d %q\n", account, w.Code, w.Header().Get("Retry-After"))
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("POST", "/login", nil))
	fmt.Println("nobody", w.Code)
	// Output:
	// alice 200 ""
	// alice 200 ""
	// alice 429 "3600"
	// bob 200 ""
	// nobody 400
}
