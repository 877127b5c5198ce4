package echov5mw_test

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v5"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/echov5mw"
	"github.com/slidegate/slidegate/keyfuncs"
)

// limiter limits by address on a clock that stands still, and keeps quiet what the
// doctor finds of set-ups that are odd on purpose.
func limiter(limits ...core.Limit) *core.Limiter {
	return core.MustNew(core.Config{
		Rules:  []core.Rule{core.By(keyfuncs.IP, limits...)},
		Now:    func() time.Time { return time.Unix(1_799_971_200, 0) },
		Doctor: core.Doctor{Logger: slog.New(slog.DiscardHandler)},
	})
}

func app(handle echo.HandlerFunc, middleware ...echo.MiddlewareFunc) *echo.Echo {
	e := echo.New()
	e.Logger = slog.New(slog.DiscardHandler) // some handlers misbehave on purpose
	e.Use(middleware...)
	e.GET("/", handle)
	return e
}

func ok(c *echo.Context) error { return c.String(http.StatusOK, "ok") }

func get(h http.Handler, target string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, target, nil))
	return w
}

func wantStatus(t *testing.T, w *httptest.ResponseRecorder, want int) {
	t.Helper()
	if w.Code != want {
		t.Errorf("status %d with %q, want %d", w.Code, w.Body, want)
	}
}

func wantField(t *testing.T, h http.Header, name, want string) {
	t.Helper()
	if got := strings.Join(h.Values(name), " | "); got != want {
		t.Errorf("%s is %q, want %q", name, got, want)
	}
}

// told is an option that refunds nothing, and the statuses that it is told.
func told() (echov5mw.Option, chan int) {
	statuses := make(chan int, 8)
	return echov5mw.RefundIf(func(status int) bool {
		statuses <- status
		return false
	}), statuses
}

func wantTold(t *testing.T, phrase string, statuses chan int, want int) {
	t.Helper()
	if len(statuses) != 1 {
		t.Errorf("%s: RefundIf is told %d statuses, want one", phrase, len(statuses))
	} else if got := <-statuses; got != want {
		t.Errorf("%s: RefundIf is told %d, want %d", phrase, got, want)
	}
}

// A failure is an application's own error.
type failure struct{ status int }

func (f *failure) Error() string { return "failure" }

// problems is an application's own error handler.
func problems(c *echo.Context, err error) {
	if r, _ := echo.UnwrapResponse(c.Response()); r != nil && r.Committed {
		return
	}
	status := http.StatusInternalServerError
	var echos echo.HTTPStatusCoder
	var mine *failure
	switch {
	case errors.As(err, &mine):
		status = mine.status
	case errors.As(err, &echos):
		status = echos.StatusCode()
	}
	_ = c.String(status, "application")
}

func TestAnErrorHandlerOfOnesOwnGetsDenialsWithTheFieldsSet(t *testing.T) {
	var got error
	e := app(ok, echov5mw.New(limiter(core.PerMinute(1))))
	e.HTTPErrorHandler = func(c *echo.Context, err error) { // set after the middleware is made
		got = err
		wantField(t, c.Response().Header(), "RateLimit", `"minute";r=0;t=120`)
		problems(c, err)
	}
	wantStatus(t, get(e, "/"), 200)
	w := get(e, "/")
	wantStatus(t, w, 429)
	wantField(t, w.Header(), "Retry-After", "120")
	var he *echo.HTTPError
	if !errors.As(got, &he) || he.Code != 429 || he.Message != "Try again in 120 seconds." {
		t.Errorf("the error handler gets %#v, want an echo.HTTPError of status 429 with the wait", got)
	}
}

func TestAnErrorHandlerOfOnesOwnGetsErrorsWithTheirCause(t *testing.T) {
	var got error
	e := app(ok, echov5mw.Limit(core.By(keyfuncs.Header("X-Client"), core.PerMinute(1))))
	e.HTTPErrorHandler = func(c *echo.Context, err error) {
		got = err
		problems(c, err)
	}
	wantStatus(t, get(e, "/"), 400)
	if !errors.Is(got, core.ErrNoKey) {
		t.Errorf("the error handler gets %v, want a cause of %v", got, core.ErrNoKey)
	}
}

// Echo's own handler would make {"message": …} of the error.
func TestUnderEchosOwnErrorHandlerTheBodyIsAProblem(t *testing.T) {
	for phrase, set := range map[string]func(*echo.Echo){
		"as Echo made it":              func(*echo.Echo) {},
		"set again":                    func(e *echo.Echo) { e.HTTPErrorHandler = echo.DefaultHTTPErrorHandler(false) },
		"set to tell the error's text": func(e *echo.Echo) { e.HTTPErrorHandler = echo.DefaultHTTPErrorHandler(true) },
	} {
		t.Run(phrase, func(t *testing.T) {
			e := app(ok, echov5mw.New(limiter(core.PerMinute(0))))
			set(e)
			w := get(e, "/")
			wantStatus(t, w, 429)
			wantField(t, w.Header(), "Content-Type", core.ContentTypeProblem)
		})
	}
}

func TestAnErrorHandlerThatFallsBackOnEchosMakesItsBody(t *testing.T) {
	e := app(ok, echov5mw.New(limiter(core.PerMinute(0))))
	e.HTTPErrorHandler = func(c *echo.Context, err error) { echo.DefaultHTTPErrorHandler(false)(c, err) }
	w := get(e, "/")
	wantStatus(t, w, 429)
	wantField(t, w.Header(), "Content-Type", "application/json")
}

func TestWhatOnDeniedReturnsGoesToTheErrorHandler(t *testing.T) {
	denied := echov5mw.OnDenied(func(*echo.Context, core.Decision) error { return &failure{http.StatusServiceUnavailable} })
	e := app(ok, echov5mw.New(limiter(core.PerMinute(0)), denied))
	e.HTTPErrorHandler = problems
	wantStatus(t, get(e, "/"), 503)
}

// recovery hands panics to Echo's error handler.
func recovery(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c *echo.Context) (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("recovered: %v", p)
			}
		}()
		return next(c)
	}
}

func TestRefundIfIsToldWhatTheClientIsSent(t *testing.T) {
	for _, tc := range []struct {
		phrase string
		handle echo.HandlerFunc
		want   int
	}{
		{"nothing at all", func(*echo.Context) error { return nil }, 200},
		{"a body", func(c *echo.Context) error { return c.String(http.StatusCreated, "made") }, 201},
		{"a body and then an error", func(c *echo.Context) error {
			_ = c.String(http.StatusOK, "ok")
			return echo.ErrInternalServerError
		}, 200},
		{"an error of Echo's", func(*echo.Context) error { return echo.ErrUnauthorized }, 401},
		{"an error of the application's", func(*echo.Context) error { return &failure{http.StatusForbidden} }, 403},
		{"a panic", func(*echo.Context) error { panic("a handler that panics on purpose") }, 500},
	} {
		for order, with := range map[string]func(limit echo.MiddlewareFunc) []echo.MiddlewareFunc{
			"recovery in front": func(limit echo.MiddlewareFunc) []echo.MiddlewareFunc { return []echo.MiddlewareFunc{recovery, limit} },
			"recovery behind":   func(limit echo.MiddlewareFunc) []echo.MiddlewareFunc { return []echo.MiddlewareFunc{limit, recovery} },
		} {
			told, statuses := told()
			e := app(tc.handle, with(echov5mw.New(limiter(core.PerMinute(9)), told))...)
			e.HTTPErrorHandler = problems
			wantStatus(t, get(e, "/"), tc.want)
			wantTold(t, tc.phrase+", "+order, statuses, tc.want)
		}
	}
}

func TestTheRouteIsWhatEchoMatched(t *testing.T) {
	for _, tc := range []struct {
		phrase, target string
		mount          func(*echo.Echo, echo.MiddlewareFunc)
		want           string
	}{
		{"before the router", "/items/42", func(e *echo.Echo, m echo.MiddlewareFunc) { e.Pre(m) }, ""},
		{"on the application", "/items/42", func(e *echo.Echo, m echo.MiddlewareFunc) { e.Use(m) }, "/items/:id"},
		{"on the application, of an unknown path", "/nowhere", func(e *echo.Echo, m echo.MiddlewareFunc) { e.Use(m) }, ""},
	} {
		var routes []string
		key := func(r core.Request) (string, error) {
			routes = append(routes, r.Route())
			return "k", nil
		}
		e := echo.New()
		e.GET("/items/:id", ok)
		tc.mount(e, echov5mw.Limit(core.By(key, core.PerMinute(9))))
		get(e, "/items/1") // whose context Echo uses again
		get(e, tc.target)
		if got := routes[len(routes)-1]; got != tc.want {
			t.Errorf("%s: the route is %q, want %q", tc.phrase, got, tc.want)
		}
	}
}

func TestContextIsNilUnderAnotherAdapter(t *testing.T) {
	if got := echov5mw.Context(foreign{}); got != nil {
		t.Errorf("the context of another adapter's request is %v, want nil", got)
	}
}

// A foreign request is one of another adapter.
type foreign struct{ core.Request }

func (foreign) Native() any { return 7 }

// Two requests a minute from each address.
func ExampleLimit() {
	e := echo.New()
	e.Use(echov5mw.Limit(core.By(keyfuncs.IP, core.PerMinute(2))))
	e.GET("/", func(c *echo.Context) error { return c.String(http.StatusOK, "hello") })

	for range 3 {
		w := httptest.NewRecorder()
		e.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
		fmt.Println(w.Code, w.Header().Get("RateLimit-Policy"))
	}
	// Output:
	// 200 "minute";q=2;w=60
	// 200 "minute";q=2;w=60
	// 429 "minute";q=2;w=60
}
