package core

// admitLone admits the usual request in one pass: there is one limit, of two
// counters, its entry is at hand, and there is room. It reports false, and
// changes nothing, where any of that is not so; the general way decides then.
func (h *held) admitLone(a *ask, now int64, states []State) bool {
	g, e := a.plan.lone, h.entry
	if g == nil || !h.resident || h.moving != nil || e.extra != nil {
		return false
	}
	m := g.moment(h.at)
	current, previous := e.words[1], e.words[2]
	switch m.slot - e.words[0] {
	case 0:
	case 1:
		current, previous = 0, current
	default:
		current, previous = 0, 0
	}
	room := g.quota - current - g.weigh(previous, m.into) - a.cost
	if room < 0 {
		return false
	}
	current += a.cost
	e.words[0], e.words[1], e.words[2] = m.slot, current, previous
	e.last = h.at
	a.receipt = Receipt{At: h.at, Serial: e.serial, Dry: true}
	states[0] = State{Remaining: room, Next: toDuration(g.loneNext(current, previous, room, m), h.at-now)}
	return true
}

// loneNext returns the nanoseconds until more than room units fit: in this slot,
// while the previous count leaves, or else in the next, while the current one does.
func (g *gauge) loneNext(current, previous, room int64, m moment) int64 {
	if room == g.quota {
		return 0
	}
	free := g.quota - room - 1
	if into, ok := g.fits(previous, free-current); ok {
		return int64(into - min(into, m.into))
	}
	into, _ := g.fits(current, free)
	return int64(g.window - m.into + into)
}
