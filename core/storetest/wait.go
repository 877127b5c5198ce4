package storetest

import (
	"math"
	"time"

	"github.com/slidegate/slidegate/core"
)

// waitsAreExact fills limits whose slots and units are not whole nanoseconds
// and tries every wait at its instant and one tick before.
func waitsAreExact(p *probe) {
	for _, l := range []core.Limit{
		core.Per(3, 7*second), core.Per(3, 7*second).Smooth(3), core.Per(3, 7*second).Smooth(1000),
		core.Per(3, 7*second).Strict(1), core.Per(3, 7*second).Strict(11), core.Per(3, 7*second).Exact(),
		core.Per(3, 7*second).Fixed(), core.Per(3, 7*second).Bucket(3), core.Per(3, 7*second).Bucket(11),
		core.Per(7, ms), core.Per(7, ms).Smooth(13), core.Per(7, ms).Strict(3), core.Per(7, ms).Bucket(4),
		core.Per(999_999_999_999_999, core.MaxWindow).Strict(7), core.PerDay(86_399).Smooth(24),
	} {
		p.begin(l.Window())
		p.advance(l.Window() / 3 / ms * ms)
		for _, part := range []int64{1, 2, 3} {
			cost := max(1, l.Burst()*part/3)
			a := ask(cost, l)
			for p.decide(a) { // until it is full
			}
			p.holds("RetryAfter", a)
			p.advance(l.Window() / 5 / ms * ms)
		}
	}
}

func waitsOfSeveral(p *probe) {
	p.begin(time.Minute)
	asks := []core.Ask{
		askOf("short", "key", 1, core.PerSecond(1).Exact(), core.PerMinute(1).Exact()),
		askOf("long", "key", 1, core.PerHour(1).Exact(), core.PerDay(9).Exact()),
	}
	p.mustCharge(asks)
	p.advance(10 * second)
	if p.decide(asks) {
		p.Fatalf("a second request was admitted under one an hour")
	}
	for _, c := range []struct {
		got, want time.Duration
	}{
		{asks[0].States[0].RetryAfter, 0},
		{asks[0].States[1].RetryAfter, 50 * second},
		{asks[1].States[0].RetryAfter, time.Hour - 10*second},
		{asks[1].States[1].RetryAfter, 0},
	} {
		if c.got != c.want {
			p.Errorf("one of four limits says to wait %v, want %v", c.got, c.want)
		}
	}
	p.holds("the longest wait of four limits", asks)
}

// nextIsExact reads Next after every charge and looks when Remaining grows.
func nextIsExact(p *probe) {
	for _, l := range kinds(5) {
		for _, cost := range []int64{1, 3, 5} {
			p.begin(l.Window())
			p.advance(17 * second)
			a := ask(cost, l)
			p.mustCharge(a)
			charged := a[0].States[0]
			p.advance(charged.Next - p.Tick)
			if got := p.remaining(l); got != charged.Remaining {
				p.Errorf("%v: one tick before Next %d remaining, want still %d", l, got, charged.Remaining)
			}
			p.advance(p.Tick)
			if got := p.remaining(l); got <= charged.Remaining {
				p.Errorf("%v: after Next still %d remaining", l, got)
			}
		}
	}
}

func neverAdmitted(p *probe) {
	for _, c := range []struct {
		phrase string
		limit  core.Limit
		cost   int64
		never  bool
	}{
		{"a cost above the quota", core.PerMinute(5), 6, true},
		{"above the quota of a log", core.PerMinute(5).Exact(), 6, true},
		{"above the quota of a fixed window", core.PerMinute(5).Fixed(), 6, true},
		{"above the quota of a strict limit", core.PerMinute(5).Strict(60), 6, true},
		{"above the burst, below the quota", core.PerMinute(50).Bucket(5), 6, true},
		{"above the quota, within the burst", core.PerMinute(5).Bucket(50), 6, false},
		{"the quota", core.PerMinute(5), 5, false},
		{"anything under a quota of 0", core.PerMinute(0), 1, true},
		{"anything under a log of 0", core.PerMinute(0).Exact(), 1, true},
		{"anything under a fixed quota of 0", core.PerMinute(0).Fixed(), 1, true},
		{"anything under a bucket of quota 0", core.PerMinute(0).Bucket(9), 1, true},
		{"the largest cost there is", core.PerMinute(core.MaxQuota), math.MaxInt64, true},
	} {
		p.begin(second)
		a := ask(c.cost, c.limit)
		denied, s := !p.decide(a), a[0].States[0]
		if denied != c.never || s.Never != c.never || s.RetryAfter != 0 {
			p.Errorf("%s (cost %d, %v): %+v, want denied and Never: %t", c.phrase, c.cost, c.limit, s, c.never)
		}
		if left := p.remaining(c.limit); c.never && left != c.limit.Burst() {
			p.Errorf("%s: %d remaining after the denial, want %d", c.phrase, left, c.limit.Burst())
		}
	}
}
