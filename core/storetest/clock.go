package storetest

import (
	"time"

	"github.com/slidegate/slidegate/core"
)

func windowIsHalfOpen(p *probe) {
	for _, c := range []struct {
		limit core.Limit
		ends  time.Duration // when a request made at 20 s counts for nothing
	}{
		{core.PerMinute(1).Exact(), 80 * second},
		{core.PerMinute(1).Fixed(), 60 * second},
		{core.PerMinute(1).Strict(6), 90 * second},
		{core.PerMinute(1).Strict(1), 120 * second},
		{core.PerMinute(1), 120 * second},
		{core.PerMinute(1).Smooth(6), 90 * second},
		{core.PerMinute(1).Bucket(1), 80 * second},
	} {
		p.begin(c.limit.Window())
		p.to(20 * second)
		p.mustCharge(ask(1, c.limit))
		p.to(c.ends - p.Tick)
		if p.spend(1, c.limit) != 0 {
			p.Errorf("%v: a request at 20 s no longer counts one tick before %v", c.limit, c.ends)
		}
		p.to(c.ends)
		if p.spend(1, c.limit) != 1 {
			p.Errorf("%v: a request at 20 s still counts at %v", c.limit, c.ends)
		}
	}
}

// silenceFreesAll leaves a key alone for windows on end. The first request
// after it is the one that must find the quota free.
func silenceFreesAll(p *probe) {
	for _, l := range append(kinds(10), core.Per(10, 7*second).Smooth(3), core.Per(10, 7*second).Strict(1000)) {
		for _, windows := range []time.Duration{2, 3, 10, 10_000, 100_000} {
			p.begin(l.Window())
			p.to(l.Window() / 2)
			p.mustCharge(ask(10, l))
			p.to(windows*l.Window() + l.Window()/2)
			a := ask(1, l)
			p.mustCharge(a)
			if got := a[0].States[0].Remaining; got != 9 {
				p.Errorf("%v: %d windows after its quota was spent a request leaves %d remaining, want 9", l, windows, got)
			}
		}
	}
}

func clockStepsBack(p *probe) {
	for _, l := range kinds(10) {
		p.begin(l.Window())
		if p.OneWay {
			return
		}
		p.to(30 * second)
		p.mustCharge(ask(9, l))
		for _, back := range []time.Duration{p.Tick, second, 29 * second, 31 * second, 45 * time.Minute} {
			p.to(30*second - back)
			p.wantRemaining("with the clock set back", ask(1, l), 1)
			if a := ask(2, l); p.decide(a) {
				p.Errorf("%v: the clock stepped back by %v and freed a unit", l, back)
			}
		}
		p.mustCharge(ask(1, l)) // 45 minutes before the charge of 9, and counted with it
		a := ask(3, l)
		if p.decide(a) {
			p.Errorf("%v: three more units were admitted than the quota", l)
			continue
		}
		p.holds("with the clock 45 minutes behind the key's own time", a)
	}
}
