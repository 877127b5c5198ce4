//go:build unix

package verify_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/nethttp"
	"github.com/slidegate/slidegate/redisstore"
	"github.com/slidegate/slidegate/verify/internal/redistest"
)

// A site is a handler behind a limiter, as a user would set it up, that counts
// what happens.
type site struct {
	http.Handler
	store    *redisstore.Store
	served   atomic.Int64 // requests that reached the handler
	failures atomic.Int64 // of the store that were observed
	changes  chan core.EventKind
}

// newSite limits everyone together to two requests a minute.
func newSite(t *testing.T, addr string, timeout time.Duration, failure core.Failure) *site {
	t.Helper()
	s := &site{store: redisstore.New(newClient(t, addr), redisstore.Config{Timeout: timeout}), changes: make(chan core.EventKind, 100)}
	limiter, err := core.New(core.Config{
		Rules: []core.Rule{core.By(one, core.PerMinute(2).Exact())}, Store: s.store, Failure: failure, Doctor: silent,
		Observer: func(_ context.Context, e core.Event) {
			switch e.Kind {
			case core.StoreFailed:
				s.failures.Add(1)
			case core.StoreDown, core.StoreUp:
				s.changes <- e.Kind
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Handler = nethttp.New(limiter)(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		s.served.Add(1)
		w.WriteHeader(http.StatusTeapot)
	}))
	return s
}

func (s *site) get(ctx context.Context) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil))
	return w
}

// statuses returns those of so many requests, one after the other.
func (s *site) statuses(requests int) string {
	var all []string
	for range requests {
		all = append(all, fmt.Sprint(s.get(background).Code))
	}
	return strings.Join(all, " ")
}

// refusing returns a proxy that refuses connections.
func refusing(t *testing.T) *redistest.Proxy {
	proxy := redistest.NewProxy(t, redistest.Start(t).Addr)
	proxy.Refuse()
	return proxy
}

func TestRequestsFollowThePolicyWhileRedisRefusesConnections(t *testing.T) {
	proxy := refusing(t)
	t.Run("RL-114 fail open", func(t *testing.T) {
		s := newSite(t, proxy.Addr, 0, core.FailOpen)
		for range 3 {
			w := s.get(background)
			if w.Code != http.StatusTeapot {
				t.Errorf("status %d, want the handler's own", w.Code)
			}
			for name := range w.Header() {
				if strings.Contains(strings.ToLower(name), "ratelimit") {
					t.Errorf("field %s claims a budget that is not known", name)
				}
			}
		}
		if s.served.Load() != 3 || s.failures.Load() != 3 {
			t.Errorf("%d of 3 requests served, %d failures observed", s.served.Load(), s.failures.Load())
		}
	})
	t.Run("RL-114 fail closed", func(t *testing.T) {
		s := newSite(t, proxy.Addr, 0, core.FailClosed)
		if got := s.statuses(3); got != "503 503 503" || s.served.Load() != 0 || s.failures.Load() != 3 {
			t.Errorf("statuses %s, %d served, %d failures observed", got, s.served.Load(), s.failures.Load())
		}
	})
	t.Run("degrade, which is the default", func(t *testing.T) {
		s := newSite(t, proxy.Addr, 0, 0)
		if got := s.statuses(3); got != "418 418 429" {
			t.Errorf("statuses %s, want the limits kept in this process", got)
		}
	})
}

// TestRequestsAreHeldForTheTimeoutAtMost is RL-115: the server accepts the
// connection and says nothing.
func TestRequestsAreHeldForTheTimeoutAtMost(t *testing.T) {
	const timeout = 100 * time.Millisecond
	proxy := redistest.NewProxy(t, redistest.Start(t).Addr)
	proxy.Hang()
	s := newSite(t, proxy.Addr, timeout, core.FailOpen)
	took := make([]time.Duration, 50)
	var group sync.WaitGroup
	for i := range took {
		group.Go(func() {
			began := time.Now()
			if w := s.get(background); w.Code != http.StatusTeapot {
				t.Errorf("RL-115: status %d", w.Code)
			}
			took[i] = time.Since(began)
		})
	}
	group.Wait()
	t.Logf("50 at once: median %v, longest %v", percentile(took, 0.5), percentile(took, 1))
	if longest := percentile(took, 1); longest > 10*timeout {
		t.Errorf("RL-115: a request was held for %v, far beyond the timeout of %v", longest, timeout)
	}
	began := time.Now()
	s.statuses(50)
	if all := time.Since(began); all > 10*timeout {
		t.Errorf("RL-115: 50 more took %v: each waits for a server that is known to be silent", all)
	}
	proxy.Pass()
	s.wantBack(t)
}

// wantBack waits until requests are counted in Redis again, which denies them.
func (s *site) wantBack(t *testing.T) {
	t.Helper()
	began := time.Now()
	eventually(t, "Redis counts again", func() bool { return s.get(background).Code == http.StatusTooManyRequests && !s.store.Stats().Down })
	t.Logf("counted in Redis again after %v", time.Since(began).Round(time.Millisecond))
	if down, up := <-s.changes, <-s.changes; down != core.StoreDown || up != core.StoreUp {
		t.Errorf("observed %v and %v, want that the store went down and came up", down, up)
	}
}

// TestAnApplicationStartsWithoutRedisAndJoinsIt is RL-116.
func TestAnApplicationStartsWithoutRedisAndJoinsIt(t *testing.T) {
	for _, c := range []struct {
		policy  string
		failure core.Failure
		without string
	}{
		{"fail open", core.FailOpen, strings.Repeat("418 ", 10)},
		{"degrade", core.Degrade, "418 418 " + strings.Repeat("429 ", 8)},
	} {
		t.Run("RL-116 "+c.policy, func(t *testing.T) {
			server := redistest.Start(t)
			server.Kill()
			began := time.Now()
			s := newSite(t, server.Addr, 100*time.Millisecond, c.failure)
			if took := time.Since(began); took > time.Second {
				t.Errorf("making the limiter took %v", took)
			}
			if got := s.statuses(10); got != strings.TrimSpace(c.without) {
				t.Errorf("without Redis: statuses %s", got)
			}
			server.Restart()
			eventually(t, "Redis counts", func() bool {
				s.get(background)
				return s.store.Stats().Calls > 0 && !s.store.Stats().Down
			})
			if got := s.statuses(10); !strings.HasSuffix(got, strings.TrimSpace(strings.Repeat("429 ", 8))) {
				t.Errorf("with Redis: statuses %s, of which two may be admitted", got)
			}
			noImmortalKeys(t, server, 0, core.PerMinute(2).Exact())
		})
	}
}

// TestClientsThatHangUpOpenNothing is RL-118.
func TestClientsThatHangUpOpenNothing(t *testing.T) {
	server := redistest.Start(t)
	proxy := redistest.NewProxy(t, server.Addr)
	s := newSite(t, proxy.Addr, patient, core.FailOpen)
	proxy.Slow(20 * time.Millisecond)
	for range 20 {
		ctx, cancel := context.WithTimeout(background, 5*time.Millisecond)
		s.get(ctx)
		cancel()
	}
	if served := s.served.Load(); served != 0 {
		t.Errorf("RL-118: %d of 20 requests were served whose client had hung up", served)
	}
	s.statuses(3)
	if served := s.served.Load(); served > 2 {
		t.Errorf("RL-118: %d of 23 requests were served, of which the quota has 2", served)
	}
	if s.failures.Load() != 0 || s.store.Stats().Down {
		t.Errorf("RL-118: %d requests that ended were taken for failures of the store", s.failures.Load())
	}
	noImmortalKeys(t, server, 0, core.PerMinute(2).Exact())
}

// TestFaultsOfTheSetUpAreNotOutages has the server refuse for good what the store
// does: no policy hides that, and no breaker opens.
func TestFaultsOfTheSetUpAreNotOutages(t *testing.T) {
	server := redistest.Start(t)
	server.Do("ACL", "SETUSER", "reader", "on", ">secret", "~*", "+@read", "+@connection")
	server.Do("SET", "text:1:rule-1:{key}", "another program's")
	server.Do("SET", "long:1:rule-1:{key}", "the value of another program, which is long enough to be a record")
	server.Do("LPUSH", "list:1:rule-1:{key}", "one")
	for _, c := range []struct {
		fault  string
		client *redis.Options
		prefix string
		says   string
	}{
		{"a user that may not run scripts", &redis.Options{Addr: server.Addr, Username: "reader", Password: "secret"}, "", "NOPERM"},
		{"a wrong password", &redis.Options{Addr: server.Addr, Username: "reader", Password: "wrong"}, "", "WRONGPASS"},
		{"a prefix under which lists lie", &redis.Options{Addr: server.Addr}, "list:", "WRONGTYPE"},
		{"a prefix under which short texts lie", &redis.Options{Addr: server.Addr}, "text:", "SLIDEGATE"},
		{"a prefix under which long texts lie", &redis.Options{Addr: server.Addr}, "long:", "redisstore"},
	} {
		t.Run(c.fault, func(t *testing.T) {
			client := redis.NewClient(c.client)
			defer client.Close()
			store := redisstore.New(client, redisstore.Config{Prefix: c.prefix, Timeout: patient})
			limiter := on(t, store, core.FailOpen, core.By(one, core.PerMinute(2)))
			for range 10 {
				d, err := limiter.Allow(background, "key")
				if d.Allowed || !errors.Is(err, core.ErrConfig) || !strings.Contains(err.Error(), c.says) {
					t.Fatalf("allowed %v, error %v; want one of the configuration that says %s", d.Allowed, err, c.says)
				}
			}
			if store.Stats().Down {
				t.Error("taken for an outage")
			}
		})
	}
}
