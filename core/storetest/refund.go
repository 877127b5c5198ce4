package storetest

import (
	"slices"

	"github.com/slidegate/slidegate/core"
)

func refundGivesBack(p *probe) {
	for _, l := range kinds(10) {
		p.begin(l.Window())
		kept, taken := ask(2, l), ask(5, l)
		p.mustCharge(kept)
		p.mustCharge(taken)
		p.refund(taken)
		p.wantRemaining("after a refund of 5 at once", taken, 8)
	}
	p.begin(second)
	asks := twoAsks(3, core.PerMinute(10), core.PerMinute(10).Strict(6))
	p.mustCharge(asks)
	p.refund(asks)
	p.wantRemaining("after a refund of two asks", asks, 10, 10)
	refundLater(p)
}

// refundLater refunds what lies in the first slot of a window when the second
// window has begun: the units must leave that slot and no other.
func refundLater(p *probe) {
	for _, c := range []struct {
		limit core.Limit
		want  int64 // remaining 90 s after a charge of 2, with none of the 6 beside it left
	}{
		{core.PerMinute(10), 9},            // half of 2 is in view still
		{core.PerMinute(10).Smooth(3), 10}, // a slot of 20 s has left by then
		{core.PerMinute(10).Strict(1), 8},
		{core.PerMinute(10).Exact(), 10},
		{core.PerMinute(10).Fixed(), 10},
	} {
		p.begin(c.limit.Window())
		kept, taken := ask(2, c.limit), ask(6, c.limit)
		p.mustCharge(kept)
		p.mustCharge(taken)
		p.to(90 * second)
		p.refund(taken)
		p.wantRemaining("a window and a half later", taken, c.want)
		p.mustCharge(ask(c.want, c.limit))
		p.wantRemaining("and after spending that", taken, 0)
	}
}

func refundOnce(p *probe) {
	for _, l := range kinds(10) {
		p.begin(second)
		p.mustCharge(ask(4, l))
		a := ask(3, l)
		p.mustCharge(a)
		p.refund(a)
		p.refund(a)
		p.refund(a)
		p.wantRemaining("after three refunds of one charge", a, 6)

		p.begin(second)
		p.mustCharge(a)
		for range 3 {
			p.refund(slices.Clone(a)) // each with the receipt
		}
		p.wantRemaining("after refunds by copies of one receipt", a, 10)
		p.mustCharge(ask(10, l))
		p.wantRemaining("and after spending the quota: no count was below zero", a, 0)
	}
}

// refundTakesOwn refunds charges whose count is gone; another request may have
// made a new one in its place.
func refundTakesOwn(p *probe) {
	for _, l := range kinds(10) {
		p.begin(l.Window())
		a := ask(3, l)
		p.mustCharge(a)
		p.reset(a[0].Rule, a[0].Key)
		p.mustCharge(ask(4, l))
		p.refund(a)
		p.wantRemaining("after a refund of what was reset", a, 6)

		p.begin(l.Window())
		p.mustCharge(a)
		p.to(3 * l.Window())
		p.mustCharge(ask(4, l))
		p.refund(a)
		p.wantRemaining("after a refund of what has left the window", a, 6)
	}
}

func refundOfNothing(p *probe) {
	for _, l := range kinds(5) {
		p.begin(second)
		p.mustCharge(ask(4, l))
		denied := ask(2, l)
		if p.decide(denied) {
			p.Fatalf("%v: a cost of 2 was admitted with 1 remaining", l)
		}
		p.refund(denied)
		p.refund(ask(3, l)) // was never decided on
		p.wantRemaining("after refunds of a denial and of nothing", denied, 1)
	}
	uncharged := ask(1, core.PerMinute(5), core.PerMinute(1).DryRun())
	p.begin(second)
	p.mustCharge(uncharged)
	p.mustCharge(uncharged)
	p.refund(uncharged)
	p.wantRemaining("after a refund beside a dry run that was not charged", uncharged, 4)
	if dry := p.peek(uncharged[0])[1]; dry.Remaining != 0 {
		p.Errorf("a dry run that was not charged got a refund: %+v", dry)
	}
}

// refundOfBucket refunds parts of charges that were paid off meanwhile: giving
// back more than is owed would let a later request through twice.
func refundOfBucket(p *probe) {
	l := core.PerMinute(6).Bucket(12) // pays a unit off in 10 s
	p.begin(l.Window())
	taken := ask(3, l)
	p.mustCharge(taken)
	p.mustCharge(ask(6, l))
	p.to(20 * second) // owes 9 − 2, of the 3 at least 1
	p.refund(taken)
	p.wantRemaining("20 s after charges of 3 and 6", taken, 12-6)
	p.to(80 * second)
	p.wantRemaining("when all is paid off", taken, 12)

	p.begin(l.Window())
	p.mustCharge(taken)
	p.to(60 * second)
	p.mustCharge(ask(5, l))
	p.refund(taken)
	p.wantRemaining("after a refund of what was paid off long ago", taken, 7)
}

// refundAfterChange changes the limits between a charge and its refund. What it
// gives back is the store's choice; it must not be more than was charged.
func refundAfterChange(p *probe) {
	fast, slow := core.PerMinute(100).Bucket(100), core.PerMinute(1).Bucket(100)
	p.begin(fast.Window())
	taken := ask(100, fast)
	p.mustCharge(taken)
	p.to(60 * second)
	p.mustCharge(ask(98, fast)) // the first hundred is paid off
	p.to(61 * second)
	p.mustCharge(ask(1, slow))
	p.refund(taken)
	if got := p.remaining(slow); got > 1 {
		p.Errorf("a bucket that was slowed down got %d of 100 units back for a charge that was paid off before", got)
	}

	p.begin(second)
	kept, left := core.PerHour(10).Named("kept"), core.PerMinute(10).Named("left out for a while")
	taken = ask(3, kept, left)
	p.mustCharge(taken)
	p.mustCharge(ask(1, kept))
	p.mustCharge(ask(2, kept, left)) // which begins anew
	p.refund(taken)
	if got := p.peek(ask(1, left)[0])[0].Remaining; got > 8 {
		p.Errorf("a limit that began anew, and was charged 2 of 10, has %d remaining after a refund from before", got)
	}

	p.begin(second)
	beside, full := core.PerHour(9), core.PerMinute(2)
	uncharged := ask(1, beside, full.DryRun())
	for range 3 { // the dry run has no room for the third
		p.mustCharge(uncharged)
	}
	raised := ask(1, beside, core.PerMinute(3))
	p.mustCharge(raised)
	p.refund(uncharged)
	if got := p.peek(raised[0])[1]; got.Remaining != 0 {
		p.Errorf("a limit that was a dry run, and full, got units back that it was not charged: %+v", got)
	}
}
