// Package ginmw limits the requests of Gin.
//
//	r.Use(ginmw.Limit(core.By(keyfuncs.IP, core.PerMinute(100))))
package ginmw

import (
	"fmt"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/slidegate/slidegate/core"
)

// Limit returns middleware that limits requests by rules, with all else as a
// [core.Config] has it by default. It panics if the rules are not valid.
func Limit(rules ...core.Rule) gin.HandlerFunc {
	return New(core.MustNew(core.Config{Rules: rules}))
}

// New returns middleware that limits requests by a limiter, on the whole router,
// a group or a route. Header fields are set before the next handler runs. A
// request that is not let through is aborted, whatever the functions of the
// options do. A limiter that is mounted twice on the way of a request counts it
// once. New panics if the limiter is nil.
func New(limiter *core.Limiter, options ...Option) gin.HandlerFunc {
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
		panic("ginmw: " + text)
	}
}

// Key makes a key function of one that takes Gin's context.
func Key(f func(*gin.Context) (string, error)) core.KeyFunc {
	require(f != nil, "Key needs a function")
	return func(r core.Request) (string, error) {
		native := Context(r)
		if native == nil {
			return "", fmt.Errorf("ginmw: Key needs the adapter ginmw; the request is a %T", r.Native())
		}
		return f(native)
	}
}

// Context returns Gin's context behind a neutral request, or nil under another
// adapter.
func Context(r core.Request) *gin.Context {
	native, _ := r.Native().(*gin.Context)
	return native
}

// DecisionFrom returns the decision of the innermost limiter with
// [ExposeDecision] on the way of a request.
func DecisionFrom(c *gin.Context) (core.Decision, bool) {
	return core.DecisionFrom(c.Request.Context())
}

// An Option says how this adapter answers.
type Option func(*config)

type config struct {
	limiter  *core.Limiter
	onDenied func(*gin.Context, core.Decision) // or nil
	onError  func(*gin.Context, error)
	refundIf func(status int) bool
	expose   bool
}

// OnDenied answers denied requests in place of status 429 with a problem body.
// The header fields are set already; the next handler does not run.
func OnDenied(f func(*gin.Context, core.Decision)) Option {
	require(f != nil, "OnDenied needs a function")
	return func(c *config) { c.onDenied = f }
}

// OnError answers requests that could not be decided on, in place of
// [core.ProblemOf]. The next handler does not run.
func OnError(f func(*gin.Context, error)) Option {
	require(f != nil, "OnError needs a function")
	return func(c *config) { c.onError = f }
}

// RefundIf takes the charge back after responses of which f says so: a login that
// counts only when it failed. A handler that panics before it writes counts as
// status 500. What middleware in front makes of errors in the context comes too
// late: let it stand behind the limiter.
func RefundIf(f func(status int) bool) Option {
	require(f != nil, "RefundIf needs a function")
	return func(c *config) { c.refundIf = f }
}

// ExposeDecision puts the decision on allowed requests into their context, for
// [DecisionFrom], which costs a few allocations.
func ExposeDecision() Option {
	return func(c *config) { c.expose = true }
}

func (m *config) deny(c *gin.Context, d *core.Decision) {
	if m.onDenied != nil {
		m.onDenied(c, *d)
		return
	}
	core.HeaderMap(c.Writer.Header()).Set("Content-Type", core.ContentTypeProblem)
	c.Status(core.StatusDenied)
	_ = d.WriteProblem(c.Writer)
}

func failed(c *gin.Context, err error) {
	c.Header("Cache-Control", "no-store")
	p := core.ProblemOf(err)
	c.Data(p.Status, core.ContentTypeProblem, p.JSON())
}

func (m *config) handle(c *gin.Context) {
	header := core.HeaderMap(c.Writer.Header())
	if m.limiter.Again(header) {
		return
	}
	var d core.Decision
	if err := m.limiter.CheckInto(request{c}, &d); err != nil {
		c.Abort()
		m.onError(c, err)
		return
	}
	d.SetHeaders(header)
	if !d.Allowed {
		c.Abort()
		m.deny(c, &d)
		return
	}
	if m.expose {
		c.Request = c.Request.WithContext(core.WithDecision(c.Request.Context(), d))
	}
	if m.refundIf != nil {
		m.serveAndSettle(c, d)
	}
}

func (m *config) serveAndSettle(c *gin.Context, d core.Decision) {
	panicked := true
	defer func() {
		status := c.Writer.Status()
		if panicked && !c.Writer.Written() {
			status = http.StatusInternalServerError
		}
		m.limiter.Settle(c.Request.Context(), &d, status, m.refundIf)
	}()
	c.Next()
	panicked = false
}
