package fibermw_test

import (
	"net/http"
	"testing"

	"github.com/gofiber/fiber/v2"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/fibermw"
	"github.com/slidegate/slidegate/keyfuncs"
)

func TestOneLimiterOnSeveralLevelsCountsARequestOnce(t *testing.T) {
	for phrase, mount := range map[string]func(a *fiber.App, limit fiber.Handler){
		"application and group": func(a *fiber.App, limit fiber.Handler) {
			a.Use(limit)
			onGroup(a, limit)
		},
		"group and route": func(a *fiber.App, limit fiber.Handler) {
			a.Group("/api", limit).Get("/items/:id", limit, new(counter).handle)
		},
		"application and mounted application": func(a *fiber.App, limit fiber.Handler) {
			a.Use(limit)
			onMount(a, limit)
		},
		"a request that is handed back to the router": func(a *fiber.App, limit fiber.Handler) {
			a.Use(limit)
			a.Get("/new", new(counter).handle)
			a.Get(item, func(c *fiber.Ctx) error {
				c.Path("/new")
				return c.RestartRouting()
			})
		},
	} {
		t.Run(phrase, func(t *testing.T) {
			l := limiter(core.PerMinute(2))
			a := fiber.New()
			mount(a, fibermw.New(l))
			for _, want := range []int{200, 200, 429} {
				wantStatus(t, get(t, a, "/api/items/1"), want)
			}
		})
	}
}

// A connection that is kept alive has one context of fasthttp for all its
// requests, whose values must not outlive a request.
func TestEachRequestOfAConnectionCounts(t *testing.T) {
	addr := start(t, app(plain(), new(counter).handle, fibermw.New(limiter(core.PerMinute(3)))))
	client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}}
	defer client.CloseIdleConnections()
	for _, want := range []int{200, 200, 200, 429} {
		res, err := client.Get("http://" + addr)
		if err != nil {
			t.Fatal(err)
		}
		wantStatus(t, read(t, res), want)
	}
}

// Two middlewares of one limiter are one limiter still, and the outer one's
// options hold.
func TestOfTwoMiddlewaresOfOneLimiterTheOuterAnswers(t *testing.T) {
	l := limiter(core.PerMinute(1))
	says := func(text string) fiber.Handler {
		return fibermw.New(l, fibermw.OnDenied(func(c *fiber.Ctx, _ core.Decision) error {
			return c.Status(http.StatusTooManyRequests).SendString(text)
		}))
	}
	a := app(plain(), new(counter).handle, says("outer"), says("inner"))
	wantStatus(t, get(t, a, "/"), 200)
	r := get(t, a, "/")
	wantStatus(t, r, 429)
	wantBody(t, r, "outer")
}

// bare is an application of one route below middleware whose context of fasthttp
// can be used again.
func bare(middleware ...fiber.Handler) *fiber.App {
	again := func(c *fiber.Ctx) error {
		c.Response().Reset()
		c.Context().ResetUserValues()
		return c.Next()
	}
	return app(plain(), func(*fiber.Ctx) error { return nil }, append([]fiber.Handler{again}, middleware...)...)
}

// into returns a function that serves one request again and again, without a
// connection.
func into[Context any](serve func(*Context)) func() {
	c := new(Context)
	return func() { serve(c) }
}

// plenty is a limiter that admits all, with or without header fields. It serves
// as many requests as the doctor looks at.
func plenty(headers core.HeaderFormat, key core.KeyFunc) fiber.Handler {
	limit := fibermw.New(core.MustNew(core.Config{
		Rules: []core.Rule{core.By(key, core.PerMinute(core.MaxQuota))}, Headers: headers,
		Doctor: core.Doctor{Off: []core.Finding{core.SG103, core.SG107}},
	}))
	serve := into(bare(limit).Handler())
	for range 1100 {
		serve()
	}
	return limit
}

func TestAllocationsOfAnAllowedRequest(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector allocates")
	}
	silent, fields := plenty(core.HeadersNone, keyfuncs.Global), plenty(core.HeadersDraft11, keyfuncs.Global)
	without := testing.AllocsPerRun(200, into(bare().Handler()))
	for _, tc := range []struct {
		phrase     string
		middleware []fiber.Handler
		most       float64
	}{
		{"a limiter without header fields", []fiber.Handler{silent}, 0},
		{"a limiter", []fiber.Handler{fields}, 1},
		{"one limiter twice", []fiber.Handler{fields, fields}, 1},
		{"a limiter by address", []fiber.Handler{plenty(core.HeadersDraft11, keyfuncs.IP)}, 2},
	} {
		serve := into(bare(tc.middleware...).Handler())
		if got := testing.AllocsPerRun(200, serve) - without; got > tc.most {
			t.Errorf("%s: %v allocations a request more than without, want at most %v", tc.phrase, got, tc.most)
		}
	}
}
