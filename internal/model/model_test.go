package model_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/core/storetest"
	"github.com/slidegate/slidegate/internal/model"
)

// tiny returns a limit with a window of few nanoseconds, so that every instant
// of it can be tried.
func tiny(r *rand.Rand) core.Limit {
	l := core.Per(r.Int64N(6), time.Duration(1+r.IntN(30))).Named("tiny")
	switch slots := 1 + r.IntN(7); r.IntN(5) {
	case 0:
		return l.Smooth(slots)
	case 1:
		return l.Strict(slots)
	case 2:
		return l.Exact()
	case 3:
		return l.Fixed()
	}
	return l.Bucket(1 + r.Int64N(9))
}

func ask(l core.Limit, cost int64) []core.Ask {
	return []core.Ask{{Rule: "rule", Key: "key", Cost: cost, Limits: []core.Limit{l}, States: make([]core.State, 1)}}
}

// peek returns the state of a limit at an instant.
func peek(s *model.Store, at int64, l core.Limit, cost int64) core.State {
	a := ask(l, cost)
	s.Peek(time.Unix(0, at), &a[0])
	return a[0].States[0]
}

// TestWaitsAreWhatTryingEveryInstantFinds holds the searched waits against a
// walk over all instants, through random histories.
func TestWaitsAreWhatTryingEveryInstantFinds(t *testing.T) {
	for seed := range uint64(80) {
		r := rand.New(rand.NewPCG(seed, 1))
		l, s, at := tiny(r), model.New(1), int64(r.IntN(100)-50)
		for range 20 {
			a := ask(l, 1+r.Int64N(4))
			s.Decide(time.Unix(0, at), a)
			state := a[0].States[0]
			if state.Denied && !state.Never {
				if want := walk(s, at, l, a[0].Cost, func(s core.State) bool { return !s.Denied }); state.RetryAfter != want {
					t.Fatalf("seed %d, %v at %d: RetryAfter %d, trying every instant gives %d", seed, l, at, state.RetryAfter, want)
				}
			}
			if state.Remaining < l.Burst() {
				if want := walk(s, at, l, 1, func(later core.State) bool { return later.Remaining > state.Remaining }); state.Next != want {
					t.Fatalf("seed %d, %v at %d: Next %d, trying every instant gives %d", seed, l, at, state.Next, want)
				}
			}
			at += int64(r.IntN(int(l.Window())))
		}
	}
}

// walk returns the first wait after which a state is as wished.
func walk(s *model.Store, at int64, l core.Limit, cost int64, wished func(core.State) bool) time.Duration {
	for wait := int64(0); wait < 1000; wait++ {
		if wished(peek(s, at+wait, l, cost)) {
			return time.Duration(wait)
		}
	}
	return -1
}

// TestAdmittedUnitsKeepToTheGuarantee counts the units admitted in every window
// of random histories, without looking at an estimate.
func TestAdmittedUnitsKeepToTheGuarantee(t *testing.T) {
	for seed := range uint64(80) {
		r := rand.New(rand.NewPCG(seed, 2))
		l, s := tiny(r), model.New(1)
		if l.Quota() == 0 {
			continue
		}
		units := make([]int64, 400) // admitted at each instant
		for at := range units {
			for range r.IntN(4) {
				a := ask(l, 1+r.Int64N(2))
				if s.Decide(time.Unix(0, int64(at)), a) {
					units[at] += a[0].Cost
				}
			}
		}
		length, bound := guarantee(l)
		for from := range units {
			var sum int64
			for _, n := range units[from:min(len(units), from+length)] {
				sum += n
			}
			if sum > bound {
				t.Fatalf("seed %d, %v: %d units in [%d, %d), want at most %d", seed, l, sum, from, from+length, bound)
			}
		}
	}
}

// guarantee returns how many units a window of a length can hold.
func guarantee(l core.Limit) (length int, units int64) {
	w := int(l.Window())
	switch l.Algorithm() {
	case core.Smooth:
		return w - (w+l.Slots()-1)/l.Slots(), l.Quota()
	case core.Fixed:
		return w, 2 * l.Quota()
	case core.Bucket:
		return w, l.Quota() + l.Burst()
	}
	return w, l.Quota()
}

// TestRefundLeavesNoTrace refunds a charge and compares with a history that
// never had it. Only a bucket may have kept some of it.
func TestRefundLeavesNoTrace(t *testing.T) {
	for seed := range uint64(80) {
		r := rand.New(rand.NewPCG(seed, 3))
		l, with, without := tiny(r), model.New(1), model.New(1)
		refunded := ask(l, 1+r.Int64N(3))
		with.Decide(time.Unix(0, 0), refunded)
		at := int64(0)
		for range 3 {
			at += int64(r.IntN(int(l.Window())))
			a := ask(l, 1)
			if with.Decide(time.Unix(0, at), a) {
				without.Decide(time.Unix(0, at), ask(l, 1))
			}
		}
		with.Refund(time.Unix(0, at), refunded)
		got, want := peek(with, at, l, 1).Remaining, peek(without, at, l, 1).Remaining
		if got > want || got < want && l.Algorithm() != core.Bucket {
			t.Fatalf("seed %d, %v at %d: %d remaining after the refund, %d without the charge", seed, l, at, got, want)
		}
	}
}

// TestEstimates holds the model against sums done by hand.
func TestEstimates(t *testing.T) {
	for _, c := range []struct {
		phrase  string
		limit   core.Limit
		charges [][2]int64 // instant, cost
		at      int64
		want    int64 // remaining
	}{
		{"smooth: a half of the oldest slot is in view: 10 − 4 − 6/2", core.Per(10, 60), [][2]int64{{30, 6}, {60, 4}}, 90, 3},
		{"smooth: what is left over counts as a whole unit: 10 − 9/4", core.Per(10, 60), [][2]int64{{0, 9}}, 105, 7},
		{"smooth(3): slots 0 and 1 of 20 each, the first leaves: 9 − 3 − 4·(1/4)", core.Per(9, 60).Smooth(3), [][2]int64{{19, 4}, {20, 3}}, 75, 5},
		{"strict(3): the oldest slot counts in full: 9 − 3 − 4", core.Per(9, 60).Strict(3), [][2]int64{{19, 4}, {20, 3}}, 79, 2},
		{"strict(3): and then not at all: 9 − 3", core.Per(9, 60).Strict(3), [][2]int64{{19, 4}, {20, 3}}, 80, 6},
		{"exact: a charge counts to the end of its window", core.Per(5, 60).Exact(), [][2]int64{{10, 2}}, 69, 3},
		{"exact: and no longer", core.Per(5, 60).Exact(), [][2]int64{{10, 2}}, 70, 5},
		{"fixed: the window of the charge", core.Per(5, 60).Fixed(), [][2]int64{{10, 2}}, 59, 3},
		{"fixed: the next one", core.Per(5, 60).Fixed(), [][2]int64{{10, 2}}, 60, 5},
		{"bucket: 3 in 60 pay off 1 in 20: 6 − 4 + 1", core.Per(3, 60).Bucket(6), [][2]int64{{0, 4}}, 20, 3},
		{"bucket: almost 1", core.Per(3, 60).Bucket(6), [][2]int64{{0, 4}}, 19, 2},
		{"slots before the epoch", core.Per(10, 60), [][2]int64{{-90, 6}}, -30, 7},
	} {
		t.Run(c.phrase, func(t *testing.T) {
			s, l := model.New(1), c.limit.Named("hand")
			for _, charge := range c.charges {
				if !s.Decide(time.Unix(0, charge[0]), ask(l, charge[1])) {
					t.Fatalf("the charge of %d at %d was denied", charge[1], charge[0])
				}
			}
			if got := peek(s, c.at, l, 1).Remaining; got != c.want {
				t.Errorf("%d remaining, want %d", got, c.want)
			}
		})
	}
}

func ExampleStore() {
	s := model.New(time.Microsecond)
	a := []core.Ask{{Rule: "r", Key: "k", Cost: 3, Limits: []core.Limit{core.PerMinute(2)}, States: make([]core.State, 1)}}
	fmt.Println(s.Decide(time.Unix(0, 0), a), a[0].States[0].Never)
	// Output: false true
}

// A coarse store is the model behind the interface of stores, on a clock of
// whole microseconds.
type coarse struct {
	mu    sync.Mutex
	model *model.Store
	now   time.Time
}

func (c *coarse) Check([]core.Limit) error { return nil }

func (c *coarse) Decide(ctx context.Context, asks []core.Ask) (time.Time, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ctx.Err() == nil {
		c.model.Decide(c.now, asks)
	}
	return c.now, ctx.Err()
}

func (c *coarse) Peek(_ context.Context, a *core.Ask) (time.Time, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.model.Peek(c.now, a)
	return c.now, nil
}

func (c *coarse) Reset(_ context.Context, rule, key string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.model.Reset(rule, key)
	return nil
}

func (c *coarse) Refund(_ context.Context, asks []core.Ask) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.model.Refund(c.now, asks)
	return nil
}

// TestTheModelKeepsTheContract holds the model, too, against the numbers that
// were worked out by hand. Its ticks are longer than the memory store's.
func TestTheModelKeepsTheContract(t *testing.T) {
	storetest.Run(t, func(*testing.T) storetest.Fixture {
		c := &coarse{model: model.New(time.Microsecond), now: time.Date(2026, 7, 4, 12, 34, 56, 789_000, time.UTC)}
		return storetest.Fixture{Store: c, Advance: func(d time.Duration) { c.now = c.now.Add(d) }, Tick: time.Microsecond}
	})
}
