package core_test

import (
	"context"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slidegate/slidegate/core"
)

// Each case is a situation in which limiters have gone wrong. Unless it says
// otherwise it runs under one key with costs of 1, by two counters and by a log.

// A called is how a request of a case must come out.
type called struct {
	at        float64
	allowed   bool
	remaining int64 // not looked at where it is anyLeft
	seconds   int64 // of Retry-After; 0 on an admission
}

const anyLeft = -1

func (g gate) calls(want ...called) {
	g.t.Helper()
	for i, c := range want {
		g.at(c.at)
		d := g.take(1, "u")
		seconds := int64(0)
		if !d.Allowed {
			seconds = wholeWait(d.RetryAfter)
		}
		left := d.States()[0].Remaining
		if d.Allowed != c.allowed || c.remaining != anyLeft && left != c.remaining || seconds != c.seconds {
			g.t.Errorf("request %d, at %v s: allowed %t, %d remaining, Retry-After %d, want %t, %d, %d",
				i+1, c.at, d.Allowed, left, seconds, c.allowed, c.remaining, c.seconds)
		}
	}
}

// both runs a case by two counters and by a log.
func both(t *testing.T, id string, quota int64, window time.Duration, run func(g gate, log bool)) {
	t.Run(id, func(t *testing.T) {
		t.Run("counter", func(t *testing.T) { run(newGate(t, core.Per(quota, window)), false) })
		if quota <= core.MaxExactQuota {
			t.Run("log", func(t *testing.T) { run(newGate(t, core.Per(quota, window).Exact()), true) })
		}
	})
}

// pick returns what a case expects of a log, or else of two counters.
func pick[T any](log bool, ofLog, ofCounter T) T {
	if log {
		return ofLog
	}
	return ofCounter
}

func TestCasesAtTheLimit(t *testing.T) {
	both(t, "RL-002 the last unit is served", 3, time.Minute, func(g gate, log bool) {
		wait := pick[int64](log, 60, 80)
		g.calls(called{0, true, 2, 0}, called{0, true, 1, 0}, called{0, true, 0, 0}, called{0, false, 0, wait}, called{0, false, 0, wait})
	})
	t.Run("RL-003 no quota below zero, and zero denies", func(t *testing.T) {
		for _, quota := range []int64{-1, math.MinInt64} {
			if _, err := core.New(core.Config{Rules: []core.Rule{core.By(byNobody, core.PerMinute(quota))}}); err == nil {
				t.Errorf("a quota of %d was taken", quota)
			}
		}
		for _, l := range []core.Limit{core.PerMinute(0), core.PerMinute(0).Exact(), core.PerMinute(0).Strict(60), core.PerMinute(0).Fixed(), core.PerMinute(0).Bucket(3)} {
			g := newGate(t, l)
			for range 3 {
				if d := g.take(1, "u"); d.Allowed || !d.Never || d.States()[0].Remaining != 0 {
					t.Errorf("%v: %+v, want denied for ever and 0 remaining", l, d.States())
				}
			}
		}
	})
	both(t, "RL-004 a large quota loses nothing to rounding", 65_535, time.Second, func(g gate, _ bool) {
		for i := range 20 {
			g.at(float64(i) / 10)
			want := int64(65_534 - min(i, 10))
			if got := g.take(1, "u").States()[0].Remaining; got != want {
				g.t.Errorf("request %d leaves %d, want %d", i+1, got, want)
			}
		}
	})
	t.Run("RL-004 nor does a bucket of it", func(t *testing.T) {
		g := newGate(t, core.PerSecond(65_535).Bucket(65_535))
		for i := range 20 {
			g.at(float64(i) / 10)
			if got := g.take(1, "u").States()[0].Remaining; got != 65_534 {
				t.Errorf("request %d leaves %d, want 65534: the others were paid off", i+1, got)
			}
		}
	})
}

func TestCasesOfConfiguration(t *testing.T) {
	both(t, "RL-007 a window below a second", 2, 500*time.Millisecond, func(g gate, log bool) {
		g.calls(called{0, true, 1, 0}, called{0.1, true, 0, 0}, called{0.2, false, 0, 1})
		d := g.take(1, "u")
		if want := pick(log, 300*time.Millisecond, 550*time.Millisecond); d.RetryAfter != want {
			g.t.Errorf("the wait is %v, want %v", d.RetryAfter, want)
		}
		g.calls(called{1, true, 1, 0})
	})
	t.Run("RL-009 a large quota after a long silence", func(t *testing.T) {
		for _, l := range []core.Limit{core.PerDay(1_000_000), core.PerDay(1_000_000).Bucket(1_000_000)} {
			g := newGate(t, l)
			g.take(1_000_000, "u")
			g.at(36 * 3600)
			bucket := l.Algorithm() == core.Bucket // a day and a half pays it all off
			if first := g.take(500_000, "u"); !first.Allowed {
				t.Errorf("%v: half of the quota after a day and a half was denied", l)
			}
			if next := g.take(1, "u"); next.Allowed != bucket || !bucket && wholeWait(next.RetryAfter) != 1 {
				t.Errorf("%v: one more: allowed %t, wait %v", l, next.Allowed, next.RetryAfter)
			}
			g.at(72 * 3600)
			if all := g.take(1_000_000, "u"); !all.Allowed {
				t.Errorf("%v: the whole quota another day and a half later: denied, wait %v", l, all.RetryAfter)
			}
			g.at(5000 * 24 * 3600)
			if all := g.take(1_000_000, "u"); !all.Allowed {
				t.Errorf("%v: the whole quota after years: denied, wait %v", l, all.RetryAfter)
			}
		}
	})
}

func TestCasesOfConcurrency(t *testing.T) {
	t.Run("RL-011 a burst at one instant", burstAtOneInstant)
	t.Run("RL-013 no lock is held while a request is served", slowHandlers)
}

func burstAtOneInstant(t *testing.T) {
	for _, l := range []core.Limit{core.PerSecond(25), core.PerSecond(25).Exact()} {
		g := newGate(t, l)
		for round := range 200 {
			key := time.Duration(round).String()
			var admitted atomic.Int64
			var group sync.WaitGroup
			start := make(chan struct{})
			for range 50 {
				group.Go(func() {
					<-start
					if d, err := g.Allow(context.Background(), key); err != nil {
						t.Error(err)
					} else if d.Allowed {
						admitted.Add(1)
					}
				})
			}
			close(start)
			group.Wait()
			if got := admitted.Load(); got != 25 {
				t.Fatalf("%v, round %d: %d of 50 admitted, want 25", l, round, got)
			}
		}
	}
}

func slowHandlers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := core.MustNew(core.Config{Rules: []core.Rule{core.By(byNobody, core.PerMinute(100))}})
		begin := time.Now()
		serve := func(after time.Duration, key string) {
			time.Sleep(after)
			if d, err := l.Allow(context.Background(), key); err != nil || !d.Allowed {
				t.Errorf("%s: %t, %v", key, d.Allowed, err)
			}
			time.Sleep(2 * time.Second) // the handler
			if got, want := time.Since(begin), after+2*time.Second; got != want {
				t.Errorf("a request for %s that came after %v was done after %v, want %v", key, after, got, want)
			}
		}
		var group sync.WaitGroup
		group.Go(func() { serve(0, "a") })
		group.Go(func() { serve(10*time.Millisecond, "a") })
		group.Go(func() { serve(10*time.Millisecond, "b") })
		group.Wait()
	})
}

func TestCasesAroundBoundaries(t *testing.T) {
	both(t, "RL-016 a client that never backs off", 5, 10*time.Second, func(g gate, log bool) {
		var got []int
		for i := range 20 {
			g.at(float64(i))
			if g.take(1, "u").Allowed {
				got = append(got, i)
			}
		}
		want := pick(log, []int{0, 1, 2, 3, 4, 10, 11, 12, 13, 14}, []int{0, 1, 2, 3, 4, 12, 14, 16, 18})
		if !slices.Equal(got, want) {
			g.t.Errorf("served at %v, want %v", got, want)
		}
	})
	both(t, "RL-018 two bursts around a boundary", 5, time.Minute, func(g gate, log bool) {
		g.at(59.9)
		if got := g.run(5, "u"); got != 5 {
			g.t.Errorf("%d of the first five served", got)
		}
		denial := called{60.1, false, 0, pick[int64](log, 60, 12)}
		g.calls(denial, denial, denial, denial, denial)
	})
	both(t, "RL-020 a gap of windows", 10, 10*time.Second, func(g gate, _ bool) {
		g.at(5)
		g.run(10, "u")
		g.at(5.5)
		if g.take(1, "u").Allowed {
			g.t.Error("the eleventh was served")
		}
		g.calls(called{25, true, 9, 0}, called{5_000_000, true, 9, 0})
	})
	t.Run("RL-022 as fast as possible", asFastAsPossible)
}

func TestCasesAfterBoundaries(t *testing.T) {
	both(t, "RL-023 the wait is enough and never zero", 3, 10*time.Second, func(g gate, log bool) {
		g.calls(called{0, true, 2, 0}, called{1, true, 1, 0}, called{2, true, 0, 0}, called{2, false, 0, pick[int64](log, 8, 12)})
		if log {
			g.calls(called{9.999999, false, 0, 1}, called{10, true, 0, 0}, called{10, false, 0, 1})
			return
		}
		g.calls(called{10, false, 0, 4}, called{14, true, 0, 0})
	})
	for _, c := range []struct {
		quota  int64
		window time.Duration
	}{{1, 10 * time.Second}, {150, 200 * time.Second}} {
		both(t, "RL-025 the first request after a silence", c.quota, c.window, func(g gate, _ bool) {
			g.run(int(c.quota), "u")
			g.calls(called{10 * c.window.Seconds(), true, c.quota - 1, 0})
		})
	}
	both(t, "RL-027 each key has windows of its own", 5, 180*time.Second, func(g gate, log bool) {
		g.run(5, "a")
		g.at(179)
		g.run(5, "u")
		g.calls(called{181, false, 0, pick[int64](log, 178, 35)})
		g.at(360)
		if !g.take(1, "a").Allowed {
			g.t.Error("a was denied two windows after it spent its quota")
		}
	})
}

// asFastAsPossible spends whatever is free every millisecond from 0.45 s to
// 3.45 s, and then looks at every interval of a window.
func asFastAsPossible(t *testing.T) {
	for _, c := range []struct {
		limit core.Limit
		most  int // in any interval of a window
	}{
		{core.PerSecond(1000), 1999}, {core.PerSecond(1000).Smooth(10), 1999},
		{core.PerSecond(1000).Exact(), 1000}, {core.PerSecond(1000).Strict(10), 1000}, {core.PerSecond(1000).Bucket(1), 1001},
	} {
		g := newGate(t, c.limit)
		var admitted []int // in each millisecond
		for ms := 450; ms < 3450; ms++ {
			g.at(float64(ms) / 1000)
			n := g.run(int(g.remaining("u")), "u")
			if g.take(1, "u").Allowed {
				t.Fatalf("%v at %d ms: one more was served than remained", c.limit, ms)
			}
			admitted = append(admitted, n)
		}
		sum, most, first := 0, 0, 0
		for i, n := range admitted {
			sum += n
			if i >= 1000 {
				sum -= admitted[i-1000]
			}
			if i == 999 {
				first = sum
			}
			most = max(most, sum)
		}
		if most > c.most {
			t.Errorf("%v: %d served within one window, want at most %d", c.limit, most, c.most)
		}
		if c.limit == core.PerSecond(1000) && (first < 1440 || first > 1450) {
			t.Errorf("%v: %d served in the first second, want about 1445: the window before it was empty", c.limit, first)
		}
		if rest := total(admitted[1000:2000]); rest < 850 || rest > 1100 {
			t.Errorf("%v: %d served in the second second, want about 1000", c.limit, rest)
		}
	}
}

func total(counts []int) (sum int) {
	for _, n := range counts {
		sum += n
	}
	return sum
}

func TestCasesOfClocks(t *testing.T) {
	both(t, "RL-040 a reading from before", 3, 10*time.Second, func(g gate, _ bool) {
		g.at(100)
		g.run(3, "u")
		g.at(99.9999)
		for i := range 100 { // others come and go meanwhile
			g.take(1, time.Duration(i).String())
		}
		if g.take(1, "u").Allowed {
			g.t.Error("a reading from before the last charge freed the quota")
		}
		g.at(100.1)
		if g.take(1, "u").Allowed {
			g.t.Error("the quota was free a tenth of a second after it was spent")
		}
	})
	both(t, "RL-041 a wall clock that jumps to and fro", 5, time.Minute, func(g gate, _ bool) {
		jumping := func(second int) float64 { return 1000 + float64(second+11*(second/3%2)) }
		for i, second := range []int{0, 4, 7} {
			g.at(jumping(second))
			if !g.take(1, "calm").Allowed {
				g.t.Errorf("request %d of three was denied", i+1)
			}
		}
		admitted := 0
		for second := range 60 {
			g.at(jumping(second))
			admitted += g.run(1, "busy")
		}
		if admitted < 5 || admitted > 9 {
			g.t.Errorf("%d of 60 requests a second apart were served, want 5 to 9", admitted)
		}
	})
}

func TestCasesOfCosts(t *testing.T) {
	both(t, "RL-045 a cost above the quota", 5, time.Minute, func(g gate, _ bool) {
		d, err := g.AllowN(context.Background(), 10, "u")
		if d.Allowed || !d.Never || d.RetryAfter != 0 || err == nil {
			g.t.Errorf("%+v, %v, want a denial for ever, and an error that says so", d.States(), err)
		}
		g.calls(called{0, true, 4, 0})
	})
	t.Run("RL-047 looking is free", func(t *testing.T) {
		store := &core.Memory{}
		g := newGateOf(t, core.Config{Store: store, Rules: []core.Rule{{Name: "rule", Key: byNobody, Limits: []core.Limit{core.PerMinute(2)}}}})
		for range 10 {
			if got := g.remaining("u"); got != 2 {
				t.Errorf("%d remaining after looks, want 2", got)
			}
		}
		for i := range 1000 {
			g.remaining(time.Duration(i).String())
		}
		if got := store.Stats().Keys; got != 0 {
			t.Errorf("%d keys are kept of those that were looked at", got)
		}
		g.calls(called{0, true, 1, 0}, called{0, true, 0, 0}, called{0, false, 0, 90})
		if d := g.take(0, "u"); !d.Allowed {
			t.Error("a request of cost 0 was denied; it asks for nothing")
		}
	})
	both(t, "RL-048 costs beyond 32 and 63 bits", 10, time.Minute, func(g gate, _ bool) {
		for _, c := range []struct {
			cost    int64
			allowed bool
		}{{1, true}, {math.MaxInt64, false}, {4_294_967_297, false}, {9, true}, {1, false}} {
			if d := g.take(c.cost, "u"); d.Allowed != c.allowed {
				g.t.Errorf("cost %d: allowed %t, want %t", c.cost, d.Allowed, c.allowed)
			}
		}
	})
}

// TestBoundaryBurst is the picture of the package's documentation: a hundred
// requests in the last half second of a minute and a hundred in the first second
// of the next.
func TestBoundaryBurst(t *testing.T) {
	for _, c := range []struct {
		limit core.Limit
		want  int
	}{
		{core.PerMinute(100).Fixed(), 200},
		{core.PerMinute(100), 101},
		{core.PerMinute(100).Exact(), 100},
		{core.PerMinute(100).Strict(60), 100},
	} {
		g, admitted := newGate(t, c.limit), 0
		for i := range 200 {
			at := 59 + float64(i)/200
			if i >= 100 {
				at = 60 + float64(i-100)/100 + 1.0/200
			}
			g.at(at)
			admitted += g.run(1, "u")
		}
		if admitted != c.want {
			t.Errorf("%v: %d of 200 served, want %d", c.limit, admitted, c.want)
		}
	}
}
