package core_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/keyfuncs"
	"github.com/slidegate/slidegate/nethttp"
)

// A health is a set-up that is right, and a way to serve it 1,200 requests.
type health struct {
	phrase string
	config core.Config
	// request returns the i-th request; a plain one of its own client if nil.
	request func(i int) *http.Request
	// mount puts the limiter around a handler; as nethttp does if nil.
	mount func(*core.Limiter, http.Handler) http.Handler
}

// arriving returns a request of a peer with header lines as pairs.
func arriving(peer string, header ...string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/items/42", nil)
	r.RemoteAddr = peer
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	return r
}

// client returns the address of the i-th client.
func client(i int) string { return fmt.Sprintf("198.51.%d.%d", i/250%100, i%250) }

func healths() []health {
	minute := core.PerMinute(1_000_000)
	proxied := func(peer, header, format string) func(int) *http.Request {
		return func(i int) *http.Request { return arriving(peer, header, fmt.Sprintf(format, client(i))) }
	}
	same := func(peer string, header ...string) func(int) *http.Request {
		return func(int) *http.Request { return arriving(peer, header...) }
	}
	return []health{
		{phrase: "clients connect themselves", config: core.Config{Rules: by(keyfuncs.IP, minute)}},
		{
			phrase: "clients connect themselves, and some send forwarded fields", config: core.Config{Rules: by(keyfuncs.IP, minute)},
			request: func(i int) *http.Request {
				if i%3 == 0 {
					return arriving(client(i)+":1", "X-Forwarded-For", "192.0.2.1", "User-Agent", "forger")
				}
				return arriving(client(i) + ":1")
			},
		},
		{
			phrase: "one forger is the first to come", config: core.Config{Rules: by(keyfuncs.IP, minute)},
			request: func(i int) *http.Request {
				if i < 15 {
					return arriving("203.0.113.9:4711", "X-Forwarded-For", client(i))
				}
				return arriving(client(i) + ":1")
			},
		},
		{
			phrase: "a proxy on the same network", config: core.Config{Rules: by(keyfuncs.ClientIP("X-Forwarded-For", keyfuncs.PrivateNetworks()), minute)},
			request: proxied("10.0.0.9:4711", "X-Forwarded-For", "192.0.2.1, %s"),
		},
		{
			phrase: "a proxy on the same machine", config: core.Config{Rules: by(keyfuncs.ClientIP("X-Real-IP", keyfuncs.Loopback()), minute)},
			request: proxied("127.0.0.1:4711", "X-Real-IP", "%s"),
		},
		{
			phrase: "a proxy at a Unix socket", config: core.Config{Rules: by(keyfuncs.ClientIP("Forwarded", keyfuncs.Loopback()), minute)},
			request: proxied("@", "Forwarded", `for="%s:4711";proto=https`),
		},
		{
			phrase: "a number of proxies whose addresses change", config: core.Config{Rules: by(keyfuncs.ClientIP("X-Forwarded-For", keyfuncs.TrustedHops(2)), minute)},
			request: proxied("203.0.113.9:4711", "X-Forwarded-For", "%s, 192.0.2.9"),
		},
		{
			phrase: "a delivery network with a header of its own", config: core.Config{Rules: by(keyfuncs.ClientIP("X-Remote-Addr", keyfuncs.TrustedProxies("203.0.113.0/24")), minute)},
			request: func(i int) *http.Request {
				return arriving("203.0.113.9:4711", "X-Remote-Addr", client(i), "X-Forwarded-For", client(i))
			},
		},
		{
			phrase: "one limit for all beside one by address", config: core.Config{Rules: []core.Rule{
				core.By(keyfuncs.Global, core.PerSecond(1_000_000)), core.By(keyfuncs.IP, minute),
			}},
		},
		{
			phrase: "a single client, as under a load test", config: core.Config{Rules: by(keyfuncs.IP, minute)},
			request: same("127.0.0.1:4711"),
		},
		{
			phrase: "a single gateway with a key of its own", config: core.Config{Rules: by(keyfuncs.Header("X-API-Key"), minute)},
			request: same("10.0.0.9:4711", "X-API-Key", "secret", "X-Forwarded-For", "198.51.100.7"),
		},
		{
			phrase: "one limit for all behind a gateway", config: core.Config{Rules: by(keyfuncs.Global, minute)},
			request: proxied("10.0.0.9:4711", "X-Forwarded-For", "%s"),
		},
		{phrase: "by method", config: core.Config{Rules: by(keyfuncs.Method, minute)}},
		{phrase: "by host, path and method", config: core.Config{Rules: by(keyfuncs.Join(keyfuncs.Host, keyfuncs.Path, keyfuncs.Method), minute)}},
		{
			phrase: "by user, else by address, behind a proxy", config: core.Config{Rules: by(
				keyfuncs.FirstOf(keyfuncs.BearerToken, keyfuncs.ClientIP("X-Forwarded-For", keyfuncs.PrivateNetworks())), minute)},
			request: func(i int) *http.Request {
				r := arriving("10.0.0.9:4711", "X-Forwarded-For", client(i))
				if i%2 == 0 {
					r.Header.Set("Authorization", "Bearer "+client(i))
				}
				return r
			},
		},
		{
			phrase: "IPv6 clients of one network", config: core.Config{Rules: by(keyfuncs.IP, minute)},
			request: func(i int) *http.Request { return arriving(fmt.Sprintf("[2001:db8:1:2::%x]:4711", i+1)) },
		},
		{
			phrase: "limits that each matter", config: core.Config{Rules: by(keyfuncs.IP,
				core.PerSecond(10), core.PerMinute(100), core.PerHour(1000).Strict(60), core.PerDay(5000).Fixed())},
		},
		{
			phrase: "a burst beside a quota", config: core.Config{Rules: by(keyfuncs.IP,
				core.PerMinute(60).Bucket(60), core.PerMinute(100).Exact())},
		},
		{
			phrase: "a looser limit as a dry run, and a switch that denies all", config: core.Config{Rules: []core.Rule{
				core.By(keyfuncs.IP, minute, core.PerMinute(2_000_000).DryRun()),
				{Name: "closed", Key: keyfuncs.IP, Limits: []core.Limit{core.PerMinute(0), core.PerHour(100)}, When: never},
			}},
		},
		{
			phrase: "costs up to the quota", config: core.Config{Rules: []core.Rule{{
				Key: keyfuncs.IP, Limits: []core.Limit{core.PerMinute(100)},
				Cost: func(core.Request) (int64, error) { return 100, nil },
			}}},
		},
		{
			phrase: "health checks are skipped", config: core.Config{
				Rules: by(keyfuncs.IP, minute), Skip: keyfuncs.InPrefixes(keyfuncs.PeerAddress, "10.0.0.0/8"),
			},
			request: same("10.0.0.9:4711", "X-Forwarded-For", "198.51.100.7"),
		},
		{
			phrase: "two limiters on the way of a request", config: core.Config{Rules: by(keyfuncs.IP, minute)},
			mount: func(l *core.Limiter, next http.Handler) http.Handler {
				return nethttp.New(l)(nethttp.Limit(core.By(keyfuncs.IP, minute))(next))
			},
		},
		{
			phrase: "named rules share a store, and one limiter replaces another", config: core.Config{
				Rules: []core.Rule{{Name: "api", Key: keyfuncs.IP, Limits: []core.Limit{minute}}}, Store: storeOfPredecessor(),
			},
		},
		{
			phrase: "a store that is faster than the server", config: core.Config{
				Rules: by(keyfuncs.IP, minute), Store: &slowStore{Memory: &core.Memory{}},
			},
			request: func(i int) *http.Request {
				r := arriving(client(i) + ":1")
				server := &http.Server{WriteTimeout: 10 * time.Second}
				return r.WithContext(context.WithValue(r.Context(), http.ServerContextKey, server))
			},
		},
		{
			phrase: "a server without a timeout", config: core.Config{
				Rules: by(keyfuncs.IP, minute), Store: &slowStore{Memory: &core.Memory{}},
			},
			request: func(i int) *http.Request {
				r := arriving(client(i) + ":1")
				return r.WithContext(context.WithValue(r.Context(), http.ServerContextKey, &http.Server{}))
			},
		},
	}
}

func never(core.Request) bool { return false }

// storeOfPredecessor returns a store in which a limiter of the same rule counted.
func storeOfPredecessor() *core.Memory {
	m := &core.Memory{}
	rule := core.Rule{Name: "api", Key: keyfuncs.IP, Limits: []core.Limit{core.PerMinute(5)}}
	core.MustNew(core.Config{Rules: []core.Rule{rule}, Store: m})
	return m
}

func TestDoctorIsSilentOnRightSetUps(t *testing.T) {
	if n := len(healths()); n < 15 {
		t.Fatalf("%d set-ups, want at least 15", n)
	}
	for _, h := range healths() {
		t.Run(h.phrase, func(t *testing.T) {
			c := &chart{}
			h.config.Doctor = c.doctor()
			h.serve(core.MustNew(h.config), 1200)
			if got := c.codes(); got != "" {
				t.Errorf("found %s, want nothing: %v", got, c.records)
			}
		})
	}
}

func (h health) serve(l *core.Limiter, requests int) {
	if h.request == nil {
		h.request = func(i int) *http.Request { return arriving(client(i) + ":4711") }
	}
	if h.mount == nil {
		h.mount = func(l *core.Limiter, next http.Handler) http.Handler { return nethttp.New(l)(next) }
	}
	ok := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	handler := h.mount(l, ok)
	for i := range requests {
		handler.ServeHTTP(httptest.NewRecorder(), h.request(i))
	}
}

// The application is often built when the first request comes.
func TestDoctorIsSilentOnALimiterThatIsMadeOnce(t *testing.T) {
	c := &chart{}
	var once sync.Once
	handler := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		once.Do(func() {
			core.MustNew(core.Config{Rules: by(keyfuncs.IP, core.PerMinute(5)), Doctor: c.doctor()})
		})
	})
	handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
	if got := c.codes(); got != "" {
		t.Errorf("found %s, want nothing", got)
	}
}

// What a strict doctor finds reaches the client as status 500.
func TestStrictDoctorAnswersWith500(t *testing.T) {
	l := core.MustNew(core.Config{Rules: by(keyfuncs.IP, core.PerMinute(5)), Doctor: core.Doctor{Strict: true}})
	var told error
	failed := nethttp.OnError(func(w http.ResponseWriter, _ *http.Request, err error) {
		told = err
		w.WriteHeader(core.ProblemOf(err).Status)
	})
	w := httptest.NewRecorder()
	nethttp.New(l, failed)(http.NotFoundHandler()).ServeHTTP(w, arriving("127.0.0.1:1", "X-Forwarded-For", "192.0.2.1"))
	if w.Code != http.StatusInternalServerError || !errors.Is(told, core.ErrDoctor) {
		t.Errorf("got status %d and %v, want 500 and core.ErrDoctor", w.Code, told)
	}
}

// A real server hands its timeout over with each request.
func TestDoctorKnowsTheServersTimeout(t *testing.T) {
	c := &chart{}
	l := core.MustNew(core.Config{
		Rules: by(keyfuncs.Global, core.PerMinute(5)), Store: &slowStore{Memory: &core.Memory{}}, Doctor: c.doctor(),
	})
	server := httptest.NewUnstartedServer(nethttp.New(l)(http.NotFoundHandler()))
	server.Config.WriteTimeout = time.Second
	server.Start()
	defer server.Close()
	response, err := server.Client().Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if got := c.codes(); got != "SG110" {
		t.Errorf("found %q, want SG110", got)
	}
}
