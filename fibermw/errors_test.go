package fibermw_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gofiber/fiber/v2"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/fibermw"
	"github.com/slidegate/slidegate/keyfuncs"
)

// A failure is an application's own error.
type failure struct {
	status int
	text   string
}

func (f *failure) Error() string { return f.text }

// problems is an application's own error handler.
func problems(c *fiber.Ctx, err error) error {
	status := fiber.StatusInternalServerError
	var fibers *fiber.Error
	var mine *failure
	switch {
	case errors.As(err, &mine):
		status = mine.status
	case errors.As(err, &fibers):
		status = fibers.Code
	}
	return c.Status(status).SendString(fmt.Sprint("application: ", err))
}

func ownErrors() fiber.Config { return fiber.Config{ErrorHandler: problems} }

func TestAnErrorHandlerOfOnesOwnGetsDenialsWithTheFieldsSet(t *testing.T) {
	var got error
	own := fiber.Config{ErrorHandler: func(c *fiber.Ctx, err error) error {
		got = err
		if field := c.GetRespHeader("RateLimit"); field != `"minute";r=0;t=120` {
			t.Errorf("the error handler finds RateLimit %q", field)
		}
		return problems(c, err)
	}}
	a := app(own, new(counter).handle, fibermw.New(limiter(core.PerMinute(1))))
	wantStatus(t, get(t, a, "/"), 200)
	r := get(t, a, "/")
	wantStatus(t, r, 429)
	wantField(t, r.header, "Retry-After", "120")
	wantField(t, r.header, "RateLimit", `"minute";r=0;t=120`)
	wantField(t, r.header, "RateLimit-Policy", `"minute";q=1;w=60`)
	var fe *fiber.Error
	if !errors.As(got, &fe) || fe.Code != 429 || fe.Message != "Try again in 120 seconds." {
		t.Errorf("the error handler gets %#v, want a fiber.Error of status 429 with the wait", got)
	}
}

func TestAnErrorHandlerOfOnesOwnGetsErrors(t *testing.T) {
	down := func(core.Request) (string, error) { return "", errors.New("a key function that fails on purpose") }
	for _, tc := range []struct {
		phrase string
		key    core.KeyFunc
		status int
		body   string
	}{
		{"no key", keyfuncs.Header("X-Client"), 400, `application: The request carries no key for the rule "rule-1".`},
		{"a failing key function", down, 500, "application: The limits of the request could not be determined."},
	} {
		r := get(t, app(ownErrors(), new(counter).handle, fibermw.New(by(tc.key, core.PerMinute(1)))), "/")
		wantStatus(t, r, tc.status)
		wantBody(t, r, tc.body)
		wantField(t, r.header, "Cache-Control", "no-store")
	}
}

// Fiber's own handler would make plain text of the error.
func TestUnderFibersOwnErrorHandlerTheBodyIsAProblem(t *testing.T) {
	for phrase, c := range map[string]fiber.Config{
		"as Fiber made it": {}, "set again": {ErrorHandler: fiber.DefaultErrorHandler},
	} {
		t.Run(phrase, func(t *testing.T) {
			r := get(t, app(c, new(counter).handle, fibermw.New(limiter(core.PerMinute(0)))), "/")
			wantStatus(t, r, 429)
			wantField(t, r.header, "Content-Type", core.ContentTypeProblem)
		})
	}
}

// What the answer looks like depends on the handler of the whole application;
// an error finds the handler of the mounted one.
func TestAMountedApplicationsErrorHandlerGetsWhatOnDeniedReturns(t *testing.T) {
	asError := fibermw.OnDenied(func(_ *fiber.Ctx, d core.Decision) error {
		problem := d.Problem()
		return fiber.NewError(problem.Status, problem.Detail)
	})
	for _, tc := range []struct {
		phrase  string
		options []fibermw.Option
		kind    string
	}{
		{"the adapter's own answer", nil, core.ContentTypeProblem},
		{"an error from OnDenied", []fibermw.Option{asError}, "text/plain; charset=utf-8"},
	} {
		part := app(ownErrors(), new(counter).handle, fibermw.New(limiter(core.PerMinute(0)), tc.options...))
		a := fiber.New()
		a.Mount("/part", part)
		r := get(t, a, "/part/")
		wantStatus(t, r, 429)
		if got := r.header.Get("Content-Type"); got != tc.kind {
			t.Errorf("%s: the body is of type %q, want %q", tc.phrase, got, tc.kind)
		}
		wantField(t, r.header, "RateLimit", `"minute";r=0`)
	}
}

func TestMiddlewareInFrontSeesADenialAsAnErrorOnlyUnderAHandlerOfOnesOwn(t *testing.T) {
	for _, tc := range []struct {
		phrase string
		config fiber.Config
		want   bool
	}{
		{"Fiber's own handler", plain(), false},
		{"a handler of one's own", ownErrors(), true},
	} {
		var seen error
		watch := func(c *fiber.Ctx) error {
			seen = c.Next()
			return seen
		}
		wantStatus(t, get(t, app(tc.config, new(counter).handle, watch, fibermw.New(limiter(core.PerMinute(0)))), "/"), 429)
		if got := seen != nil; got != tc.want {
			t.Errorf("%s: middleware in front sees the error %v", tc.phrase, seen)
		}
	}
}

func TestWhatOnDeniedReturnsGoesToTheErrorHandler(t *testing.T) {
	for _, tc := range []struct {
		phrase string
		denied func(*fiber.Ctx, core.Decision) error
		config fiber.Config
		status int
		body   string
	}{
		{"an error of Fiber's, under Fiber's handler", func(*fiber.Ctx, core.Decision) error {
			return fiber.NewError(http.StatusServiceUnavailable, "busy")
		}, plain(), 503, "busy"},
		{"an error of the application's, under its handler", func(_ *fiber.Ctx, d core.Decision) error {
			return &failure{http.StatusTooManyRequests, d.Problem().Detail}
		}, ownErrors(), 429, "application: Try again in 120 seconds."},
		{"an answer, under a handler that is not asked", func(c *fiber.Ctx, _ core.Decision) error {
			return c.Status(http.StatusTooManyRequests).SendString("no")
		}, ownErrors(), 429, "no"},
		{"nothing and no answer, which is sent as 200", func(*fiber.Ctx, core.Decision) error { return nil }, plain(), 200, ""},
	} {
		t.Run(tc.phrase, func(t *testing.T) {
			var handled counter
			a := app(tc.config, handled.handle, fibermw.New(limiter(core.PerMinute(1)), fibermw.OnDenied(tc.denied)))
			wantStatus(t, get(t, a, "/"), 200)
			r := get(t, a, "/")
			wantStatus(t, r, tc.status)
			wantBody(t, r, tc.body)
			wantField(t, r.header, "Retry-After", "120")
			if handled != 1 {
				t.Errorf("the handler ran %d times, want 1", handled)
			}
		})
	}
}

func TestWhatOnErrorReturnsGoesToTheErrorHandler(t *testing.T) {
	pass := fibermw.OnError(func(_ *fiber.Ctx, err error) error { return &failure{http.StatusUnauthorized, err.Error()} })
	r := get(t, app(ownErrors(), new(counter).handle, fibermw.New(by(keyfuncs.Header("X-Client"), core.PerMinute(1)), pass)), "/")
	wantStatus(t, r, 401)
	wantBody(t, r, `application: slidegate: request has no key (rule "rule-1")`)
}

func TestADenialOfHEADKeepsItsFieldsUnderAnyErrorHandler(t *testing.T) {
	for phrase, c := range map[string]fiber.Config{"Fiber's own handler": plain(), "a handler of one's own": ownErrors()} {
		a := app(c, new(counter).handle, fibermw.New(limiter(core.PerMinute(0))))
		r := serve(t, a, httptest.NewRequest(http.MethodHead, "/", nil))
		if r.status != 429 || r.header.Get("RateLimit") == "" {
			t.Errorf("%s: status %d with RateLimit %q, want 429 with a budget", phrase, r.status, r.header.Get("RateLimit"))
		}
	}
}

func TestFaultsPanicWhenTheRouterIsBuilt(t *testing.T) {
	for _, tc := range []struct {
		fault string
		build func()
		want  string
	}{
		{"a nil limiter", func() { fibermw.New(nil) }, "fibermw: New needs a limiter; core.New makes one"},
		{"a nil native key function", func() { fibermw.Key(nil) }, "fibermw: Key needs a function"},
		{"a nil OnDenied", func() { fibermw.OnDenied(nil) }, "fibermw: OnDenied needs a function"},
		{"a nil OnError", func() { fibermw.OnError(nil) }, "fibermw: OnError needs a function"},
		{"a nil RefundIf", func() { fibermw.RefundIf(nil) }, "fibermw: RefundIf needs a function"},
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
