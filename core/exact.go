package core

// A stampLog is the state of an exact limit: the instants of its charges, in
// order, in a ring that grows by doubling. Charges at one instant share a
// stamp and an emptied stamp is removed, so that there are at most quota of
// them in a window.
type stampLog struct {
	ring        []stamp
	first, size int
	units       int64 // of all stamps
}

type stamp struct{ at, units int64 }

func (s *stampLog) stamp(i int) *stamp {
	return &s.ring[(s.first+i)&(len(s.ring)-1)]
}

// left reports whether a stamp has left the window: a request made at u counts
// for every now in [u, u + W). No stamp is later than at, so that the
// difference is right even where it passes 63 bits.
func (g *gauge) left(u, at int64) bool { return uint64(at-u) >= g.window }

// exactRoom leaves the log as it is, so that a denial changes nothing; the
// stamps that have left go with the next charge.
func (g *gauge) exactRoom(s *stampLog, m moment) int64 {
	room := g.quota - s.units
	for i := 0; i < s.size && g.left(s.stamp(i).at, m.at); i++ {
		room += s.stamp(i).units
	}
	return room
}

func (g *gauge) exactWait(s *stampLog, m moment, cost int64) int64 {
	lacking := cost - (g.quota - s.units)
	for i := 0; i < s.size && lacking > 0; i++ {
		t := s.stamp(i)
		if lacking -= t.units; lacking <= 0 && !g.left(t.at, m.at) {
			return t.at + int64(g.window) - m.at
		}
	}
	return 0
}

func (g *gauge) exactCharge(s *stampLog, m moment, cost int64) {
	for s.size > 0 && g.left(s.stamp(0).at, m.at) {
		s.units -= s.stamp(0).units
		s.first = (s.first + 1) & (len(s.ring) - 1)
		s.size--
	}
	s.units += cost
	if s.size > 0 && s.stamp(s.size-1).at == m.at {
		s.stamp(s.size - 1).units += cost
		return
	}
	if s.size == len(s.ring) {
		s.grow()
	}
	s.size++
	*s.stamp(s.size - 1) = stamp{m.at, cost}
}

func (s *stampLog) grow() {
	ring := make([]stamp, max(4, 2*len(s.ring)))
	for i := range s.size {
		ring[i] = *s.stamp(i)
	}
	s.ring, s.first = ring, 0
}

// exactRefund takes units off the stamp of the charge, which is most likely
// among the newest.
func (g *gauge) exactRefund(s *stampLog, charged int64, cost int64) {
	for i := s.size - 1; i >= 0; i-- {
		t := s.stamp(i)
		if t.at != charged {
			continue
		}
		cost = min(cost, t.units)
		t.units -= cost
		s.units -= cost
		if t.units == 0 {
			s.remove(i)
		}
		return
	}
}

func (s *stampLog) remove(i int) {
	for ; i < s.size-1; i++ {
		*s.stamp(i) = *s.stamp(i + 1)
	}
	s.size--
}
