package conformance_test

import (
	"net"
	"net/http"
	"testing"

	"github.com/labstack/echo/v4"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/echomw"
	"github.com/slidegate/slidegate/internal/conformance"
)

func TestEcho(t *testing.T) {
	item := "/api/items/:id"
	conformance.Run(t, conformance.Adapter{
		Serve: func(tb testing.TB, ln net.Listener, s conformance.Setup) {
			conformance.ServeHTTP(tb, ln, echoApp(s))
		},
		New:   func(l *core.Limiter) { echomw.New(l) },
		Limit: func(rules ...core.Rule) { echomw.Limit(rules...) },
		NativeKey: echomw.Key(func(c echo.Context) (string, error) {
			return c.Request().Header.Get("X-Client"), nil
		}),
		NilFunctions: map[string]func(){
			"Key":      func() { echomw.Key(nil) },
			"OnDenied": func() { echomw.OnDenied(nil) },
			"OnError":  func() { echomw.OnError(nil) },
			"RefundIf": func() { echomw.RefundIf(nil) },
		},
		UserKey:  "user",
		AppRoute: item, GroupRoute: item, ItemRoute: item,
		Spellings: []string{"/login", "/login?", "/login?next=/"}, // Echo matches the path as it was sent
	})
}

func echoApp(s conformance.Setup) http.Handler {
	app := echo.New()
	app.Use(echoFront(s))
	app.Use(echoLimits(s.App, s)...)
	handle := func(c echo.Context) error { return echoReply(c, s.Handle(echoCall(c))) }
	app.Any("/open", handle)
	app.Any("/login", handle, echoLimits(s.Route, s)...)
	api := app.Group("/api", echoLimits(s.Group, s)...)
	api.Any("/hello", handle)
	api.Any("/items/:id", handle, echoLimits(s.Route, s)...)
	return app
}

func echoLimits(limiters []*core.Limiter, s conformance.Setup) []echo.MiddlewareFunc {
	var options []echomw.Option
	if s.OnDenied != nil {
		options = append(options, echomw.OnDenied(func(c echo.Context, d core.Decision) error {
			return echoReply(c, s.OnDenied(d, c.Response().Header().Get))
		}))
	}
	if s.OnError != nil {
		options = append(options, echomw.OnError(func(c echo.Context, err error) error { return echoReply(c, s.OnError(err)) }))
	}
	if s.ExposeDecision {
		options = append(options, echomw.ExposeDecision())
	}
	if s.RefundIf != nil {
		options = append(options, echomw.RefundIf(s.RefundIf))
	}
	var limits []echo.MiddlewareFunc
	for _, l := range limiters {
		limits = append(limits, echomw.New(l, options...))
	}
	return limits
}

func echoFront(s conformance.Setup) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			for _, field := range s.Preset {
				c.Response().Header().Add(field[0], field[1])
			}
			if s.Authenticate != nil {
				user, ok := s.Authenticate(c.Request().Header.Get)
				if !ok {
					return echo.ErrUnauthorized
				}
				c.Set("user", user)
			}
			return next(c)
		}
	}
}

func echoCall(c echo.Context) conformance.Call {
	return conformance.Call{
		Header:   c.Request().Header.Get,
		Decision: func() (core.Decision, bool) { return echomw.DecisionFrom(c) },
	}
}

func echoReply(c echo.Context, r conformance.Reply) error {
	if r.Fails {
		return echo.NewHTTPError(r.Status)
	}
	conformance.WriteReply(c.Response(), r)
	return nil
}
