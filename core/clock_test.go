package core_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slidegate/slidegate/core"
)

// TestClockRunsInABubble makes and uses a limiter where time is synthetic: no
// reading may come from outside.
func TestClockRunsInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := core.MustNew(core.Config{Rules: []core.Rule{core.By(byNobody, core.PerHour(2).Exact(), core.PerDay(100))}})
		allow := func() core.Decision {
			d, err := l.Allow(context.Background(), "u")
			if err != nil {
				t.Fatal(err)
			}
			return d
		}
		allow()
		time.Sleep(20 * time.Minute)
		allow()
		for _, c := range []struct {
			sleep   time.Duration
			allowed bool
			wait    time.Duration
		}{
			{0, false, 40 * time.Minute},
			{40*time.Minute - 1, false, 1},
			{1, true, 0},
			{19 * time.Minute, false, time.Minute},
			{7 * 24 * time.Hour, true, 0},
		} {
			time.Sleep(c.sleep)
			if d := allow(); d.Allowed != c.allowed || d.RetryAfter != c.wait {
				t.Errorf("%v later: allowed %t, wait %v, want %t and %v", c.sleep, d.Allowed, d.RetryAfter, c.allowed, c.wait)
			}
		}
	})
}

// TestClockOfAnyYear spends a quota in one year and asks in another, over all
// that a time can say. No wait is negative, and a clock that is set back frees
// nothing; of years that 64 bits of nanoseconds cannot hold it is only asked
// that nothing overflows.
func TestClockOfAnyYear(t *testing.T) {
	years := []int{1, 1677, 1678, 1949, 1969, 1970, 2024, 2133, 2150, 2261, 2263, 3000, 9999}
	held := func(year int) bool { return year > 1677 && year < 2262 }
	for _, l := range []core.Limit{
		core.PerMinute(5), core.Per(5, core.MaxWindow).Smooth(7), core.PerDay(5).Strict(24),
		core.PerHour(5).Exact(), core.PerHour(5).Fixed(), core.PerHour(5).Bucket(5), core.Per(1, core.MaxWindow).Bucket(10),
	} {
		for _, first := range years {
			for _, second := range years {
				g := newGate(t, l)
				g.stillClock.now = time.Date(first, 7, 1, 0, 0, 0, 0, time.UTC)
				g.take(l.Burst(), "u")
				g.stillClock.now = time.Date(second, 7, 1, 0, 0, 0, 0, time.UTC)
				d := g.take(1, "u")
				if d.Allowed == (d.RetryAfter > 0) {
					t.Errorf("%v spent in the year %d, asked in %d: allowed %t, wait %v", l, first, second, d.Allowed, d.RetryAfter)
				}
				if d.Allowed && second <= first && held(first) && held(second) {
					t.Errorf("%v spent in the year %d is free in %d", l, first, second)
				}
			}
		}
	}
}

// TestNowMayBeOfAnyZone: readings are instants, whatever zone they are told in.
func TestNowMayBeOfAnyZone(t *testing.T) {
	g := newGate(t, core.PerDay(1).Fixed())
	g.stillClock.now = time.Date(2024, 10, 5, 1, 0, 0, 0, time.FixedZone("", 2*60*60)) // 23:00 UTC
	g.take(1, "u")
	if d := g.take(1, "u"); d.RetryAfter != time.Hour {
		t.Errorf("an hour before midnight UTC the wait is %v, want 1h", d.RetryAfter)
	}
}

// TestAClockThatPanicsHoldsNoLock: the panic is the caller's to mend, and the next
// request is decided.
func TestAClockThatPanicsHoldsNoLock(t *testing.T) {
	for _, keys := range [][]string{{"a"}, {"a", "b"}} {
		rules := make([]core.Rule, len(keys))
		for i := range rules {
			rules[i] = core.By(byNobody, core.PerHour(4))
		}
		broken := false
		l := core.MustNew(core.Config{Rules: rules, Now: func() time.Time {
			if broken {
				panic("no clock")
			}
			return time.Unix(0, 0)
		}})
		ctx := t.Context()
		charged, err := l.Allow(ctx, keys...)
		if err != nil {
			t.Fatal(err)
		}
		for phrase, ask := range map[string]func(){
			"Allow":  func() { _, _ = l.Allow(ctx, keys...) },
			"Peek":   func() { _, _ = l.Peek(ctx, "rule-1", "a") },
			"Reset":  func() { _ = l.Reset(ctx, "rule-1", "a") },
			"Refund": func() { d := charged; _ = l.Refund(ctx, &d) },
		} {
			broken = true
			if !panics(ask) {
				t.Errorf("%s reads no clock", phrase)
			}
			broken = false
			if !ends(func() { _, _ = l.Allow(ctx, keys...) }) {
				t.Fatalf("%d rules: %s left a lock behind when the clock panicked", len(keys), phrase)
			}
		}
	}
}

func panics(f func()) (panicked bool) {
	defer func() { panicked = recover() != nil }()
	f()
	return false
}

// ends reports whether a function returns within a time that is never too short.
func ends(f func()) bool {
	done := make(chan struct{})
	go func() { f(); close(done) }()
	select {
	case <-done:
		return true
	case <-time.After(10 * time.Second):
		return false
	}
}
