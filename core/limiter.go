package core

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// A Limiter is an ordered set of rules and a store; it gives one [Decision] a
// request. [New] makes it, the zero Limiter is not valid. Its methods are safe
// for concurrent use.
type Limiter struct {
	rules    []*rule
	memory   *Memory // the store, or what counts while the store fails
	store    Store   // nil where memory is the store
	skip     func(Request) bool
	observer Observer
	headers  HeaderFormat
	legacy   bool
	varies   bool   // some rule has LimitsFor
	warmth   warmth // of memory, while the store decides
	policies string // see policiesOf
	mark     string // see markOf
	doctor   *doctor
}

// A rule is a [Rule] made ready: named, checked and laid out.
type rule struct {
	Rule
	given string // the name as the user gave it
	names *names
	plan  *plan // of Limits
	plans planCache[*plan]
}

// Check decides on a request. On an error the request is refused for another
// reason than a limit ([ProblemOf] has the words to answer with), the decision is
// the zero Decision, and nothing was charged.
func (l *Limiter) Check(r Request) (d Decision, err error) {
	err = l.CheckInto(r, &d)
	return
}

// CheckInto is [Limiter.Check] with the decision where the caller has it, which
// saves adapters a copy. The decision must be the zero Decision before.
func (l *Limiter) CheckInto(r Request, d *Decision) error {
	d.limiter = l
	if l.skip != nil || l.doctor.left.Load() > 0 {
		return l.checkClosely(r, d)
	}
	for _, rule := range l.rules {
		if err := l.ask(rule, r, d); err != nil {
			*d = Decision{}
			return l.refused(r.Context(), err)
		}
	}
	if l.decideHere(d) {
		return nil
	}
	return l.decide(r.Context(), d)
}

// checkClosely is check for a request that may be skipped, or that the doctor is
// to look at.
func (l *Limiter) checkClosely(r Request, d *Decision) error {
	var e *examined
	if l.doctor.left.Load() > 0 {
		e = l.examine(r)
		r = e
	}
	if l.skip != nil && l.skip(r) {
		d.Allowed = true
		e.postpone()
		return nil
	}
	var err error
	for i := 0; i < len(l.rules) && err == nil; i++ {
		err = l.ask(l.rules[i], r, d)
	}
	if err = cmp.Or(e.found(), err); err != nil {
		*d = Decision{}
		return l.refused(r.Context(), err)
	}
	if err := l.decide(r.Context(), d); err != nil {
		return err
	}
	if err := e.decided(d); err != nil {
		*d = Decision{}
		return l.refused(r.Context(), err)
	}
	return nil
}

// ask asks the functions of a rule about a request, and adds what they say to
// the decision, unless the rule is left out.
func (l *Limiter) ask(rule *rule, r Request, d *Decision) (err error) {
	plan, cost := rule.plan, int64(1)
	if rule.When != nil && !rule.When(r) {
		return nil
	}
	if rule.Cost != nil {
		cost, err = rule.Cost(r)
		if err != nil || cost < 0 {
			return costError(rule.Name, cost, err)
		}
	}
	if rule.LimitsFor != nil {
		plan, err = l.planFor(rule, r)
		if err != nil {
			return &RuleError{Rule: rule.Name, Kind: ErrLimits, Err: err}
		}
	}
	if cost == 0 || len(plan.gauges) == 0 {
		return nil
	}
	key, err := rule.keyOf(r)
	if err != nil || key == "" {
		return rule.missed(err)
	}
	d.add(plan, key, cost)
	return nil
}

// missed says what becomes of a request for which a rule has no key.
func (r *rule) missed(err error) error {
	switch missing := err == nil || errors.Is(err, ErrNoKey); {
	case missing && r.OnMissing == SkipRule:
		return nil
	case missing:
		return &RuleError{Rule: r.Name, Kind: ErrNoKey, Err: err}
	}
	return &RuleError{Rule: r.Name, Kind: ErrKey, Err: err}
}

func costError(rule string, cost int64, err error) error {
	if err == nil {
		err = fmt.Errorf("the cost %d must be at least 0", cost)
	}
	return &RuleError{Rule: rule, Kind: ErrCost, Err: err}
}

// planFor lays out the limits that a rule has for a request.
func (l *Limiter) planFor(rule *rule, r Request) (*plan, error) {
	limits, err := rule.LimitsFor(r)
	if err != nil {
		return nil, err
	}
	return l.planOf(rule, limits)
}

// planOf lays out limits for a rule; none stand for the rule's own.
func (l *Limiter) planOf(rule *rule, limits []Limit) (*plan, error) {
	if len(limits) == 0 {
		return rule.plan, nil
	}
	return rule.plans.get(rule.Name, limits, func() (*plan, error) { return l.newPlan(rule, limits) })
}

func (l *Limiter) newPlan(rule *rule, given []Limit) (*plan, error) {
	var errs []error
	for _, text := range limitFaults(given) {
		errs = append(errs, fault("%s", text))
	}
	names := rule.names.without(rule.plan.limits)
	for _, limit := range given {
		if limit.name != "" && (names.given[limit.name] || names.taken[limit.name]) {
			errs = append(errs, fault("limit name %q is taken by another rule; name them apart", limit.name))
		}
		names.given[limit.name] = true
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	limits := names.assign(rule.given, rule.limits(given))
	if err := l.checkStore(limits); err != nil {
		return nil, err
	}
	return l.memory.plan(rule.Name, limits), nil
}

// Allow decides on a request of cost 1 without HTTP: one key a rule, in the
// order of the rules. Key, Cost, When, Skip and LimitsFor are not asked. Beside
// a denial that no wait can end it returns [ErrCostExceedsLimit].
func (l *Limiter) Allow(ctx context.Context, keys ...string) (d Decision, err error) {
	err = l.allow(ctx, &d, 1, keys)
	return
}

// AllowN is [Limiter.Allow] for a cost in units. A cost of 0 is allowed and
// charges nothing; one below 0 is [ErrCost].
func (l *Limiter) AllowN(ctx context.Context, cost int64, keys ...string) (d Decision, err error) {
	err = l.allow(ctx, &d, cost, keys)
	return
}

func (l *Limiter) allow(ctx context.Context, d *Decision, cost int64, keys []string) error {
	if len(keys) != len(l.rules) || cost < 0 {
		return l.cannotAsk(cost, keys)
	}
	for i, key := range keys {
		rule := l.rules[i]
		if key == "" || len(rule.plan.gauges) == 0 {
			*d = Decision{}
			return rule.cannotCount(key)
		}
		if cost > 0 {
			d.add(rule.plan, key, cost)
		}
	}
	d.limiter = l
	if !l.decideHere(d) {
		if err := l.decide(ctx, d); err != nil {
			return err
		}
	}
	if d.Never {
		return ErrCostExceedsLimit
	}
	return nil
}

func (l *Limiter) cannotAsk(cost int64, keys []string) error {
	if len(keys) != len(l.rules) {
		return misuse("%d keys for %d rules; give one key a rule", len(keys), len(l.rules))
	}
	return costError(l.rules[0].Name, cost, nil)
}

func (r *rule) cannotCount(key string) error {
	if key == "" {
		return &RuleError{Rule: r.Name, Kind: ErrNoKey}
	}
	return misuse("the limits of rule %q depend on a request; set Limits beside LimitsFor", r.Name)
}

// Wait waits until a request of cost 1 is admitted, and then counts it. It
// returns the cause of the context's end when that is done, an error at once
// where its deadline is before the earliest admission, and
// [ErrCostExceedsLimit] where no wait helps. Those who wait for one key are not
// queued: each takes its chance.
func (l *Limiter) Wait(ctx context.Context, keys ...string) (Decision, error) {
	for {
		if ctx.Err() != nil {
			return Decision{}, context.Cause(ctx)
		}
		d, err := l.Allow(ctx, keys...)
		if err != nil || d.Allowed {
			return d, err
		}
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < d.RetryAfter {
			return d, fmt.Errorf("slidegate: admission in %v is after the deadline: %w", d.RetryAfter, context.DeadlineExceeded)
		}
		timer := time.NewTimer(d.RetryAfter)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return d, context.Cause(ctx)
		}
	}
}

// Peek returns how the limits of a rule stand for a key, without counting
// anything: RetryAfter and Denied are those of a request of cost 1. Limits
// given here stand for what LimitsFor would return. The key may be a secret as
// it was before [HashKey]: where nothing is counted under the key itself, Peek
// looks there.
func (l *Limiter) Peek(ctx context.Context, rule, key string, limits ...Limit) ([]LimitState, error) {
	r, err := l.rule(rule)
	if err != nil {
		return nil, err
	}
	laid, err := l.planOf(r, limits)
	if err != nil {
		return nil, &RuleError{Rule: rule, Kind: ErrLimits, Err: err}
	}
	if len(laid.gauges) == 0 {
		return nil, misuse("the limits of rule %q depend on a request; give them to Peek", rule)
	}
	states, err := l.peek(ctx, laid, key)
	if err == nil && laid.untouched(states) {
		states, err = l.peek(ctx, laid, HashKey(key))
	}
	if err != nil {
		return nil, &RuleError{Rule: rule, Kind: ErrStore, Err: err}
	}
	return laid.states(nil, states), nil
}

func (l *Limiter) peek(ctx context.Context, p *plan, key string) ([]State, error) {
	states := make([]State, len(p.limits))
	if l.store == nil {
		l.memory.peek(&ask{plan: p, key: key, cost: 1}, states)
		return states, nil
	}
	_, err := l.store.Peek(ctx, &Ask{Rule: p.rule, Key: key, Cost: 1, Limits: p.limits, States: states})
	return states, err
}

// untouched reports whether the states show no trace of any charge.
func (p *plan) untouched(states []State) bool {
	for i, limit := range p.limits {
		if states[i].Remaining < limit.Burst() {
			return false
		}
	}
	return true
}

// Reset forgets what is counted for a key under a rule, and under the key that
// [HashKey] makes of it.
func (l *Limiter) Reset(ctx context.Context, rule, key string) error {
	if _, err := l.rule(rule); err != nil {
		return err
	}
	var errs []error
	for _, key := range []string{key, HashKey(key)} {
		errs = append(errs, l.memory.Reset(ctx, rule, key))
		if l.store != nil {
			errs = append(errs, l.store.Reset(ctx, rule, key))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return &RuleError{Rule: rule, Kind: ErrStore, Err: err}
	}
	return nil
}

func (l *Limiter) rule(name string) (*rule, error) {
	i := slices.IndexFunc(l.rules, func(r *rule) bool { return r.Name == name })
	if i < 0 {
		return nil, misuse("there is no rule %q", name)
	}
	return l.rules[i], nil
}
