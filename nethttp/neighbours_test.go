package nethttp_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/nethttp"
)

// sleeper answers after a second, or when the client has gone.
var sleeper = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
	select {
	case <-time.After(time.Second):
	case <-r.Context().Done():
	}
})

func TestATimeoutBelowTheLimiterKeepsTheBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limiter(core.PerMinute(1))
		h := nethttp.New(l)(http.TimeoutHandler(sleeper, time.Millisecond, "too slow"))
		w := get(h, "/")
		wantStatus(t, w, 503)
		wantField(t, w.Header(), "RateLimit", `"minute";r=0;t=120`)
		w = get(h, "/") // what was too slow was charged all the same
		wantStatus(t, w, 429)
		wantField(t, w.Header(), "Retry-After", "120")
	})
}

func TestATimeoutAroundTheLimiterPassesItsFieldsOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := http.TimeoutHandler(nethttp.New(limiter(core.PerMinute(1)))(new(counter)), time.Minute, "too slow")
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

// A limiter knows by the header of the response that it was asked before, and
// TimeoutHandler gives those below a header of their own.
func TestALimiterOnBothSidesOfATimeoutCountsTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limited := nethttp.New(limiter(core.PerMinute(4)))
		h := limited(http.TimeoutHandler(limited(new(counter)), time.Minute, "too slow"))
		wantField(t, get(h, "/").Header(), "RateLimit", `"minute";r=2;t=60`)
		wantField(t, get(h, "/").Header(), "RateLimit", `"minute";r=0;t=75`)
		wantStatus(t, get(h, "/"), 429)
	})
}

// proxy is a limiter in front of a reverse proxy, whose upstream limits too.
func proxy(t *testing.T, l *core.Limiter, change func(*http.Response) error) http.Handler {
	t.Helper()
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("RateLimit-Policy", `"upstream";q=5;w=1`)
		w.Header().Set("RateLimit", `"upstream";r=0;t=1`)
		if r.URL.Path == "/busy" {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusTooManyRequests)
		}
	}))
	t.Cleanup(upstream.Close)
	target, err := url.Parse(upstream.URL)
	if err != nil {
		t.Fatal(err)
	}
	p := httputil.NewSingleHostReverseProxy(target)
	p.ModifyResponse = change
	return nethttp.New(l)(p)
}

// Several lines of one list field are one list (RFC 9651, section 4.2), so that
// a client reads the policies of both.
func TestAReverseProxyAddsTheUpstreamsPoliciesOnALineAfterTheLimiters(t *testing.T) {
	h := proxy(t, limiter(core.PerMinute(2)), nil)
	w := get(h, "/")
	wantStatus(t, w, 200)
	wantField(t, w.Header(), "RateLimit-Policy", `"minute";q=2;w=60 | "upstream";q=5;w=1`)
	wantField(t, w.Header(), "RateLimit", `"minute";r=1;t=60 | "upstream";r=0;t=1`)

	w = get(h, "/busy")
	wantStatus(t, w, 429)
	wantField(t, w.Header(), "Retry-After", "7")

	w = get(h, "/") // denied before the upstream is asked
	wantStatus(t, w, 429)
	wantField(t, w.Header(), "RateLimit", `"minute";r=0;t=90`)
	wantField(t, w.Header(), "Retry-After", "90")
}

func TestAReverseProxyCanDropTheUpstreamsFields(t *testing.T) {
	w := get(proxy(t, limiter(core.PerMinute(2)), func(res *http.Response) error {
		res.Header.Del("RateLimit")
		res.Header.Del("RateLimit-Policy")
		return nil
	}), "/")
	wantField(t, w.Header(), "RateLimit-Policy", `"minute";q=2;w=60`)
	wantField(t, w.Header(), "RateLimit", `"minute";r=1;t=60`)
}
