package echomw_test

import (
	"net/http/httptest"
	"testing"

	"github.com/labstack/echo/v4"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/echomw"
	"github.com/slidegate/slidegate/keyfuncs"
)

// item is the route of all levels below.
const item = "/api/items/:id"

func onPre(e *echo.Echo, limit echo.MiddlewareFunc) {
	e.Pre(limit)
	e.GET(item, new(counter).handle)
}

func onApp(e *echo.Echo, limit echo.MiddlewareFunc) {
	e.Use(limit)
	e.GET(item, new(counter).handle)
}

func onGroup(e *echo.Echo, limit echo.MiddlewareFunc) {
	e.Group("/api", limit).GET("/items/:id", new(counter).handle)
}

func onRoute(e *echo.Echo, limit echo.MiddlewareFunc) {
	e.GET(item, new(counter).handle, limit)
}

func TestRequestsOfNoRouteCountWhereTheirMiddlewareRuns(t *testing.T) {
	for _, tc := range []struct {
		phrase         string
		mount          func(*echo.Echo, echo.MiddlewareFunc)
		method, target string
		status         int
		counted        bool
	}{
		{"an unknown path, on the application", onApp, "GET", "/nowhere", 404, true},
		{"an unknown path, before the router", onPre, "GET", "/nowhere", 404, true},
		{"an unknown method of a path, on the application", onApp, "DELETE", "/api/items/1", 405, true},
		{"an unknown path below a group", onGroup, "GET", "/api/nowhere", 404, true},
		{"an unknown path beside a group", onGroup, "GET", "/nowhere", 404, false},
		{"an unknown path beside a route", onRoute, "GET", "/api/nowhere", 404, false},
		{"a known path, before the router", onPre, "GET", "/api/items/1", 200, true},
		{"a known path, on the application", onApp, "GET", "/api/items/1", 200, true},
		{"a known path, on a group", onGroup, "GET", "/api/items/1", 200, true},
		{"a known path, on a route", onRoute, "GET", "/api/items/1", 200, true},
	} {
		l := limiter(core.PerMinute(9))
		e := echo.New()
		tc.mount(e, echomw.New(l))
		w := serve(e, httptest.NewRequest(tc.method, tc.target, nil))
		if w.Code != tc.status {
			t.Errorf("%s: status %d, want %d", tc.phrase, w.Code, tc.status)
		}
		if counted := remaining(t, l) < 9; counted != tc.counted {
			t.Errorf("%s: counted is %v, want %v", tc.phrase, counted, tc.counted)
		}
	}
}

// Echo adds middleware to all routes when it serves, so their order is none.
func TestRoutesFromBeforeALimiterAreLimitedToo(t *testing.T) {
	e := echo.New()
	e.GET("/before", new(counter).handle)
	e.Use(echomw.New(limiter(core.PerMinute(0))))
	wantStatus(t, get(e, "/before"), 429)
}

func TestTheRouteIsWhatEchoMatched(t *testing.T) {
	for _, tc := range []struct {
		phrase         string
		mount          func(*echo.Echo, echo.MiddlewareFunc)
		method, target string
		want           string
	}{
		{"before the router", onPre, "GET", "/api/items/42", ""},
		{"on the application", onApp, "GET", "/api/items/42", item},
		{"on a group", onGroup, "GET", "/api/items/42", item},
		{"on a route", onRoute, "GET", "/api/items/42", item},
		{"on the application, of an unknown method", onApp, "DELETE", "/api/items/42", item},
		{"on the application, of an unknown path", onApp, "GET", "/nowhere", ""},
		{"on the application, of an unknown path below a known one", onApp, "GET", "/api/items/42/more", item},
		{"on a group, of an unknown path", onGroup, "GET", "/api/nowhere", "/api/*"},
	} {
		var routes []string
		key := func(r core.Request) (string, error) {
			routes = append(routes, r.Route())
			return "k", nil
		}
		e := echo.New()
		tc.mount(e, echomw.New(by(key, core.PerMinute(9))))
		get(e, "/api/items/1") // whose context Echo uses again
		serve(e, httptest.NewRequest(tc.method, tc.target, nil))
		if got := routes[len(routes)-1]; got != tc.want {
			t.Errorf("%s: the route is %q, want %q", tc.phrase, got, tc.want)
		}
	}
}

func TestKeysByRouteWhereThereIsNoRoute(t *testing.T) {
	routes := func(key core.KeyFunc, missing core.OnMissing) *echo.Echo {
		e := echo.New()
		onApp(e, echomw.New(core.MustNew(core.Config{
			Rules: []core.Rule{{Key: key, Limits: []core.Limit{core.PerMinute(2)}, OnMissing: missing}}, Now: standing,
		})))
		return e
	}
	t.Run("keyfuncs.Route refuses the request", func(t *testing.T) {
		e := routes(keyfuncs.Route, core.RefuseRequest)
		wantStatus(t, get(e, "/nowhere"), 400)
		wantStatus(t, get(e, "/api/items/1"), 200)
	})
	t.Run("SkipRule leaves it to Echo, unlimited", func(t *testing.T) {
		e := routes(keyfuncs.Route, core.SkipRule)
		for range 5 {
			wantStatus(t, get(e, "/nowhere"), 404)
		}
	})
	t.Run("FirstOf with Global gives all such paths one key", func(t *testing.T) {
		e := routes(keyfuncs.FirstOf(keyfuncs.Route, keyfuncs.Global), core.RefuseRequest)
		for i, want := range []int{404, 404, 429} {
			wantStatus(t, get(e, "/nowhere/"+string(rune('a'+i))), want)
		}
		wantStatus(t, get(e, "/api/items/1"), 200)
	})
}
