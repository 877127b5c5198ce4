package core

import (
	"hash/maphash"
	"runtime"
	"sync"
	"unsafe"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// A shard is a part of the keys under a lock of its own.
type shard struct {
	mu      sync.Mutex
	entries *simplelru.LRU[string, *entry]
	serial  uint64
	// sketches of the limits that subjects were forgotten under, by family and,
	// within it, one for each size of cell; nil until the first time.
	sketches [][]*sketch
	_        [16]byte // keeps the locks of two shards out of one cache line
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
		// The shard never evicts by itself; a positive size cannot fail.
		m.shards[i].entries, _ = simplelru.NewLRU[string, *entry](capacity, nil)
	}
}

// shard returns the shard of a subject.
func (m *Memory) shard(p *plan, key string) *shard {
	return &m.shards[m.shardIndex(p, key)]
}

func (m *Memory) shardIndex(p *plan, key string) int {
	if len(m.shards) == 1 {
		return 0
	}
	h := maphash.String(m.seed, key) + p.number*0x9e3779b97f4a7c15
	return int((h ^ h>>32) & uint64(len(m.shards)-1))
}

// subjectSize holds a rule's number and a key that is stored as it is.
const subjectSize = 10 + longestKey

// find returns the entry of a subject, or nil, and makes it the most recently
// used. The subject's text lies on the stack and is only lent to the map.
func (s *shard) find(m *Memory, p *plan, key string) *entry {
	var buf [subjectSize]byte
	subject := p.appendSubject(buf[:0], key, &m.long)
	e, _ := s.entries.Get(lend(subject))
	return e
}

// see returns the entry of a subject, or nil, and touches nothing.
func (s *shard) see(m *Memory, p *plan, key string) *entry {
	var buf [subjectSize]byte
	subject := p.appendSubject(buf[:0], key, &m.long)
	e, _ := s.entries.Peek(lend(subject))
	return e
}

// lend returns bytes as a string that is used only as long as they stand.
func lend(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// insert keeps an entry for a subject, whose key is copied here and only here.
// The entry is a new one, or the one that recall made. If there is no room, the
// least recently used entry leaves; forgot reports that its counts still
// mattered.
func (s *shard) insert(m *Memory, p *plan, key string, e *entry, at int64) (kept *entry, forgot bool) {
	if !s.reserve(m) {
		subject, victim, _ := s.entries.RemoveOldest()
		forgot = s.forget(m, subject, victim, at)
	}
	if e == nil {
		e = &entry{last: at}
		p.lay(e, at)
	}
	s.serial++
	e.serial = s.serial
	var buf [subjectSize]byte
	s.entries.Add(string(p.appendSubject(buf[:0], key, &m.long)), e)
	return e, forgot
}

// forget folds what still matters of an entry into the sketches, and reports
// whether anything does.
func (s *shard) forget(m *Memory, subject string, victim *entry, at int64) (alive bool) {
	at = max(at, victim.last)
	for i := range victim.plan.gauges {
		g := &victim.plan.gauges[i]
		units := g.kept(victim, at)
		if units <= 0 {
			continue
		}
		alive = true
		if sketch := s.sketch(m, g); sketch != nil {
			sketch.fold(maphash.String(m.long[0], subject), units, at)
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
func (s *shard) recall(m *Memory, p *plan, key string, at int64) *entry {
	if s.sketches == nil {
		return nil
	}
	var buf [subjectSize]byte
	hash := maphash.Bytes(m.long[0], p.appendSubject(buf[:0], key, &m.long))
	var e *entry
	for i := range p.gauges {
		g := &p.gauges[i]
		units := s.remembered(g, hash, at)
		if units.at(g, at) == 0 {
			continue
		}
		if e == nil {
			e = &entry{last: at}
			p.lay(e, at)
		}
		e.inherit(g, units)
	}
	return e
}

// reserve takes room for one more entry.
func (s *shard) reserve(m *Memory) bool {
	if s.entries.Len() < m.private {
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
func (s *shard) reset(m *Memory, p *plan, key string) {
	now := m.clock.read()
	var buf [subjectSize]byte
	subject := p.appendSubject(buf[:0], key, &m.long)
	if s.entries.Remove(lend(subject)) && s.entries.Len() >= m.private {
		m.pool.Add(1)
	}
	if s.recall(m, p, key, now) != nil {
		if _, forgot := s.insert(m, p, key, nil, now); forgot {
			m.evictions.Add(1)
		}
	}
}
