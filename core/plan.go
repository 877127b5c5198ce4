package core

import (
	"hash/maphash"
	"slices"
	"sync"
)

// A plan is the limits of a rule laid out for the memory store. It is shared by
// the entries that were last decided under it.
type plan struct {
	rule   string
	number uint64 // of the rule in its store
	limits []Limit
	gauges []gauge
	salt   uint64 // of the rule in hashes
	plain  bool   // see plain.go
	words  int
	logs   int
}

func newPlan(rule string, number uint64, limits []Limit) *plan {
	p := &plan{rule: rule, number: number, salt: number * 0x9e3779b97f4a7c15, limits: slices.Clone(limits)}
	for i, l := range limits {
		g := newGauge(l)
		g.index, g.first = i, p.words
		p.words += g.words
		if g.kind == Exact {
			g.log = p.logs
			p.logs++
		}
		p.gauges = append(p.gauges, g)
	}
	p.plain = p.words <= len(entry{}.inline) && !slices.ContainsFunc(limits, func(l Limit) bool { return !l.plain() })
	return p
}

func (p *plan) newEntry(at int64) *entry {
	e := &entry{last: at}
	p.lay(e, at)
	return e
}

// lay gives the entry state for the plan's limits, all untouched.
func (p *plan) lay(e *entry, at int64) {
	e.plan, e.inline = p, [len(e.inline)]int64{}
	e.setExtra(nil)
	if p.words > len(e.inline) || p.logs > 0 {
		e.setExtra(&extra{ample: &ample{logs: make([]stampLog, p.logs)}})
	}
	if p.words > len(e.inline) {
		e.extra.words = make([]int64, p.words)
	}
	for i := range p.gauges {
		g := &p.gauges[i]
		g.begin(e, g.moment(at))
	}
}

// adopt moves an entry over to this plan. Counts are kept where they mean the
// same. Where a limit has no counterpart and starts empty, or a bucket pays off
// at another pace from now on, receipts from before are void.
func (p *plan) adopt(e *entry, at int64, serial uint64) {
	old := *e
	p.lay(e, at)
	void := false
	for i := range p.gauges {
		g := &p.gauges[i]
		j := slices.IndexFunc(old.plan.limits, g.limit.SameCounts)
		if j < 0 {
			void = true
			continue
		}
		if i := old.inherited(&old.plan.gauges[j]); i != nil {
			e.inherit(g, i.under(g, &old.plan.gauges[j], at))
		}
		switch from := &old.plan.gauges[j]; g.kind {
		case Exact:
			*g.stamps(e) = *from.stamps(&old)
		case Bucket:
			g.adoptDebt(g.of(e), from, from.of(&old), old.last)
			void = void || g.quota != from.quota
		default:
			copy(g.of(e), from.of(&old))
		}
	}
	if void {
		e.serial = serial
	}
}

// planCache finds what was made from limits that a caller hands over again and
// again: LimitsFor returns a plan a request, a store is given limits a call.
type planCache[T any] struct {
	mu    sync.RWMutex
	seed  maphash.Seed
	plans map[uint64][]cachedPlan[T]
	count int
}

type cachedPlan[T any] struct {
	rule   string
	limits []Limit
	made   T
}

// cachedPlans bounds a cache; a program with more plans than that in use makes
// some of them anew, which loses no count.
const cachedPlans = 4096

// get returns what was made for the rule and limits, making it if need be.
func (c *planCache[T]) get(rule string, limits []Limit, make func() (T, error)) (T, error) {
	c.mu.RLock()
	made, ok := c.find(rule, limits)
	c.mu.RUnlock()
	if ok {
		return made, nil
	}
	made, err := make()
	if err != nil {
		return made, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if other, ok := c.find(rule, limits); ok {
		return other, nil
	}
	if c.plans == nil || c.count >= cachedPlans {
		c.plans, c.count, c.seed = map[uint64][]cachedPlan[T]{}, 0, maphash.MakeSeed()
	}
	hash := c.hash(rule, limits)
	c.plans[hash] = append(c.plans[hash], cachedPlan[T]{rule, slices.Clone(limits), made})
	c.count++
	return made, nil
}

func (c *planCache[T]) find(rule string, limits []Limit) (made T, ok bool) {
	if c.plans == nil {
		return made, false
	}
	for _, p := range c.plans[c.hash(rule, limits)] {
		if p.rule == rule && slices.Equal(p.limits, limits) {
			return p.made, true
		}
	}
	return made, false
}

func (c *planCache[T]) hash(rule string, limits []Limit) uint64 {
	h := maphash.String(c.seed, rule)
	for _, l := range limits {
		h = h*31 + maphash.Comparable(c.seed, l)
	}
	return h
}
