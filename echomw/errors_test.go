package echomw_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/labstack/echo/v4"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/echomw"
	"github.com/slidegate/slidegate/keyfuncs"
)

// A failure is an application's own error.
type failure struct {
	status int
	text   string
}

func (f *failure) Error() string { return f.text }

// problems is an application's own error handler.
func problems(err error, c echo.Context) {
	if c.Response().Committed {
		return
	}
	status := http.StatusInternalServerError
	var echos *echo.HTTPError
	var mine *failure
	switch {
	case errors.As(err, &mine):
		status = mine.status
	case errors.As(err, &echos):
		status = echos.Code
	}
	_ = c.String(status, fmt.Sprint("application: ", err))
}

func TestAnErrorHandlerOfOnesOwnGetsDenialsWithTheFieldsSet(t *testing.T) {
	var got error
	e := app(new(counter).handle, echomw.New(limiter(core.PerMinute(1))))
	e.HTTPErrorHandler = func(err error, c echo.Context) { // set after the middleware is made
		got = err
		if field := c.Response().Header().Get("RateLimit"); field != `"minute";r=0;t=120` || c.Response().Committed {
			t.Errorf("the error handler finds RateLimit %q and a response that began: %v", field, c.Response().Committed)
		}
		problems(err, c)
	}
	wantStatus(t, get(e, "/"), 200)
	w := get(e, "/")
	wantStatus(t, w, 429)
	wantField(t, w.Header(), "Retry-After", "120")
	wantField(t, w.Header(), "RateLimit", `"minute";r=0;t=120`)
	wantField(t, w.Header(), "RateLimit-Policy", `"minute";q=1;w=60`)
	var he *echo.HTTPError
	if !errors.As(got, &he) || he.Code != 429 || he.Message != "Try again in 120 seconds." || he.Internal != nil {
		t.Errorf("the error handler gets %#v, want an echo.HTTPError of status 429 with the wait", got)
	}
}

func TestAnErrorHandlerOfOnesOwnGetsErrorsWithTheirCause(t *testing.T) {
	down := errors.New("a key function that fails on purpose")
	for _, tc := range []struct {
		phrase string
		key    core.KeyFunc
		status int
		cause  error
	}{
		{"no key", keyfuncs.Header("X-Client"), 400, core.ErrNoKey},
		{"a failing key function", func(core.Request) (string, error) { return "", down }, 500, down},
	} {
		var got error
		e := app(new(counter).handle, echomw.New(by(tc.key, core.PerMinute(1))))
		e.HTTPErrorHandler = func(err error, c echo.Context) {
			got = err
			problems(err, c)
		}
		w := get(e, "/")
		wantStatus(t, w, tc.status)
		wantField(t, w.Header(), "Cache-Control", "no-store")
		if !errors.Is(got, tc.cause) {
			t.Errorf("%s: the error handler gets %v, want a cause of %v", tc.phrase, got, tc.cause)
		}
	}
}

// Echo's own handler would make {"message": …} of the error.
func TestUnderEchosOwnErrorHandlerTheBodyIsAProblem(t *testing.T) {
	for phrase, set := range map[string]func(*echo.Echo){
		"as Echo made it": func(*echo.Echo) {},
		"set again":       func(e *echo.Echo) { e.HTTPErrorHandler = e.DefaultHTTPErrorHandler },
		"of another Echo": func(e *echo.Echo) { e.HTTPErrorHandler = echo.New().DefaultHTTPErrorHandler },
	} {
		t.Run(phrase, func(t *testing.T) {
			e := app(new(counter).handle, echomw.New(limiter(core.PerMinute(0))))
			set(e)
			w := get(e, "/")
			wantStatus(t, w, 429)
			wantField(t, w.Header(), "Content-Type", core.ContentTypeProblem)
		})
	}
}

func TestAnErrorHandlerThatFallsBackOnEchosMakesItsBody(t *testing.T) {
	e := app(new(counter).handle, echomw.New(limiter(core.PerMinute(0))))
	e.HTTPErrorHandler = func(err error, c echo.Context) { e.DefaultHTTPErrorHandler(err, c) }
	w := get(e, "/")
	wantStatus(t, w, 429)
	wantField(t, w.Header(), "RateLimit", `"minute";r=0`)
	wantBody(t, w, `{"message":"The request can never be admitted: it costs more than the quota holds."}`)
}

func TestMiddlewareInFrontSeesADenialAsAnErrorOnlyUnderAHandlerOfOnesOwn(t *testing.T) {
	for _, tc := range []struct {
		phrase string
		handle echo.HTTPErrorHandler // nil is Echo's
		want   bool
	}{
		{"Echo's own handler", nil, false},
		{"a handler of one's own", problems, true},
	} {
		var seen error
		watch := func(next echo.HandlerFunc) echo.HandlerFunc {
			return func(c echo.Context) error {
				seen = next(c)
				return seen
			}
		}
		e := app(new(counter).handle, watch, echomw.New(limiter(core.PerMinute(0))))
		if tc.handle != nil {
			e.HTTPErrorHandler = tc.handle
		}
		wantStatus(t, get(e, "/"), 429)
		if got := seen != nil; got != tc.want {
			t.Errorf("%s: middleware in front sees the error %v", tc.phrase, seen)
		}
	}
}

func TestWhatOnDeniedReturnsGoesToTheErrorHandler(t *testing.T) {
	for _, tc := range []struct {
		phrase string
		denied func(echo.Context, core.Decision) error
		handle echo.HTTPErrorHandler // nil is Echo's
		status int
		body   string
	}{
		{"an error of Echo's, under Echo's handler", func(echo.Context, core.Decision) error {
			return echo.NewHTTPError(http.StatusServiceUnavailable, "busy")
		}, nil, 503, `{"message":"busy"}`},
		{"an error of the application's, under its handler", func(_ echo.Context, d core.Decision) error {
			return &failure{http.StatusTooManyRequests, d.Problem().Detail}
		}, problems, 429, "application: Try again in 120 seconds."},
		{"an answer, under a handler that is not asked", func(c echo.Context, _ core.Decision) error {
			return c.String(http.StatusTooManyRequests, "no")
		}, problems, 429, "no"},
		{"nothing and no answer, which is sent as 200", func(echo.Context, core.Decision) error { return nil }, nil, 200, ""},
	} {
		t.Run(tc.phrase, func(t *testing.T) {
			var handled counter
			e := app(handled.handle, echomw.New(limiter(core.PerMinute(1)), echomw.OnDenied(tc.denied)))
			if tc.handle != nil {
				e.HTTPErrorHandler = tc.handle
			}
			wantStatus(t, get(e, "/"), 200)
			w := get(e, "/")
			wantStatus(t, w, tc.status)
			wantBody(t, w, tc.body)
			wantField(t, w.Header(), "Retry-After", "120")
			if handled != 1 {
				t.Errorf("the handler ran %d times, want 1", handled)
			}
		})
	}
}

func TestWhatOnErrorReturnsGoesToTheErrorHandler(t *testing.T) {
	pass := echomw.OnError(func(_ echo.Context, err error) error { return &failure{http.StatusUnauthorized, err.Error()} })
	e := app(new(counter).handle, echomw.New(by(keyfuncs.Header("X-Client"), core.PerMinute(1)), pass))
	e.HTTPErrorHandler = problems
	w := get(e, "/")
	wantStatus(t, w, 401)
	wantBody(t, w, `application: slidegate: request has no key (rule "rule-1")`)
}

func TestADenialOfHEADKeepsItsFieldsUnderAnyErrorHandler(t *testing.T) {
	e := echo.New()
	e.HEAD("/", new(counter).handle, echomw.New(limiter(core.PerMinute(0))))
	for phrase, handle := range map[string]echo.HTTPErrorHandler{
		"Echo's own handler": e.DefaultHTTPErrorHandler,
		"a handler that falls back on it": func(err error, c echo.Context) {
			e.DefaultHTTPErrorHandler(err, c)
		},
	} {
		e.HTTPErrorHandler = handle
		w := serve(e, httptest.NewRequest(http.MethodHead, "/", nil))
		if w.Code != 429 || w.Header().Get("RateLimit") == "" {
			t.Errorf("%s: status %d with RateLimit %q, want 429 with a budget", phrase, w.Code, w.Header().Get("RateLimit"))
		}
	}
}

func TestFaultsPanicWhenTheRouterIsBuilt(t *testing.T) {
	for _, tc := range []struct {
		fault string
		build func()
		want  string
	}{
		{"a nil limiter", func() { echomw.New(nil) }, "echomw: New needs a limiter; core.New makes one"},
		{"a nil native key function", func() { echomw.Key(nil) }, "echomw: Key needs a function"},
		{"a nil OnDenied", func() { echomw.OnDenied(nil) }, "echomw: OnDenied needs a function"},
		{"a nil OnError", func() { echomw.OnError(nil) }, "echomw: OnError needs a function"},
		{"a nil RefundIf", func() { echomw.RefundIf(nil) }, "echomw: RefundIf needs a function"},
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
