package fiberv3mw_test

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v3"
	"github.com/gofiber/fiber/v3/middleware/recover"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/fiberv3mw"
	"github.com/slidegate/slidegate/keyfuncs"
)

// limiter limits all requests on a clock that stands still, and keeps quiet what
// the doctor finds of set-ups that are odd on purpose.
func limiter(limits ...core.Limit) *core.Limiter {
	return core.MustNew(core.Config{
		Rules:  []core.Rule{core.By(keyfuncs.Global, limits...)},
		Now:    func() time.Time { return time.Unix(1_799_971_200, 0) },
		Doctor: core.Doctor{Logger: slog.New(slog.DiscardHandler)},
	})
}

func app(c fiber.Config, handle fiber.Handler, middleware ...fiber.Handler) *fiber.App {
	a := fiber.New(c)
	for _, m := range middleware {
		a.Use(m)
	}
	a.Get("/", handle)
	return a
}

func ok(c fiber.Ctx) error { return c.SendString("ok") }

// A reply is a response that was read.
type reply struct {
	status int
	header http.Header
	body   string
}

func get(t *testing.T, a *fiber.App, target string) reply {
	t.Helper()
	res, err := a.Test(httptest.NewRequest(http.MethodGet, target, nil), fiber.TestConfig{Timeout: 0})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{res.StatusCode, res.Header, string(body)}
}

func wantStatus(t *testing.T, r reply, want int) {
	t.Helper()
	if r.status != want {
		t.Errorf("status %d with %q, want %d", r.status, r.body, want)
	}
}

func wantField(t *testing.T, h http.Header, name, want string) {
	t.Helper()
	if got := strings.Join(h.Values(name), " | "); got != want {
		t.Errorf("%s is %q, want %q", name, got, want)
	}
}

// told is an option that refunds nothing, and the statuses that it is told.
func told() (fiberv3mw.Option, chan int) {
	statuses := make(chan int, 8)
	return fiberv3mw.RefundIf(func(status int) bool {
		statuses <- status
		return false
	}), statuses
}

func wantTold(t *testing.T, phrase string, statuses chan int, want int) {
	t.Helper()
	if len(statuses) != 1 {
		t.Errorf("%s: RefundIf is told %d statuses, want one", phrase, len(statuses))
	} else if got := <-statuses; got != want {
		t.Errorf("%s: RefundIf is told %d, want %d", phrase, got, want)
	}
}

// A failure is an application's own error.
type failure struct{ status int }

func (f *failure) Error() string { return "failure" }

// problems is an application's own error handler.
func problems(c fiber.Ctx, err error) error {
	status := fiber.StatusInternalServerError
	var fibers *fiber.Error
	var mine *failure
	switch {
	case errors.As(err, &mine):
		status = mine.status
	case errors.As(err, &fibers):
		status = fibers.Code
	}
	return c.Status(status).SendString("application")
}

func TestAnErrorHandlerOfOnesOwnGetsDenialsWithTheFieldsSet(t *testing.T) {
	var got error
	own := fiber.Config{ErrorHandler: func(c fiber.Ctx, err error) error {
		got = err
		if field := c.GetRespHeader("RateLimit"); field != `"minute";r=0;t=120` {
			t.Errorf("the error handler finds RateLimit %q", field)
		}
		return problems(c, err)
	}}
	a := app(own, ok, fiberv3mw.New(limiter(core.PerMinute(1))))
	wantStatus(t, get(t, a, "/"), 200)
	r := get(t, a, "/")
	wantStatus(t, r, 429)
	wantField(t, r.header, "Retry-After", "120")
	var fe *fiber.Error
	if !errors.As(got, &fe) || fe.Code != 429 || fe.Message != "Try again in 120 seconds." {
		t.Errorf("the error handler gets %#v, want a fiber.Error of status 429 with the wait", got)
	}
}

// Fiber's own handler would make plain text of the error.
func TestUnderFibersOwnErrorHandlerTheBodyIsAProblem(t *testing.T) {
	for phrase, c := range map[string]fiber.Config{
		"as Fiber made it": {}, "set again": {ErrorHandler: fiber.DefaultErrorHandler},
	} {
		t.Run(phrase, func(t *testing.T) {
			r := get(t, app(c, ok, fiberv3mw.New(limiter(core.PerMinute(0)))), "/")
			wantStatus(t, r, 429)
			wantField(t, r.header, "Content-Type", core.ContentTypeProblem)
		})
	}
}

func TestWhatOnDeniedReturnsGoesToTheErrorHandler(t *testing.T) {
	denied := fiberv3mw.OnDenied(func(fiber.Ctx, core.Decision) error { return &failure{http.StatusServiceUnavailable} })
	a := app(fiber.Config{ErrorHandler: problems}, ok, fiberv3mw.New(limiter(core.PerMinute(0)), denied))
	wantStatus(t, get(t, a, "/"), 503)
}

func TestRefundIfIsToldWhatTheClientIsSent(t *testing.T) {
	for _, tc := range []struct {
		phrase string
		handle fiber.Handler
		want   int
	}{
		{"nothing at all", func(fiber.Ctx) error { return nil }, 200},
		{"a body", func(c fiber.Ctx) error { return c.Status(http.StatusCreated).SendString("made") }, 201},
		{"an error of Fiber's", func(fiber.Ctx) error { return fiber.ErrUnauthorized }, 401},
		{"an error of the application's", func(fiber.Ctx) error { return &failure{http.StatusForbidden} }, 403},
		{"a panic", func(fiber.Ctx) error { panic("a handler that panics on purpose") }, 500},
	} {
		for order, with := range map[string]func(limit fiber.Handler) []fiber.Handler{
			"recovery in front": func(limit fiber.Handler) []fiber.Handler { return []fiber.Handler{recover.New(), limit} },
			"recovery behind":   func(limit fiber.Handler) []fiber.Handler { return []fiber.Handler{limit, recover.New()} },
		} {
			told, statuses := told()
			a := app(fiber.Config{ErrorHandler: problems}, tc.handle, with(fiberv3mw.New(limiter(core.PerMinute(9)), told))...)
			wantStatus(t, get(t, a, "/"), tc.want)
			wantTold(t, tc.phrase+", "+order, statuses, tc.want)
		}
	}
}

func TestContextIsNilUnderAnotherAdapter(t *testing.T) {
	if got := fiberv3mw.Context(foreign{}); got != nil {
		t.Errorf("the context of another adapter's request is %v, want nil", got)
	}
}

// A foreign request is one of another adapter.
type foreign struct{ core.Request }

func (foreign) Native() any { return 7 }

// Two requests a minute from each address.
func ExampleLimit() {
	app := fiber.New()
	app.Use(fiberv3mw.Limit(core.By(keyfuncs.IP, core.PerMinute(2))))
	app.Get("/", func(c fiber.Ctx) error { return c.SendString("hello") })

	for range 3 {
		response, err := app.Test(httptest.NewRequest("GET", "/", nil))
		if err != nil {
			fmt.Println(err)
			return
		}
		_ = response.Body.Close()
		fmt.Println(response.StatusCode, response.Header.Get("RateLimit-Policy"))
	}
	// Output:
	// 200 "minute";q=2;w=60
	// 200 "minute";q=2;w=60
	// 429 "minute";q=2;w=60
}
