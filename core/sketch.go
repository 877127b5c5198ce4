package core

import (
	"math"
	"math/bits"
)

// A sketch remembers, for limits that live and count alike in one shard, what was charged to subjects
// that had to be forgotten while it still mattered. It holds units, not keys:
// what it says of a subject is never less than what was folded in for it, and
// with little chance more.
//
// Units are kept for two generations, each as long as a charge can stay in view:
// what was folded in during one has left the window when the next one ends.
type sketch struct {
	length   int64 // of a generation in nanoseconds
	number   int64 // of the current generation
	one      bool  // of a fixed limit: nothing outlives the generation it came in
	cell     int64 // the units that one count of a byte stands for, rounded up
	current  layers
	previous layers
}

// layers are a generation: bits for subjects that have a unit, and bytes for
// what they have beyond it. A flood of keys with one request each, the usual
// kind, fills bits only.
type layers struct {
	bits  []uint64
	bytes []uint8
}

const (
	bitHashes  = 4
	byteHashes = 2
	fullByte   = math.MaxUint8
)

// newSketch returns a sketch of about size bytes a generation for a limit.
func newSketch(g *gauge, size int) *sketch {
	half := max(8, size/2/8*8)
	generation := func() layers {
		return layers{bits: make([]uint64, half/8), bytes: make([]uint8, half)}
	}
	return &sketch{
		length: g.life, one: g.kind == Fixed, cell: g.cell,
		number: math.MinInt64, current: generation(), previous: generation(),
	}
}

// cellOf returns the units that one count of a byte stands for, so that a full
// byte stands for the quota or more: a power of two, so that limits of the most
// different quotas need few sketches.
func cellOf(quota int64) int64 {
	return int64(powerOfTwo(uint64(max(1, quota+fullByte-1)) / fullByte))
}

// lifetime returns how long a charge can matter, in nanoseconds. For a bucket it
// is a power of two, for the same reason.
func (g *gauge) lifetime() int64 {
	switch {
	case g.kind == Smooth || g.kind == Strict:
		return int64(g.window + (g.window+uint64(g.slots)-1)/uint64(g.slots))
	case g.kind == Bucket && g.quota > 0:
		return int64(powerOfTwo(mul128(uint64(g.burst), g.window).ceil(uint64(g.quota))))
	}
	return int64(g.window)
}

// powerOfTwo returns the smallest one that is at least n.
func powerOfTwo(n uint64) uint64 {
	if n <= 1 {
		return 1
	}
	return 1 << bits.Len64(n-1)
}

// generation returns the number of the generation of an instant.
func generation(at, length int64) int64 {
	n := at / length
	if n*length > at {
		n--
	}
	return n
}

// advance begins the generation of an instant if it is a later one.
func (s *sketch) advance(at int64) {
	n := generation(at, s.length)
	if n <= s.number {
		return
	}
	s.current, s.previous = s.previous, s.current
	if s.number == math.MinInt64 || n > s.number+1 {
		s.previous.clear()
	}
	s.current.clear()
	s.number = n
}

func (l *layers) clear() {
	clear(l.bits)
	clear(l.bytes)
}

// fold adds units of a forgotten subject, given by its hash.
func (s *sketch) fold(hash uint64, units, at int64) {
	s.advance(at)
	if !s.current.mark(hash) {
		units-- // the marks stand for one unit
	}
	if units > 0 {
		s.current.add(hash, (units-1)/s.cell+1)
	}
}

// recall returns what a subject without an entry starts from.
func (s *sketch) recall(hash uint64, at int64) inherited {
	s.advance(at)
	units, before := s.current.units(hash, s.cell), int64(0)
	if s.one {
		units, before = 0, units
	} else {
		before = s.previous.units(hash, s.cell)
	}
	return inherited{current: units, previous: before, number: s.number}
}

// position returns the i-th place of a hash among size, by double hashing.
func position(hash uint64, i, size int) int {
	h := uint32(hash) + uint32(i)*uint32(hash>>32|1)
	return int(uint64(h) * uint64(size) >> 32)
}

// mark sets the bits of a subject and reports whether they were set already.
func (l *layers) mark(hash uint64) (marked bool) {
	marked = true
	for i := range bitHashes {
		p := position(hash, i, 64*len(l.bits))
		bit := uint64(1) << (p & 63)
		marked = marked && l.bits[p>>6]&bit != 0
		l.bits[p>>6] |= bit
	}
	return marked
}

// add adds to the bytes of a subject. It raises those only that stand lower
// than the sum, which is enough for their least to be never too low.
func (l *layers) add(hash uint64, n int64) {
	sum := uint8(min(fullByte, int64(l.least(hash))+n))
	for i := range byteHashes {
		b := &l.bytes[position(hash, bitHashes+i, len(l.bytes))]
		*b = max(*b, sum)
	}
}

func (l *layers) least(hash uint64) uint8 {
	least := uint8(fullByte)
	for i := range byteHashes {
		least = min(least, l.bytes[position(hash, bitHashes+i, len(l.bytes))])
	}
	return least
}

// units returns what is kept of a subject: no units, or one and those of its
// bytes, or as many as there can be where these are full.
func (l *layers) units(hash uint64, cell int64) int64 {
	for i := range bitHashes {
		p := position(hash, i, 64*len(l.bits))
		if l.bits[p>>6]&(1<<(p&63)) == 0 {
			return 0
		}
	}
	least := l.least(hash)
	if least == fullByte {
		return MaxQuota
	}
	return 1 + int64(least)*cell
}

// inherited are the units that an entry began with, each counted in full until
// its generation is over. They are the sketch's own and are not folded in again
// when the entry is forgotten.
type inherited struct {
	current, previous int64
	number            int64 // of the generation that was the current one
}

// at returns the units that count at an instant.
func (i *inherited) at(g *gauge, at int64) int64 {
	switch {
	case i.current|i.previous == 0 || at >= i.end(g, 2):
		return 0
	case at >= i.end(g, 1):
		return i.current
	}
	return i.current + i.previous
}

// end returns when the generation is over, or the n-th from it on.
func (i *inherited) end(g *gauge, n int64) int64 {
	if end := i.number + n; end <= 0 || g.life <= math.MaxInt64/end {
		return end * g.life
	}
	return math.MaxInt64
}

// wait returns the nanoseconds until cost units fit beside those that are
// inherited: the limit's own wait for both together, if that is over while as
// much is inherited, or else the one for less.
func (i *inherited) wait(g *gauge, e *entry, m moment, cost int64) int64 {
	start := m.at
	for n := int64(1); n <= 2; n++ {
		end := i.end(g, n)
		if start >= end {
			continue
		}
		if units := cost + i.at(g, start); units <= g.burst {
			if wait := max(start-m.at, g.ownWait(e, m, units)); m.at+wait < end {
				return wait
			}
		}
		start = end
	}
	return max(start-m.at, g.ownWait(e, m, cost))
}

// under returns the units as another limit counts them from an instant on: the
// generations of a bucket are longer or shorter if its quota changes, and none
// may end too soon.
func (i *inherited) under(g, old *gauge, at int64) inherited {
	if g.life == old.life {
		return *i
	}
	return inherited{current: i.at(old, at), number: generation(i.end(old, 2)-1, g.life) - 1}
}
