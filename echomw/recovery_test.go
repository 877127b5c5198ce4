package echomw_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/labstack/echo/v4"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/echomw"
)

func boom(echo.Context) error { panic("a handler that panics on purpose") }

// recovered are the orders in which recovery and a limiter can stand.
var recovered = map[string]func(limit echo.MiddlewareFunc) []echo.MiddlewareFunc{
	"recovery in front of the limiter": func(limit echo.MiddlewareFunc) []echo.MiddlewareFunc {
		return []echo.MiddlewareFunc{recovery, limit}
	},
	"recovery behind the limiter": func(limit echo.MiddlewareFunc) []echo.MiddlewareFunc {
		return []echo.MiddlewareFunc{limit, recovery}
	},
}

func TestAPanicIsChargedAndKeepsTheBudgetOnTheResponse(t *testing.T) {
	for phrase, order := range recovered {
		t.Run(phrase, func(t *testing.T) {
			e := app(boom, order(echomw.New(limiter(core.PerMinute(1))))...)
			w := get(e, "/")
			wantStatus(t, w, 500)
			wantField(t, w.Header(), "RateLimit", `"minute";r=0;t=120`)
			wantStatus(t, get(e, "/"), 429)
		})
	}
}

func TestRefundIfIsToldOfPanics(t *testing.T) {
	for _, tc := range []struct {
		phrase string
		handle echo.HandlerFunc
		want   int
	}{
		{"before anything is written", boom, 500},
		{"after a status that is not sent yet", func(c echo.Context) error { c.Response().Status = http.StatusCreated; return boom(c) }, 500},
		{"after a status that is sent", func(c echo.Context) error { _ = c.String(http.StatusCreated, "made"); return boom(c) }, 201},
	} {
		for order, with := range recovered {
			t.Run(tc.phrase+", "+order, func(t *testing.T) {
				told, statuses := told()
				get(app(tc.handle, with(echomw.New(limiter(core.PerMinute(9)), told))...), "/")
				wantTold(t, tc.phrase, statuses, tc.want)
			})
		}
	}
}

// In front, the limiter has settled when the panic becomes an error: it cannot
// know what status the error handler will choose.
func TestRefundIfIsTold500OfPanicsThatBecomeAnotherStatusInFront(t *testing.T) {
	for phrase, want := range map[string]int{"recovery in front of the limiter": 500, "recovery behind the limiter": 503} {
		told, statuses := told()
		e := app(boom, recovered[phrase](echomw.New(limiter(core.PerMinute(9)), told))...)
		e.HTTPErrorHandler = func(_ error, c echo.Context) { _ = c.NoContent(http.StatusServiceUnavailable) }
		wantStatus(t, get(e, "/"), 503)
		wantTold(t, phrase, statuses, want)
	}
}

func TestAPanicIsRefundedWhereRefundIfSaysSo(t *testing.T) {
	for phrase, order := range recovered {
		t.Run(phrase, func(t *testing.T) {
			l := limiter(core.PerMinute(1))
			e := app(boom, order(echomw.New(l, echomw.RefundIf(func(status int) bool { return status >= 500 })))...)
			for range 3 {
				wantStatus(t, get(e, "/"), 500)
				wantRemaining(t, l, 1)
			}
		})
	}
}

func TestAPanicGoesOnToTheServerWithoutRecovery(t *testing.T) {
	cause := errors.New("a cause")
	handle := func(echo.Context) error { panic(cause) }
	e := app(handle, echomw.New(limiter(core.PerMinute(9)), echomw.RefundIf(func(int) bool { return true })))
	if got := panicOf(func() { get(e, "/") }); got != cause {
		t.Errorf("the server gets the panic %v, want %v", got, cause)
	}
}

func TestOnDeniedAndKeyFunctionsThatPanicChargeNothing(t *testing.T) {
	l := by(echomw.Key(func(c echo.Context) (string, error) {
		if c.QueryParam("panic") != "" {
			panic("a key function that panics on purpose")
		}
		return "192.0.2.1", nil
	}), core.PerMinute(1))
	e := app(new(counter).handle, recovery, echomw.New(l, echomw.OnDenied(func(c echo.Context, _ core.Decision) error { return boom(c) })))
	wantStatus(t, get(e, "/?panic=yes"), 500)
	wantRemaining(t, l, 1)
	wantStatus(t, get(e, "/"), 200)
	w := get(e, "/")
	wantStatus(t, w, 500)
	wantField(t, w.Header(), "Retry-After", "120")
	wantRemaining(t, l, 0)
}
