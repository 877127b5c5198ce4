package core

// The count of a fixed limit: words[0] is the window that was charged last,
// words[1] its count. Windows begin at multiples of W since the Unix epoch.

func (g *gauge) fixedRoom(words []int64, m moment) int64 {
	if words[0] != m.slot {
		return g.quota
	}
	return g.quota - words[1]
}

func (g *gauge) fixedWait(words []int64, m moment, cost int64) int64 {
	if cost <= g.fixedRoom(words, m) {
		return 0
	}
	return int64(g.window - m.into)
}

func (g *gauge) fixedCharge(words []int64, m moment, cost int64) {
	if words[0] != m.slot {
		words[0], words[1] = m.slot, 0
	}
	words[1] += cost
}

func (g *gauge) fixedRefund(words []int64, charged moment, cost int64) {
	if words[0] == charged.slot {
		words[1] = max(0, words[1]-cost)
	}
}
