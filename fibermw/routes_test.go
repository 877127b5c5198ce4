package fibermw_test

import (
	"net/http/httptest"
	"testing"

	"github.com/gofiber/fiber/v2"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/fibermw"
	"github.com/slidegate/slidegate/keyfuncs"
)

// item is the route of all levels below.
const item = "/api/items/:id"

func onApp(a *fiber.App, limit fiber.Handler) {
	a.Use(limit)
	a.Get(item, new(counter).handle)
}

func onGroup(a *fiber.App, limit fiber.Handler) {
	a.Group("/api", limit).Get("/items/:id", new(counter).handle)
}

func onRoute(a *fiber.App, limit fiber.Handler) {
	a.Get(item, limit, new(counter).handle)
}

func onMount(a *fiber.App, limit fiber.Handler) {
	part := fiber.New()
	part.Use(limit)
	part.Get("/items/:id", new(counter).handle)
	a.Mount("/api", part)
}

func TestRequestsOfNoRouteCountWhereTheirMiddlewareRuns(t *testing.T) {
	for _, tc := range []struct {
		phrase         string
		mount          func(*fiber.App, fiber.Handler)
		method, target string
		status         int
		counted        bool
	}{
		{"an unknown path, on the application", onApp, "GET", "/nowhere", 404, true},
		{"an unknown method of a path, on the application", onApp, "DELETE", "/api/items/1", 405, true},
		{"an unknown path below a group", onGroup, "GET", "/api/nowhere", 404, true},
		{"an unknown path beside a group", onGroup, "GET", "/nowhere", 404, false},
		{"an unknown path in a mounted application", onMount, "GET", "/api/nowhere", 404, true},
		{"an unknown path beside a route", onRoute, "GET", "/api/nowhere", 404, false},
		{"a known path, on the application", onApp, "GET", "/api/items/1", 200, true},
		{"a known path, on a group", onGroup, "GET", "/api/items/1", 200, true},
		{"a known path, in a mounted application", onMount, "GET", "/api/items/1", 200, true},
		{"a known path, on a route", onRoute, "GET", "/api/items/1", 200, true},
	} {
		l := limiter(core.PerMinute(9))
		a := fiber.New()
		tc.mount(a, fibermw.New(l))
		if r := serve(t, a, httptest.NewRequest(tc.method, tc.target, nil)); r.status != tc.status {
			t.Errorf("%s: status %d, want %d", tc.phrase, r.status, tc.status)
		}
		if counted := remaining(t, l) < 9; counted != tc.counted {
			t.Errorf("%s: counted is %v, want %v", tc.phrase, counted, tc.counted)
		}
	}
}

// Fiber runs handlers in the order in which they were added.
func TestRoutesFromBeforeALimiterAreNotLimited(t *testing.T) {
	a := fiber.New()
	a.Get("/before", new(counter).handle)
	a.Use(fibermw.New(limiter(core.PerMinute(0))))
	a.Get("/after", new(counter).handle)
	wantStatus(t, get(t, a, "/before"), 200)
	wantStatus(t, get(t, a, "/after"), 429)
}

func TestTheRouteIsKnownOnARouteOnly(t *testing.T) {
	for _, tc := range []struct {
		phrase string
		mount  func(*fiber.App, fiber.Handler)
		want   string
	}{
		{"on the application", onApp, ""},
		{"on a group", onGroup, ""},
		{"in a mounted application", onMount, ""},
		{"on a route", onRoute, item},
	} {
		route := "none"
		key := func(r core.Request) (string, error) {
			route = r.Route()
			return "k", nil
		}
		a := fiber.New()
		tc.mount(a, fibermw.New(by(key, core.PerMinute(9))))
		wantStatus(t, get(t, a, "/api/items/42"), 200)
		if route != tc.want {
			t.Errorf("%s the route is %q, want %q", tc.phrase, route, tc.want)
		}
	}
}

func TestKeysByRouteWhereThereIsNoRoute(t *testing.T) {
	routes := func(mount func(*fiber.App, fiber.Handler), key core.KeyFunc, missing core.OnMissing) *fiber.App {
		a := fiber.New()
		mount(a, fibermw.New(core.MustNew(core.Config{
			Rules: []core.Rule{{Key: key, Limits: []core.Limit{core.PerMinute(2)}, OnMissing: missing}}, Now: standing,
		})))
		return a
	}
	t.Run("keyfuncs.Route refuses requests on the application, known paths too", func(t *testing.T) {
		a := routes(onApp, keyfuncs.Route, core.RefuseRequest)
		wantStatus(t, get(t, a, "/nowhere"), 400)
		wantStatus(t, get(t, a, "/api/items/1"), 400)
	})
	t.Run("keyfuncs.Route is for routes", func(t *testing.T) {
		a := routes(onRoute, keyfuncs.Route, core.RefuseRequest)
		for _, want := range []int{200, 200, 429} {
			wantStatus(t, get(t, a, "/api/items/1"), want)
		}
	})
	t.Run("SkipRule leaves it to Fiber, unlimited", func(t *testing.T) {
		a := routes(onApp, keyfuncs.Route, core.SkipRule)
		for range 5 {
			wantStatus(t, get(t, a, "/nowhere"), 404)
		}
	})
	t.Run("FirstOf with Global gives all requests of the application one key", func(t *testing.T) {
		a := routes(onApp, keyfuncs.FirstOf(keyfuncs.Route, keyfuncs.Global), core.RefuseRequest)
		wantStatus(t, get(t, a, "/nowhere/a"), 404)
		wantStatus(t, get(t, a, "/api/items/1"), 200)
		wantStatus(t, get(t, a, "/nowhere/b"), 429)
	})
}
