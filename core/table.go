package core

// A table holds the entries of a shard: a hash table with chains, whose entries
// are also in the order of their use. Both run through the entries themselves,
// so that a look-up hashes once, reads little memory that is not needed anyway,
// and an entry is one allocation beside its key.
//
// The table grows a chain at a time (linear hashing: Litwin, VLDB 1980), so that
// no insertion has to move all that is there.
type table struct {
	chains []*entry // their heads
	mask   uint64   // the number of chains, rounded up to a power of two, less 1
	count  int
	turns  uint64 // how often an entry was put at the front
	lag    uint64 // how many turns an entry may have been there before it is again
	ends   entry  // its older is the newest entry, and its newer the oldest
}

// newTable returns a table for about so many entries. An entry that leaves it as
// the oldest, when it has as many, was not used while three quarters of the
// others were, and while half of them were if it has half as many; in tables for
// less than four, while all were.
func newTable(room int) table { return table{chains: make([]*entry, 1), lag: uint64(room / 4)} }

// chain returns where the chain of a hash begins. One that has not been split in
// this round lies where it was in the last.
func (t *table) chain(hash uint64) **entry {
	i := hash & t.mask
	if i >= uint64(len(t.chains)) {
		i &= t.mask >> 1
	}
	return &t.chains[i]
}

// find returns the entry of a subject, or nil.
func (t *table) find(s *subject) *entry {
	e := *t.chain(s.hash)
	for e != nil && (e.hash != s.hash || e.tag != s.tag || e.key != s.key) {
		e = e.chain
	}
	return e
}

// use makes an entry the most recently used, unless it is among the first of
// these anyway, whose order is left as it is: most requests come from keys that
// came not long before, and leave the list alone.
func (t *table) use(e *entry) {
	if t.turns-e.turn > t.lag {
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
	for len(t.chains) < 2*t.count {
		t.split()
	}
	head := t.chain(e.hash)
	e.chain, *head = *head, e
	t.list(e)
}

// split adds a chain, and moves there what it is for from the one that had it.
func (t *table) split() {
	n := uint64(len(t.chains))
	if n > t.mask {
		t.mask = t.mask<<1 | 1
	}
	t.chains = append(t.chains, nil)
	from, to := &t.chains[n&(t.mask>>1)], &t.chains[n]
	for *from != nil {
		e := *from
		if e.hash&t.mask != n {
			from = &e.chain
			continue
		}
		*from, e.chain, *to = e.chain, *to, e
	}
}

func (t *table) remove(e *entry) {
	t.count--
	link := t.chain(e.hash)
	for *link != e {
		link = &(*link).chain
	}
	*link = e.chain
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
	e.turn = t.turn()
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
