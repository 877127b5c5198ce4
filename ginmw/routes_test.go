package ginmw_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/ginmw"
	"github.com/slidegate/slidegate/keyfuncs"
)

func TestRequestsOfNoRouteCountWhereTheirMiddlewareRuns(t *testing.T) {
	for _, tc := range []struct {
		phrase         string
		mount          func(r *gin.Engine, limit gin.HandlerFunc)
		method, target string
		status         int
		counted        bool
	}{
		{"an unknown path, on the application", onApp, "GET", "/nowhere", 404, true},
		{"an unknown method of a path, on the application", onApp, "DELETE", "/api/items/1", 405, true},
		{"an unknown path below a group", onGroup, "GET", "/api/nowhere", 404, false},
		{"an unknown path beside a route", onRoute, "GET", "/api/nowhere", 404, false},
		{"a redirect for a slash, on the application", onApp, "GET", "/api/items/1/", 301, false},
		{"a known path, on the application", onApp, "GET", "/api/items/1", 200, true},
		{"a known path, on a group", onGroup, "GET", "/api/items/1", 200, true},
		{"a known path, on a route", onRoute, "GET", "/api/items/1", 200, true},
	} {
		l := limiter(core.PerMinute(9))
		r := gin.New()
		r.HandleMethodNotAllowed = true
		tc.mount(r, ginmw.New(l))
		wantStatus(t, serve(r, httptest.NewRequest(tc.method, tc.target, nil)), tc.status)
		if counted := remaining(t, l) < 9; counted != tc.counted {
			t.Errorf("%s: counted is %v, want %v", tc.phrase, counted, tc.counted)
		}
	}
}

// item is the route of all levels below.
const item = "/api/items/:id"

func onApp(r *gin.Engine, limit gin.HandlerFunc) {
	r.Use(limit)
	r.GET(item, new(counter).handle)
}

func onGroup(r *gin.Engine, limit gin.HandlerFunc) {
	r.Group("/api", limit).GET("/items/:id", new(counter).handle)
}

func onRoute(r *gin.Engine, limit gin.HandlerFunc) {
	r.GET(item, limit, new(counter).handle)
}

// Middleware that is added after a route does not run for it: so Gin builds its
// chains.
func TestRoutesFromBeforeALimiterAreNotLimited(t *testing.T) {
	r := gin.New()
	r.GET("/before", new(counter).handle)
	r.Use(ginmw.New(limiter(core.PerMinute(0))))
	r.GET("/after", new(counter).handle)
	wantStatus(t, get(r, "/before"), 200)
	wantStatus(t, get(r, "/after"), 429)
}

func TestEveryLevelKnowsTheRoute(t *testing.T) {
	for phrase, mount := range map[string]func(*gin.Engine, gin.HandlerFunc){"application": onApp, "group": onGroup, "route": onRoute} {
		var route string
		key := func(r core.Request) (string, error) {
			route = r.Route()
			return "k", nil
		}
		r := gin.New()
		mount(r, ginmw.New(by(key, core.PerMinute(9))))
		wantStatus(t, get(r, "/api/items/42"), 200)
		if route != item {
			t.Errorf("on the %s the route is %q, want %q", phrase, route, item)
		}
	}
}

func TestKeysByRouteWhereThereIsNoRoute(t *testing.T) {
	routes := func(key core.KeyFunc, missing core.OnMissing) http.Handler {
		r := gin.New()
		onApp(r, ginmw.New(core.MustNew(core.Config{
			Rules: []core.Rule{{Key: key, Limits: []core.Limit{core.PerMinute(2)}, OnMissing: missing}}, Now: standing,
		})))
		return r
	}
	t.Run("keyfuncs.Route refuses the request", func(t *testing.T) {
		h := routes(keyfuncs.Route, core.RefuseRequest)
		wantStatus(t, get(h, "/nowhere"), 400)
		wantStatus(t, get(h, "/api/items/1"), 200)
	})
	t.Run("SkipRule leaves it to Gin, unlimited", func(t *testing.T) {
		h := routes(keyfuncs.Route, core.SkipRule)
		for range 5 {
			wantStatus(t, get(h, "/nowhere"), 404)
		}
	})
	t.Run("FirstOf with Global gives all such paths one key", func(t *testing.T) {
		h := routes(keyfuncs.FirstOf(keyfuncs.Route, keyfuncs.Global), core.RefuseRequest)
		for i, want := range []int{404, 404, 429} {
			wantStatus(t, get(h, "/nowhere/"+string(rune('a'+i))), want)
		}
		wantStatus(t, get(h, "/api/items/1"), 200)
	})
}
