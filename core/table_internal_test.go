package core

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestTable has a table and a plain list of entries do the same: what is in the
// one is in the other, and what is told to be the oldest was used before three
// quarters of the others, or before all of them where there are less than four.
func TestTable(t *testing.T) {
	for _, room := range []int{1, 3, 4, 50, 1000} {
		t.Run(fmt.Sprint(room), func(t *testing.T) { compareTable(t, room, rand.New(rand.NewPCG(1, uint64(room)))) })
	}
}

func compareTable(t *testing.T, room int, random *rand.Rand) {
	table := newTable(room)
	plans := []*plan{newPlan("one", 0, []Limit{PerMinute(1)}), newPlan("two", 1, []Limit{PerMinute(1)})}
	var used []subject // the newest last
	subjectOf := map[*entry]subject{}
	hashes := map[subject]uint64{}
	touch := func(s subject) {
		used = append(slices.DeleteFunc(used, func(o subject) bool { return o == s }), s)
	}
	forget := func(e *entry) {
		table.remove(e)
		table.free(e)
		used = slices.DeleteFunc(used, func(o subject) bool { return o == subjectOf[e] })
		delete(subjectOf, e)
	}
	for range 40 * room {
		s := someSubject(random, room, hashes)
		e := table.find(&s)
		if kept := slices.Contains(used, s); (e != nil) != kept || kept && subjectOf[e] != s {
			t.Fatalf("find(%v) = %v, want it kept: %t", s, e, kept)
		}
		switch {
		case e != nil && random.IntN(8) == 0:
			forget(e)
		case e != nil:
			if table.lags(e) {
				table.relist(e)
			}
			touch(s)
		default:
			if table.count == room {
				oldest := table.oldest()
				if place := slices.Index(used, subjectOf[oldest]); place > room/4 {
					t.Fatalf("the oldest is the %d. of %d in the order of use, want one of the first %d", place+1, room, room/4+1)
				}
				forget(oldest)
			}
			e = table.take()
			plans[s.tag].lay(e, 0)
			e.name(&s)
			table.add(e)
			subjectOf[e] = s
			touch(s)
		}
		if table.count != len(used) {
			t.Fatalf("count %d, want %d", table.count, len(used))
		}
		checkSlots(t, &table)
	}
	for _, s := range used {
		if table.find(&s) == nil {
			t.Errorf("%v is lost", s)
		}
	}
}

// someSubject draws a subject, whose hash is that of before if there was one: many
// are alike or the same, near the least and the greatest, so that slots crowd and
// run over the end, and tag and key must tell subjects apart.
func someSubject(random *rand.Rand, room int, hashes map[subject]uint64) subject {
	lengths := [...]int{0, 4, 18, 19, longestKey} // 0 of a long key, of which the hash tells more
	s := subject{tag: random.Uint64N(2), key: fmt.Sprintf("%036d", random.IntN(room))}
	s.key = s.key[longestKey-lengths[random.IntN(len(lengths))]:]
	hash, known := hashes[s]
	if !known || s.key == "" {
		hash = []uint64{1, 1 << 32, 1 << 50, 1<<64 - 1<<32}[random.IntN(4)] * random.Uint64N(uint64(room))
		hashes[s] = hash
	}
	s.hash = hash
	return s
}

// TestPlacesAreUsedAgain: a table takes no more places than it ever had entries at
// once, and none twice.
func TestPlacesAreUsedAgain(t *testing.T) {
	table := newTable(1000)
	first := map[*entry]bool{}
	for range 100 {
		first[table.take()] = true
	}
	for e := range first {
		table.free(e)
	}
	for range 100 {
		e := table.take()
		if !first[e] || e.older != nil {
			t.Fatalf("place returned %p with the link %p, want one of those that were freed", e, e.older)
		}
		delete(first, e)
	}
	if e := table.take(); first[e] {
		t.Errorf("a place was given twice")
	}
}

// checkSlots checks what look-ups go by: the slots are sorted, none lies before
// its home, none behind a gap that it could lie in, and the last is free.
func checkSlots(t *testing.T, table *table) {
	entries := 0
	for i, s := range table.slots {
		if s.place == 0 {
			continue
		}
		entries++
		home := table.home(s.tag)
		switch e := table.at(s); {
		case s.tag != tagOf(e.hash) || s.place != e.place:
			t.Fatalf("slot %d says %+v of the entry in place %d with the hash %x", i, s, e.place, e.hash)
		case home > i:
			t.Fatalf("slot %d lies before its home %d", i, home)
		case i > 0 && table.slots[i-1].place == 0 && home != i:
			t.Fatalf("slot %d lies behind a gap, away from its home %d", i, home)
		case i > 0 && table.slots[i-1].place != 0 && table.slots[i-1].tag > s.tag:
			t.Fatalf("slot %d is out of order", i)
		}
	}
	if last := table.slots[len(table.slots)-1]; entries != table.count || last.place != 0 {
		t.Fatalf("%d slots are taken for %d entries, the last by %d", entries, table.count, last.place)
	}
	if 8*uint64(table.count) > 7*table.homes {
		t.Fatalf("%d homes for %d entries", table.homes, table.count)
	}
}

// TestTableSpreadsItsSlots: no look-up goes far, however the table grew, and it
// grew no more than it had to.
func TestTableSpreadsItsSlots(t *testing.T) {
	table, random := newTable(1000), rand.New(rand.NewPCG(3, 4))
	for n := range 10_000 {
		e := table.take()
		e.hash = random.Uint64()
		table.add(e)
		if table.homes > fewestHomes && 7*table.homes > 12*uint64(n+1) {
			t.Fatalf("%d homes for %d entries", table.homes, n+1)
		}
	}
	for i, s := range table.slots {
		if away := i - table.home(s.tag); s.place != 0 && away > 60 {
			t.Errorf("slot %d is %d away from its home", i, away)
		}
	}
	checkSlots(t, &table)
}
