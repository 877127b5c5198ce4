package core

import (
	"context"
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"
)

// DefaultMaxKeys is the capacity of a [Memory] that names none.
const DefaultMaxKeys = 65_536

// A Memory is the [Store] in this process. The zero value is ready to use; it
// must not be copied after first use. It starts no goroutine and needs no
// closing: old keys leave when new ones come.
//
// A key, however long, takes about 230 bytes under up to three limits of two
// counters, 8 more for every further slot, and 16 to 32 for each unit in the
// window of an exact limit. Time is read from the monotonic clock, on the wall
// clock's base of when the store was first used; [Config].Now replaces it.
type Memory struct {
	// MaxKeys bounds how many subjects (keys, a rule each) are kept; zero
	// means [DefaultMaxKeys]. When that many are, one of the least recently
	// used ones makes room: none that was used since about half of the
	// others were.
	MaxKeys int
	// SketchBytes bounds the memory of a generation of the sketches, of which
	// there are two. They remember what was charged to subjects that had to
	// make room while it mattered, so that nobody's count is washed out by a
	// flood of keys. Zero means 32 for each key that is kept, and 2 MiB at
	// most; below zero there are none, and such a subject starts afresh.
	// Nothing is allocated before it is needed.
	SketchBytes int

	once  sync.Once
	clock clock

	shards  []shard
	seed    maphash.Seed
	long    maphash.Seed // of the second hash of long keys
	private int          // entries that each shard may hold come what may
	pool    atomic.Int64 // entries that any shard may take beyond that

	mu       sync.Mutex
	numbers  map[string]uint64 // of the rules
	latest   map[string]*plan  // of the rules
	families map[family]int    // their index in shard.sketches
	plans    planCache[*plan]

	sketched  atomic.Int64 // bytes of all sketches, a generation
	claims    Claims
	evictions atomic.Uint64
	newcomers atomic.Uint64
}

// A family is limits whose sketches can speak for each other: those of a rule that
// live and count alike, whatever their names and quotas. Where one rule has
// several such limits, each has a place of its own.
type family struct {
	rule      uint64
	algorithm Algorithm
	life      int64
	place     int
}

// mostFamilies bounds what limits that differ from request to request can take.
const mostFamilies = 256

// MemoryStats are the figures of a [Memory] since it was first used.
type MemoryStats struct {
	// Keys is how many subjects are kept now.
	Keys int
	// LiveEvictions counts the subjects that had to make room while their
	// counts still mattered. If it grows, raise MaxKeys.
	LiveEvictions uint64
	// ChargedNewcomers counts the subjects that began with units from the
	// sketches: their own from before they had to make room or, by chance,
	// those of others.
	ChargedNewcomers uint64
}

// Stats returns the figures. It locks each shard in turn.
func (m *Memory) Stats() MemoryStats {
	m.setUp()
	stats := MemoryStats{LiveEvictions: m.evictions.Load(), ChargedNewcomers: m.newcomers.Load()}
	for i := range m.shards {
		s := &m.shards[i]
		s.mu.Lock()
		stats.Keys += s.entries.count
		s.mu.Unlock()
	}
	return stats
}

// Check accepts every valid limit.
func (m *Memory) Check(limits []Limit) error {
	if m.MaxKeys < 0 {
		return fault("Memory.MaxKeys %d must be at least 1, or 0 for %d", m.MaxKeys, DefaultMaxKeys)
	}
	m.setUp()
	return nil
}

func (m *Memory) setUp() {
	m.once.Do(func() {
		m.clock = newClock(nil)
		m.seed, m.long = maphash.MakeSeed(), maphash.MakeSeed()
		m.numbers, m.latest, m.families = map[string]uint64{}, map[string]*plan{}, map[family]int{}
		m.layShards()
	})
}

// setClock replaces the clock, before the store has counted anything.
func (m *Memory) setClock(now func() time.Time) error {
	if m.Stats().Keys > 0 {
		return fault("Config.Now: the Memory store has counted on another clock; give it to the first limiter that uses the store")
	}
	m.clock = newClock(now)
	return nil
}

// plan returns the limits of a rule laid out for this store.
func (m *Memory) plan(rule string, limits []Limit) *plan {
	p, _ := m.plans.get(rule, limits, func() (*plan, error) {
		m.mu.Lock()
		defer m.mu.Unlock()
		p := newPlan(rule, m.number(rule), limits)
		m.joinFamilies(p)
		m.latest[rule] = p
		return p, nil
	})
	return p
}

// Claim implements what the doctor asks of stores, see [Claims].
func (m *Memory) Claim(rule string, limits []Limit) (before []Limit) {
	return m.claims.Claim(rule, limits)
}

// number returns the small number that stands for a rule in stored keys.
func (m *Memory) number(rule string) uint64 {
	n, ok := m.numbers[rule]
	if !ok {
		n = uint64(len(m.numbers))
		m.numbers[rule] = n
	}
	return n
}

// joinFamilies finds the sketches of a plan's limits. Beyond the bound there are
// none: such limits start afresh when their subject had to make room.
func (m *Memory) joinFamilies(p *plan) {
	places := map[family]int{}
	for i := range p.gauges {
		g := &p.gauges[i]
		f := family{rule: p.number, algorithm: g.kind, life: g.life}
		places[f]++
		f.place = places[f]
		index, known := m.families[f]
		switch {
		case !known && len(m.families) < mostFamilies:
			index = len(m.families)
			m.families[f] = index
		case !known:
			index = -1
		}
		g.family = index
	}
}

// Decide implements [Store]. It never fails: the context is not looked at,
// since nothing is waited for.
func (m *Memory) Decide(_ context.Context, asks []Ask) (time.Time, error) {
	m.setUp()
	d := m.own(asks)
	m.decide(d)
	states := d.states()
	for i := range asks {
		n := copy(asks[i].States, states)
		states = states[n:]
		asks[i].Receipt = d.asks()[i].receipt
	}
	return time.Unix(0, d.now), nil
}

// own returns the asks as the limiter hands them over, without receipts.
func (m *Memory) own(asks []Ask) *Decision {
	d := &Decision{}
	for i := range asks {
		a := &asks[i]
		d.add(m.plan(a.Rule, a.Limits), a.Key, a.Cost)
	}
	return d
}

// Peek implements [Store].
func (m *Memory) Peek(_ context.Context, a *Ask) (time.Time, error) {
	m.setUp()
	p := m.plan(a.Rule, a.Limits)
	now := m.peek(&ask{plan: p, key: a.Key, cost: a.Cost}, a.States)
	return time.Unix(0, now), nil
}

// Reset implements [Store].
func (m *Memory) Reset(_ context.Context, rule, key string) error {
	m.setUp()
	m.mu.Lock()
	p := m.latest[rule]
	m.mu.Unlock()
	if p == nil {
		return nil // nothing was ever counted under this rule
	}
	of := m.subject(p, key)
	s := m.shard(&of)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reset(m, p, &of)
	return nil
}

// Refund implements [Store].
func (m *Memory) Refund(_ context.Context, asks []Ask) error {
	m.setUp()
	own := m.own(asks).asks()
	for i := range asks {
		own[i].receipt, asks[i].Receipt = asks[i].Receipt, Receipt{}
	}
	m.refund(own)
	return nil
}
