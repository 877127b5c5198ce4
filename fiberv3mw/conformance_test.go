package fiberv3mw_test

import (
	"bufio"
	"net"
	"testing"

	"github.com/gofiber/fiber/v3"
	"github.com/gofiber/fiber/v3/middleware/recover"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/fiberv3mw"
	"github.com/slidegate/slidegate/internal/conformance"
)

func TestConformance(t *testing.T) {
	conformance.Run(t, conformance.Adapter{
		Serve: serveFiber,
		New:   func(l *core.Limiter) { fiberv3mw.New(l) },
		Limit: func(rules ...core.Rule) { fiberv3mw.Limit(rules...) },
		NativeKey: fiberv3mw.Key(func(c fiber.Ctx) (string, error) {
			return c.Get("X-Client"), nil
		}),
		NilFunctions: map[string]func(){
			"Key":      func() { fiberv3mw.Key(nil) },
			"OnDenied": func() { fiberv3mw.OnDenied(nil) },
			"OnError":  func() { fiberv3mw.OnError(nil) },
			"RefundIf": func() { fiberv3mw.RefundIf(nil) },
		},
		UserKey:   "user",
		ItemRoute: "/api/items/:id",
		Spellings: []string{"/login", "/login/", "/LOGIN", "/login?next=/"},
	})
}

func serveFiber(tb testing.TB, ln net.Listener, s conformance.Setup) {
	app := fiberApp(s)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = app.Listener(ln, fiber.ListenConfig{DisableStartupMessage: true})
	}()
	tb.Cleanup(func() { // the clients have closed their connections; Shutdown would poll for that
		_ = ln.Close()
		<-done
	})
}

func fiberApp(s conformance.Setup) *fiber.App {
	app := fiber.New(fiber.Config{ReadBufferSize: 16 << 10})
	app.Use(recover.New(), fiberFront(s))
	for _, l := range fiberLimits(s.App, s) {
		app.Use(l)
	}
	route := func(r fiber.Router, path string, limiters []*core.Limiter, handle fiber.Handler) {
		handlers := append(fiberLimits(limiters, s), handle)
		var rest []any
		for _, h := range handlers[1:] {
			rest = append(rest, h)
		}
		r.All(path, handlers[0], rest...)
	}
	handle := func(c fiber.Ctx) error { return fiberReply(c, s.Handle(fiberCall(c))) }
	route(app, "/open", nil, handle)
	route(app, "/login", s.Route, handle)
	api := app.Group("/api")
	for _, l := range fiberLimits(s.Group, s) {
		api.Use(l)
	}
	route(api, "/hello", nil, handle)
	route(api, "/items/:id", s.Route, handle)
	return app
}

func fiberLimits(limiters []*core.Limiter, s conformance.Setup) []fiber.Handler {
	var options []fiberv3mw.Option
	if s.OnDenied != nil {
		options = append(options, fiberv3mw.OnDenied(func(c fiber.Ctx, d core.Decision) error {
			return fiberReply(c, s.OnDenied(d, func(name string) string { return c.GetRespHeader(name) }))
		}))
	}
	if s.OnError != nil {
		options = append(options, fiberv3mw.OnError(func(c fiber.Ctx, err error) error { return fiberReply(c, s.OnError(err)) }))
	}
	if s.ExposeDecision {
		options = append(options, fiberv3mw.ExposeDecision())
	}
	if s.RefundIf != nil {
		options = append(options, fiberv3mw.RefundIf(s.RefundIf))
	}
	var limits []fiber.Handler
	for _, l := range limiters {
		limits = append(limits, fiberv3mw.New(l, options...))
	}
	return limits
}

func fiberFront(s conformance.Setup) fiber.Handler {
	return func(c fiber.Ctx) error {
		for _, field := range s.Preset {
			c.Set(field[0], field[1])
		}
		if s.Authenticate != nil {
			user, ok := s.Authenticate(func(name string) string { return c.Get(name) })
			if !ok {
				return fiber.ErrUnauthorized
			}
			c.Locals("user", user)
		}
		return c.Next()
	}
}

func fiberCall(c fiber.Ctx) conformance.Call {
	return conformance.Call{
		Header:   func(name string) string { return c.Get(name) },
		Decision: func() (core.Decision, bool) { return fiberv3mw.DecisionFrom(c) },
	}
}

func fiberReply(c fiber.Ctx, r conformance.Reply) error {
	if r.Fails {
		return fiber.NewError(r.Status)
	}
	for _, field := range r.Header {
		c.Set(field[0], field[1])
	}
	c.Status(max(r.Status, fiber.StatusOK))
	if r.Stream == nil {
		return c.SendString(r.Body)
	}
	c.RequestCtx().SetBodyStreamWriter(func(w *bufio.Writer) {
		r.Stream(func(text string) error {
			if _, err := w.WriteString(text); err != nil {
				return err
			}
			return w.Flush()
		})
	})
	return nil
}
