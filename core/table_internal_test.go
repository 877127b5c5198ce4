package core

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
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
		s := someSubject(random, room)
		e := table.find(&s)
		if kept := slices.Contains(used, s); (e != nil) != kept || kept && subjectOf[e] != s {
			t.Fatalf("find(%v) = %v, want it kept: %t", s, e, kept)
		}
		switch {
		case e != nil && random.IntN(8) == 0:
			forget(e)
		case e != nil:
			table.use(e)
			touch(s)
		default:
			if table.count == room {
				oldest := table.oldest()
				if place := slices.Index(used, subjectOf[oldest]); place > room/4 {
					t.Fatalf("the oldest is the %d. of %d in the order of use, want one of the first %d", place+1, room, room/4+1)
				}
				forget(oldest)
			}
			e = table.place()
			*e = *plans[s.tag].newEntry(0)
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

// someSubject draws hashes that are alike or the same, near the least and the
// greatest, so that slots crowd and run over the end, and tag and key must tell
// subjects apart.
func someSubject(random *rand.Rand, room int) subject {
	s := subject{hash: random.Uint64N(uint64(room)) << 3, tag: random.Uint64N(2)}
	switch random.IntN(3) {
	case 0:
		s.hash = -s.hash
	case 1:
		s.hash *= 1 << 40
	}
	lengths := [...]int{0, 1, 18, 19, longestKey} // 0 of a long key
	s.key = strings.Repeat(string(rune('a'+random.IntN(2))), lengths[random.IntN(len(lengths))])
	return s
}

// TestPlacesAreUsedAgain: a table takes no more places than it ever had entries at
// once, and none twice.
func TestPlacesAreUsedAgain(t *testing.T) {
	table := newTable(1000)
	first := map[*entry]bool{}
	for range 100 {
		first[table.place()] = true
	}
	for e := range first {
		table.free(e)
	}
	for range 100 {
		e := table.place()
		if !first[e] || e.older != nil {
			t.Fatalf("place returned %p with the link %p, want one of those that were freed", e, e.older)
		}
		delete(first, e)
	}
	if e := table.place(); first[e] {
		t.Errorf("a place was given twice")
	}
}

// checkSlots checks what look-ups go by: the slots are sorted, none lies before
// its home, none behind a gap that it could lie in, and the last is free.
func checkSlots(t *testing.T, table *table) {
	entries := 0
	for i, s := range table.slots {
		if s.entry == nil {
			continue
		}
		entries++
		home := table.home(s.hash)
		switch {
		case s.hash != s.entry.hash:
			t.Fatalf("slot %d has the hash %x for an entry with %x", i, s.hash, s.entry.hash)
		case home > i:
			t.Fatalf("slot %d lies before its home %d", i, home)
		case i > 0 && table.slots[i-1].entry == nil && home != i:
			t.Fatalf("slot %d lies behind a gap, away from its home %d", i, home)
		case i > 0 && table.slots[i-1].entry != nil && table.slots[i-1].hash > s.hash:
			t.Fatalf("slot %d is out of order", i)
		}
	}
	if last := table.slots[len(table.slots)-1]; entries != table.count || last.entry != nil {
		t.Fatalf("%d slots are taken for %d entries, the last by %v", entries, table.count, last.entry)
	}
	if 8*table.count > 7*table.homes() {
		t.Fatalf("%d homes for %d entries", table.homes(), table.count)
	}
}

// TestTableSpreadsItsSlots: no look-up goes far, however the table grew, and it
// grew no more than it had to.
func TestTableSpreadsItsSlots(t *testing.T) {
	table, random := newTable(1000), rand.New(rand.NewPCG(3, 4))
	for n := range 10_000 {
		table.add(&entry{hash: random.Uint64()})
		if homes := table.homes(); homes > fewestHomes && 7*homes > 16*(n+1) {
			t.Fatalf("%d homes for %d entries", homes, n+1)
		}
	}
	for i, s := range table.slots {
		if away := i - table.home(s.hash); s.entry != nil && away > 40 {
			t.Errorf("slot %d is %d away from its home", i, away)
		}
	}
	checkSlots(t, &table)
}
