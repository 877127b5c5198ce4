package verify_test

import (
	"context"
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/slidegate/slidegate/core"
)

// A single is a limiter with one limit, asked under one key, and what it
// admitted.
type single struct {
	clock   *clock
	limit   core.Limit
	limiter *core.Limiter
	log     []charge
	replay  bool // it repeats what was counted as steps before
}

// A charge is an admitted request. It may have been refunded.
type charge struct {
	at, cost int64
	decision core.Decision
	refunded bool
}

func newSingle(t rapid.TB, limit core.Limit, c *clock) *single {
	limiter, err := core.New(core.Config{
		Now:   c.now,
		Rules: []core.Rule{{Name: "rule", Limits: []core.Limit{limit}, Key: byHand}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return &single{clock: c, limit: limit, limiter: limiter}
}

func drawSingle(t *rapid.T) *single {
	return newSingle(t, limitOf(t, algorithms.Draw(t, "algorithm"), "limit"), drawClock(t))
}

// ask makes a request now, and keeps it if it is admitted.
func (s *single) ask(t rapid.TB, cost int64) core.Decision {
	t.Helper()
	if !s.replay {
		steps.Add(1)
	}
	d, err := s.limiter.AllowN(context.Background(), cost, "key")
	if err != nil && !errors.Is(err, core.ErrCostExceedsLimit) {
		t.Fatal(err)
	}
	if d.Allowed {
		s.log = append(s.log, charge{at: s.clock.at, cost: cost, decision: d})
	}
	return d
}

func (s *single) state(t rapid.TB) core.State {
	t.Helper()
	states, err := s.limiter.Peek(context.Background(), "rule", "key")
	if err != nil {
		t.Fatal(err)
	}
	return states[0].State
}

// clone returns a limiter of its own that was charged what a log says and
// stands at the same instant.
func (s *single) clone(t rapid.TB, log []charge) *single {
	t.Helper()
	twin := newSingle(t, s.limit, &clock{})
	twin.replay = true
	for _, c := range log {
		twin.clock.at = c.at
		if d := twin.ask(t, c.cost); !d.Allowed {
			t.Fatalf("%v: a cost of %d at %d, admitted before, is denied on the same history: %+v", s.limit, c.cost, c.at, d.States())
		}
	}
	twin.clock.at = s.clock.at
	return twin
}

// onward moves the clock, but never back: the instants of a log are in order.
func (s *single) onward(t *rapid.T) {
	s.clock.floor = s.clock.at
	s.clock.move(t, s.limit)
}

// drain takes all that remains: in one request, unit by unit, or a part.
func (s *single) drain(t *rapid.T) {
	r := s.state(t).Remaining
	if r == 0 {
		s.ask(t, 1)
		return
	}
	switch rapid.IntRange(0, 2).Draw(t, "drain") {
	case 0:
		s.ask(t, r)
	case 1:
		s.ask(t, rapid.Int64Range(1, r).Draw(t, "cost"))
	case 2:
		for range min(r+1, 20) {
			s.ask(t, 1)
		}
	}
}

// jumpToRetry waits exactly as long as the next unit takes.
func (s *single) jumpToRetry(t *rapid.T) {
	if state := s.state(t); state.Denied && !state.Never {
		s.clock.forward(int64(state.RetryAfter))
	}
}

// TestRemainingIsWhatIsAdmitted tries what Remaining says on clones of the
// history: all of it at once, one more than that, and unit by unit.
func TestRemainingIsWhatIsAdmitted(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := drawSingle(t)
		for range rapid.IntRange(0, 12).Draw(t, "steps") {
			s.onward(t)
			s.drain(t)
		}
		s.onward(t)
		r := s.state(t).Remaining
		if d := s.clone(t, s.log).ask(t, r+1); d.Allowed {
			t.Fatalf("%v: %d remaining, but a cost of %d is admitted", s.limit, r, r+1)
		}
		if d := s.clone(t, s.log).ask(t, r); !d.Allowed {
			t.Fatalf("%v: %d remaining, but a cost of that is denied", s.limit, r)
		}
		twin, admitted := s.clone(t, s.log), int64(0)
		for admitted <= r && admitted < 100 && twin.ask(t, 1).Allowed {
			admitted++
		}
		if admitted != min(r, 100) {
			t.Fatalf("%v: %d remaining, but %d more requests are admitted", s.limit, r, admitted)
		}
	})
}
