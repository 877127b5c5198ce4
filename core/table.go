package core

// A table holds the entries of a shard: a hash table by open addressing, whose
// entries are also in the order of their use. The order runs through the entries
// themselves; the slots hold what a look-up needs to pass over those of other
// subjects, so that it reads next to no entry but its own.
//
// The slots are sorted by tag, with gaps (Amble and Knuth, The Computer Journal
// 1974): a tag in vain is looked for no further than one found, and a larger table
// is filled in one pass that reads no entry.
type table struct {
	slots  []slot // the last is free
	homes  uint64 // how many of them are the first for some tag
	places []*places
	count  int
	turns  uint64 // how often an entry was put at the front
	lag    uint32 // how many turns an entry may have been there before it is again
	taken  uint32 // places that were ever given out
	freed  *entry // one that was given back, and older ones from there
	ends   entry  // its older is the newest entry, and its newer the oldest
}

// A slot is free, or has a part of a hash and the number of the place of its entry.
type slot struct{ tag, place uint32 }

// places hold entries that came one after another side by side. The first place
// of a table has the number 1.
type places [64]entry

const fewestHomes = 8

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
func (t *table) lay(homes uint64) {
	t.slots = make([]slot, homes+1, homes+1+min(homes, 32))
	t.homes = homes
}

// tagOf takes the bits of a hash that slots go by. The least of them choose the
// shard, so that they are the same in all of a table.
func tagOf(hash uint64) uint32 { return uint32(hash >> 32) }

// home returns the first slot that a tag may lie in.
func (t *table) home(tag uint32) int { return int(uint64(tag) * t.homes >> 32) }

// at returns the entry of a slot that is taken.
func (t *table) at(s slot) *entry {
	i := s.place - 1
	return &t.places[i/uint32(len(places{}))][i%uint32(len(places{}))]
}

// find returns the entry of a subject, or nil.
func (t *table) find(s *subject) *entry {
	tag := tagOf(s.hash)
	for i := t.home(tag); ; i++ {
		slot := t.slots[i]
		if slot.place == 0 || slot.tag > tag {
			return nil
		}
		if slot.tag == tag {
			if e := t.at(slot); e.of(s) {
				return e
			}
		}
	}
}

// lags reports whether an entry that is used is to be put at the front. It is not
// if it is among the first of these anyway, whose order is left as it is: most
// requests come from keys that came not long before, and leave the list alone.
// After four billion turns an old entry may pass for one of the first once, which
// does no harm.
func (t *table) lags(e *entry) bool { return uint32(t.turns)-e.turn > t.lag }

// relist makes an entry the most recently used.
func (t *table) relist(e *entry) {
	t.unlist(e)
	t.list(e)
}

// take returns a place for an entry that is to be added.
func (t *table) take() *entry {
	if e := t.freed; e != nil {
		t.freed, e.older = e.older, nil
		return e
	}
	if int(t.taken) == len(t.places)*len(places{}) {
		t.places = append(t.places, &places{})
	}
	t.taken++
	e := t.at(slot{place: t.taken})
	e.place = t.taken
	return e
}

// free takes back the place of an entry that was removed, and lets go of what it
// held.
func (t *table) free(e *entry) {
	*e = entry{place: e.place, older: t.freed}
	t.freed = e
}

// add keeps an entry, as the most recently used.
func (t *table) add(e *entry) {
	t.count++
	if 8*uint64(t.count) > 7*t.homes {
		t.grow()
	}
	tag := tagOf(e.hash)
	i := t.seek(tag)
	end := i
	for t.slots[end].place != 0 {
		end++
	}
	t.reach(end)
	copy(t.slots[i+1:end+1], t.slots[i:end])
	t.slots[i] = slot{tag, e.place}
	t.list(e)
}

// seek returns the first slot for a tag: the first that is free or has no lesser
// one.
func (t *table) seek(tag uint32) int {
	i := t.home(tag)
	for t.slots[i].place != 0 && t.slots[i].tag < tag {
		i++
	}
	return i
}

// reach adds a slot if one is to be taken that is the last.
func (t *table) reach(i int) {
	if i == len(t.slots)-1 {
		t.slots = append(t.slots, slot{})
	}
}

// grow makes half as many homes again.
func (t *table) grow() {
	old, next := t.slots, 0
	t.lay(t.homes + t.homes/2)
	for _, s := range old {
		if s.place == 0 {
			continue
		}
		next = max(next, t.home(s.tag))
		t.reach(next)
		t.slots[next] = s
		next++
	}
}

func (t *table) remove(e *entry) {
	t.count--
	i := t.seek(tagOf(e.hash))
	for t.slots[i].place != e.place {
		i++
	}
	end := i + 1
	for t.slots[end].place != 0 && t.home(t.slots[end].tag) < end {
		end++
	}
	copy(t.slots[i:], t.slots[i+1:end])
	t.slots[end-1] = slot{}
	t.unlist(e)
}

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
