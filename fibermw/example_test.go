package fibermw_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/gofiber/fiber/v2"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/fibermw"
	"github.com/slidegate/slidegate/keyfuncs"
)

func hello(c *fiber.Ctx) error { return c.SendString("hello") }

// ask sends a request and returns the response and its body.
func ask(app *fiber.App, method, target string) (*http.Response, string) {
	response, err := app.Test(httptest.NewRequest(method, target, nil))
	if err != nil {
		panic(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, _ := io.ReadAll(response.Body)
	return response, string(body)
}

// Two requests a minute from each address.
func ExampleLimit() {
	app := fiber.New()
	app.Use(fibermw.Limit(core.By(keyfuncs.IP, core.PerMinute(2))))
	app.Get("/", hello)

	for range 3 {
		response, _ := ask(app, "GET", "/")
		fmt.Println(response.StatusCode, response.Header.Get("RateLimit-Policy"))
	}
	// Output:
	// 200 "minute";q=2;w=60
	// 200 "minute";q=2;w=60
	// 429 "minute";q=2;w=60
}

// One limiter on a group, and a route beside it that is not limited.
func ExampleNew() {
	limiter := core.MustNew(core.Config{Rules: []core.Rule{core.By(keyfuncs.IP, core.PerMinute(1))}})
	app := fiber.New()
	app.Get("/health", hello)
	app.Group("/api", fibermw.New(limiter)).Get("/items/:id", hello)

	for _, path := range []string{"/api/items/1", "/api/items/2", "/health", "/health"} {
		response, _ := ask(app, "GET", path)
		fmt.Println(path, response.StatusCode)
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
	app := fiber.New()
	app.Use(fibermw.New(limiter, fibermw.OnDenied(func(c *fiber.Ctx, d core.Decision) error {
		return c.Status(fiber.StatusTooManyRequests).JSON(fiber.Map{"error": "slow down", "limits": d.Problem().Violated})
	})))
	app.Get("/", hello)

	for range 2 {
		response, body := ask(app, "GET", "/")
		fmt.Printf("%d %s %q\n", response.StatusCode, body, response.Header.Get("Retry-After"))
	}
	// Output:
	// 200 hello ""
	// 429 {"error":"slow down","limits":["hour"]} "3600"
}

// A key from what only Fiber's context has: here, a parameter of the route.
func ExampleKey() {
	byTenant := fibermw.Key(func(c *fiber.Ctx) (string, error) { return c.Params("tenant"), nil })
	app := fiber.New()
	app.Get("/:tenant/files", fibermw.Limit(core.By(byTenant, core.PerMinute(1))), hello)

	for _, path := range []string{"/red/files", "/red/files", "/blue/files"} {
		response, _ := ask(app, "GET", path)
		fmt.Println(path, response.StatusCode)
	}
	// Output:
	// /red/files 200
	// /red/files 429
	// /blue/files 200
}

// Only failed logins count.
func ExampleRefundIf() {
	limiter := core.MustNew(core.Config{Rules: []core.Rule{core.By(keyfuncs.IP, core.PerMinute(1))}})
	failed := fibermw.RefundIf(func(status int) bool { return status < 400 })
	app := fiber.New()
	app.Post("/login", fibermw.New(limiter, failed), func(c *fiber.Ctx) error {
		if c.Query("password") != "lovelace" {
			return fiber.ErrUnauthorized
		}
		return c.SendStatus(fiber.StatusOK)
	})

	for _, password := range []string{"lovelace", "lovelace", "guess", "lovelace"} {
		response, _ := ask(app, "POST", "/login?password="+password)
		fmt.Println(password, response.StatusCode)
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
	app := fiber.New()
	app.Use(fibermw.New(limiter, fibermw.ExposeDecision()))
	app.Get("/quota", func(c *fiber.Ctx) error {
		d, _ := fibermw.DecisionFrom(c)
		for _, limit := range d.States() {
			fmt.Println(limit.Limit.Name(), limit.Remaining)
		}
		return nil
	})

	ask(app, "GET", "/quota")
	// Output:
	// minute 9
	// day 499
}
