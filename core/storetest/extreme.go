package storetest

import (
	"math"

	"github.com/slidegate/slidegate/core"
)

// extremeLimits fills the largest and smallest limits there are, with costs
// that reach the last unit.
func extremeLimits(p *probe) {
	most, longest, shortest := int64(core.MaxQuota), core.MaxWindow, core.MinWindow
	for _, l := range []core.Limit{
		core.Per(most, longest), core.Per(most, longest).Smooth(core.MaxSlots), core.Per(most, longest).Strict(core.MaxSlots),
		core.Per(most, longest).Fixed(), core.Per(most, longest).Bucket(most), core.Per(1, longest).Bucket(10), core.Per(most, longest).Bucket(1),
		core.Per(most, shortest), core.Per(most, shortest).Smooth(core.MaxSlots), core.Per(most, shortest).Strict(core.MaxSlots),
		core.Per(most, shortest).Fixed(), core.Per(most, shortest).Bucket(most), core.Per(1, shortest).Bucket(most / 1000),
		core.Per(1, longest).Exact(), core.Per(core.MaxExactQuota, longest).Exact(), core.Per(core.MaxExactQuota, shortest).Exact(),
		core.Per(1, longest), core.Per(1, shortest).Smooth(core.MaxSlots), core.PerDay(1_000_000_000_000).Smooth(24),
	} {
		if err := p.fresh().Store.Check(ask(1, l)[0].Limits); err != nil {
			p.Errorf("Check: %v", err)
			continue
		}
		p.begin(l.Window())
		p.fill(l)
	}
	p.slowed()
}

// slowed has a bucket owe what it would pay off in ten centuries at its new
// pace. A store may cut that short, but must keep its word.
func (p *probe) slowed() {
	p.begin(second)
	p.mustCharge(ask(100, core.Per(100, core.MaxWindow).Bucket(100)))
	a := ask(1, core.Per(1, core.MaxWindow).Bucket(10))
	if p.decide(a) {
		p.Errorf("%v: admitted beside a debt of 100", a[0].Limits)
		return
	}
	p.holds("a debt of centuries", a)
}

// fill charges a limit to the last unit, waits as it says, and refunds.
func (p *probe) fill(l core.Limit) {
	burst := l.Burst()
	p.wantRemaining("untouched", ask(1, l), burst)
	if burst > 1 {
		p.mustCharge(ask(burst-1, l))
		p.wantRemaining("all but one charged", ask(1, l), 1)
	}
	last := ask(1, l)
	p.mustCharge(last)
	p.wantRemaining("all charged", last, 0)
	whole := ask(burst, l)
	if p.decide(whole) {
		p.Errorf("%v: twice the quota was admitted at one instant", l)
		return
	}
	p.holds("the whole quota again", whole)
	p.refund(whole)
	p.wantRemaining("all refunded", whole, burst)
}

func extremeCosts(p *probe) {
	for _, l := range append(kinds(10), core.Per(10, core.MaxWindow).Smooth(3), core.Per(10, core.MinWindow)) {
		p.begin(second)
		p.mustCharge(ask(1, l))
		for _, cost := range []int64{math.MaxInt64, math.MaxInt64 - 1, math.MaxInt64 - 9, 1 << 62, 1 << 53, 1<<53 + 1, 1<<32 + 1, 1 << 32, 1<<31 + 1, 11} {
			a := ask(cost, l)
			if p.decide(a) || !a[0].States[0].Never {
				p.Errorf("%v: a cost of %d: %+v, want denied and Never", l, cost, a[0].States[0])
			}
			if s := p.peek(a[0])[0]; !s.Never || s.Remaining != 9 {
				p.Errorf("%v: a peek for a cost of %d: %+v, want Never and 9 remaining", l, cost, s)
			}
		}
		p.mustCharge(ask(9, l))
		p.wantRemaining("after costs beyond 32 and 53 bits, and 10 units", ask(1, l), 0)
	}
}
