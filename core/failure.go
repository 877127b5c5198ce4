package core

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// forStore returns asks as a [Store] takes them.
func forStore(asks []ask, states []State) []Ask {
	out := make([]Ask, len(asks))
	for i := range asks {
		a := &asks[i]
		n := len(a.plan.limits)
		out[i] = Ask{Rule: a.plan.rule, Key: a.key, Cost: a.cost, Limits: a.plan.limits, States: states[:n:n], Receipt: a.receipt}
		states = states[n:]
	}
	return out
}

// decideInStore has a store of the user's decide. The asks and states that it
// is handed are copies on the heap, which it may keep hold of.
func (l *Limiter) decideInStore(ctx context.Context, d *Decision) error {
	states := make([]State, d.stated)
	asks := forStore(d.asks(), states)
	now, err := l.store.Decide(ctx, asks)
	if err != nil {
		return l.decideWithout(ctx, d, err)
	}
	d.now = now.UnixNano()
	copy(d.states(), states)
	for i := range asks {
		d.asks()[i].receipt = asks[i].Receipt
	}
	l.keepWarm(d)
	return nil
}

// decideWithout decides while the store fails, as each rule says. The end of
// the request's own context is not a failure of the store, and opens nothing;
// nor does a faulty configuration, which only shows with the first call.
func (l *Limiter) decideWithout(ctx context.Context, d *Decision, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("slidegate: the request ended before the store answered: %w", context.Cause(ctx))
	}
	l.storeFailed(ctx, err)
	asks := slices.Clone(d.asks())
	if errors.Is(err, ErrConfig) {
		return &RuleError{Rule: asks[0].plan.rule, Kind: ErrStore, Err: err}
	}
	*d = Decision{limiter: l, Degraded: true}
	for i := range asks {
		switch rule, _ := l.rule(asks[i].plan.rule); rule.Failure {
		case FailClosed:
			return &RuleError{Rule: rule.Name, Kind: ErrStore, Err: err}
		case Degrade:
			d.add(l.part(asks[i].plan), asks[i].key, asks[i].cost)
		}
	}
	if d.asked > 0 {
		l.memory.decide(d)
	}
	return nil
}
