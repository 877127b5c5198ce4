package core

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// A Config is what a [Limiter] is made of. Only Rules is required.
type Config struct {
	// Rules are asked in order and decided as one: a request that one of
	// them denies is charged to none.
	Rules []Rule
	// Store keeps the counters; nil means a [Memory] of its own. Limiters that
	// share a store share the counts of rules of one name, as far as their
	// limits mean the same ([Limit.SameCounts]); limits that do not would erase
	// each other's counts, so name such rules apart.
	Store Store
	// Headers chooses the format of the RateLimit header fields.
	Headers HeaderFormat
	// LegacyHeaders adds X-RateLimit-Limit, -Remaining and -Reset, the last in
	// seconds since the Unix epoch.
	LegacyHeaders bool
	// Skip, if set, takes requests out of limiting altogether.
	Skip func(Request) bool
	// Observer, if set, is told each decision and what happens to the store.
	Observer Observer
	// Failure says what to do while the store fails; zero means [Degrade].
	Failure Failure
	// Doctor says what becomes of the doctor's findings about the set-up; the
	// zero Doctor logs each once.
	Doctor Doctor
	// Now replaces the clock of a Memory store, for replay and tests; nil
	// means the monotonic clock. A Memory that has counted keeps its clock.
	Now func() time.Time
}

// New returns a limiter, or an error that joins all faults of the
// configuration; each names the rule, the value and the remedy and wraps
// [ErrConfig].
func New(c Config) (*Limiter, error) {
	l := &Limiter{skip: c.Skip, observer: c.Observer, headers: c.Headers, legacy: c.LegacyHeaders}
	var unknown error
	l.doctor, unknown = newDoctor(c.Doctor)
	err := errors.Join(l.useStore(c), c.validate(), unknown, l.addRules(c))
	if err != nil {
		return nil, err
	}
	if err := l.examineConfig(c); err != nil {
		return nil, err
	}
	l.prepare()
	l.policies = l.policiesOf()
	l.mark = l.newMark()
	return l, nil
}

// MustNew is [New] for configurations written in the program: it panics with
// the text of the error.
func MustNew(c Config) *Limiter {
	l, err := New(c)
	if err != nil {
		panic(err)
	}
	return l
}

func (c *Config) validate() error {
	var errs []error
	if len(c.Rules) == 0 {
		errs = append(errs, fault("no rules: give at least one, such as core.By(keyfuncs.IP, core.PerMinute(100))"))
	}
	if c.Headers > HeadersNone {
		errs = append(errs, fault("Config.Headers %d is not a format; use one of the constants HeadersDraft11 to HeadersNone", c.Headers))
	}
	if c.Failure > FailClosed {
		errs = append(errs, fault("Config.Failure %d must be Degrade, FailOpen or FailClosed", c.Failure))
	}
	return errors.Join(errs...)
}

// useStore keeps the store, and a memory to decide in while that fails. The
// usual store is a memory itself and is then called directly, which lets the
// compiler keep a decision off the heap.
func (l *Limiter) useStore(c Config) error {
	memory, local := c.Store.(*Memory)
	switch {
	case c.Store == nil:
		l.memory = &Memory{}
	case local && memory == nil:
		l.memory = &Memory{}
		return fault("Config.Store is a nil *Memory; use &core.Memory{} or leave it out")
	case local && memory.MaxKeys > 0 && memory.MaxKeys < len(c.Rules):
		l.memory = memory
		return fault("Memory.MaxKeys %d must be at least the number of rules, %d: a request has a key for each", memory.MaxKeys, len(c.Rules))
	case local:
		l.memory = memory
	default:
		l.memory, l.store = &Memory{}, c.Store
	}
	if c.Now == nil {
		return nil
	}
	if l.store != nil {
		return fault("Config.Now is for a Memory store; %T reads time itself", c.Store)
	}
	return l.memory.setClock(c.Now)
}

// addRules makes the rules ready, names what has no name, and lays out the
// limits.
func (l *Limiter) addRules(c Config) error {
	var errs []error
	rules, names := slices.Clone(c.Rules), newNames(c.Rules)
	for i := range rules {
		r := &rules[i]
		if r.Name == "" {
			r.Name = fmt.Sprintf("rule-%d", i+1)
		}
		if r.Failure == 0 {
			r.Failure = min(max(c.Failure, Degrade), FailClosed)
		}
		if texts := r.faults(c.Rules[:i]); texts != nil {
			for _, text := range texts {
				errs = append(errs, fault("rule %q: %s", r.Name, text))
			}
			continue
		}
		limits := names.assign(c.Rules[i].Name, r.limits(r.Limits))
		if err := l.checkStore(limits); err != nil {
			errs = append(errs, fmt.Errorf("slidegate: rule %q: %w", r.Name, err))
			continue
		}
		l.varies = l.varies || r.LimitsFor != nil
		l.rules = append(l.rules, &rule{Rule: *r, given: c.Rules[i].Name, names: names, plan: l.memory.plan(r.Name, limits)})
	}
	return errors.Join(errs...)
}

func (l *Limiter) checkStore(limits []Limit) error {
	if l.store == nil {
		return l.memory.Check(limits)
	}
	return errors.Join(l.memory.Check(limits), l.store.Check(limits))
}

// faults returns a sentence for each thing that is wrong with a rule, given the
// rules before it.
func (r *Rule) faults(before []Rule) []string {
	var texts []string
	wrong := func(format string, args ...any) { texts = append(texts, fmt.Sprintf(format, args...)) }
	if !printable(r.Name) {
		wrong("the name must be printable ASCII")
	}
	for i, other := range before {
		if other.Name == r.Name || other.Name == "" && r.Name == fmt.Sprintf("rule-%d", i+1) {
			wrong("rule %d has the same name; names must be unique", i+1)
		}
	}
	for _, l := range r.Limits {
		if other := ruleWithLimit(before, l.name); other > 0 {
			wrong("limit name %q is taken by rule %d; name them apart", l.name, other)
		}
	}
	if r.Key == nil {
		wrong("it has no key function; set Key, for example to keyfuncs.IP")
	}
	if len(r.Limits) == 0 && r.LimitsFor == nil {
		wrong("it has no limits; set Limits or LimitsFor")
	}
	if r.OnMissing > SkipRule {
		wrong("OnMissing %d must be RefuseRequest or SkipRule", r.OnMissing)
	}
	if r.Failure > FailClosed {
		wrong("Failure %d must be Degrade, FailOpen or FailClosed", r.Failure)
	}
	return append(texts, limitFaults(r.Limits)...)
}

// ruleWithLimit returns which rule, from 1, has a limit that a user gave this
// name, or 0.
func ruleWithLimit(rules []Rule, name string) int {
	named := func(l Limit) bool { return name != "" && l.name == name }
	return 1 + slices.IndexFunc(rules, func(r Rule) bool { return slices.ContainsFunc(r.Limits, named) })
}

func limitFaults(limits []Limit) []string {
	var texts []string
	for i, limit := range limits {
		for _, text := range limit.faults() {
			texts = append(texts, fmt.Sprintf("limit %v: %s", limit, text))
		}
		switch j := slices.IndexFunc(limits[:i], limit.clashes); {
		case j < 0:
		case limits[j] == limit:
			texts = append(texts, fmt.Sprintf("limit %v stands there twice; remove one", limit))
		default:
			texts = append(texts, fmt.Sprintf("limits %v and %v have one name; name them apart", limits[j], limit))
		}
	}
	return texts
}

// clashes reports whether two limits cannot stand in one rule.
func (l Limit) clashes(other Limit) bool {
	return l == other || l.name != "" && l.name == other.name
}

// limits returns the limits as the rule counts them.
func (r *Rule) limits(given []Limit) []Limit {
	limits := slices.Clone(given)
	for i := range limits {
		limits[i].dryRun = limits[i].dryRun || r.DryRun
	}
	return limits
}
