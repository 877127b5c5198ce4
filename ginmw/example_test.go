package ginmw_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/gin-gonic/gin"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/ginmw"
	"github.com/slidegate/slidegate/keyfuncs"
)

func hello(c *gin.Context) { c.String(http.StatusOK, "hello") }

// ask sends a request and returns the response.
func ask(h http.Handler, method, target string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, target, nil))
	return w
}

// Two requests a minute from each address.
func ExampleLimit() {
	r := gin.New()
	r.Use(ginmw.Limit(core.By(keyfuncs.IP, core.PerMinute(2))))
	r.GET("/", hello)

	for range 3 {
		w := ask(r, "GET", "/")
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
	r := gin.New()
	r.GET("/health", hello)
	r.Group("/api", ginmw.New(limiter)).GET("/items/:id", hello)

	for _, path := range []string{"/api/items/1", "/api/items/2", "/health", "/health"} {
		fmt.Println(path, ask(r, "GET", path).Code)
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
	r := gin.New()
	r.Use(ginmw.New(limiter, ginmw.OnDenied(func(c *gin.Context, d core.Decision) {
		c.JSON(http.StatusTooManyRequests, gin.H{"error": "slow down", "limits": d.Problem().Violated})
	})))
	r.GET("/", hello)

	for range 2 {
		w := ask(r, "GET", "/")
		fmt.Printf("%d %s %q\n", w.Code, w.Body, w.Header().Get("Retry-After"))
	}
	// Output:
	// 200 hello ""
	// 429 {"error":"slow down","limits":["hour"]} "3600"
}

// A key from what only Gin's context has: here, a parameter of the route.
func ExampleKey() {
	byTenant := ginmw.Key(func(c *gin.Context) (string, error) { return c.Param("tenant"), nil })
	r := gin.New()
	r.GET("/:tenant/files", ginmw.Limit(core.By(byTenant, core.PerMinute(1))), hello)

	for _, path := range []string{"/red/files", "/red/files", "/blue/files"} {
		fmt.Println(path, ask(r, "GET", path).Code)
	}
	// Output:
	// /red/files 200
	// /red/files 429
	// /blue/files 200
}

// Only failed logins count.
func ExampleRefundIf() {
	limiter := core.MustNew(core.Config{Rules: []core.Rule{core.By(keyfuncs.IP, core.PerMinute(1))}})
	failed := ginmw.RefundIf(func(status int) bool { return status < 400 })
	r := gin.New()
	r.POST("/login", ginmw.New(limiter, failed), func(c *gin.Context) {
		if c.Query("password") != "lovelace" {
			c.Status(http.StatusUnauthorized)
		}
	})

	for _, password := range []string{"lovelace", "lovelace", "guess", "lovelace"} {
		fmt.Println(password, ask(r, "POST", "/login?password="+password).Code)
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
	r := gin.New()
	r.Use(ginmw.New(limiter, ginmw.ExposeDecision()))
	r.GET("/quota", func(c *gin.Context) {
		d, _ := ginmw.DecisionFrom(c)
		for _, limit := range d.States() {
			fmt.Println(limit.Limit.Name(), limit.Remaining)
		}
	})

	ask(r, "GET", "/quota")
	// Output:
	// minute 9
	// day 499
}
