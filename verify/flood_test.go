package verify_test

import (
	"context"
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/slidegate/slidegate/core"
)

// TestEvictionGrantsNothing floods a memory that has room for one to three of
// six keys, so that keys are forgotten while their counts matter. No window of
// any key holds more than is promised all the same, Remaining and the retry time
// are exact, and a denial changes nothing.
func TestEvictionGrantsNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := drawFlood(t)
		t.Repeat(map[string]func(*rapid.T){
			"move":              func(t *rapid.T) { f.clock.floor = f.clock.at; f.clock.move(t, f.limit) },
			"ask":               func(t *rapid.T) { f.ask(t, f.key(t), 1) },
			"ask others":        func(t *rapid.T) { f.ask(t, f.key(t), 1); f.ask(t, f.key(t), 1) },
			"take what is left": f.takeAll,
			"obey":              f.obey,
		})
		for _, s := range f.keys {
			s.checkWindows(t)
		}
	})
}

// A flood is a limiter with one limit and too little memory; each key has its
// own log.
type flood struct {
	*single
	keys map[string]*single
}

func drawFlood(t *rapid.T) *flood {
	f := &flood{single: &single{clock: drawClock(t), limit: limitOf(t, algorithms.Draw(t, "algorithm"), "limit")}, keys: map[string]*single{}}
	limiter, err := core.New(core.Config{
		Now:   f.clock.now,
		Store: &core.Memory{MaxKeys: rapid.IntRange(1, 3).Draw(t, "room")},
		Rules: []core.Rule{{Name: "rule", Limits: []core.Limit{f.limit}, Key: byHand}},
	})
	if err != nil {
		t.Fatal(err)
	}
	f.limiter = limiter
	return f
}

func (f *flood) key(t *rapid.T) string {
	return rapid.SampledFrom([]string{"a", "a", "b", "c", "d", "e", "f"}).Draw(t, "key")
}

func (f *flood) ask(t *rapid.T, key string, cost int64) core.Decision {
	steps.Add(1)
	before := f.look(t, key)
	d, err := f.limiter.AllowN(context.Background(), cost, key)
	if err != nil && !errors.Is(err, core.ErrCostExceedsLimit) {
		t.Fatal(err)
	}
	if d.Allowed != (cost <= before.Remaining) {
		t.Fatalf("%v: %d remaining, a cost of %d is allowed: %v", f.limit, before.Remaining, cost, d.Allowed)
	}
	want := before.Remaining
	if d.Allowed {
		want -= cost
		if f.keys[key] == nil {
			f.keys[key] = &single{limit: f.limit}
		}
		f.keys[key].log = append(f.keys[key].log, charge{at: f.clock.at, cost: cost})
	}
	if after := f.look(t, key); after.Remaining != want || d.States()[0].Remaining != want {
		t.Fatalf("%v: %d remaining before a cost of %d, allowed %v, then %d; the decision says %d",
			f.limit, before.Remaining, cost, d.Allowed, after.Remaining, d.States()[0].Remaining)
	}
	return d
}

// look has the limiter say how a key stands, by a request that can never be
// admitted.
func (f *flood) look(t *rapid.T, key string) core.State {
	d, err := f.limiter.AllowN(context.Background(), f.limit.Burst()+1, key)
	if !errors.Is(err, core.ErrCostExceedsLimit) {
		t.Fatalf("a cost above the burst: %v", err)
	}
	return d.States()[0].State
}

func (f *flood) takeAll(t *rapid.T) {
	key := f.key(t)
	f.ask(t, key, max(1, f.look(t, key).Remaining))
}

// obey has a key wait as long as it is told: it is denied still a nanosecond
// before, and then admitted.
func (f *flood) obey(t *rapid.T) {
	key := f.key(t)
	burst := max(1, f.limit.Burst())
	cost := min(burst, rapid.OneOf(rapid.Int64Range(1, 3), rapid.Int64Range(1, burst)).Draw(t, "cost"))
	d := f.ask(t, key, cost)
	if d.Allowed || d.Never || f.clock.at+int64(d.RetryAfter) > latest {
		return
	}
	f.clock.at += int64(d.RetryAfter) - 1
	if early := f.ask(t, key, cost); early.Allowed || early.RetryAfter != 1 {
		t.Fatalf("1 ns before the retry time: allowed %v, %+v", early.Allowed, early.States())
	}
	f.clock.at++
	if due := f.ask(t, key, cost); !due.Allowed {
		t.Fatalf("denied at the retry time: %+v", due.States())
	}
}
