package echomw_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/labstack/echo/v4"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/echomw"
	"github.com/slidegate/slidegate/keyfuncs"
)

func TestOneLimiterOnSeveralLevelsCountsARequestOnce(t *testing.T) {
	for phrase, mount := range map[string]func(e *echo.Echo, limit echo.MiddlewareFunc){
		"before and behind the router": func(e *echo.Echo, limit echo.MiddlewareFunc) {
			e.Pre(limit)
			onApp(e, limit)
		},
		"application and group": func(e *echo.Echo, limit echo.MiddlewareFunc) {
			e.Use(limit)
			onGroup(e, limit)
		},
		"group and route": func(e *echo.Echo, limit echo.MiddlewareFunc) {
			e.Group("/api", limit).GET("/items/:id", new(counter).handle, limit)
		},
		"around middleware of net/http": func(e *echo.Echo, limit echo.MiddlewareFunc) {
			e.Use(limit, echo.WrapMiddleware(func(next http.Handler) http.Handler { return next }))
			onRoute(e, limit)
		},
	} {
		t.Run(phrase, func(t *testing.T) {
			l := limiter(core.PerMinute(2))
			e := echo.New()
			mount(e, echomw.New(l))
			for _, want := range []int{200, 200, 429} {
				wantStatus(t, get(e, "/api/items/1"), want)
			}
		})
	}
}

// Two middlewares of one limiter are one limiter still, and the outer one's
// options hold.
func TestOfTwoMiddlewaresOfOneLimiterTheOuterAnswers(t *testing.T) {
	l := limiter(core.PerMinute(1))
	says := func(text string) echo.MiddlewareFunc {
		return echomw.New(l, echomw.OnDenied(func(c echo.Context, _ core.Decision) error {
			return c.String(http.StatusTooManyRequests, text)
		}))
	}
	e := app(new(counter).handle, says("outer"), says("inner"))
	wantStatus(t, get(e, "/"), 200)
	w := get(e, "/")
	wantStatus(t, w, 429)
	wantBody(t, w, "outer")
}

// A bin is a writer that keeps nothing, so that a measurement sees the
// framework and the limiter alone.
type bin struct{ header http.Header }

func (b *bin) Header() http.Header         { return b.header }
func (b *bin) WriteHeader(int)             {}
func (b *bin) Write(p []byte) (int, error) { return len(p), nil }

// into returns a function that serves one request again and again.
func into(h http.Handler) func() {
	b, r := &bin{http.Header{}}, httptest.NewRequest(http.MethodGet, "/", nil)
	return func() {
		clear(b.header)
		h.ServeHTTP(b, r)
	}
}

func silent(echo.Context) error { return nil }

// plenty is a limiter that admits all, with or without header fields. It serves
// as many requests as the doctor looks at.
func plenty(headers core.HeaderFormat) echo.MiddlewareFunc {
	limit := echomw.New(core.MustNew(core.Config{
		Rules: []core.Rule{core.By(keyfuncs.IP, core.PerMinute(core.MaxQuota))}, Headers: headers,
		Doctor: core.Doctor{Off: []core.Finding{core.SG107}},
	}))
	serve := into(app(silent, limit))
	for range 1100 {
		serve()
	}
	return limit
}

// idle is middleware that does nothing but go on.
func idle(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error { return next(c) }
}

// Echo builds its chain for each request, which costs an allocation a middleware,
// whatever that does.
func TestAllocationsOfAnAllowedRequest(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector allocates")
	}
	bare, fields := plenty(core.HeadersNone), plenty(core.HeadersDraft11)
	for _, tc := range []struct {
		phrase     string
		middleware []echo.MiddlewareFunc
		most       float64
	}{
		{"no middleware", nil, 0},
		{"middleware that does nothing", []echo.MiddlewareFunc{idle}, 1},
		{"a limiter without header fields", []echo.MiddlewareFunc{bare}, 2},
		{"a limiter", []echo.MiddlewareFunc{fields}, 3},
		{"a limiter and middleware that does nothing", []echo.MiddlewareFunc{fields, idle}, 4},
		{"one limiter twice", []echo.MiddlewareFunc{fields, fields}, 4},
	} {
		serve := into(app(silent, tc.middleware...))
		if got := testing.AllocsPerRun(200, serve); got > tc.most {
			t.Errorf("%s: %v allocations a request, want at most %v", tc.phrase, got, tc.most)
		}
	}
}
