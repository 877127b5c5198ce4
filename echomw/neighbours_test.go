package echomw_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/echomw"
	"github.com/slidegate/slidegate/nethttp"
)

// slow answers with status 201 after a second.
func slow(c echo.Context) error {
	time.Sleep(time.Second)
	return c.String(http.StatusCreated, "made")
}

func TestATimeoutAroundTheApplicationPassesTheFieldsOn(t *testing.T) {
	for phrase, handle := range map[string]echo.HTTPErrorHandler{"Echo's own error handler": nil, "an error handler of one's own": problems} {
		t.Run(phrase, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := app(new(counter).handle, echomw.New(limiter(core.PerMinute(1))))
				if handle != nil {
					e.HTTPErrorHandler = handle
				}
				h := http.TimeoutHandler(e, time.Minute, "too slow")
				w := get(h, "/")
				wantStatus(t, w, 200)
				wantField(t, w.Header(), "RateLimit", `"minute";r=0;t=120`)
				w = get(h, "/")
				wantStatus(t, w, 429)
				wantField(t, w.Header(), "RateLimit-Policy", `"minute";q=1;w=60`)
				wantField(t, w.Header(), "Retry-After", "120")
			})
		})
	}
}

// What is too slow is charged, answered without a budget, and settled by the
// status of the handler, which nobody is sent.
func TestATimeoutThatStrikesAroundTheApplicationLosesTheFieldsAndKeepsTheCharge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limiter(core.PerMinute(1))
		told, statuses := told()
		h := http.TimeoutHandler(app(slow, echomw.New(l, told)), time.Millisecond, "too slow")
		w := get(h, "/")
		wantStatus(t, w, 503)
		wantField(t, w.Header(), "RateLimit", "")
		wantRemaining(t, l, 0)
		wantTold(t, "too slow", statuses, 201)
	})
}

func TestATimeoutBelowTheLimiterKeepsTheBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told, statuses := told()
		sleeper := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { time.Sleep(time.Second) })
		e := app(echo.WrapHandler(http.TimeoutHandler(sleeper, time.Millisecond, "too slow")), echomw.New(limiter(core.PerMinute(1)), told))
		w := get(e, "/")
		wantStatus(t, w, 503)
		wantField(t, w.Header(), "RateLimit", `"minute";r=0;t=120`)
		wantTold(t, "too slow", statuses, 503)
		time.Sleep(time.Second) // the sleeper's
	})
}

// within runs what is behind it under http.TimeoutHandler, in the way that Echo has
// for middleware of net/http.
func within() echo.MiddlewareFunc {
	return echo.WrapMiddleware(func(next http.Handler) http.Handler { return http.TimeoutHandler(next, time.Minute, "too slow") })
}

// TimeoutHandler has sent the response when Echo's error handler gets the error:
// so it is with every error behind such middleware.
func TestBehindWrappedTimeoutsADenialNeedsAnAnswerAndNotAnError(t *testing.T) {
	for _, tc := range []struct {
		phrase  string
		handle  echo.HTTPErrorHandler // nil is Echo's
		options []echomw.Option
		want    int
	}{
		{"Echo's own error handler", nil, nil, 429},
		{"an error handler of one's own", problems, nil, 200},
		{"an error handler of one's own, and OnDenied that answers", problems, []echomw.Option{
			echomw.OnDenied(func(c echo.Context, _ core.Decision) error { return c.NoContent(http.StatusTooManyRequests) }),
		}, 429},
	} {
		t.Run(tc.phrase, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var handled counter
				e := app(handled.handle, within(), echomw.New(limiter(core.PerMinute(0)), tc.options...))
				if tc.handle != nil {
					e.HTTPErrorHandler = tc.handle
				}
				wantStatus(t, get(e, "/"), tc.want)
				if handled != 0 {
					t.Errorf("the handler ran %d times, want 0", handled)
				}
			})
		})
	}
}

// The limiter is known by the response's header, of which a TimeoutHandler makes
// another.
func TestALimiterOnBothSidesOfATimeoutCountsTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limiter(core.PerMinute(4))
		get(app(new(counter).handle, echomw.New(l), within(), echomw.New(l)), "/")
		wantRemaining(t, l, 2)
	})
}

func TestALimiterOfTheServerAndOfTheApplicationCountsOnce(t *testing.T) {
	l := limiter(core.PerMinute(4))
	get(nethttp.New(l)(app(new(counter).handle, echomw.New(l))), "/")
	wantRemaining(t, l, 3)
}

// upstream is a server with limits of its own, and a proxy to it.
func upstream(t *testing.T) *httputil.ReverseProxy {
	t.Helper()
	server := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("RateLimit-Policy", `"upstream";q=5;w=1`)
		w.Header().Set("RateLimit", `"upstream";r=0;t=1`)
		if r.URL.Path == "/busy" {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusTooManyRequests)
		}
	}))
	target, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return httputil.NewSingleHostReverseProxy(target)
}

func proxied(p *httputil.ReverseProxy, limit echo.MiddlewareFunc) http.Handler {
	e := echo.New()
	e.Any("/*", echo.WrapHandler(p), limit)
	return e
}

func fetch(t *testing.T, server *httptest.Server, path string) *http.Response {
	t.Helper()
	res, err := server.Client().Get(server.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	return res
}

func TestAReverseProxyAddsTheUpstreamsPoliciesOnALineAfterTheLimiters(t *testing.T) {
	server := start(t, proxied(upstream(t), echomw.New(byAll(core.PerMinute(2)))))
	res := fetch(t, server, "/")
	wantField(t, res.Header, "RateLimit-Policy", `"minute";q=2;w=60 | "upstream";q=5;w=1`)
	wantField(t, res.Header, "RateLimit", `"minute";r=1;t=60 | "upstream";r=0;t=1`)
	res = fetch(t, server, "/busy")
	wantField(t, res.Header, "Retry-After", "7")
	res = fetch(t, server, "/")
	if res.StatusCode != 429 {
		t.Errorf("status %d, want the limiter's 429", res.StatusCode)
	}
	wantField(t, res.Header, "RateLimit", `"minute";r=0;t=90`)
	wantField(t, res.Header, "Retry-After", "90")
}

func TestAReverseProxyCanDropTheUpstreamsFields(t *testing.T) {
	p := upstream(t)
	p.ModifyResponse = func(res *http.Response) error {
		res.Header.Del("RateLimit")
		res.Header.Del("RateLimit-Policy")
		return nil
	}
	res := fetch(t, start(t, proxied(p, echomw.New(byAll(core.PerMinute(2))))), "/")
	wantField(t, res.Header, "RateLimit-Policy", `"minute";q=2;w=60`)
	wantField(t, res.Header, "RateLimit", `"minute";r=1;t=60`)
}

func TestRefundIfIsToldTheUpstreamsStatus(t *testing.T) {
	told, statuses := told()
	fetch(t, start(t, proxied(upstream(t), echomw.New(byAll(core.PerMinute(9)), told))), "/busy")
	wantTold(t, "busy upstream", statuses, 429)
}
