package core

import "time"

// A plain limit is the usual one: it has two counters and denies. Where a rule
// has only such limits, few enough for their words to lie in the entry, and an
// entry is at hand, one decision goes this way. It says what the general way
// says, of which it is the short form.

func (l Limit) plain() bool { return l.algorithm == Smooth && l.Slots() == 1 && !l.dryRun }

// plainly reports whether an entry can be decided on here.
func (e *entry) plainly(p *plan) bool { return e.plan == p && p.plain && e.bare }

// decidePlainly fills the states and, if all limits have room, charges them. The
// first limit decides, once it is known whether the others have room.
func (e *entry) decidePlainly(a *ask, now int64, states []State) (admitted bool) {
	at, p := max(now, e.last), e.plan
	alone := len(p.gauges) == 1
	admitted = alone || e.othersHaveRoom(at, a.cost)
	admitted = p.gauges[0].decidePlainly(&states[0], e.plainWords(0), at, a.cost, admitted)
	if !alone {
		e.decideOthers(states, at, a.cost, admitted)
	}
	if at > now {
		hold(states, at-now)
	}
	if admitted {
		e.last = at
		a.receipt = Receipt{At: at, Serial: e.serial, Dry: true}
	}
	return admitted
}

func (e *entry) othersHaveRoom(at, cost int64) bool {
	for i := 1; i < len(e.plan.gauges); i++ {
		if e.plan.gauges[i].plainRoom(e.plainWords(i), at) < cost {
			return false
		}
	}
	return true
}

func (e *entry) decideOthers(states []State, at, cost int64, admit bool) {
	for i := 1; i < len(e.plan.gauges); i++ {
		e.plan.gauges[i].decidePlainly(&states[i], e.plainWords(i), at, cost, admit)
	}
}

// hold adds what the key's time is ahead of the clock to the waits.
func hold(states []State, ahead int64) {
	for i := range states {
		s := &states[i]
		if s.RetryAfter > 0 {
			s.RetryAfter = toDuration(int64(s.RetryAfter), ahead)
		}
		if s.Next > 0 {
			s.Next = toDuration(int64(s.Next), ahead)
		}
	}
}

func (e *entry) plainWords(i int) *[3]int64 { return (*[3]int64)(e.inline[3*i:]) }

// plainInto returns how far an instant is into the slot of the last charge, in
// which most requests come, or at least a window if that slot is over.
func (g *gauge) plainInto(words *[3]int64, at int64) uint64 {
	return uint64(at - words[0]*int64(g.window))
}

// laterCounts returns the slot of an instant after that of the last charge, how
// far into it that is, and the counts of this slot and the one before.
func (g *gauge) laterCounts(words *[3]int64, at int64) (slot int64, into uint64, current, previous int64) {
	m := momentAt(at, 1, g.window)
	if m.slot == words[0]+1 {
		previous = words[1]
	}
	return m.slot, m.into, 0, previous
}

func (g *gauge) plainRoom(words *[3]int64, at int64) int64 {
	into, current, previous := g.plainInto(words, at), words[1], words[2]
	if into >= g.window {
		_, into, current, previous = g.laterCounts(words, at)
	}
	return g.quota - current - g.weigh(previous, into)
}

// decidePlainly fills the state of a limit and charges it, if it is to admit and
// has room, and reports whether it did.
func (g *gauge) decidePlainly(s *State, words *[3]int64, at, cost int64, admit bool) bool {
	slot, into, current, previous := words[0], g.plainInto(words, at), words[1], words[2]
	if into >= g.window {
		slot, into, current, previous = g.laterCounts(words, at)
	}
	room := g.quota - current
	if previous != 0 {
		room -= g.weigh(previous, into)
	}
	*s = State{}
	if cost > room {
		admit = false
		s.Denied = true
		if s.Never = cost > g.quota; !s.Never {
			s.RetryAfter = g.plainWait(current, previous, into, cost)
		}
	}
	if admit {
		room -= cost
		current += cost
		words[0], words[1], words[2] = slot, current, previous
	}
	switch s.Remaining = max(0, room); {
	case s.RetryAfter > 0 && s.Remaining+1 == cost:
		s.Next = s.RetryAfter
	case s.Remaining < g.quota:
		s.Next = g.plainWait(current, previous, into, s.Remaining+1)
	}
	return admit
}

// plainWait returns how long until so many units fit: in this slot, while the
// previous count leaves, or else in the next, while the current one does.
func (g *gauge) plainWait(current, previous int64, into uint64, units int64) time.Duration {
	free := g.quota - units
	if beside := free - current; beside >= 0 {
		until := g.until(previous, beside)
		return time.Duration(until - min(until, into))
	}
	return time.Duration(g.window - into + g.until(current, free))
}
