package ginmw_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/ginmw"
)

func boom(*gin.Context) { panic("a handler that panics on purpose") }

// recovered are the orders in which recovery and a limiter can stand.
var recovered = map[string]func(limit gin.HandlerFunc) []gin.HandlerFunc{
	"recovery in front of the limiter": func(limit gin.HandlerFunc) []gin.HandlerFunc { return []gin.HandlerFunc{recovery(), limit} },
	"recovery behind the limiter":      func(limit gin.HandlerFunc) []gin.HandlerFunc { return []gin.HandlerFunc{limit, recovery()} },
}

func TestAPanicIsChargedAndKeepsTheBudgetOnTheResponse(t *testing.T) {
	for phrase, order := range recovered {
		t.Run(phrase, func(t *testing.T) {
			l := limiter(core.PerMinute(1))
			h := app(boom, order(ginmw.New(l))...)
			w := get(h, "/")
			wantStatus(t, w, 500)
			wantField(t, w.Header(), "RateLimit", `"minute";r=0;t=120`)
			wantStatus(t, get(h, "/"), 429)
		})
	}
}

func TestRefundIfIsToldOfPanics(t *testing.T) {
	for _, tc := range []struct {
		phrase string
		handle gin.HandlerFunc
		want   int
	}{
		{"before anything is written", boom, 500},
		{"after a status that is not sent yet", func(c *gin.Context) { c.Status(http.StatusCreated); boom(c) }, 500},
		{"after a status that is sent", func(c *gin.Context) { c.String(http.StatusCreated, "made"); boom(c) }, 201},
	} {
		for order, with := range recovered {
			t.Run(tc.phrase+", "+order, func(t *testing.T) {
				told, statuses := told()
				get(app(tc.handle, with(ginmw.New(limiter(core.PerMinute(9)), told))...), "/")
				wantTold(t, tc.phrase, statuses, tc.want)
			})
		}
	}
}

func TestAPanicIsRefundedWhereRefundIfSaysSo(t *testing.T) {
	for phrase, order := range recovered {
		t.Run(phrase, func(t *testing.T) {
			l := limiter(core.PerMinute(1))
			h := app(boom, order(ginmw.New(l, ginmw.RefundIf(func(status int) bool { return status >= 500 })))...)
			for range 3 {
				wantStatus(t, get(h, "/"), 500)
				wantRemaining(t, l, 1)
			}
		})
	}
}

func TestAPanicGoesOnToTheServerWithoutRecovery(t *testing.T) {
	cause := errors.New("a cause")
	handle := func(*gin.Context) { panic(cause) }
	h := app(handle, ginmw.New(limiter(core.PerMinute(9)), ginmw.RefundIf(func(int) bool { return true })))
	if got := panicOf(func() { get(h, "/") }); got != cause {
		t.Errorf("the server gets the panic %v, want %v", got, cause)
	}
}

func TestOnDeniedAndKeyFunctionsThatPanicChargeNothing(t *testing.T) {
	l := by(ginmw.Key(func(c *gin.Context) (string, error) {
		if c.Query("panic") != "" {
			panic("a key function that panics on purpose")
		}
		return "192.0.2.1", nil
	}), core.PerMinute(1))
	h := app(new(counter).handle, recovery(), ginmw.New(l, ginmw.OnDenied(func(c *gin.Context, _ core.Decision) { boom(c) })))
	wantStatus(t, get(h, "/?panic=yes"), 500)
	wantRemaining(t, l, 1)
	wantStatus(t, get(h, "/"), 200)
	w := get(h, "/")
	wantStatus(t, w, 500)
	wantField(t, w.Header(), "Retry-After", "120")
	wantRemaining(t, l, 0)
}
