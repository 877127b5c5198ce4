package conformance

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/slidegate/slidegate/core"
)

func decisionPlays() []scenario {
	return []scenario{
		{"RL-084 the handler does not run after a denial, the adapter's own answer", handlerStays},
		{"RL-084 the handler does not run after a denial, an answer of OnDenied", handlerStaysOwn},
		{"the handler does not run after an error, an answer of OnError", handlerStaysOnError},
		{"the decision is exposed if asked for, that of the innermost limiter", exposesInnermost},
		{"the decision is not exposed unless asked for", notExposed},
		{"every request is observed once", observed},
		{"a path that no route serves is limited too", noRoute},
		{"a handler that panics is charged, and holds nothing up", panics},
		{"a key function that panics holds nothing up", keyPanics},
	}
}

func handlerStays(tb testing.TB, a Adapter) {
	s := newStage(tb)
	s.serve(a, Setup{Group: []*core.Limiter{s.limited(core.PerMinute(2))}})
	for _, want := range []string{"200", "200", "429", "429", "429"} {
		s.expect(request{}, want)
	}
	if got := s.hits.Load(); got != 2 {
		tb.Errorf("the handler ran %d times, want 2", got)
	}
}

func handlerStaysOwn(tb testing.TB, a Adapter) {
	s := newStage(tb)
	s.serve(a, Setup{
		Group:    []*core.Limiter{s.limited(core.PerMinute(2))},
		OnDenied: func(core.Decision, func(string) string) Reply { return plain(http.StatusTooManyRequests, "go away\n") },
	})
	s.send(request{})
	s.send(request{})
	for range 3 {
		if r := s.send(request{}); r.status != 429 || r.body != "go away\n" {
			tb.Errorf("status %d and body %q, want only what OnDenied wrote", r.status, r.body)
		}
	}
	if got := s.hits.Load(); got != 2 {
		tb.Errorf("the handler ran %d times, want 2", got)
	}
}

func handlerStaysOnError(tb testing.TB, a Adapter) {
	s := newStage(tb)
	s.serve(a, Setup{
		Group:   []*core.Limiter{s.limited(core.PerMinute(2))},
		OnError: func(error) Reply { return plain(http.StatusUnauthorized, "who are you?\n") },
	})
	if r := s.send(request{client: "-"}); r.status != 401 || r.body != "who are you?\n" {
		tb.Errorf("status %d and body %q, want only what OnError wrote", r.status, r.body)
	}
	if got := s.hits.Load(); got != 0 {
		tb.Errorf("the handler ran %d times, want 0", got)
	}
}

// sayDecision answers with the decision that the handler finds.
func sayDecision(c Call) Reply {
	d, ok := c.Decision()
	if !ok {
		return plain(http.StatusOK, "none\n")
	}
	var b strings.Builder
	fmt.Fprint(&b, d.Allowed)
	for _, state := range d.States() {
		fmt.Fprintf(&b, " %s %d", state.Limit.Name(), state.Remaining)
	}
	return plain(http.StatusOK, b.String()+"\n")
}

func exposesInnermost(tb testing.TB, a Adapter) {
	s := newStage(tb)
	s.serve(a, Setup{
		App: []*core.Limiter{s.limited(core.PerMinute(9))}, Group: []*core.Limiter{s.limited(core.PerHour(5), core.PerDay(6))},
		ExposeDecision: true, Handle: sayDecision,
	})
	for path, want := range map[string]string{"/open": "true minute 8\n", "/api/hello": "true hour 4 day 5\n"} {
		if got := s.do(request{path: path, client: path}).body; got != want {
			tb.Errorf("%s: the handler finds %q, want %q", path, got, want)
		}
	}
}

func notExposed(tb testing.TB, a Adapter) {
	s := newStage(tb)
	s.serve(a, Setup{App: []*core.Limiter{s.limited(core.PerMinute(9))}, Handle: sayDecision})
	if got := s.do(request{}).body; got != "none\n" {
		tb.Errorf("the handler finds %q, want none", got)
	}
}

func observed(tb testing.TB, a Adapter) {
	var mu sync.Mutex
	var events []string
	s := newStage(tb)
	s.serve(a, Setup{Group: []*core.Limiter{s.limiter(core.Config{
		Rules: []core.Rule{byClient(core.PerMinute(1))},
		Observer: func(_ context.Context, e core.Event) {
			mu.Lock()
			defer mu.Unlock()
			events = append(events, fmt.Sprint(e.Kind, e.Decision.Allowed, e.Err != nil))
		},
	})}})
	s.do(request{})
	s.do(request{})
	s.do(request{client: "-"})
	want := fmt.Sprint([]string{
		fmt.Sprint(core.Decided, true, false), fmt.Sprint(core.Decided, false, false), fmt.Sprint(core.Refused, false, true),
	})
	if got := fmt.Sprint(events); got != want {
		tb.Errorf("events %v, want %v", got, want)
	}
}

func noRoute(tb testing.TB, a Adapter) {
	s := newStage(tb)
	s.serve(a, Setup{App: []*core.Limiter{s.limited(core.PerMinute(2))}})
	for _, want := range []int{404, 404, 429} {
		r := s.send(request{path: "/nowhere"})
		if r.status != want || r.header.Get(fieldLimit) == "" {
			tb.Errorf("status %d with %q, want %d with a budget", r.status, r.header.Get(fieldLimit), want)
		}
	}
}

// panicky panics for the client panic.
func panicky(c Call) Reply {
	if c.Header("X-Client") == "panic" {
		panic("a handler that panics on purpose")
	}
	return plain(http.StatusOK, "ok\n")
}

// post sends a POST, which no client repeats, and returns whether there was an
// answer, which need not be so where a handler panics.
func (s *stage) post(q request) (status int) {
	q.method = "POST"
	r, err := s.as(q.peer).Do(q.native(s.tb, s.addr))
	if err != nil {
		return 0
	}
	_ = r.Body.Close()
	return r.StatusCode
}

func panics(tb testing.TB, a Adapter) {
	s := newStage(tb)
	s.serve(a, Setup{Group: []*core.Limiter{s.limited(core.PerMinute(2))}, Handle: panicky})
	for range 2 {
		if got := s.post(request{client: "panic"}); got == 200 || got == 429 {
			tb.Errorf("status %d of a handler that panicked", got)
		}
	}
	s.expect(request{client: "panic"}, "429 r=0")
	s.expect(request{client: "other"}, "200")
}

func keyPanics(tb testing.TB, a Adapter) {
	s := newStage(tb)
	rule := byClient(core.PerMinute(1))
	byName := rule.Key
	rule.Key = func(r core.Request) (string, error) {
		key, err := byName(r)
		if key == "panic" {
			panic("a key function that panics on purpose")
		}
		return key, err
	}
	s.serve(a, Setup{Group: []*core.Limiter{s.limiter(core.Config{Rules: []core.Rule{rule}})}})
	if got := s.post(request{client: "panic"}); got == 200 || got == 429 {
		tb.Errorf("status %d where a key function panicked", got)
	}
	if got := s.hits.Load(); got != 0 {
		tb.Errorf("the handler ran %d times, want 0", got)
	}
	s.expect(request{client: "other"}, "200")
}
