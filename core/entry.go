package core

import "slices"

// An entry holds the counters of one subject: of all limits of a rule for one
// key, side by side, so that several limits cost one look-up.
type entry struct {
	plan   *plan
	last   int64  // the instant of the last charge: the key's time never runs backwards
	serial uint64 // tells the entry from an earlier one of the same subject
	words  []int64
	logs   *[]stampLog // of exact limits; nil where there is none
	inline [3]int64    // words of a lone smooth(1), the usual case
}

// live reports whether any count still matters at an instant.
func (e *entry) live(at int64) bool {
	at = max(at, e.last)
	for i := range e.plan.gauges {
		if e.plan.gauges[i].live(e, at) {
			return true
		}
	}
	return false
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
