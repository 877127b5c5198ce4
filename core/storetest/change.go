package storetest

import (
	"github.com/slidegate/slidegate/core"
)

func countsOutliveQuota(p *probe) {
	for i, l := range kinds(10) {
		p.begin(l.Window())
		p.mustCharge(ask(6, l))
		if got, want := p.remaining(kinds(8)[i]), int64(2); got != want {
			p.Errorf("%v: a peek under a quota of 8, with 6 charged, says %d remaining, want %d", l, got, want)
		}
		p.mustCharge(ask(2, kinds(8)[i]))
		p.wantRemaining("under a quota of 8, with 8 charged", ask(1, kinds(8)[i]), 0)
		p.wantRemaining("under a quota of 5, with 8 charged", ask(1, kinds(5)[i]), 0)
		p.wantRemaining("under a quota of 0, with 8 charged", ask(1, kinds(0)[i]), 0)
		p.wantRemaining("under a quota of 100, with 8 charged", ask(1, kinds(100)[i]), 92)
	}
	throughZero(p)
	newPace(p)
	lowered(p)
}

// throughZero asks under a quota of 0, which blocks a client, and lifts it
// again. What was counted is counted still.
func throughZero(p *probe) {
	for i, l := range kinds(10) {
		p.begin(l.Window())
		p.mustCharge(ask(6, l, core.PerHour(100)))
		blocked := ask(1, kinds(0)[i], core.PerHour(100))
		if p.decide(blocked) || !blocked[0].States[0].Never {
			p.Errorf("%v: a request under a quota of 0: %+v, want denied and Never", l, blocked[0].States)
		}
		p.mustCharge(ask(1, kinds(0)[i].DryRun(), core.PerHour(100)))
		p.wantRemaining("after a quota of 0 was lifted", ask(1, l), 4)
		p.mustCharge(ask(4, l))
		p.wantRemaining("and the rest was spent", ask(1, l), 0)
	}
}

// newPace changes what a bucket pays off: since its last charge it owes the same
// number of units, at the pace of the limit that asks.
func newPace(p *probe) {
	slow, fast := core.PerMinute(6).Bucket(10), core.PerMinute(60).Bucket(10)
	p.begin(slow.Window())
	p.mustCharge(ask(8, slow))
	p.to(5 * second)
	p.wantRemaining("5 s at a unit in 10 s", ask(1, slow), 2)
	p.wantRemaining("5 s at a unit a second", ask(1, fast), 7)
	p.mustCharge(ask(1, fast)) // owes 8 − 5 + 1
	p.wantRemaining("after one unit more", ask(1, fast), 6)
	p.to(8 * second)
	p.wantRemaining("3 s later at a unit a second", ask(1, fast), 9)
	p.wantRemaining("3 s later at a unit in 10 s", ask(1, slow), 6)
	a := ask(9, slow)
	if p.decide(a) {
		p.Errorf("a cost of 9 was admitted with 6 remaining")
	}
	p.holds("of a bucket that was slowed down", a)
}

// lowered lowers a quota below what is charged and takes the wait at its word.
func lowered(p *probe) {
	for i, l := range kinds(100) {
		p.begin(l.Window())
		p.mustCharge(ask(60, l))
		p.to(l.Window() / 4)
		p.mustCharge(ask(40, l))
		a := ask(3, kinds(7)[i])
		if p.decide(a) {
			p.Fatalf("%v: a cost of 3 was admitted under a quota of 7 with 100 charged", a[0].Limits)
		}
		p.holds("a quota that was lowered", a)
	}
}

func otherCountsStartEmpty(p *probe) {
	kept := core.PerMinute(10).Named("kept")
	old := core.PerMinute(10).Named("old")
	for _, now := range []core.Limit{
		old.Named("new"), core.PerHour(10).Named("old"), old.Smooth(2), old.Strict(1), old.Exact(), old.Fixed(), old.Bucket(10),
	} {
		p.begin(now.Window())
		p.mustCharge(ask(3, kept, old))
		states := p.peek(ask(1, now, kept)[0])
		if states[0].Remaining != 10 || states[1].Remaining != 7 {
			p.Errorf("%v in place of %v, beside %v: %+v, want 10 remaining, and 7 of the one that stayed", now, old, kept, states)
		}
		p.mustCharge(ask(1, now, kept))
		states = p.peek(ask(1, kept, now)[0])
		if states[0].Remaining != 6 || states[1].Remaining != 9 {
			p.Errorf("%v and %v after a charge of 1: %+v, want 6 and 9 remaining", kept, now, states)
		}
	}
}

// deniedKeepsLimits has a request denied under other limits than were charged.
func deniedKeepsLimits(p *probe) {
	p.begin(second)
	free, paid := core.PerMinute(10).Named("free"), core.PerMinute(0).Named("paid")
	p.mustCharge(ask(7, free))
	if p.decide(ask(1, paid)) {
		p.Fatalf("a request was admitted under a quota of 0")
	}
	p.wantRemaining("after a denial under another limit", ask(1, free), 3)
}
