package nethttp_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/keyfuncs"
	"github.com/slidegate/slidegate/nethttp"
)

func TestFaultsPanicWhenTheRouterIsBuilt(t *testing.T) {
	good := limiter(core.PerMinute(1))
	for _, c := range []struct {
		fault string
		build func()
		want  string
	}{
		{"a nil limiter", func() { nethttp.New(nil) }, "nethttp: New needs a limiter; core.New makes one"},
		{"a nil handler", func() { nethttp.New(good)(nil) }, "nethttp: the middleware needs a handler to limit"},
		{"a nil native key function", func() { nethttp.Key(nil) }, "nethttp: Key needs a function"},
		{"a nil OnDenied", func() { nethttp.OnDenied(nil) }, "nethttp: OnDenied needs a function"},
		{"a nil OnError", func() { nethttp.OnError(nil) }, "nethttp: OnError needs a function"},
		{"a nil RefundIf", func() { nethttp.RefundIf(nil) }, "nethttp: RefundIf needs a function"},
	} {
		if got := panicText(c.build); got != c.want {
			t.Errorf("%s panics with %q, want %q", c.fault, got, c.want)
		}
	}
}

func TestLimitPanicsWithAllFaultsOfItsRules(t *testing.T) {
	defer func() {
		err, _ := recover().(error)
		if !errors.Is(err, core.ErrConfig) {
			t.Fatalf("Limit panics with %v, want an ErrConfig", err)
		}
		for _, want := range []string{"rule-1", "rule-2", "-5", "no key function"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q does not tell of %q", err, want)
			}
		}
	}()
	nethttp.Limit(core.By(keyfuncs.IP, core.PerMinute(-5)), core.By(nil, core.PerMinute(1)))
}

func TestTheNextHandlerGetsTheServersOwnWriterAndRequest(t *testing.T) {
	w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil)
	nethttp.New(limiter(core.PerMinute(1)))(http.HandlerFunc(func(w2 http.ResponseWriter, r2 *http.Request) {
		if w2 != http.ResponseWriter(w) || r2 != r {
			t.Errorf("the handler got %T and another request, want what the server made", w2)
		}
	})).ServeHTTP(w, r)
}

func TestAPeerNeedsNoPort(t *testing.T) {
	h := nethttp.New(limiter(core.PerMinute(2)))(new(counter))
	for _, c := range []struct {
		peer string
		want int
	}{
		{"198.51.100.7:1001", 200},
		{"198.51.100.7:1002", 200},
		{"198.51.100.7", 429},
		{"[2001:db8::7]:1001", 200},
		{"2001:db8::7", 200},
		{"[2001:db8::7]", 429},
		{"", 400},
		{"@", 400},
		{"pipe", 400},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = c.peer
		if got := serve(h, r).Code; got != c.want {
			t.Errorf("RemoteAddr %q: status %d, want %d", c.peer, got, c.want)
		}
	}
}

func TestRequestIsNilUnderAnotherAdapter(t *testing.T) {
	if got := nethttp.Request(foreign{}); got != nil {
		t.Errorf("the request of another adapter is %v, want nil", got)
	}
	if key, err := nethttp.Key(func(*http.Request) (string, error) { return "k", nil })(foreign{}); err == nil || key != "" {
		t.Errorf("the key of another adapter's request is %q, %v; want an error", key, err)
	}
}

// A foreign request is one of another adapter.
type foreign struct{ core.Request }

func (foreign) Native() any { return 7 }

func TestDecisionFromAContextThatCarriesNone(t *testing.T) {
	if d, ok := nethttp.DecisionFrom(context.Background()); ok || d.Allowed {
		t.Errorf("got %+v, %v; want none, which denies", d, ok)
	}
}

// A waitingStore answers when the context of the request is done.
type waitingStore struct{ core.Store }

func (waitingStore) Check([]core.Limit) error { return nil }
func (waitingStore) Decide(ctx context.Context, _ []core.Ask) (time.Time, error) {
	<-ctx.Done()
	return time.Time{}, ctx.Err()
}

func TestAClientThatHangsUpOpensNothing(t *testing.T) {
	t.Run("RL-118 no handler runs, and it is no failure of the store", func(t *testing.T) {
		l := core.MustNew(core.Config{
			Rules: []core.Rule{core.By(keyfuncs.IP, core.PerMinute(2))}, Store: waitingStore{}, Failure: core.FailOpen,
			Observer: func(_ context.Context, e core.Event) {
				if e.Kind != core.Refused || !errors.Is(e.Err, context.Canceled) {
					t.Errorf("the observer is told %v, %v; want a refusal", e.Kind, e.Err)
				}
			},
		})
		var served counter
		ctx, hangUp := context.WithCancel(context.Background())
		hangUp()
		w := serve(nethttp.New(l)(&served), httptest.NewRequestWithContext(ctx, "GET", "/", nil))
		wantStatus(t, w, 503)
		if served != 0 {
			t.Errorf("the handler ran %d times, want 0", served)
		}
	})
}

func TestEarlyHintsDoNotEndTheBudget(t *testing.T) {
	for name, mount := range variants {
		if name == "no limiter" {
			continue
		}
		server := httptest.NewServer(mount(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Link", "</style.css>; rel=preload")
			w.WriteHeader(http.StatusEarlyHints)
			w.WriteHeader(http.StatusTeapot)
		})))
		res, err := server.Client().Get(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		if res.StatusCode != http.StatusTeapot || res.Header.Get("RateLimit") == "" {
			t.Errorf("%s: status %d with %q, want 418 with a budget", name, res.StatusCode, res.Header.Get("RateLimit"))
		}
		_ = res.Body.Close()
		server.Close()
	}
}
