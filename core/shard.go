package core

import (
	"runtime"
	"sync"
)

// A shard is a part of the keys under a lock of its own.
type shard struct {
	mu      sync.Mutex
	entries table
	// sketches of the limits that subjects were forgotten under, by family and,
	// within it, one for each size of cell; nil until the first time.
	sketches [][]*sketch
	_        [40]byte // keeps the locks of two shards out of one cache line
}

const (
	smallestSharded = 4096 // keys; below, one shard
	keysPerShard    = 1024 // at least
	mostShards      = 256

	sketchBytesPerKey = 32
	mostSketchBytes   = 2 << 20
	leastSketch       = 64
)

func (m *Memory) capacity() int {
	if m.MaxKeys <= 0 {
		return DefaultMaxKeys
	}
	return m.MaxKeys
}

// layShards divides the capacity. Each shard is sure of half its share and the
// other halves are a common pool, so that the hash's imbalance evicts nobody
// before the capacity is reached, and the capacity is never passed.
func (m *Memory) layShards() {
	capacity, n := m.capacity(), 1
	if capacity >= smallestSharded {
		for n < mostShards && n < 8*runtime.GOMAXPROCS(0) && 2*n*keysPerShard <= capacity {
			n *= 2
		}
	}
	m.private = max(1, capacity/n/2)
	m.pool.Store(int64(capacity - n*m.private))
	m.shards = make([]shard, n)
	for i := range m.shards {
		m.shards[i].entries = newTable(capacity / n)
	}
}

// shard returns the shard of a subject.
func (m *Memory) shard(s *subject) *shard { return &m.shards[m.shardIndex(s)] }

// shardIndex takes bits of the hash that neither the table nor much of the
// sketches goes by.
func (m *Memory) shardIndex(s *subject) int { return int(s.hash >> 32 & uint64(len(m.shards)-1)) }

// insert keeps an entry for a subject: a new one, or what recall made. If there is
// no room, the least recently used entry leaves, and gives its place in memory;
// forgot reports that its counts still mattered.
func (s *shard) insert(m *Memory, p *plan, of *subject, recalled *entry, at int64) (e *entry, forgot bool) {
	if s.reserve(m) {
		e = s.entries.take()
	} else {
		e = s.entries.oldest()
		s.entries.remove(e)
		forgot = s.forget(m, e, at)
	}
	if recalled != nil {
		recalled.place = e.place
		*e = *recalled
	} else {
		*e = entry{last: at, place: e.place}
		p.lay(e, at)
	}
	e.name(of)
	s.entries.add(e)
	e.serial = s.entries.turns
	return e, forgot
}

// forget folds what still matters of an entry into the sketches, and reports
// whether anything does.
func (s *shard) forget(m *Memory, victim *entry, at int64) (alive bool) {
	at = max(at, victim.last)
	for i := range victim.plan.gauges {
		g := &victim.plan.gauges[i]
		units := g.kept(victim, at)
		if units <= 0 {
			continue
		}
		alive = true
		if sketch := s.sketch(m, g); sketch != nil {
			sketch.fold(victim.hash, units, at)
		}
	}
	return alive
}

// sketch returns the sketch of a limit, making it if need be, or nil where there
// is to be none.
func (s *shard) sketch(m *Memory, g *gauge) *sketch {
	if g.family < 0 || m.SketchBytes < 0 {
		return nil
	}
	for len(s.sketches) <= g.family {
		s.sketches = append(s.sketches, nil)
	}
	for _, sketch := range s.sketches[g.family] {
		if sketch.cell == g.cell {
			return sketch
		}
	}
	made := newSketch(g, m.sketchSize())
	s.sketches[g.family] = append(s.sketches[g.family], made)
	return made
}

// sketchSize takes from the budget what falls to a limit in a shard, or little
// where limits came later than the budget was divided.
func (m *Memory) sketchSize() int {
	budget := m.SketchBytes
	if budget == 0 {
		budget = min(mostSketchBytes, sketchBytesPerKey*m.capacity())
	}
	m.mu.Lock()
	size := budget / len(m.shards) / len(m.families)
	m.mu.Unlock()
	if m.sketched.Add(int64(size)) > int64(budget) {
		size = leastSketch
	}
	return size
}

// recall returns an entry for a subject without one that begins with what the
// sketches say of it, or nil if that is nothing. Only insert keeps it.
func (s *shard) recall(p *plan, of *subject, at int64) *entry {
	if s.sketches == nil {
		return nil
	}
	var e *entry
	for i := range p.gauges {
		g := &p.gauges[i]
		units := s.remembered(g, of.hash, at)
		if units.at(g, at) == 0 {
			continue
		}
		if e == nil {
			e = p.newEntry(at)
		}
		e.inherit(g, units)
	}
	return e
}

// reserve takes room for one more entry.
func (s *shard) reserve(m *Memory) bool {
	if s.entries.count < m.private {
		return true
	}
	if m.pool.Add(-1) >= 0 {
		return true
	}
	m.pool.Add(1)
	return false
}

// remembered adds up what the sketches of a limit's family say of a subject.
func (s *shard) remembered(g *gauge, hash uint64, at int64) (sum inherited) {
	if g.family < 0 || g.family >= len(s.sketches) {
		return inherited{}
	}
	for _, sketch := range s.sketches[g.family] {
		units := sketch.recall(hash, at)
		sum.current += units.current
		sum.previous += units.previous
		sum.number = units.number
	}
	return sum
}

// reset forgets what is counted for a subject. Where sketches may speak of it, an
// untouched entry stays in its place, which does not ask them.
func (s *shard) reset(m *Memory, p *plan, of *subject) {
	now := m.clock.read()
	if e := s.entries.find(of); e != nil {
		s.entries.remove(e)
		s.entries.free(e)
		if s.entries.count >= m.private {
			m.pool.Add(1)
		}
	}
	if s.recall(p, of, now) != nil {
		if _, forgot := s.insert(m, p, of, nil, now); forgot {
			m.evictions.Add(1)
		}
	}
}
