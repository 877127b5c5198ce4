package conformance_test

import (
	"bufio"
	"net"
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/recover"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/fibermw"
	"github.com/slidegate/slidegate/internal/conformance"
)

func TestFiber(t *testing.T) {
	conformance.Run(t, conformance.Adapter{
		Serve: serveFiber,
		New:   func(l *core.Limiter) { fibermw.New(l) },
		Limit: func(rules ...core.Rule) { fibermw.Limit(rules...) },
		NativeKey: fibermw.Key(func(c *fiber.Ctx) (string, error) {
			return c.Get("X-Client"), nil
		}),
		NilFunctions: map[string]func(){
			"Key":      func() { fibermw.Key(nil) },
			"OnDenied": func() { fibermw.OnDenied(nil) },
			"OnError":  func() { fibermw.OnError(nil) },
			"RefundIf": func() { fibermw.RefundIf(nil) },
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
		_ = app.Listener(ln)
	}()
	tb.Cleanup(func() { // the clients have closed their connections; Shutdown would poll for that
		_ = ln.Close()
		<-done
	})
}

func fiberApp(s conformance.Setup) *fiber.App {
	app := fiber.New(fiber.Config{DisableStartupMessage: true})
	app.Use(recover.New(), fiberFront(s))
	for _, l := range fiberLimits(s.App, s) {
		app.Use(l)
	}
	handle := func(c *fiber.Ctx) error { return fiberReply(c, s.Handle(fiberCall(c))) }
	app.All("/open", handle)
	app.All("/login", append(fiberLimits(s.Route, s), handle)...)
	api := app.Group("/api", fiberLimits(s.Group, s)...)
	api.All("/hello", handle)
	api.All("/items/:id", append(fiberLimits(s.Route, s), handle)...)
	return app
}

func fiberLimits(limiters []*core.Limiter, s conformance.Setup) []fiber.Handler {
	var options []fibermw.Option
	if s.OnDenied != nil {
		options = append(options, fibermw.OnDenied(func(c *fiber.Ctx, d core.Decision) error {
			return fiberReply(c, s.OnDenied(d, func(name string) string { return c.GetRespHeader(name) }))
		}))
	}
	if s.OnError != nil {
		options = append(options, fibermw.OnError(func(c *fiber.Ctx, err error) error { return fiberReply(c, s.OnError(err)) }))
	}
	if s.ExposeDecision {
		options = append(options, fibermw.ExposeDecision())
	}
	if s.RefundIf != nil {
		options = append(options, fibermw.RefundIf(s.RefundIf))
	}
	var limits []fiber.Handler
	for _, l := range limiters {
		limits = append(limits, fibermw.New(l, options...))
	}
	return limits
}

func fiberFront(s conformance.Setup) fiber.Handler {
	return func(c *fiber.Ctx) error {
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

func fiberCall(c *fiber.Ctx) conformance.Call {
	return conformance.Call{
		Header:   func(name string) string { return c.Get(name) },
		Decision: func() (core.Decision, bool) { return fibermw.DecisionFrom(c) },
	}
}

func fiberReply(c *fiber.Ctx, r conformance.Reply) error {
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
	c.Context().SetBodyStreamWriter(func(w *bufio.Writer) {
		r.Stream(func(text string) error {
			if _, err := w.WriteString(text); err != nil {
				return err
			}
			return w.Flush()
		})
	})
	return nil
}
