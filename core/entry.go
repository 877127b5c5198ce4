package core

import (
	"encoding/binary"
	"slices"
)

// An entry holds the counters of one subject: of all limits of a rule for one
// key, side by side, so that several limits cost one look-up. It takes three lines
// of a cache, of which a request under one limit of two counters and a short key,
// such as an IPv4 address, needs only the first.
type entry struct {
	plan   *plan
	last   int64    // the instant of the last charge: the key's time never runs backwards
	turn   uint32   // when it was put at the front in the order of use
	length uint8    // of the key, or 0 of a long one
	bare   bool     // there is nothing extra
	short  [18]byte // the key, if it fits
	inline [9]int64 // the words, if they are no more: three limits of two counters

	hash   uint64
	serial uint64 // tells the entry from an earlier one of the same subject

	extra        *extra           // what few entries have, or nil
	older, newer *entry           // in the order of use
	text         [longestKey]byte // the key, if it does not fit in front, or the tag of a long one
	place        uint32           // its number in the table
}

// name gives an entry its subject. The key is copied here and only here.
func (e *entry) name(s *subject) {
	e.hash, e.length = s.hash, uint8(len(s.key))
	switch {
	case s.key == "":
		binary.NativeEndian.PutUint64(e.text[:], s.tag)
	case len(s.key) <= len(e.short):
		copy(e.short[:], s.key)
	default:
		copy(e.text[:], s.key)
	}
}

// of reports whether the entry is a subject's.
func (e *entry) of(s *subject) bool {
	n := len(s.key)
	switch {
	case int(e.length) != n:
		return false
	case n == 0:
		return e.hash == s.hash && binary.NativeEndian.Uint64(e.text[:]) == s.tag
	case n <= len(e.short):
		return string(e.short[:n]) == s.key && e.plan.number == s.tag
	}
	return string(e.text[:n]) == s.key && e.plan.number == s.tag
}

// setExtra gives the entry what few have, or takes it.
func (e *entry) setExtra(x *extra) { e.extra, e.bare = x, x == nil }

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
	if e.bare || e.extra.inherited == nil {
		return
	}
	for i := range e.extra.inherited {
		if e.extra.inherited[i].at(&e.plan.gauges[i], at) > 0 {
			return
		}
	}
	e.extra.inherited = nil
	if e.extra.ample == nil {
		e.setExtra(nil)
	}
}

// inherited returns what a limit began with, or nil.
func (e *entry) inherited(g *gauge) *inherited {
	if e == nil || e.bare || e.extra.inherited == nil {
		return nil
	}
	return &e.extra.inherited[g.index]
}

// inherit gives the entry units to begin with.
func (e *entry) inherit(g *gauge, i inherited) {
	if e.bare {
		e.setExtra(&extra{})
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
