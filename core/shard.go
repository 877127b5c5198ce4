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
	_       [40]byte // keeps the locks of two shards out of one cache line
}

const (
	smallestSharded = 4096 // keys; below, one shard
	keysPerShard    = 1024 // at least
	mostShards      = 256
)

// layShards divides the capacity. Each shard is sure of half its share and the
// other halves are a common pool, so that the hash's imbalance evicts nobody
// before the capacity is reached, and the capacity is never passed.
func (m *Memory) layShards() {
	capacity := m.MaxKeys
	if capacity <= 0 {
		capacity = DefaultMaxKeys
	}
	n := 1
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

// insert returns a new entry for a subject, whose key is copied here and only
// here. If there is no room, the least recently used entry leaves; forgot
// reports that its counts still mattered.
func (s *shard) insert(m *Memory, p *plan, key string, at int64) (e *entry, forgot bool) {
	if !s.reserve(m) {
		_, victim, _ := s.entries.RemoveOldest()
		forgot = victim.live(at)
	}
	s.serial++
	e = &entry{serial: s.serial, last: at}
	p.lay(e, at)
	var buf [subjectSize]byte
	s.entries.Add(string(p.appendSubject(buf[:0], key, &m.long)), e)
	return e, forgot
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

// remove forgets a subject and gives its room back.
func (s *shard) remove(m *Memory, p *plan, key string) {
	var buf [subjectSize]byte
	subject := p.appendSubject(buf[:0], key, &m.long)
	if s.entries.Remove(lend(subject)) && s.entries.Len() >= m.private {
		m.pool.Add(1)
	}
}
