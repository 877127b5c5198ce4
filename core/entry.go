package core

import (
	"slices"
	"strings"
	"unsafe"
)

// An entry holds the counters of one subject: of all limits of a rule for one
// key, side by side, so that several limits cost one look-up. What a request
// under a limit of two counters and a key of up to 24 bytes reads is its first
// 128 bytes, two lines of a cache; all of it is three.
type entry struct {
	subject
	chain *entry // the next one in the table's chain
	plan  *plan
	last  int64  // the instant of the last charge: the key's time never runs backwards
	extra *extra // what few entries have, or nil

	text   [24]byte // of a key that fits
	turn   uint64   // when it was put at the front in the order of use
	serial uint64   // tells the entry from an earlier one of the same subject
	inline [9]int64 // the words, if they are no more: three limits of two counters

	older, newer *entry // in the order of use
}

// name gives an entry its subject. The key is copied here and only here.
func (e *entry) name(s *subject) {
	e.subject = *s
	if len(s.key) > len(e.text) {
		e.key = strings.Clone(s.key)
		return
	}
	e.key = unsafe.String(&e.text[0], copy(e.text[:], s.key))
}

// extra is the part of an entry that few need. Many may need what is inherited at
// the same time, under a flood, which is why that stands alone.
type extra struct {
	inherited []inherited // of all limits, or nil
	*ample                // or nil
}

// ample is state that does not lie in the entry itself.
type ample struct {
	words []int64
	logs  []stampLog // of exact limits
}

// words returns the state of the limits of an entry.
func (e *entry) words() []int64 {
	if e.plan.words <= len(e.inline) {
		return e.inline[:]
	}
	return e.extra.words
}

// shed drops what is inherited when none of it counts any more.
func (e *entry) shed(at int64) {
	if e.extra == nil || e.extra.inherited == nil {
		return
	}
	for i := range e.extra.inherited {
		if e.extra.inherited[i].at(&e.plan.gauges[i], at) > 0 {
			return
		}
	}
	e.extra.inherited = nil
	if e.extra.ample == nil {
		e.extra = nil
	}
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
