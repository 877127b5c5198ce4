package core

// The counts of smooth and strict limits: a window of length W is cut into n
// slots, and n + 1 of them can be in view.
//
//	words[0]       the newest slot that was charged
//	words[1+i]     the count of the slot i before it, i = 0 … n
//
// Seen from a later moment, d slots on, the first 1+n−d counts are still in
// view, and the last of these is the oldest slot, which is leaving.

// slotsRoom returns the units that fit at a moment: quota − estimate, rounded
// down; below zero after the quota was lowered.
func (g *gauge) slotsRoom(words []int64, m moment) int64 {
	d := m.slot - words[0]
	if d > g.slots {
		return g.quota
	}
	last := 1 + g.slots - d
	room := g.quota
	for _, count := range words[1:last] {
		room -= count
	}
	return room - g.weigh(words[last], m.into)
}

// weigh returns what a count in the oldest slot stands for, rounded up: for a
// smooth limit the share of it that the moment has not passed yet.
func (g *gauge) weigh(count int64, into uint64) int64 {
	if count == 0 || g.kind == Strict {
		return count
	}
	return int64(mul128(uint64(count), g.window-into).ceil(g.window))
}

// slotsWait returns the nanoseconds until cost units fit, which is at most the
// quota. It walks the slots to come: in the j-th from now the oldest one in view
// is the count of that index, if any, and those before it are wholly inside.
func (g *gauge) slotsWait(words []int64, m moment, cost int64) int64 {
	counts, oldest := words[1:], g.slots-(m.slot-words[0])
	free := g.quota - cost // less what is wholly inside
	for i := int64(0); i < oldest; i++ {
		free -= counts[i]
	}
	for j := uint64(0); ; j++ {
		var leaving int64
		if oldest >= 0 {
			leaving = counts[oldest]
		}
		if into, ok := g.fits(leaving, free); ok {
			if j == 0 && into <= m.into {
				return 0
			}
			return g.ahead(j, into, m.into)
		}
		oldest--
		if oldest >= 0 {
			free += counts[oldest]
		}
	}
}

// ahead returns the nanoseconds, rounded up, from a position in a slot to one in
// the j-th slot after it.
func (g *gauge) ahead(j, into, from uint64) int64 {
	if g.slots == 1 {
		return int64(j*g.window + into - from)
	}
	way := mul128(j, g.window).add(uint128{lo: into}).minus(uint128{lo: from})
	return int64(way.ceil(uint64(g.slots)))
}

// fits returns how far into a slot its oldest count weighs at most free, and
// whether it does before the slot ends.
func (g *gauge) fits(oldest, free int64) (into uint64, ok bool) {
	if oldest > free && (free < 0 || g.kind == Strict) {
		return 0, false
	}
	return g.until(oldest, free), true
}

// until returns how far into its last slot a count that leaves evenly weighs at
// most free, which is not below zero: until lacking/count of the slot have passed.
func (g *gauge) until(count, free int64) uint64 {
	lacking := count - free
	if lacking <= 0 {
		return 0
	}
	return mul128(uint64(lacking), g.window).ceil(uint64(count))
}

// slotsCharge adds cost to the slot of the moment and moves the others on.
func (g *gauge) slotsCharge(words []int64, m moment, cost int64) {
	counts := words[1:]
	switch d := m.slot - words[0]; {
	case d > g.slots:
		clear(counts)
	case d > 0:
		copy(counts[d:], counts)
		clear(counts[:d])
	}
	words[0] = m.slot
	counts[0] += cost
}

// slotsRefund takes cost out of the slot that was charged, if it is still kept.
func (g *gauge) slotsRefund(words []int64, charged moment, cost int64) {
	age := words[0] - charged.slot
	if age >= 0 && age <= g.slots {
		words[1+age] = max(0, words[1+age]-cost)
	}
}
