package core

import "math/bits"

// A table holds the entries of a shard: a hash table by open addressing, whose
// entries are also in the order of their use. The order runs through the entries
// themselves; the slots hold all that a look-up needs to pass over those of other
// subjects, so that it reads no entry but its own.
//
// The slots are sorted by hash, with gaps (Amble and Knuth, The Computer Journal
// 1974): a hash in vain is looked for no further than one found, and a table twice
// as large is filled in one pass that reads no entry.
type table struct {
	slots []slot // the last is free
	shift uint   // takes a hash to its home, the first slot where it may lie
	count int
	turns uint64 // how often an entry was put at the front
	lag   uint32 // how many turns an entry may have been there before it is again
	ends  entry  // its older is the newest entry, and its newer the oldest
	fresh []entry
	freed *entry // and older ones from there
}

// A slot is free, or has an entry and its hash.
type slot struct {
	hash  uint64
	entry *entry
}

const (
	fewestHomes   = 8
	entriesAtOnce = 42 // 8 KiB
)

// newTable returns a table for about so many entries. An entry that leaves it as
// the oldest, when it has as many, was not used while three quarters of the
// others were, and while half of them were if it has half as many; in tables for
// less than four, while all were.
func newTable(room int) table {
	t := table{lag: uint32(min(room/4, 1<<30))}
	t.lay(fewestHomes)
	return t
}

// lay makes new slots, of which so many are homes.
func (t *table) lay(homes int) {
	t.slots = make([]slot, homes+1, homes+1+min(homes, 32))
	t.shift = 64 - uint(bits.TrailingZeros(uint(homes)))
}

func (t *table) homes() int { return 1 << (64 - t.shift) }

func (t *table) home(hash uint64) int { return int(hash >> (t.shift & 63)) }

// seek returns the first slot for a hash: the first that is free or has no lesser
// one.
func (t *table) seek(hash uint64) int {
	i := t.home(hash)
	for t.slots[i].entry != nil && t.slots[i].hash < hash {
		i++
	}
	return i
}

// find returns the entry of a subject, or nil.
func (t *table) find(s *subject) *entry {
	for i := t.home(s.hash); ; i++ {
		switch slot := &t.slots[i]; {
		case slot.entry == nil || slot.hash > s.hash:
			return nil
		case slot.hash == s.hash && slot.entry.of(s):
			return slot.entry
		}
	}
}

// use makes an entry the most recently used, unless it is among the first of
// these anyway, whose order is left as it is: most requests come from keys that
// came not long before, and leave the list alone. After four billion turns an old
// entry may pass for one of the first once, which does no harm.
func (t *table) use(e *entry) {
	if uint32(t.turns)-e.turn > t.lag {
		t.relist(e)
	}
}

// relist makes an entry the most recently used.
func (t *table) relist(e *entry) {
	t.unlist(e)
	t.list(e)
}

// add keeps an entry, as the most recently used.
func (t *table) add(e *entry) {
	t.count++
	if 8*t.count > 7*t.homes() {
		t.grow()
	}
	t.put(t.seek(e.hash), slot{e.hash, e})
	t.list(e)
}

// put takes a slot, and moves those from it on by one, as far as there are any.
func (t *table) put(i int, s slot) {
	end := i
	for t.slots[end].entry != nil {
		end++
	}
	t.reach(end)
	copy(t.slots[i+1:end+1], t.slots[i:end])
	t.slots[i] = s
}

// reach adds a slot if one is to be taken that is the last.
func (t *table) reach(i int) {
	if i == len(t.slots)-1 {
		t.slots = append(t.slots, slot{})
	}
}

// grow doubles the homes.
func (t *table) grow() {
	old, next := t.slots, 0
	t.lay(2 * t.homes())
	for _, s := range old {
		if s.entry == nil {
			continue
		}
		next = max(next, t.home(s.hash))
		t.reach(next)
		t.slots[next] = s
		next++
	}
}

func (t *table) remove(e *entry) {
	t.count--
	i := t.seek(e.hash)
	for t.slots[i].entry != e {
		i++
	}
	end := i + 1
	for t.slots[end].entry != nil && t.home(t.slots[end].hash) < end {
		end++
	}
	copy(t.slots[i:], t.slots[i+1:end])
	t.slots[end-1] = slot{}
	t.unlist(e)
}

// place returns room for an entry that is to be added. Those of one table lie side
// by side, in the order in which a flood comes and goes.
func (t *table) place() *entry {
	if e := t.freed; e != nil {
		t.freed, e.older = e.older, nil
		return e
	}
	if len(t.fresh) == 0 {
		t.fresh = make([]entry, min(entriesAtOnce, max(1, 4*int(t.lag))))
	}
	e := &t.fresh[0]
	t.fresh = t.fresh[1:]
	return e
}

// free takes back the room of an entry that was removed.
func (t *table) free(e *entry) { e.older, t.freed = t.freed, e }

// oldest returns the least recently used entry. The table must not be empty.
func (t *table) oldest() *entry { return t.ends.newer }

// list puts an entry at the front of the order of use.
func (t *table) list(e *entry) {
	if t.ends.older == nil {
		t.ends.older, t.ends.newer = &t.ends, &t.ends
	}
	e.older, e.newer = t.ends.older, &t.ends
	e.older.newer, e.newer.older = e, e
	e.turn = uint32(t.turn())
}

func (t *table) unlist(e *entry) {
	e.older.newer, e.newer.older = e.newer, e.older
	e.older, e.newer = nil, nil
}

// turn numbers what happens to the entries.
func (t *table) turn() uint64 {
	t.turns++
	return t.turns
}
