package core

import (
	"context"
	"slices"
)

// warmth is what a limiter needs to keep its memory warm while a store of the
// user's decides: rules that say [Degrade] then go on from what this process
// has admitted, and not from nothing.
type warmth struct {
	needed    bool // some rule says Degrade
	instances int  // that share the quotas
	parts     planCache[*plan]
}

// prepare looks at what the store says of itself, and has its changes of state
// observed.
func (l *Limiter) prepare() {
	if l.store == nil {
		return
	}
	l.warmth.needed = slices.ContainsFunc(l.rules, func(r *rule) bool { return r.Failure == Degrade })
	shared, ok := l.store.(SharedStore)
	if !ok {
		return
	}
	l.warmth.instances = shared.Instances()
	if l.observer != nil {
		shared.Watch(func(err error) {
			e := Event{Kind: StoreUp}
			if err != nil {
				e = Event{Kind: StoreDown, Err: err}
			}
			l.observer(context.Background(), e)
		})
	}
}

// part returns the plan with this process's part of each quota.
func (l *Limiter) part(p *plan) *plan {
	if l.warmth.instances < 2 {
		return p
	}
	part, _ := l.warmth.parts.get(p.rule, p.limits, func() (*plan, error) {
		limits := slices.Clone(p.limits)
		for i := range limits {
			limits[i] = limits[i].part(int64(l.warmth.instances))
		}
		return l.memory.plan(p.rule, limits), nil
	})
	return part
}

// part returns a limit with one of so many parts of its quota, and of a bucket's
// burst, rounded up.
func (l Limit) part(of int64) Limit {
	l.quota = (l.quota + of - 1) / of
	if l.algorithm == Bucket {
		l.grain = (l.grain + of - 1) / of
	}
	return l
}

// keepWarm charges in this process what the store has admitted.
func (l *Limiter) keepWarm(d *Decision) {
	if !l.warmth.needed {
		return
	}
	for _, a := range d.asks() {
		if a.receipt == (Receipt{}) {
			continue // denied
		}
		if rule, _ := l.rule(a.plan.rule); rule.Failure == Degrade {
			own := ask{plan: l.part(a.plan), key: a.key, cost: a.cost}
			l.memory.follow(&own, a.receipt.Dry)
			more := d.needMore()
			more.warm = append(more.warm, own)
		}
	}
}

// follow charges an ask, with its dry runs or without, whether there is room or
// not.
func (m *Memory) follow(a *ask, dry bool) {
	var p pressure
	h := m.hold(a)
	s := &m.shards[h.shard]
	s.mu.Lock()
	defer s.mu.Unlock()
	h.take(s, s.entries.find(&h.subject), a, m.clock.read())
	h.secure(s)
	h.dry = dry
	h.admit(m, a, &p)
	for i := range a.plan.gauges {
		if g := &a.plan.gauges[i]; a.receipt.Serial != 0 && (dry || !g.limit.dryRun) {
			g.charge(h.entry, g.moment(h.at), a.cost)
			g.curb(h.entry, h.at)
		}
	}
	m.feel(p)
}

// curb cuts what a bucket owes to its burst. It pays off at this process's part
// of the pace, and would else fall behind for good where one process gets most
// of the requests.
func (g *gauge) curb(e *entry, at int64) {
	if g.kind != Bucket || g.quota == 0 {
		return
	}
	most := mul128(uint64(g.burst), g.window)
	if words := g.of(e); most.less(g.owed(words, at)) {
		g.owe(words, at, most)
	}
}
