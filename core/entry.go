package core

import "slices"

// An entry holds the counters of one subject: of all limits of a rule for one
// key, side by side, so that several limits cost one look-up.
type entry struct {
	plan   *plan
	last   int64  // the instant of the last charge: the key's time never runs backwards
	serial uint64 // tells the entry from an earlier one of the same subject
	words  []int64
	extra  *extra   // what few entries have, or nil
	inline [3]int64 // words of a lone smooth(1), the usual case
}

// extra is the part of an entry that few need.
type extra struct {
	logs      []stampLog  // of exact limits
	inherited []inherited // of all limits, or nil
}

// inherited returns what a limit began with, or nil.
func (e *entry) inherited(g *gauge) *inherited {
	if e == nil || e.extra == nil || e.extra.inherited == nil {
		return nil
	}
	return &e.extra.inherited[g.index]
}

// inherit gives the entry units to begin with.
func (e *entry) inherit(g *gauge, i inherited) {
	if e.extra == nil {
		e.extra = &extra{}
	}
	if e.extra.inherited == nil {
		e.extra.inherited = make([]inherited, len(e.plan.gauges))
	}
	e.extra.inherited[g.index] = i
}

// under returns the entry as it stands under another plan. It is a copy: only a
// charge moves the entry itself over, so that a denial changes nothing.
func (e *entry) under(p *plan, at int64) *entry {
	seen := *e
	p.adopt(&seen, at, seen.serial)
	return &seen
}

// refund takes back a charge from the limits that were charged and are still
// kept for the same counts.
func (e *entry) refund(charged *plan, now int64, r Receipt, cost int64) {
	for i := range e.plan.gauges {
		g := &e.plan.gauges[i]
		j := slices.IndexFunc(charged.limits, g.limit.SameCounts)
		if j >= 0 && (r.Dry || !charged.limits[j].dryRun) {
			g.refund(e, now, r.At, cost)
		}
	}
}
