package core

import (
	"context"
	"slices"
	"strings"
	"time"
)

// A Decision is what a [Limiter] says about a request: allowed or denied, with
// the state of every limit that was asked. It is a value; the zero Decision
// denies and knows no limit.
type Decision struct {
	// Allowed says that the request may go on.
	Allowed bool
	// Never says that the request was denied and that no wait can help: its
	// cost is above what some limit ever admits at once.
	Never bool
	// Degraded says that the store failed, and that some rules were counted
	// in this process, or let pass uncounted, as [Failure] says.
	Degraded bool
	// RetryAfter is the smallest wait after which the same request, alone,
	// is admitted: then, and not one tick of the store sooner. It is 0 on
	// allowed requests and where Never is true.
	RetryAfter time.Duration

	limiter *Limiter
	now     int64 // the store's reading of its clock

	// Requests of up to three rules with four limits need no memory of
	// their own.
	asked, stated int32
	asksHere      [3]ask
	statesHere    [4]State
	more          *more // or nil
}

// more is what few decisions have.
type more struct {
	asks   []ask    // all of them, if there are many
	states []State  // likewise
	names  []string // of the shown limits in a header, if some are not their own
	warm   []ask    // charged in this process too, after the store admitted them
}

// A LimitState is how one limit stood after a decision.
type LimitState struct {
	// Rule is the name of the limit's rule.
	Rule string
	// Limit is the limit; its name is the policy that headers speak of.
	Limit Limit
	State
}

// States returns the states of all limits that were asked, in the order of the
// rules. There are none where the request was skipped or passed uncounted.
func (d Decision) States() []LimitState {
	var all []LimitState
	states := d.states()
	for i := range d.asks() {
		p := d.asks()[i].plan
		all = p.states(all, states)
		states = states[len(p.limits):]
	}
	return all
}

func (p *plan) states(all []LimitState, states []State) []LimitState {
	for i, limit := range p.limits {
		all = append(all, LimitState{Rule: p.rule, Limit: limit, State: states[i]})
	}
	return all
}

func (d *Decision) asks() []ask {
	if d.more != nil && d.more.asks != nil {
		return d.more.asks
	}
	return d.asksHere[:d.asked]
}

func (d *Decision) states() []State {
	if d.more != nil && d.more.states != nil {
		return d.more.states
	}
	return d.statesHere[:d.stated]
}

func (d *Decision) needMore() *more {
	if d.more == nil {
		d.more = &more{}
	}
	return d.more
}

// add adds an ask and makes room for its states.
func (d *Decision) add(p *plan, key string, cost int64) {
	if i := d.asked; i < int32(len(d.asksHere)) && d.stated+int32(len(p.gauges)) <= int32(len(d.statesHere)) {
		a := &d.asksHere[i]
		a.plan, a.key, a.cost = p, key, cost
		d.asked++
		d.stated += int32(len(p.gauges))
		return
	}
	d.addMore(ask{plan: p, key: key, cost: cost})
}

func (d *Decision) addMore(a ask) {
	asks := append(slices.Clone(d.asks()), a)
	d.asked++
	d.stated += int32(len(a.plan.gauges))
	m := d.needMore()
	m.asks, m.states = asks, make([]State, d.stated)
}

// decideHere decides in the usual case, where no one but this process is asked or
// told. It reports false, having done nothing, in any other.
func (l *Limiter) decideHere(d *Decision) bool {
	if l.store != nil || l.observer != nil || d.asked != 1 {
		return false
	}
	l.memory.decideOne(d)
	return true
}

// decide has the store decide, and draws the conclusion.
func (l *Limiter) decide(ctx context.Context, d *Decision) error {
	var start time.Time
	if l.observer != nil {
		start = time.Now()
	}
	var p pressure
	switch {
	case d.asked == 0:
		d.Allowed = true
	case l.store == nil:
		p = l.memory.decide(d)
	default:
		if err := l.decideInStore(ctx, d); err != nil {
			*d = Decision{}
			return l.refused(ctx, err)
		}
		d.conclude()
	}
	if l.observer != nil {
		l.observe(ctx, *d, time.Since(start), p)
	}
	return nil
}

// conclude sums up the states: a request is denied by all limits that have no room
// for it, except dry runs, and its wait is the longest of theirs.
func (d *Decision) conclude() {
	d.Allowed = true
	states, asks := d.states(), d.asks()
	for i := range asks {
		limits := asks[i].plan.limits
		for j := range limits {
			s := &states[j]
			if !s.Denied || limits[j].dryRun {
				continue
			}
			d.Allowed = false
			d.Never = d.Never || s.Never
			d.RetryAfter = max(d.RetryAfter, s.RetryAfter)
		}
		states = states[len(limits):]
	}
	if d.Never {
		d.RetryAfter = 0
	}
}

// Refund takes back what a decision charged, for requests that should not count
// after all. Each limit gets it back in the slot that was charged; what has left
// the window meanwhile is gone. It clears the decision's receipts, so that a
// second call with it does nothing; it must be called once for all copies of
// a decision, and while the request's strings are valid or after [Decision.KeepKeys].
// After an error the charge may stand or not, where a reply was lost: to try again
// may give back twice.
func (l *Limiter) Refund(ctx context.Context, d *Decision) error {
	asks := d.asks()
	if len(asks) == 0 {
		return nil
	}
	if l.store == nil || d.Degraded {
		l.memory.refund(asks)
	} else if err := l.store.Refund(ctx, forStore(asks, d.states())); err != nil {
		return &RuleError{Rule: asks[0].plan.rule, Kind: ErrStore, Err: err}
	}
	for i := range asks {
		asks[i].receipt = Receipt{}
	}
	if d.more != nil {
		l.memory.refund(d.more.warm)
		d.more.warm = nil
	}
	return nil
}

// KeepKeys makes the decision independent of the request's strings, which some
// frameworks lend: Fiber writes the next request into them, and a handler that
// changes the request's header or URI writes over them. An adapter of such a
// framework calls it before the next handler if it settles afterwards.
func (d *Decision) KeepKeys() {
	clone := func(asks []ask) {
		for i := range asks {
			asks[i].key = strings.Clone(asks[i].key)
		}
	}
	clone(d.asks())
	if d.more != nil {
		clone(d.more.warm)
	}
}

// Settle refunds a decision if refundIf says so of the response's status. It
// outlives the request's context; a store that fails then is told to the
// observer, and the charge stands. Adapters call it for RefundIf, with status
// 500 for a handler that panicked before it wrote one.
func (l *Limiter) Settle(ctx context.Context, d *Decision, status int, refundIf func(status int) bool) {
	if !refundIf(status) {
		return
	}
	if err := l.Refund(context.WithoutCancel(ctx), d); err != nil {
		l.storeFailed(ctx, err)
	}
}
