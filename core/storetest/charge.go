package storetest

import (
	"context"
	"slices"
	"time"

	"github.com/slidegate/slidegate/core"
)

// kinds are limits of every algorithm, of a quota in a minute.
func kinds(quota int64) []core.Limit {
	l := core.PerMinute(quota)
	return []core.Limit{l, l.Smooth(7), l.Strict(1), l.Strict(60), l.Exact(), l.Fixed(), l.Bucket(max(1, quota))}
}

func validLimitsPass(p *probe) {
	p.begin(second)
	limits := append(kinds(10), core.Per(0, core.MinWindow), core.Per(core.MaxQuota, core.MaxWindow).Strict(core.MaxSlots).DryRun())
	if err := p.Store.Check(ask(1, limits...)[0].Limits); err != nil {
		p.Errorf("Check of valid limits: %v", err)
	}
}

// twoAsks returns asks of two rules with two limits each.
func twoAsks(cost int64, kind core.Limit, tight core.Limit) []core.Ask {
	return []core.Ask{
		askOf("first", "a", cost, kind, core.PerHour(1000)),
		askOf("second", "b", cost, tight, core.PerHour(1000)),
	}
}

func chargesAll(p *probe) {
	for _, l := range kinds(10) {
		p.begin(second)
		asks := twoAsks(3, l, core.PerMinute(8))
		p.mustCharge(asks)
		for _, a := range asks {
			for i, s := range a.States {
				if want := a.Limits[i].Burst() - 3; s.Remaining != want {
					p.Errorf("%v: after a charge of 3 the state says %d remaining, want %d", a.Limits[i], s.Remaining, want)
				}
				if s.Denied {
					p.Errorf("%v: denied, in a request that was admitted", a.Limits[i])
				}
			}
			if a.Receipt == (core.Receipt{}) {
				p.Errorf("rule %q: no receipt for a charge", a.Rule)
			}
			if got := p.peek(a); got[0].Remaining != a.States[0].Remaining || got[1].Remaining != a.States[1].Remaining {
				p.Errorf("rule %q: charged as %+v, afterwards it stands as %+v", a.Rule, a.States, got)
			}
		}
	}
}

func deniedChargesNone(p *probe) {
	for _, l := range kinds(10) {
		for _, turned := range []bool{false, true} {
			p.begin(second)
			asks := twoAsks(2, l, core.PerMinute(5))
			if turned { // the limit that denies is then asked first
				slices.Reverse(asks)
			}
			p.mustCharge(asks)
			p.mustCharge(asks)
			before := [][]core.State{p.peek(asks[0]), p.peek(asks[1])}
			for range 3 {
				if p.decide(asks) {
					p.Fatalf("%v: a third cost of 2 was admitted under a quota of 5", l)
				}
			}
			for i, a := range asks {
				if after := p.peek(a); !slices.Equal(after, before[i]) {
					p.Errorf("%v: rule %q stood as %+v before three denials and as %+v after them", l, a.Rule, before[i], after)
				}
				if a.States[0].Remaining != before[i][0].Remaining {
					p.Errorf("%v: the denial says %d remaining, and %d are", l, a.States[0].Remaining, before[i][0].Remaining)
				}
			}
		}
	}
}

func remainingIsExact(p *probe) {
	for _, l := range kinds(10) {
		p.begin(l.Window())
		p.to(40 * second)
		p.mustCharge(ask(7, l))
		for _, at := range []time.Duration{40, 41, 60, 73, 95, 100, 110, 119} {
			p.to(at * second)
			if left, got := p.remaining(l), p.spendable(l); got != left {
				p.Errorf("%v at %v: %d remaining were announced and %d requests admitted", l, at*second, left, got)
			}
		}
	}
}

// spendable returns how many requests of cost 1 are admitted now, and has them
// refunded.
func (p *probe) spendable(l core.Limit) (n int64) {
	var taken [][]core.Ask
	for {
		a := ask(1, l)
		if !p.decide(a) {
			break
		}
		taken = append(taken, a)
	}
	for _, a := range taken {
		p.refund(a)
	}
	return int64(len(taken))
}

// knockingCostsNothing has a client ask five times a second that is admitted
// three times a minute, and one that asks only when it may.
func knockingCostsNothing(p *probe) {
	for _, l := range kinds(3) {
		p.begin(l.Window())
		impatient, patient := ask(1, l), ask(1, l)
		patient[0].Key = "patient"
		for range 600 {
			if admitted := p.decide(impatient); admitted != (p.peek(patient[0])[0].Remaining > 0) {
				p.Fatalf("%v at %v: a client that kept knocking was admitted: %t; one that did not was not treated alike",
					l, p.clock.Sub(p.zero), admitted)
			} else if admitted {
				p.mustCharge(patient)
			}
			p.advance(200 * ms)
		}
	}
}

func peekChargesNothing(p *probe) {
	for _, l := range kinds(3) {
		p.begin(second)
		for range 10 {
			p.wantRemaining("after peeks at an unused key", ask(1, l), 3)
		}
		p.mustCharge(ask(2, l))
		for range 10 {
			p.wantRemaining("after peeks at a used key", ask(1, l), 1)
		}
		states := p.peek(ask(2, l)[0])
		if !states[0].Denied || states[0].Never {
			p.Errorf("%v: a peek for a cost of 2, with 1 remaining: %+v, want a denial", l, states[0])
		}
		p.mustCharge(ask(1, l))
	}
}

func dryRunsWatch(p *probe) {
	for _, l := range kinds(2) {
		p.begin(second)
		limits := []core.Limit{core.PerHour(5), l.DryRun()}
		for i := range int64(5) {
			a := ask(1, limits...)
			p.mustCharge(a)
			binding, dry := a[0].States[0], a[0].States[1]
			if binding.Remaining != 4-i || dry.Remaining != max(0, 1-i) || dry.Denied != (i >= 2) {
				p.Errorf("%v: request %d beside 5 an hour: %+v; a dry run counts to its quota and then says Denied", l, i+1, a[0].States)
			}
			if dry.Denied != (dry.RetryAfter > 0) {
				p.Errorf("%v: a dry run that would deny says how long: %+v", l, dry)
			}
		}
		if p.decide(ask(1, limits...)) {
			p.Errorf("%v: the limit beside the dry run did not deny", l)
		}
	}
}

func dryRunsChargeTogether(p *probe) {
	p.begin(second)
	wide, narrow := core.PerMinute(9).DryRun().Named("wide"), core.PerMinute(1).DryRun().Named("narrow")
	for _, c := range []struct {
		phrase string
		limits []core.Limit
		other  []core.Ask
		want   int64 // remaining of wide after two requests
	}{
		{"two dry runs alone", []core.Limit{wide, narrow}, nil, 8},
		{"two dry runs beside a limit", []core.Limit{core.PerMinute(5), wide, narrow}, nil, 8},
		{"a dry run of another ask has no say", []core.Limit{wide}, []core.Ask{askOf("other", "key", 1, narrow)}, 7},
	} {
		a := append([]core.Ask{askOf("rule", c.phrase, 1, c.limits...)}, c.other...)
		p.mustCharge(a)
		p.mustCharge(a)
		at := slices.Index(a[0].Limits, wide)
		if got := p.peek(a[0])[at].Remaining; got != c.want {
			p.Errorf("%s: after two requests, of which the narrow one had room for one, the wide one has %d remaining, want %d", c.phrase, got, c.want)
		}
	}
	lone := []core.Ask{askOf("rule", "charged once", 1, narrow)}
	p.mustCharge(lone)
	p.mustCharge(lone)
	if lone[0].Receipt != (core.Receipt{}) {
		p.Errorf("a request that only a full dry run saw got the receipt %+v; nothing was charged", lone[0].Receipt)
	}
}

func endedContext(p *probe) {
	p.begin(second)
	ended, cancel := context.WithCancel(background)
	cancel()
	a := ask(1, core.PerMinute(5))
	want := int64(5)
	if _, err := p.Store.Decide(ended, a); err == nil {
		want--
	}
	p.wantRemaining("after a decision in an ended context", a, want)
}
