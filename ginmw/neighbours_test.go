package ginmw_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/ginmw"
	"github.com/slidegate/slidegate/nethttp"
)

// slow answers with status 201 after a second.
func slow(c *gin.Context) {
	time.Sleep(time.Second)
	c.String(http.StatusCreated, "made")
}

func TestATimeoutAroundTheApplicationPassesTheFieldsOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := http.TimeoutHandler(app(new(counter).handle, ginmw.New(limiter(core.PerMinute(1)))), time.Minute, "too slow")
		w := get(h, "/")
		wantStatus(t, w, 200)
		wantField(t, w.Header(), "RateLimit", `"minute";r=0;t=120`)
		w = get(h, "/")
		wantStatus(t, w, 429)
		wantField(t, w.Header(), "RateLimit-Policy", `"minute";q=1;w=60`)
		wantField(t, w.Header(), "Retry-After", "120")
		wantField(t, w.Header(), "Content-Type", core.ContentTypeProblem)
	})
}

// What is too slow is charged, answered without a budget, and settled by the
// status of the handler, which nobody is sent.
func TestATimeoutThatStrikesAroundTheApplicationLosesTheFieldsAndKeepsTheCharge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limiter(core.PerMinute(1))
		told, statuses := told()
		h := http.TimeoutHandler(app(slow, ginmw.New(l, told)), time.Millisecond, "too slow")
		w := get(h, "/")
		wantStatus(t, w, 503)
		wantField(t, w.Header(), "RateLimit", "")
		wantRemaining(t, l, 0)
		time.Sleep(time.Second)
		synctest.Wait()
		wantTold(t, "too slow", statuses, 201)
	})
}

func TestATimeoutBelowTheLimiterKeepsTheBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told, statuses := told()
		sleeper := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { time.Sleep(time.Second) })
		h := app(gin.WrapH(http.TimeoutHandler(sleeper, time.Millisecond, "too slow")), ginmw.New(limiter(core.PerMinute(1)), told))
		w := get(h, "/")
		wantStatus(t, w, 503)
		wantField(t, w.Header(), "RateLimit", `"minute";r=0;t=120`)
		wantTold(t, "too slow", statuses, 503)
		time.Sleep(time.Second) // the sleeper's
	})
}

// The limiter is known by the response's header, of which a TimeoutHandler makes
// another.
func TestALimiterOnBothSidesOfATimeoutCountsTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limiter(core.PerMinute(4))
		h := nethttp.New(l)(http.TimeoutHandler(app(new(counter).handle, ginmw.New(l)), time.Minute, "too slow"))
		get(h, "/")
		wantRemaining(t, l, 2)
	})
}

func TestALimiterOfTheServerAndOfTheApplicationCountsOnce(t *testing.T) {
	l := limiter(core.PerMinute(4))
	get(nethttp.New(l)(app(new(counter).handle, ginmw.New(l))), "/")
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

func proxied(p *httputil.ReverseProxy, limit gin.HandlerFunc) http.Handler {
	r := gin.New()
	r.Use(limit)
	r.NoRoute(gin.WrapH(p))
	return r
}

// fetch asks over a connection, since a recorder cannot tell a client that is gone.
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
	server := start(t, proxied(upstream(t), ginmw.New(byAll(core.PerMinute(2)))))
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
	res := fetch(t, start(t, proxied(p, ginmw.New(byAll(core.PerMinute(2))))), "/")
	wantField(t, res.Header, "RateLimit-Policy", `"minute";q=2;w=60`)
	wantField(t, res.Header, "RateLimit", `"minute";r=1;t=60`)
}

func TestRefundIfIsToldTheUpstreamsStatus(t *testing.T) {
	told, statuses := told()
	fetch(t, start(t, proxied(upstream(t), ginmw.New(byAll(core.PerMinute(9)), told))), "/busy")
	wantTold(t, "busy upstream", statuses, 429)
}
