// Package nethttp limits the requests of net/http handlers, and of every router
// that takes middleware of the shape func(http.Handler) http.Handler.
//
//	mux.Handle("/", nethttp.Limit(core.By(keyfuncs.IP, core.PerMinute(100)))(api))
package nethttp

import (
	"context"
	"fmt"
	"net/http"

	"github.com/slidegate/slidegate/core"
)

// Limit returns middleware that limits requests by rules, with all else as a
// [core.Config] has it by default. It panics if the rules are not valid.
func Limit(rules ...core.Rule) func(http.Handler) http.Handler {
	return New(core.MustNew(core.Config{Rules: rules}))
}

// New returns middleware that limits requests by a limiter. Header fields are set
// before the next handler runs, and the ResponseWriter is handed on as it is.
// A limiter that is mounted twice on the way of a request counts it once, unless
// what lies between gives the inner one a header of its own, as
// http.TimeoutHandler does, or changes RateLimit-Policy. New panics if the
// limiter is nil.
func New(limiter *core.Limiter, options ...Option) func(http.Handler) http.Handler {
	require(limiter != nil, "New needs a limiter; core.New makes one")
	c := config{limiter: limiter, onError: failed}
	for _, option := range options {
		option(&c)
	}
	return func(next http.Handler) http.Handler {
		require(next != nil, "the middleware needs a handler to limit")
		return &handler{config: c, next: next}
	}
}

// require panics where a router that is being built could never serve.
func require(ok bool, text string) {
	if !ok {
		panic("nethttp: " + text)
	}
}

// Key makes a key function of one that takes the request of net/http.
func Key(f func(*http.Request) (string, error)) core.KeyFunc {
	require(f != nil, "Key needs a function")
	return func(r core.Request) (string, error) {
		native := Request(r)
		if native == nil {
			return "", fmt.Errorf("nethttp: Key needs the adapter nethttp; the request is a %T", r.Native())
		}
		return f(native)
	}
}

// Request returns the request of net/http behind a neutral one, or nil under
// another adapter.
func Request(r core.Request) *http.Request {
	native, _ := r.Native().(*http.Request)
	return native
}

// DecisionFrom returns the decision of the innermost limiter with
// [ExposeDecision] from a request's context.
func DecisionFrom(ctx context.Context) (core.Decision, bool) { return core.DecisionFrom(ctx) }

// An Option says how this adapter answers.
type Option func(*config)

type config struct {
	limiter  *core.Limiter
	onDenied func(http.ResponseWriter, *http.Request, core.Decision) // or nil
	onError  func(http.ResponseWriter, *http.Request, error)
	refundIf func(status int) bool
	expose   bool
}

// OnDenied answers denied requests in place of status 429 with a problem body.
// The header fields are set already; the next handler does not run.
func OnDenied(f func(http.ResponseWriter, *http.Request, core.Decision)) Option {
	require(f != nil, "OnDenied needs a function")
	return func(c *config) { c.onDenied = f }
}

// OnError answers requests that could not be decided on, in place of
// [core.ProblemOf]. The next handler does not run.
func OnError(f func(http.ResponseWriter, *http.Request, error)) Option {
	require(f != nil, "OnError needs a function")
	return func(c *config) { c.onError = f }
}

// RefundIf takes the charge back after responses of which f says so: a login that
// counts only when it failed. A handler that panics before it writes counts as
// status 500, one that hijacks the connection as 101. The ResponseWriter is then
// wrapped; it keeps what the server's own can do.
func RefundIf(f func(status int) bool) Option {
	require(f != nil, "RefundIf needs a function")
	return func(c *config) { c.refundIf = f }
}

// ExposeDecision puts the decision on allowed requests into their context, for
// [DecisionFrom], which costs a few allocations.
func ExposeDecision() Option {
	return func(c *config) { c.expose = true }
}

func (c *config) deny(w http.ResponseWriter, r *http.Request, d *core.Decision) {
	if c.onDenied != nil {
		c.onDenied(w, r, *d)
		return
	}
	begin(w, core.StatusDenied)
	_ = d.WriteProblem(w)
}

func failed(w http.ResponseWriter, _ *http.Request, err error) {
	w.Header().Set("Cache-Control", "no-store")
	p := core.ProblemOf(err)
	begin(w, p.Status)
	_, _ = w.Write(p.JSON())
}

// begin begins a response with a problem body.
func begin(w http.ResponseWriter, status int) {
	core.HeaderMap(w.Header()).Set("Content-Type", core.ContentTypeProblem)
	w.WriteHeader(status)
}

type handler struct {
	config
	next http.Handler
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := core.HeaderMap(w.Header())
	if h.limiter.Again(header) {
		h.next.ServeHTTP(w, r)
		return
	}
	var d core.Decision
	if err := h.limiter.CheckInto(request{r}, &d); err != nil {
		h.onError(w, r, err)
		return
	}
	d.SetHeaders(header)
	if !d.Allowed {
		h.deny(w, r, &d)
		return
	}
	if h.expose {
		r = r.WithContext(core.WithDecision(r.Context(), d))
	}
	if h.refundIf != nil {
		h.serveAndSettle(w, r, d)
		return
	}
	h.next.ServeHTTP(w, r)
}

func (h *handler) serveAndSettle(w http.ResponseWriter, r *http.Request, d core.Decision) {
	watched, status := watch(w)
	panicked := true
	defer func() {
		h.limiter.Settle(r.Context(), &d, status.of(panicked), h.refundIf)
	}()
	h.next.ServeHTTP(watched, r)
	panicked = false
}
