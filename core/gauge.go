package core

// A gauge is a limit made ready to be counted: its numbers, and where its state
// lies in an [entry]. Every algorithm answers the same five questions about a
// moment: how much room is there, how long until there is enough, charge this,
// refund that, how much still matters. A request is admitted when its cost is at
// most the room, which is the quota less the estimate, rounded down.
type gauge struct {
	limit  Limit
	kind   Algorithm
	quota  int64
	burst  int64  // the room of an untouched key
	slots  int64  // of a window, at least 1
	window uint64 // nanoseconds
	life   int64  // of a charge, see lifetime
	cell   int64  // see cellOf

	label, terms string // the name and the numbers as the list form of headers has them

	index        int // in its plan
	first, words int // the part of entry.words that is this limit's
	log          int // the index in entry.extra.logs, of an exact limit
	family       int // the index in shard.sketches, or -1
}

func newGauge(l Limit) gauge {
	g := gauge{
		limit: l, kind: l.algorithm, quota: l.quota, burst: l.Burst(),
		slots: int64(max(1, l.Slots())), window: uint64(l.window),
	}
	g.life, g.cell = g.lifetime(), cellOf(g.quota)
	g.label, g.terms = string(appendQuoted(nil, l.name)), g.listTerms()
	switch g.kind {
	case Smooth, Strict:
		g.words = 2 + l.Slots()
	case Fixed, Bucket:
		g.words = 2
	}
	return g
}

// moment returns an instant as this limit sees it.
func (g *gauge) moment(at int64) moment {
	switch g.kind {
	case Exact, Bucket:
		return moment{at: at}
	}
	return momentAt(at, g.slots, g.window)
}

// room returns the units that fit, possibly below zero.
func (g *gauge) room(e *entry, m moment) int64 {
	room := g.ownRoom(e, m)
	if i := e.inherited(g); i != nil {
		room -= i.at(g, m.at)
	}
	return room
}

// wait returns the nanoseconds until cost units fit. The cost is at most the
// burst.
func (g *gauge) wait(e *entry, m moment, cost int64) int64 {
	if i := e.inherited(g); i != nil {
		return i.wait(g, e, m, cost)
	}
	return g.ownWait(e, m, cost)
}

// ownRoom is the room beside what was charged to the entry itself.
func (g *gauge) ownRoom(e *entry, m moment) int64 {
	switch {
	case e == nil || g.quota == 0:
		return g.burst
	case g.kind == Fixed:
		return g.fixedRoom(g.of(e), m)
	case g.kind == Bucket:
		return g.bucketRoom(g.of(e), m)
	case g.kind == Exact:
		return g.exactRoom(g.stamps(e), m)
	}
	return g.slotsRoom(g.of(e), m)
}

// ownWait is the wait beside what was charged to the entry itself.
func (g *gauge) ownWait(e *entry, m moment, cost int64) int64 {
	switch {
	case e == nil || g.quota == 0:
		return 0
	case g.kind == Fixed:
		return g.fixedWait(g.of(e), m, cost)
	case g.kind == Bucket:
		return g.bucketWait(g.of(e), m, cost)
	case g.kind == Exact:
		return g.exactWait(g.stamps(e), m, cost)
	}
	return g.slotsWait(g.of(e), m, cost)
}

// charge adds cost units, for which there is room.
func (g *gauge) charge(e *entry, m moment, cost int64) {
	switch g.kind {
	case Fixed:
		g.fixedCharge(g.of(e), m, cost)
	case Bucket:
		g.bucketCharge(g.of(e), m, cost)
	case Exact:
		g.exactCharge(g.stamps(e), m, cost)
	default:
		g.slotsCharge(g.of(e), m, cost)
	}
}

// refund takes back at now what was charged at another instant.
func (g *gauge) refund(e *entry, now, charged int64, cost int64) {
	switch g.kind {
	case Fixed:
		g.fixedRefund(g.of(e), g.moment(charged), cost)
	case Bucket:
		g.bucketRefund(g.of(e), now, charged, cost)
	case Exact:
		g.exactRefund(g.stamps(e), charged, cost)
	default:
		g.slotsRefund(g.of(e), g.moment(charged), cost)
	}
}

// kept returns the units of the entry's own that still matter at the instant.
func (g *gauge) kept(e *entry, at int64) int64 {
	return g.burst - g.ownRoom(e, g.moment(at))
}

// of returns the limit's own words.
func (g *gauge) of(e *entry) []int64 { return e.words()[g.first : g.first+g.words] }

// stamps returns the limit's own log.
func (g *gauge) stamps(e *entry) *stampLog { return &e.extra.logs[g.log] }

// begin prepares the state of a limit that nothing was charged to.
func (g *gauge) begin(e *entry, m moment) {
	switch g.kind {
	case Bucket:
		g.owe(g.of(e), m.at, uint128{})
	case Smooth, Strict, Fixed:
		g.of(e)[0] = m.slot
	}
}
