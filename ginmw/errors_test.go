package ginmw_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/ginmw"
	"github.com/slidegate/slidegate/keyfuncs"
)

// seen is what middleware in front of a limiter sees when the chain is through.
type seen struct {
	status  int
	aborted bool
}

func (s *seen) watch(c *gin.Context) {
	c.Next()
	s.status, s.aborted = c.Writer.Status(), c.IsAborted()
}

func TestADenialEndsTheChainBelowAndNotAbove(t *testing.T) {
	write := ginmw.OnDenied(func(c *gin.Context, _ core.Decision) { c.String(http.StatusTooManyRequests, "no") })
	next := ginmw.OnDenied(func(c *gin.Context, _ core.Decision) {
		c.Status(http.StatusTooManyRequests)
		c.Next() // which finds nobody
	})
	for _, tc := range []struct {
		phrase  string
		options []ginmw.Option
	}{
		{"the adapter's own answer", nil},
		{"RL-084 an answer that does not abort", []ginmw.Option{write}},
		{"an answer that calls Next", []ginmw.Option{next}},
	} {
		t.Run(tc.phrase, func(t *testing.T) {
			var outside seen
			var below, handled counter
			h := app(handled.handle, outside.watch, ginmw.New(limiter(core.PerMinute(1)), tc.options...), func(*gin.Context) { below++ })
			for _, want := range []seen{{200, false}, {429, true}, {429, true}} {
				wantStatus(t, get(h, "/"), want.status)
				if outside != want {
					t.Errorf("middleware in front sees %+v, want %+v", outside, want)
				}
			}
			if below != 1 || handled != 1 {
				t.Errorf("middleware behind ran %d times and the handler %d, want 1 and 1", below, handled)
			}
		})
	}
}

// problems answers with the status of the last error that was left in the context,
// as applications do that handle errors in one place.
func problems(c *gin.Context) {
	c.Next()
	var mine *failure
	if last := c.Errors.Last(); last != nil && errors.As(last, &mine) && !c.Writer.Written() {
		c.String(mine.status, "application: %s", mine.text)
	}
}

// A failure is an application's own error.
type failure struct {
	status int
	text   string
}

func (f *failure) Error() string { return f.text }

func TestErrorsThatOnDeniedLeavesReachTheApplicationsOwnHandler(t *testing.T) {
	leave := ginmw.OnDenied(func(c *gin.Context, d core.Decision) {
		problem := d.Problem()
		_ = c.Error(&failure{problem.Status, problem.Detail})
	})
	h := app(new(counter).handle, problems, ginmw.New(limiter(core.PerMinute(1)), leave))
	wantStatus(t, get(h, "/"), 200)
	w := get(h, "/")
	wantStatus(t, w, 429)
	wantField(t, w.Header(), "Retry-After", "120")
	wantField(t, w.Header(), "RateLimit", `"minute";r=0;t=120`)
	if got := w.Body.String(); got != "application: Try again in 120 seconds." {
		t.Errorf("the body is %q, want the application's", got)
	}
}

func TestErrorsThatOnErrorLeavesReachTheApplicationsOwnHandler(t *testing.T) {
	leave := ginmw.OnError(func(c *gin.Context, err error) {
		problem := core.ProblemOf(err)
		_ = c.Error(&failure{problem.Status, problem.Detail})
	})
	w := get(app(new(counter).handle, problems, ginmw.New(by(keyfuncs.Header("X-Client"), core.PerMinute(1)), leave)), "/")
	wantStatus(t, w, 400)
	if got := w.Body.String(); got != `application: The request carries no key for the rule "rule-1".` {
		t.Errorf("the body is %q, want the application's", got)
	}
}

// Gin itself answers with status 200 where nobody writes.
func TestAnOnDeniedThatWritesNothingAnswersWith200(t *testing.T) {
	nothing := ginmw.OnDenied(func(*gin.Context, core.Decision) {})
	var handled counter
	w := get(app(handled.handle, ginmw.New(limiter(core.PerMinute(0)), nothing)), "/")
	wantStatus(t, w, 200)
	wantField(t, w.Header(), "RateLimit", `"minute";r=0`)
	if handled != 0 || w.Body.Len() != 0 {
		t.Errorf("the handler ran %d times, with the body %q; want neither", handled, w.Body)
	}
}

func TestFaultsPanicWhenTheRouterIsBuilt(t *testing.T) {
	for _, tc := range []struct {
		fault string
		build func()
		want  string
	}{
		{"a nil limiter", func() { ginmw.New(nil) }, "ginmw: New needs a limiter; core.New makes one"},
		{"a nil native key function", func() { ginmw.Key(nil) }, "ginmw: Key needs a function"},
		{"a nil OnDenied", func() { ginmw.OnDenied(nil) }, "ginmw: OnDenied needs a function"},
		{"a nil OnError", func() { ginmw.OnError(nil) }, "ginmw: OnError needs a function"},
		{"a nil RefundIf", func() { ginmw.RefundIf(nil) }, "ginmw: RefundIf needs a function"},
	} {
		if got := panicOf(tc.build); got != tc.want {
			t.Errorf("%s panics with %v, want %q", tc.fault, got, tc.want)
		}
	}
}

// panicOf returns what a function panics with.
func panicOf(f func()) (value any) {
	defer func() { value = recover() }()
	f()
	return nil
}
