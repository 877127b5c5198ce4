// Package fibermw limits the requests of Fiber v2.
//
//	app.Use(fibermw.Limit(core.By(keyfuncs.IP, core.PerMinute(100))))
package fibermw

import (
	"fmt"
	"reflect"

	"github.com/gofiber/fiber/v2"

	"github.com/slidegate/slidegate/core"
)

// Limit returns middleware that limits requests by rules, with all else as a
// [core.Config] has it by default. It panics if the rules are not valid.
func Limit(rules ...core.Rule) fiber.Handler {
	return New(core.MustNew(core.Config{Rules: rules}))
}

// New returns middleware that limits requests by a limiter, on the whole
// application, a group or a route. Header fields are set before the next handler
// runs. What the functions of the options return goes to Fiber's error handler.
// A limiter that is mounted twice on the way of a request counts it once. New
// panics if the limiter is nil.
func New(limiter *core.Limiter, options ...Option) fiber.Handler {
	require(limiter != nil, "New needs a limiter; core.New makes one")
	c := &config{limiter: limiter, onError: failed}
	for _, option := range options {
		option(c)
	}
	return c.handle
}

// require panics where a router that is being built could never serve.
func require(ok bool, text string) {
	if !ok {
		panic("fibermw: " + text)
	}
}

// Key makes a key function of one that takes Fiber's context. It may return
// strings that Fiber lends: the limiter clones what it keeps.
func Key(f func(*fiber.Ctx) (string, error)) core.KeyFunc {
	require(f != nil, "Key needs a function")
	return func(r core.Request) (string, error) {
		native := Context(r)
		if native == nil {
			return "", fmt.Errorf("fibermw: Key needs the adapter fibermw; the request is a %T", r.Native())
		}
		return f(native)
	}
}

// Context returns Fiber's context behind a neutral request, or nil under another
// adapter.
func Context(r core.Request) *fiber.Ctx {
	native, _ := r.Native().(*fiber.Ctx)
	return native
}

// DecisionFrom returns the decision of the innermost limiter with
// [ExposeDecision] on the way of a request.
func DecisionFrom(c *fiber.Ctx) (core.Decision, bool) {
	return core.DecisionFrom(c.UserContext())
}

// An Option says how this adapter answers.
type Option func(*config)

type config struct {
	limiter  *core.Limiter
	onDenied func(*fiber.Ctx, core.Decision) error // or nil
	onError  func(*fiber.Ctx, error) error
	refundIf func(status int) bool
	expose   bool
}

// OnDenied answers denied requests in place of status 429 with a problem body,
// or a *fiber.Error where the application has an error handler of its own. The
// header fields are set already; the next handler does not run.
func OnDenied(f func(*fiber.Ctx, core.Decision) error) Option {
	require(f != nil, "OnDenied needs a function")
	return func(c *config) { c.onDenied = f }
}

// OnError answers requests that could not be decided on, in place of
// [core.ProblemOf]. The next handler does not run.
func OnError(f func(*fiber.Ctx, error) error) Option {
	require(f != nil, "OnError needs a function")
	return func(c *config) { c.onError = f }
}

// RefundIf takes the charge back after responses of which f says so: a login that
// counts only when it failed. A handler that returns an error counts as the
// status that Fiber's error handler gives it, which is asked at once for that;
// one that panics counts as status 500.
func RefundIf(f func(status int) bool) Option {
	require(f != nil, "RefundIf needs a function")
	return func(c *config) { c.refundIf = f }
}

// ExposeDecision puts the decision on allowed requests into their context, for
// [DecisionFrom], which costs a few allocations.
func ExposeDecision() Option {
	return func(c *config) { c.expose = true }
}

func (m *config) deny(c *fiber.Ctx, d *core.Decision) error {
	switch {
	case m.onDenied != nil:
		return m.onDenied(c, *d)
	case handlesErrors(c):
		return asError(d.Problem())
	}
	begin(c, core.StatusDenied)
	return d.WriteProblem(c.Response().BodyWriter())
}

func failed(c *fiber.Ctx, err error) error {
	c.Set(fiber.HeaderCacheControl, "no-store")
	p := core.ProblemOf(err)
	if handlesErrors(c) {
		return asError(p)
	}
	begin(c, p.Status)
	return c.Send(p.JSON())
}

// handlesErrors reports whether the application handles errors itself: then a
// problem goes the way of Fiber's errors. Fiber's own handler would make plain
// text of it.
func handlesErrors(c *fiber.Ctx) bool {
	own := c.App().Config().ErrorHandler
	return reflect.ValueOf(own).Pointer() != reflect.ValueOf(fiber.DefaultErrorHandler).Pointer()
}

func asError(p core.Problem) error { return fiber.NewError(p.Status, p.Detail) }

// begin begins a response with a problem body, in place of what there is of one.
func begin(c *fiber.Ctx, status int) {
	c.Response().Header.SetContentType(core.ContentTypeProblem)
	c.Status(status).Response().ResetBody()
}

// A mark is the key under which a limiter notes that it has seen a request.
type mark struct{ limiter *core.Limiter }

func (m *config) handle(c *fiber.Ctx) error {
	seen := mark{m.limiter}
	if c.Locals(seen) != nil {
		m.limiter.MountedTwice()
		return c.Next()
	}
	c.Locals(seen, true)
	var d core.Decision
	if err := m.limiter.CheckInto(request{c}, &d); err != nil {
		return m.onError(c, err)
	}
	d.SetHeaders(header{c})
	if !d.Allowed {
		return m.deny(c, &d)
	}
	if m.expose {
		d.KeepKeys()
		c.SetUserContext(core.WithDecision(c.UserContext(), d))
	}
	if m.refundIf != nil {
		return m.serveAndSettle(c, d)
	}
	return c.Next()
}

func (m *config) serveAndSettle(c *fiber.Ctx, d core.Decision) error {
	d.KeepKeys()
	status := fiber.StatusInternalServerError // of a handler that panics
	defer func() { m.limiter.Settle(c.UserContext(), &d, status, m.refundIf) }()
	if err := c.Next(); err != nil {
		if err := c.App().ErrorHandler(c, err); err != nil {
			_ = c.SendStatus(fiber.StatusInternalServerError)
		}
	}
	status = c.Response().StatusCode()
	return nil
}
