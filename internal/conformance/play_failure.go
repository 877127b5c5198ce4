package conformance

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/slidegate/slidegate/core"
)

func failurePlays() []scenario {
	return []scenario{
		{"RL-114 a store that is down, fail open", failsOpen},
		{"RL-114 a store that is down, fail closed", failsClosed},
		{"a store that is down, counted in this process meanwhile", degrades},
		{"a refusal tells the client nothing of the server", keepsSecrets},
	}
}

// down makes a limiter over a store that is down, and a count of the failures
// that its observer was told.
func (s *stage) down(f core.Failure) (*core.Limiter, *atomic.Int64) {
	var told atomic.Int64
	return s.limiter(core.Config{
		Rules: []core.Rule{byClient(core.PerHour(2))}, Store: downStore{}, Failure: f,
		Observer: func(_ context.Context, e core.Event) {
			if e.Kind == core.StoreFailed && errors.Is(e.Err, errDown) {
				told.Add(1)
			}
		},
	}), &told
}

func (s *stage) wantTold(told *atomic.Int64, want int64) {
	s.tb.Helper()
	if got := told.Load(); got != want {
		s.tb.Errorf("the observer was told of %d failures, want %d", got, want)
	}
}

func failsOpen(tb testing.TB, a Adapter) {
	s := newStage(tb)
	l, told := s.down(core.FailOpen)
	s.serve(a, Setup{Group: []*core.Limiter{l}, Handle: func(Call) Reply { return plain(202, "taken\n") }})
	for range 3 {
		s.expect(request{}, "202 none")
	}
	s.wantTold(told, 3)
}

func failsClosed(tb testing.TB, a Adapter) {
	s := newStage(tb)
	l, told := s.down(core.FailClosed)
	s.serve(a, Setup{Group: []*core.Limiter{l}})
	for range 3 {
		s.expect(request{}, "503 none")
	}
	s.wantTold(told, 3)
}

func degrades(tb testing.TB, a Adapter) {
	s := newStage(tb)
	l, told := s.down(core.Degrade)
	s.serve(a, Setup{Group: []*core.Limiter{l}})
	for _, want := range []string{"200 r=1", "200 r=0", "429 r=0"} {
		s.expect(request{}, want)
	}
	s.wantTold(told, 3)
}

func keepsSecrets(tb testing.TB, a Adapter) {
	s := newStage(tb)
	l, _ := s.down(core.FailClosed)
	s.serve(a, Setup{
		App:   []*core.Limiter{s.limiter(core.Config{Rules: []core.Rule{failing()}})},
		Group: []*core.Limiter{l},
	})
	for _, q := range []request{fail("key"), fail("cost"), fail("limits"), {}} {
		r := s.do(q)
		if r.status < 500 || contains(r, "secret") || contains(r, "refused") {
			tb.Errorf("%v: status %d, %v, %q; want a refusal without its cause", q, r.status, r.header, r.body)
		}
	}
}
