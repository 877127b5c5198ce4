package verify_test

import (
	"context"
	"testing"

	"pgregory.net/rapid"
)

// TestRefundsGrantNothing refunds requests of random histories. Every request
// that was admitted is admitted too where those refunded before it never came,
// the windows hold what they promise to those that stayed, and no state leaves
// its bounds.
func TestRefundsGrantNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := drawSingle(t)
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "action") {
			case 0:
				s.onward(t)
			case 1:
				s.jumpToRetry(t)
			case 2:
				s.refundOne(t)
			}
			s.drainAsWithoutRefunded(t)
		}
		s.checkWindows(t)
	})
}

// refundOne gives one of the admitted requests back, and then again: that must
// do nothing.
func (s *single) refundOne(t *rapid.T) {
	if len(s.log) == 0 {
		return
	}
	steps.Add(1)
	c := &s.log[rapid.IntRange(0, len(s.log)-1).Draw(t, "which")]
	before := s.state(t)
	for range 2 {
		if err := s.limiter.Refund(context.Background(), &c.decision); err != nil {
			t.Fatal(err)
		}
	}
	after := s.state(t)
	gain := after.Remaining - before.Remaining
	if after.Remaining > s.limit.Burst() || gain < 0 || gain > c.cost || c.refunded && gain != 0 {
		t.Fatalf("%v: a refund of %d (refunded before: %v) took Remaining from %d to %d", s.limit, c.cost, c.refunded, before.Remaining, after.Remaining)
	}
	c.refunded = true
}

// drainAsWithoutRefunded makes requests and, where they are admitted, makes the
// same of a limiter that never had the refunded ones.
func (s *single) drainAsWithoutRefunded(t *rapid.T) {
	var stayed []charge
	for _, c := range s.log {
		if !c.refunded {
			stayed = append(stayed, c)
		}
	}
	twin, known := s.clone(t, stayed), len(s.log)
	s.drain(t)
	for _, c := range s.log[known:] {
		if d := twin.ask(t, c.cost); !d.Allowed {
			t.Fatalf("%v: a cost of %d at %d is admitted after refunds, but not where the refunded requests never came: %+v", s.limit, c.cost, c.at, d.States())
		}
	}
}
