package fibermw_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/adaptor"
	"github.com/gofiber/fiber/v2/middleware/proxy"
	"github.com/gofiber/fiber/v2/middleware/timeout"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/fibermw"
)

// expired is a handler that gives up because its time is over.
func expired(c *fiber.Ctx) error {
	ctx, cancel := context.WithDeadline(c.UserContext(), time.Time{})
	defer cancel()
	<-ctx.Done()
	return ctx.Err()
}

func TestATimeoutBehindTheLimiterKeepsTheBudgetAndTheCharge(t *testing.T) {
	l := limiter(core.PerMinute(1))
	told, statuses := told()
	a := app(plain(), timeout.NewWithContext(expired, time.Hour), fibermw.New(l, told))
	r := get(t, a, "/")
	wantStatus(t, r, 408)
	wantField(t, r.header, "RateLimit", `"minute";r=0;t=120`)
	wantTold(t, "too slow", statuses, 408)
	wantRemaining(t, l, 0)
}

// Handlers of net/http find the limiter's fields set, and add to them.
func TestHandlersOfNetHTTPKeepTheBudget(t *testing.T) {
	for phrase, handle := range map[string]http.Handler{
		"a handler": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }),
		"a handler under http.TimeoutHandler": http.TimeoutHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusTeapot)
		}), time.Minute, "too slow"),
	} {
		told, statuses := told()
		r := get(t, app(plain(), adaptor.HTTPHandler(handle), fibermw.New(limiter(core.PerMinute(1)), told)), "/")
		wantStatus(t, r, 418)
		wantField(t, r.header, "RateLimit", `"minute";r=0;t=120`)
		wantTold(t, phrase, statuses, 418)
	}
}

// upstream is a server with limits of its own.
func upstream(t *testing.T) *url.URL {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("RateLimit-Policy", `"upstream";q=5;w=1`)
		w.Header().Set("RateLimit", `"upstream";r=0;t=1`)
		if r.URL.Path == "/busy" {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusTooManyRequests)
		}
	}))
	t.Cleanup(server.Close)
	target, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return target
}

func TestFieldsThatAHandlerOfNetHTTPSetsStandOnALineAfterTheLimiters(t *testing.T) {
	handle := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("RateLimit-Policy", `"upstream";q=5;w=1`)
		w.Header().Set("RateLimit", `"upstream";r=0;t=1`)
	}
	r := get(t, app(plain(), adaptor.HTTPHandlerFunc(handle), fibermw.New(limiter(core.PerMinute(2)))), "/")
	wantField(t, r.header, "RateLimit-Policy", `"minute";q=2;w=60 | "upstream";q=5;w=1`)
	wantField(t, r.header, "RateLimit", `"minute";r=1;t=60 | "upstream";r=0;t=1`)
}

// Fiber's proxy makes the upstream's response that of the request: what stood there
// is gone.
func TestFibersProxyLosesTheFieldsOfAllowedRequests(t *testing.T) {
	target := upstream(t).String()
	told, statuses := told()
	a := fiber.New()
	a.Use(fibermw.New(limiter(core.PerMinute(1)), told), func(c *fiber.Ctx) error { return proxy.Do(c, target+c.Path()) })
	r := get(t, a, "/busy")
	wantStatus(t, r, 429)
	wantField(t, r.header, "RateLimit", `"upstream";r=0;t=1`)
	wantField(t, r.header, "Retry-After", "7")
	wantTold(t, "busy upstream", statuses, 429)
	r = get(t, a, "/")
	wantStatus(t, r, 429)
	wantField(t, r.header, "RateLimit", `"minute";r=0;t=120`)
}

// fields are the header fields of a response as core.Header has them.
type fields struct{ *fiber.Ctx }

func (f fields) Get(name string) string { return f.GetRespHeader(name) }

func TestADecisionSetsItsFieldsAgainAfterFibersProxy(t *testing.T) {
	target := upstream(t).String()
	a := fiber.New()
	a.Use(fibermw.New(limiter(core.PerMinute(2)), fibermw.ExposeDecision()), func(c *fiber.Ctx) error {
		if err := proxy.Do(c, target); err != nil {
			return err
		}
		if d, ok := fibermw.DecisionFrom(c); ok {
			d.SetHeaders(fields{c})
		}
		return nil
	})
	r := get(t, a, "/")
	wantField(t, r.header, "RateLimit-Policy", `"upstream";q=5;w=1, "minute";q=2;w=60`)
	wantField(t, r.header, "RateLimit", `"upstream";r=0;t=1, "minute";r=1;t=60`)
}

// An upstream that cannot be reached is an error of the handler.
func TestRefundIfIsTold500WhereFibersProxyFindsNobody(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := "http://" + ln.Addr().String()
	_ = ln.Close()
	told, statuses := told()
	a := app(plain(), func(c *fiber.Ctx) error { return proxy.Do(c, nobody) }, fibermw.New(limiter(core.PerMinute(1)), told))
	wantStatus(t, get(t, a, "/"), 500)
	wantTold(t, "nobody", statuses, 500)
}
