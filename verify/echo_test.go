package verify_test

import (
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/echomw"
	"github.com/slidegate/slidegate/keyfuncs"
)

// echoMiddleware is middleware that comes with Echo, of the kinds that change the
// response, the error or the chain.
func echoMiddleware() map[string]echo.MiddlewareFunc {
	return map[string]echo.MiddlewareFunc{
		"Recover": middleware.Recover(),
		"CORS":    middleware.CORSWithConfig(middleware.CORSConfig{ExposeHeaders: []string{core.ExposedHeaders}}),
		"Gzip":    middleware.Gzip(),
		//lint:ignore SA1019 applications still have it, and it replaces the response's writer
		"Timeout":        middleware.TimeoutWithConfig(middleware.TimeoutConfig{Timeout: time.Minute}),
		"ContextTimeout": middleware.ContextTimeout(time.Minute),
		"BodyDump":       middleware.BodyDump(func(echo.Context, []byte, []byte) {}),
		"BodyLimit":      middleware.BodyLimit("1K"),
		"Secure":         middleware.Secure(),
		"RequestID":      middleware.RequestID(),
		"RequestLogger": middleware.RequestLoggerWithConfig(middleware.RequestLoggerConfig{
			HandleError: true, LogValuesFunc: func(echo.Context, middleware.RequestLoggerValues) error { return nil },
		}),
	}
}

var errWrongPassword = errors.New("wrong password")

func TestEchosOwnMiddlewareLeavesALimiterAsItIs(t *testing.T) {
	for name, other := range echoMiddleware() {
		for order, chain := range map[string]func(limit echo.MiddlewareFunc) []echo.MiddlewareFunc{
			"in front of the limiter": func(limit echo.MiddlewareFunc) []echo.MiddlewareFunc { return []echo.MiddlewareFunc{other, limit} },
			"behind the limiter":      func(limit echo.MiddlewareFunc) []echo.MiddlewareFunc { return []echo.MiddlewareFunc{limit, other} },
		} {
			for _, own := range []bool{false, true} {
				t.Run(name+" "+order, func(t *testing.T) { throughEcho(t, own, chain) })
			}
		}
	}
}

// throughEcho sends three requests through a chain with a limit of two: one that
// makes something, one that fails, and one too many.
func throughEcho(t *testing.T, ownHandler bool, chain func(echo.MiddlewareFunc) []echo.MiddlewareFunc) {
	var statuses []int
	e := echo.New()
	if ownHandler {
		e.HTTPErrorHandler = func(err error, c echo.Context) {
			if errors.Is(err, errWrongPassword) {
				err = echo.ErrUnauthorized
			}
			e.DefaultHTTPErrorHandler(err, c)
		}
	}
	e.Use(chain(echomw.New(quietLimiter(core.PerMinute(2).Exact()), echomw.RefundIf(func(status int) bool {
		statuses = append(statuses, status)
		return false
	})))...)
	e.GET("/", func(c echo.Context) error {
		if c.QueryParam("password") == "" {
			return c.String(http.StatusCreated, "made")
		}
		if ownHandler {
			return errWrongPassword
		}
		return echo.ErrUnauthorized
	})
	for _, visit := range []struct {
		target string
		want   int
	}{{"/", 201}, {"/?password=guess", 401}, {"/", 429}} {
		w := httptest.NewRecorder()
		e.ServeHTTP(w, httptest.NewRequest(http.MethodGet, visit.target, nil))
		if w.Code != visit.want || w.Header().Get("RateLimit") == "" {
			t.Errorf("%s: status %d with RateLimit %q, want %d with a budget", visit.target, w.Code, w.Header().Get("RateLimit"), visit.want)
		}
	}
	if want := []int{201, 401}; !slices.Equal(statuses, want) { // the denied request is none of its business
		t.Errorf("RefundIf is told %v, want %v", statuses, want)
	}
}

// quietLimiter limits by address and says nothing of odd set-ups.
func quietLimiter(limits ...core.Limit) *core.Limiter {
	return core.MustNew(core.Config{
		Rules:  []core.Rule{core.By(keyfuncs.IP, limits...)},
		Doctor: core.Doctor{Logger: slog.New(slog.DiscardHandler)},
	})
}
