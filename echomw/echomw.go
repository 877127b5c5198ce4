// Package echomw limits the requests of Echo v4.
//
//	e.Use(echomw.Limit(core.By(keyfuncs.IP, core.PerMinute(100))))
package echomw

import (
	"fmt"
	"net/http"
	"reflect"

	"github.com/labstack/echo/v4"

	"github.com/slidegate/slidegate/core"
)

// Limit returns middleware that limits requests by rules, with all else as a
// [core.Config] has it by default. It panics if the rules are not valid.
func Limit(rules ...core.Rule) echo.MiddlewareFunc {
	return New(core.MustNew(core.Config{Rules: rules}))
}

// New returns middleware that limits requests by a limiter, on the whole router,
// a group or a route. Header fields are set before the next handler runs. What
// the functions of the options return goes to Echo's error handler. A limiter
// that is mounted twice on the way of a request counts it once. New panics if the
// limiter is nil.
func New(limiter *core.Limiter, options ...Option) echo.MiddlewareFunc {
	require(limiter != nil, "New needs a limiter; core.New makes one")
	c := &config{limiter: limiter, onError: failed}
	for _, option := range options {
		option(c)
	}
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(ctx echo.Context) error { return c.handle(ctx, next) }
	}
}

// require panics where a router that is being built could never serve.
func require(ok bool, text string) {
	if !ok {
		panic("echomw: " + text)
	}
}

// Key makes a key function of one that takes Echo's context.
func Key(f func(echo.Context) (string, error)) core.KeyFunc {
	require(f != nil, "Key needs a function")
	return func(r core.Request) (string, error) {
		native := Context(r)
		if native == nil {
			return "", fmt.Errorf("echomw: Key needs the adapter echomw; the request is a %T", r.Native())
		}
		return f(native)
	}
}

// Context returns Echo's context behind a neutral request, or nil under another
// adapter.
func Context(r core.Request) echo.Context {
	native, _ := r.Native().(echo.Context)
	return native
}

// DecisionFrom returns the decision of the innermost limiter with
// [ExposeDecision] on the way of a request.
func DecisionFrom(c echo.Context) (core.Decision, bool) {
	return core.DecisionFrom(c.Request().Context())
}

// An Option says how this adapter answers.
type Option func(*config)

type config struct {
	limiter  *core.Limiter
	onDenied func(echo.Context, core.Decision) error // or nil
	onError  func(echo.Context, error) error
	refundIf func(status int) bool
	expose   bool
}

// OnDenied answers denied requests in place of status 429 with a problem body,
// or an *echo.HTTPError where the application has an error handler of its own.
// The header fields are set already; the next handler does not run.
func OnDenied(f func(echo.Context, core.Decision) error) Option {
	require(f != nil, "OnDenied needs a function")
	return func(c *config) { c.onDenied = f }
}

// OnError answers requests that could not be decided on, in place of
// [core.ProblemOf]. The next handler does not run.
func OnError(f func(echo.Context, error) error) Option {
	require(f != nil, "OnError needs a function")
	return func(c *config) { c.onError = f }
}

// RefundIf takes the charge back after responses of which f says so: a login that
// counts only when it failed. A handler that returns an error counts as the
// status that Echo's error handler gives it, one that panics before it writes
// as 500.
func RefundIf(f func(status int) bool) Option {
	require(f != nil, "RefundIf needs a function")
	return func(c *config) { c.refundIf = f }
}

// ExposeDecision puts the decision on allowed requests into their context, for
// [DecisionFrom], which costs a few allocations.
func ExposeDecision() Option {
	return func(c *config) { c.expose = true }
}

func (m *config) deny(c echo.Context, d *core.Decision) error {
	switch {
	case m.onDenied != nil:
		return m.onDenied(c, *d)
	case handlesErrors(c):
		return asError(d.Problem(), nil)
	}
	core.HeaderMap(c.Response().Header()).Set("Content-Type", core.ContentTypeProblem)
	c.Response().WriteHeader(core.StatusDenied)
	return d.WriteProblem(c.Response())
}

func failed(c echo.Context, err error) error {
	c.Response().Header().Set("Cache-Control", "no-store")
	p := core.ProblemOf(err)
	if handlesErrors(c) {
		return asError(p, err)
	}
	return c.Blob(p.Status, core.ContentTypeProblem, p.JSON())
}

// handlesErrors reports whether the application handles errors itself: then a
// problem goes the way of Echo's errors. Echo's own handler would make another
// body of it.
func handlesErrors(c echo.Context) bool {
	e := c.Echo()
	return reflect.ValueOf(e.HTTPErrorHandler).Pointer() != reflect.ValueOf(e.DefaultHTTPErrorHandler).Pointer()
}

func asError(p core.Problem, cause error) error {
	return &echo.HTTPError{Code: p.Status, Message: p.Detail, Internal: cause}
}

func (m *config) handle(c echo.Context, next echo.HandlerFunc) error {
	header := core.HeaderMap(c.Response().Header())
	if m.limiter.Again(header) {
		return next(c)
	}
	var d core.Decision
	if err := m.limiter.CheckInto(request{c}, &d); err != nil {
		return m.onError(c, err)
	}
	d.SetHeaders(header)
	if !d.Allowed {
		return m.deny(c, &d)
	}
	if m.expose {
		c.SetRequest(c.Request().WithContext(core.WithDecision(c.Request().Context(), d)))
	}
	if m.refundIf != nil {
		return m.serveAndSettle(c, next, d)
	}
	return next(c)
}

// serveAndSettle settles when the handler is through, or, if it returned an error
// and has written nothing, when the response to that begins: only then is its
// status known.
func (m *config) serveAndSettle(c echo.Context, next echo.HandlerFunc, d core.Decision) (err error) {
	settle := func(status int) {
		m.limiter.Settle(c.Request().Context(), &d, status, m.refundIf)
	}
	response := c.Response()
	through, status := false, http.StatusInternalServerError
	response.Before(func() {
		if through {
			settle(response.Status)
		}
	})
	defer func() {
		switch {
		case response.Committed:
			settle(response.Status)
		case err == nil:
			settle(status)
		default:
			through = true
		}
	}()
	err = next(c)
	status = http.StatusOK
	return err
}
