package echomw_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/echomw"
	"github.com/slidegate/slidegate/keyfuncs"
)

func hello(c echo.Context) error { return c.String(http.StatusOK, "hello") }

// ask sends a request and returns the response.
func ask(h http.Handler, method, target string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, target, nil))
	return w
}

// Two requests a minute from each address.
func ExampleLimit() {
	e := echo.New()
	e.Use(echomw.Limit(core.By(keyfuncs.IP, core.PerMinute(2))))
	e.GET("/", hello)

	for range 3 {
		w := ask(e, "GET", "/")
		fmt.Println(w.Code, w.Header().Get("RateLimit-Policy"))
	}
	// Output:
	// 200 "minute";q=2;w=60
	// 200 "minute";q=2;w=60
	// 429 "minute";q=2;w=60
}

// One limiter on a group, and a route beside it that is not limited.
func ExampleNew() {
	limiter := core.MustNew(core.Config{Rules: []core.Rule{core.By(keyfuncs.IP, core.PerMinute(1))}})
	e := echo.New()
	e.GET("/health", hello)
	e.Group("/api", echomw.New(limiter)).GET("/items/:id", hello)

	for _, path := range []string{"/api/items/1", "/api/items/2", "/health", "/health"} {
		fmt.Println(path, ask(e, "GET", path).Code)
	}
	// Output:
	// /api/items/1 200
	// /api/items/2 429
	// /health 200
	// /health 200
}

// A denial in the application's own words. The header fields are set already.
func ExampleOnDenied() {
	limiter := core.MustNew(core.Config{Rules: []core.Rule{core.By(keyfuncs.IP, core.PerHour(1).Exact())}})
	e := echo.New()
	e.Use(echomw.New(limiter, echomw.OnDenied(func(c echo.Context, d core.Decision) error {
		return c.JSON(http.StatusTooManyRequests, echo.Map{"error": "slow down", "limits": d.Problem().Violated})
	})))
	e.GET("/", hello)

	for range 2 {
		w := ask(e, "GET", "/")
		fmt.Printf("%d %s %q\n", w.Code, strings.TrimSpace(w.Body.String()), w.Header().Get("Retry-After"))
	}
	// Output:
	// 200 hello ""
	// 429 {"error":"slow down","limits":["hour"]} "3600"
}

// A key from what only Echo's context has: here, a parameter of the route.
func ExampleKey() {
	byTenant := echomw.Key(func(c echo.Context) (string, error) { return c.Param("tenant"), nil })
	e := echo.New()
	e.GET("/:tenant/files", hello, echomw.Limit(core.By(byTenant, core.PerMinute(1))))

	for _, path := range []string{"/red/files", "/red/files", "/blue/files"} {
		fmt.Println(path, ask(e, "GET", path).Code)
	}
	// Output:
	// /red/files 200
	// /red/files 429
	// /blue/files 200
}

// Only failed logins count.
func ExampleRefundIf() {
	limiter := core.MustNew(core.Config{Rules: []core.Rule{core.By(keyfuncs.IP, core.PerMinute(1))}})
	failed := echomw.RefundIf(func(status int) bool { return status < 400 })
	e := echo.New()
	e.POST("/login", func(c echo.Context) error {
		if c.QueryParam("password") != "lovelace" {
			return echo.ErrUnauthorized
		}
		return c.NoContent(http.StatusOK)
	}, echomw.New(limiter, failed))

	for _, password := range []string{"lovelace", "lovelace", "guess", "lovelace"} {
		fmt.Println(password, ask(e, "POST", "/login?password="+password).Code)
	}
	// Output:
	// lovelace 200
	// lovelace 200
	// guess 401
	// lovelace 429
}

// The handler tells what is left.
func ExampleDecisionFrom() {
	limiter := core.MustNew(core.Config{Rules: []core.Rule{core.By(keyfuncs.IP, core.PerMinute(10), core.PerDay(500))}})
	e := echo.New()
	e.Use(echomw.New(limiter, echomw.ExposeDecision()))
	e.GET("/quota", func(c echo.Context) error {
		d, _ := echomw.DecisionFrom(c)
		for _, limit := range d.States() {
			fmt.Println(limit.Limit.Name(), limit.Remaining)
		}
		return nil
	})

	ask(e, "GET", "/quota")
	// Output:
	// minute 9
	// day 499
}
