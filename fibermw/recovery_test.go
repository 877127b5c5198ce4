package fibermw_test

import (
	"net/http"
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/recover"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/fibermw"
)

func boom(*fiber.Ctx) error { panic("a handler that panics on purpose") }

// recovered are the orders in which recovery and a limiter can stand.
var recovered = map[string]func(limit fiber.Handler) []fiber.Handler{
	"recovery in front of the limiter": func(limit fiber.Handler) []fiber.Handler { return []fiber.Handler{recover.New(), limit} },
	"recovery behind the limiter":      func(limit fiber.Handler) []fiber.Handler { return []fiber.Handler{limit, recover.New()} },
}

func TestAPanicIsChargedAndKeepsTheBudgetOnTheResponse(t *testing.T) {
	for phrase, order := range recovered {
		t.Run(phrase, func(t *testing.T) {
			a := app(plain(), boom, order(fibermw.New(limiter(core.PerMinute(1))))...)
			r := get(t, a, "/")
			wantStatus(t, r, 500)
			wantField(t, r.header, "RateLimit", `"minute";r=0;t=120`)
			wantStatus(t, get(t, a, "/"), 429)
		})
	}
}

// Nothing is sent before a Fiber handler is through, so that what it wrote is lost
// with its panic.
func TestRefundIfIsToldOfPanics(t *testing.T) {
	for phrase, handle := range map[string]fiber.Handler{
		"before anything is written": boom,
		"after a status":             func(c *fiber.Ctx) error { c.Status(http.StatusCreated); return boom(c) },
		"after a body":               func(c *fiber.Ctx) error { _ = c.Status(http.StatusCreated).SendString("made"); return boom(c) },
	} {
		for order, with := range recovered {
			t.Run(phrase+", "+order, func(t *testing.T) {
				told, statuses := told()
				wantStatus(t, get(t, app(plain(), handle, with(fibermw.New(limiter(core.PerMinute(9)), told))...), "/"), 500)
				wantTold(t, phrase, statuses, 500)
			})
		}
	}
}

// In front, the limiter has settled when the panic becomes an error: it cannot
// know what status the error handler will choose.
func TestRefundIfIsTold500OfPanicsThatBecomeAnotherStatusInFront(t *testing.T) {
	own := fiber.Config{ErrorHandler: func(c *fiber.Ctx, _ error) error { return c.SendStatus(http.StatusServiceUnavailable) }}
	for phrase, want := range map[string]int{"recovery in front of the limiter": 500, "recovery behind the limiter": 503} {
		told, statuses := told()
		wantStatus(t, get(t, app(own, boom, recovered[phrase](fibermw.New(limiter(core.PerMinute(9)), told))...), "/"), 503)
		wantTold(t, phrase, statuses, want)
	}
}

func TestAPanicIsRefundedWhereRefundIfSaysSo(t *testing.T) {
	for phrase, order := range recovered {
		t.Run(phrase, func(t *testing.T) {
			l := limiter(core.PerMinute(1))
			a := app(plain(), boom, order(fibermw.New(l, fibermw.RefundIf(func(status int) bool { return status >= 500 })))...)
			for range 3 {
				wantStatus(t, get(t, a, "/"), 500)
				wantRemaining(t, l, 1)
			}
		})
	}
}

func TestOnDeniedAndKeyFunctionsThatPanicChargeNothing(t *testing.T) {
	l := by(fibermw.Key(func(c *fiber.Ctx) (string, error) {
		if c.Query("panic") != "" {
			panic("a key function that panics on purpose")
		}
		return "global", nil
	}), core.PerMinute(1))
	a := app(plain(), new(counter).handle, recover.New(),
		fibermw.New(l, fibermw.OnDenied(func(c *fiber.Ctx, _ core.Decision) error { return boom(c) })))
	wantStatus(t, get(t, a, "/?panic=yes"), 500)
	wantRemaining(t, l, 1)
	wantStatus(t, get(t, a, "/"), 200)
	r := get(t, a, "/")
	wantStatus(t, r, 500)
	wantField(t, r.header, "Retry-After", "120")
	wantRemaining(t, l, 0)
}
