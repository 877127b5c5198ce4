package core

import "slices"

// An ask is one rule's part of a decision as the limiter hands it to the memory
// store: an [Ask] whose limits are laid out.
type ask struct {
	plan    *plan
	key     string
	cost    int64
	receipt Receipt
}

// held is what a decision holds of an ask while the locks are taken. It has no
// pointer to the ask or its states, which can then stay on the stack.
type held struct {
	subject
	shard  int
	states int // index of the first of its states
	entry  *entry
	moving *entry // what is kept, while entry is a copy of it under other limits
	at     int64  // the key's time
	dry    bool   // all dry runs have room

	resident bool // the subject has an entry

	first moment // as the first limit sees the key's time
}

// moment returns the key's time as a limit sees it.
func (h *held) moment(i int, g *gauge) moment {
	if i == 0 {
		return h.first
	}
	return g.moment(h.at)
}

// decide decides on all asks as one step: under the locks of all their shards,
// on one reading of the clock, all limits are assessed, and charged only if no
// limit denies.
func (m *Memory) decide(d *Decision) (p pressure) {
	if d.asked == 1 {
		return m.decideOne(d)
	}
	asks, states := d.asks(), d.states()
	var few [4]held
	hold, first := few[:0], 0
	for i := range asks {
		hold = append(hold, m.hold(&asks[i]))
		hold[i].states = first
		first += len(asks[i].plan.gauges)
	}
	m.lock(hold)
	defer m.unlock(hold) // also if a replaced clock panics
	d.now, d.Allowed = m.clock.read(), true
	for i := range asks {
		s := &m.shards[hold[i].shard]
		hold[i].take(s, s.entries.find(&hold[i].subject), &asks[i], d.now)
		hold[i].secure(s)
		d.Allowed = hold[i].assess(&asks[i], d.now, states) && d.Allowed
	}
	for i := range asks {
		if d.Allowed {
			hold[i].admit(m, &asks[i], &p)
		}
		hold[i].settle(&asks[i], d.now, states)
	}
	m.feel(p)
	if !d.Allowed {
		d.conclude()
	}
	return p
}

// decideOne is decide for the usual case of one rule.
func (m *Memory) decideOne(d *Decision) (p pressure) {
	a, states := &d.asks()[0], d.states()
	of := m.subject(a.plan, a.key)
	s := m.shard(&of)
	s.mu.Lock()
	now := m.clock.monotonic() // in place, as read is too long to be
	if m.clock.now != nil {
		now = m.clock.replaced(&s.mu)
	}
	d.now = now
	e := s.entries.find(&of)
	if e != nil && s.entries.lags(e) {
		s.entries.relist(e)
	}
	if e != nil && e.plainly(a.plan) {
		d.Allowed = e.decidePlainly(a, now, states)
	} else {
		p = m.decideClosely(d, s, &of, e)
	}
	s.mu.Unlock()
	if !d.Allowed {
		d.conclude()
	}
	return p
}

// decideClosely decides under the shard's lock on any entry, or none.
func (m *Memory) decideClosely(d *Decision, s *shard, of *subject, e *entry) (p pressure) {
	a, states := &d.asks()[0], d.states()
	h := held{subject: *of, shard: m.shardIndex(of)}
	h.take(s, e, a, d.now)
	if d.Allowed = h.assess(a, d.now, states); d.Allowed {
		h.admit(m, a, &p)
	}
	h.settle(a, d.now, states)
	m.feel(p)
	return p
}

// hold returns what a decision holds of an ask before any lock is taken.
func (m *Memory) hold(a *ask) held {
	s := m.subject(a.plan, a.key)
	return held{subject: s, shard: m.shardIndex(&s)}
}

// pressure is what a decision had to do for want of room.
type pressure struct {
	evicted int // subjects forgotten alive
	charged int // newcomers that began with units from the sketches
}

func (m *Memory) feel(p pressure) {
	if p != (pressure{}) {
		m.evictions.Add(uint64(p.evicted))
		m.newcomers.Add(uint64(p.charged))
	}
}

// lock takes the shards' locks in ascending order, each once, so that no two
// decisions wait for each other.
func (m *Memory) lock(hold []held) {
	for last, next := -1, 0; ; last = next {
		next = len(m.shards)
		for i := range hold {
			if s := hold[i].shard; s > last && s < next {
				next = s
			}
		}
		if next == len(m.shards) {
			return
		}
		m.shards[next].mu.Lock()
	}
}

func (m *Memory) unlock(hold []held) {
	for i := range hold {
		same := func(h held) bool { return h.shard == hold[i].shard }
		if !slices.ContainsFunc(hold[:i], same) {
			m.shards[hold[i].shard].mu.Unlock()
		}
	}
}

// take has the ask decided on an entry, or, if there is none, on what is remembered,
// and finds the key's time. Of an entry that was last charged under other limits
// it takes a copy under these.
func (h *held) take(s *shard, e *entry, a *ask, now int64) {
	h.entry, h.at = e, now
	if e == nil {
		h.entry = s.recall(a.plan, &h.subject, now)
		return
	}
	h.resident = true
	h.at = max(now, e.last)
	if e.plan != a.plan {
		h.entry, h.moving = e.under(a.plan, h.at), e
	}
}

// secure puts the ask's entry in front of all others, so that it is not the one
// to make room for another entry of the same decision.
func (h *held) secure(s *shard) {
	e := h.entry
	if h.moving != nil {
		e = h.moving
	}
	if h.resident {
		s.entries.relist(e)
	}
}

// assess fills the states with what the limits say before any charge, and
// reports whether none of them denies.
func (h *held) assess(a *ask, now int64, states []State) (admitted bool) {
	admitted, h.dry = true, true
	h.first = a.plan.gauges[0].moment(h.at)
	for i := range a.plan.gauges {
		g := &a.plan.gauges[i]
		s := &states[h.states+i]
		g.assess(s, h.entry, h.moment(i, g), now, a.cost)
		switch {
		case !s.Denied:
		case g.limit.dryRun:
			h.dry = false
		default:
			admitted = false
		}
	}
	return admitted
}

func (g *gauge) assess(s *State, e *entry, m moment, now, cost int64) {
	room := g.room(e, m)
	*s = State{Remaining: max(0, room)}
	if cost <= room {
		return
	}
	s.Denied = true
	if s.Never = cost > g.burst; !s.Never {
		s.RetryAfter = toDuration(g.wait(e, m, cost), m.at-now)
	}
}

// admit prepares the entry for the charge of an admitted ask. Where nothing is to
// be charged, since all limits are dry runs and one of them denies, there is no
// receipt.
func (h *held) admit(m *Memory, a *ask, p *pressure) {
	if !h.dry && !slices.ContainsFunc(a.plan.limits, func(l Limit) bool { return !l.dryRun }) {
		return
	}
	switch s := &m.shards[h.shard]; {
	case !h.resident:
		if h.entry != nil {
			p.charged++
		}
		var forgot bool
		if h.entry, forgot = s.insert(m, a.plan, &h.subject, h.entry, h.at); forgot {
			p.evicted++
		}
	case h.moving != nil:
		h.entry = h.moving
		a.plan.adopt(h.entry, h.at, s.entries.turn())
	}
	h.entry.shed(h.at)
	h.entry.last = h.at
	a.receipt = Receipt{At: h.at, Serial: h.entry.serial, Dry: h.dry}
}

// settle charges an ask that was admitted, and adds to the states when more
// will be free.
func (h *held) settle(a *ask, now int64, states []State) {
	admitted := a.receipt.Serial != 0
	for i := range a.plan.gauges {
		g, s := &a.plan.gauges[i], &states[h.states+i]
		m := h.moment(i, g)
		if admitted && (h.dry || !g.limit.dryRun) {
			g.charge(h.entry, m, a.cost)
			s.Remaining -= a.cost
		}
		switch {
		case s.Remaining >= g.burst:
		case s.RetryAfter > 0 && a.cost == s.Remaining+1:
			s.Next = s.RetryAfter
		default:
			s.Next = toDuration(g.wait(h.entry, m, s.Remaining+1), h.at-now)
		}
	}
}

// peek fills the states of an ask as they stand.
func (m *Memory) peek(a *ask, states []State) (now int64) {
	h := m.hold(a)
	s := &m.shards[h.shard]
	s.mu.Lock()
	defer s.mu.Unlock()
	now = m.clock.read()
	h.at, h.entry = now, s.entries.find(&h.subject)
	if h.entry != nil {
		h.at = max(now, h.entry.last)
		if h.entry.plan != a.plan {
			h.entry = h.entry.under(a.plan, h.at)
		}
	} else {
		h.entry = s.recall(a.plan, &h.subject, now)
	}
	h.assess(a, now, states)
	h.settle(a, now, states)
	return now
}

// refund takes back what asks were charged, as far as their entries are still
// the ones that were charged.
func (m *Memory) refund(asks []ask) {
	for i := range asks {
		a := &asks[i]
		if a.receipt.Serial == 0 {
			continue
		}
		of := m.subject(a.plan, a.key)
		m.shard(&of).refund(m, &of, a)
	}
}

func (s *shard) refund(m *Memory, of *subject, a *ask) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.entries.find(of); e != nil && e.serial == a.receipt.Serial {
		e.refund(a.plan, max(m.clock.read(), e.last), a.receipt, a.cost)
	}
}
