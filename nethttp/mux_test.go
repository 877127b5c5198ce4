package nethttp_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/keyfuncs"
	"github.com/slidegate/slidegate/nethttp"
)

// routeOf serves a target on a mux with one pattern and returns the route that a
// limiter of the handler sees.
func routeOf(t *testing.T, pattern, method, target string) string {
	t.Helper()
	var route string
	key := func(r core.Request) (string, error) {
		route = r.Route()
		return "k", nil
	}
	mux := http.NewServeMux()
	mux.Handle(pattern, nethttp.Limit(core.By(key, core.PerMinute(10)))(new(counter)))
	wantStatus(t, serve(mux, httptest.NewRequest(method, target, nil)), 200)
	return route
}

func TestRouteIsThePatternWithoutItsMethod(t *testing.T) {
	for _, c := range []struct{ phrase, pattern, method, target, want string }{
		{"a path", "/users", "GET", "/users", "/users"},
		{"a method", "POST /users", "POST", "/users", "/users"},
		{"GET serves HEAD too", "GET /users", "HEAD", "/users", "/users"},
		{"spaces and tabs after a method", "GET \t /users", "GET", "/users", "/users"},
		{"a wildcard", "GET /users/{id}", "GET", "/users/42", "/users/{id}"},
		{"a wildcard of the rest", "/files/{path...}", "GET", "/files/a/b", "/files/{path...}"},
		{"an exact slash", "/{$}", "GET", "/", "/{$}"},
		{"a subtree", "/static/", "GET", "/static/a/b.css", "/static/"},
		{"a host", "GET example.com/users/{id}", "GET", "http://example.com/users/42", "example.com/users/{id}"},
		{"a wildcard that holds a slash", "/users/{id}", "GET", "/users/a%2Fb", "/users/{id}"},
	} {
		if got := routeOf(t, c.pattern, c.method, c.target); got != c.want {
			t.Errorf("%s: the route of %q is %q, want %q", c.phrase, c.pattern, got, c.want)
		}
	}
}

func TestAroundAWholeMuxNoRouteIsKnown(t *testing.T) {
	mux := http.NewServeMux()
	var served counter
	mux.Handle("GET /users/{id}", &served)
	w := get(nethttp.Limit(core.By(keyfuncs.Route, core.PerMinute(10)))(mux), "/users/42")
	wantStatus(t, w, 400) // and not one bucket that all routes share
	if served != 0 {
		t.Errorf("the handler ran %d times, want 0", served)
	}
}

func TestRoutesHaveBucketsOfTheirOwn(t *testing.T) {
	limited := nethttp.New(core.MustNew(core.Config{
		Rules: []core.Rule{core.By(keyfuncs.Join(keyfuncs.IP, keyfuncs.Route), core.PerMinute(1))}, Now: standing,
	}))
	mux := http.NewServeMux()
	for _, pattern := range []string{"GET /users/{id}", "GET /orders/{id}"} {
		mux.Handle(pattern, limited(new(counter)))
	}
	for _, c := range []struct {
		target string
		want   int
	}{
		{"/users/1", 200}, {"/users/2", 429}, {"/orders/1", 200}, {"/orders/1", 429},
	} {
		if got := get(mux, c.target).Code; got != c.want {
			t.Errorf("%s: status %d, want %d", c.target, got, c.want)
		}
	}
}

func TestALimiterOfTheMuxAndOfARouteCountsOnce(t *testing.T) {
	limited := nethttp.New(limiter(core.PerMinute(2)))
	mux := http.NewServeMux()
	mux.Handle("/login", limited(new(counter)))
	mux.Handle("/", new(counter))
	app := limited(mux)
	for _, c := range []struct {
		target string
		want   int
	}{{"/login", 200}, {"/", 200}, {"/login", 429}, {"/", 429}} {
		if got := get(app, c.target).Code; got != c.want {
			t.Errorf("%s: status %d, want %d", c.target, got, c.want)
		}
	}
}
