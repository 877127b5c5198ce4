package storetest

import (
	"context"
	"fmt"
	"time"

	"github.com/slidegate/slidegate/core"
)

// A tester is what the checks need of a [testing.T].
type tester interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// A probe drives a store and holds every answer against what must be true of
// all of them.
type probe struct {
	tester
	Fixture
	fresh func() Fixture
	zero  time.Time // the instant that offsets are counted from
	clock time.Time // the store's time
}

var background = context.Background()

// begin takes a fresh store and moves its time to a multiple of a duration
// since the Unix epoch, the zero of the offsets that follow.
func (p *probe) begin(multiple time.Duration) {
	p.Helper()
	p.Fixture = p.fresh()
	a := ask(1, core.PerSecond(1))[0]
	a.Key = "to read the clock"
	now, err := p.Store.Peek(background, &a)
	if err != nil {
		p.Fatalf("Peek of an unused key: %v", err)
	}
	p.clock = now
	into := time.Duration(now.UnixNano() % int64(multiple))
	p.advance((multiple - into) % multiple)
	p.zero = p.clock
}

// advance moves the store's time.
func (p *probe) advance(d time.Duration) {
	p.Advance(d)
	p.clock = p.clock.Add(d)
}

// to moves the store's time to an offset from zero.
func (p *probe) to(offset time.Duration) { p.advance(p.zero.Add(offset).Sub(p.clock)) }

// ask returns a lone ask of the rule and key that most checks use. Limits get
// names where they have none.
func ask(cost int64, limits ...core.Limit) []core.Ask {
	return []core.Ask{askOf("rule", "key", cost, limits...)}
}

func askOf(rule, key string, cost int64, limits ...core.Limit) core.Ask {
	named := make([]core.Limit, len(limits))
	for i, l := range limits {
		if l.Name() == "" {
			l = l.Named(fmt.Sprintf("limit-%d", i+1))
		}
		named[i] = l
	}
	return core.Ask{Rule: rule, Key: key, Cost: cost, Limits: named, States: make([]core.State, len(named))}
}

// unfilled is what states hold before a call. No store may leave it.
var unfilled = core.State{Remaining: -1, RetryAfter: -1, Next: -1, Denied: true, Never: true}

func unfill(a *core.Ask) {
	for i := range a.States {
		a.States[i] = unfilled
	}
}

// decide has the store decide and reports whether the request was admitted.
func (p *probe) decide(asks []core.Ask) (admitted bool) {
	p.Helper()
	for i := range asks {
		unfill(&asks[i])
	}
	now, err := p.Store.Decide(background, asks)
	if err != nil {
		p.Fatalf("Decide: %v", err)
	}
	p.examine(now, asks)
	admitted = admits(asks)
	for _, a := range asks {
		if !admitted && a.Receipt != (core.Receipt{}) {
			p.Fatalf("%v: a denied request got the receipt %+v; nothing was charged", a.Limits, a.Receipt)
		}
	}
	return admitted
}

// admits reports whether no limit but dry runs denied.
func admits(asks []core.Ask) bool {
	for _, a := range asks {
		for i, s := range a.States {
			if s.Denied && !a.Limits[i].IsDryRun() {
				return false
			}
		}
	}
	return true
}

// peek has the store fill the states of an ask, and returns them.
func (p *probe) peek(a core.Ask) []core.State {
	p.Helper()
	a.States = make([]core.State, len(a.Limits))
	unfill(&a)
	now, err := p.Store.Peek(background, &a)
	if err != nil {
		p.Fatalf("Peek: %v", err)
	}
	p.examine(now, []core.Ask{a})
	return a.States
}

// examine holds answers against what is true of all of them.
func (p *probe) examine(now time.Time, asks []core.Ask) {
	p.Helper()
	if !now.Equal(p.clock) {
		p.Fatalf("the store says that it is %v, and its clock was set to %v", now.UTC(), p.clock.UTC())
	}
	for _, a := range asks {
		for i, s := range a.States {
			if fault := p.faultOf(s, a.Limits[i]); fault != "" {
				p.Fatalf("%v at %v, cost %d: %s: %+v", a.Limits[i], p.clock.Sub(p.zero), a.Cost, fault, s)
			}
		}
	}
}

func (p *probe) faultOf(s core.State, l core.Limit) string {
	burst := l.Burst()
	switch {
	case s.Remaining < 0 || s.Remaining > burst:
		return fmt.Sprintf("Remaining is outside 0 to %d", burst)
	case s.Never && !s.Denied:
		return "Never without Denied"
	case s.RetryAfter != 0 && (!s.Denied || s.Never):
		return "RetryAfter although no wait helps, or none is needed"
	case s.RetryAfter <= 0 && s.Denied && !s.Never:
		return "denied without a wait"
	case (s.Next > 0) != (s.Remaining < burst):
		return "Next is to be a wait exactly where Remaining can grow"
	case s.RetryAfter%p.Tick != 0 || s.Next%p.Tick != 0:
		return fmt.Sprintf("a wait is not a multiple of the tick, %v", p.Tick)
	}
	return ""
}

// spend sends requests of cost 1 and returns how many were admitted.
func (p *probe) spend(requests int, limits ...core.Limit) (admitted int) {
	p.Helper()
	for range requests {
		if p.decide(ask(1, limits...)) {
			admitted++
		}
	}
	return admitted
}

// mustCharge has a request admitted that there must be room for.
func (p *probe) mustCharge(asks []core.Ask) {
	p.Helper()
	if !p.decide(asks) {
		p.Fatalf("a request for which there is room was denied: %+v", asks)
	}
}

// remaining returns what a lone limit has left.
func (p *probe) remaining(l core.Limit) int64 {
	p.Helper()
	return p.peek(ask(1, l)[0])[0].Remaining
}

// wantRemaining checks what is left in the first limit of each ask.
func (p *probe) wantRemaining(when string, asks []core.Ask, want ...int64) {
	p.Helper()
	for i, a := range asks {
		if got := p.peek(a)[0].Remaining; got != want[i] {
			p.Errorf("%s: rule %q, %v: %d remaining, want %d", when, a.Rule, a.Limits[0], got, want[i])
		}
	}
}

// refund takes asks back.
func (p *probe) refund(asks []core.Ask) {
	p.Helper()
	if err := p.Store.Refund(background, asks); err != nil {
		p.Fatalf("Refund: %v", err)
	}
	for _, a := range asks {
		if a.Receipt != (core.Receipt{}) {
			p.Errorf("Refund left the receipt %+v; it must clear it, so that a second call does nothing", a.Receipt)
		}
	}
}

func (p *probe) reset(rule, key string) {
	p.Helper()
	if err := p.Store.Reset(background, rule, key); err != nil {
		p.Fatalf("Reset: %v", err)
	}
}

// roundUp returns a wait in whole ticks.
func (p *probe) roundUp(wait time.Duration) time.Duration {
	return (wait + p.Tick - 1) / p.Tick * p.Tick
}
