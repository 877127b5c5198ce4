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
	var used []subject // the newest last
	touch := func(s subject) {
		used = append(slices.DeleteFunc(used, func(o subject) bool { return o == s }), s)
	}
	for range 40 * room {
		// Hashes that differ in few bits, so that chains are long, and some not
		// at all, so that tag and key must tell them apart.
		s := subject{hash: random.Uint64N(uint64(room)) << 3, tag: random.Uint64N(2), key: fmt.Sprint(random.IntN(2))}
		e := table.find(&s)
		if kept := slices.Contains(used, s); (e != nil) != kept || kept && e.subject != s {
			t.Fatalf("find(%v) = %v, want it kept: %t", s, e, kept)
		}
		switch {
		case e != nil && random.IntN(8) == 0:
			table.remove(e)
			used = slices.DeleteFunc(used, func(o subject) bool { return o == s })
		case e != nil:
			table.use(e)
			touch(s)
		default:
			if table.count == room {
				oldest := table.oldest()
				if place := slices.Index(used, oldest.subject); place > room/4 {
					t.Fatalf("the oldest is the %d. of %d in the order of use, want one of the first %d", place+1, room, room/4+1)
				}
				table.remove(oldest)
				used = slices.DeleteFunc(used, func(o subject) bool { return o == oldest.subject })
			}
			e = &entry{}
			e.name(&s)
			table.add(e)
			touch(s)
		}
		if table.count != len(used) {
			t.Fatalf("count %d, want %d", table.count, len(used))
		}
	}
	for _, s := range used {
		if table.find(&s) == nil {
			t.Errorf("%v is lost", s)
		}
	}
}

// TestTableSharesItsChains: no chain gets long, however the table grew.
func TestTableSharesItsChains(t *testing.T) {
	table, random := newTable(1000), rand.New(rand.NewPCG(3, 4))
	for n := range 1000 {
		e := &entry{subject: subject{hash: random.Uint64()}}
		table.add(e)
		if len(table.chains) > 2*table.count+1 || len(table.chains) < table.count {
			t.Fatalf("%d chains for %d entries", len(table.chains), n+1)
		}
	}
	for i, e := range table.chains {
		length := 0
		for ; e != nil; e = e.chain {
			length++
			if table.chain(e.hash) != &table.chains[i] {
				t.Errorf("an entry lies in chain %d, where it is not looked for", i)
			}
		}
		if length > 8 {
			t.Errorf("chain %d has %d entries", i, length)
		}
	}
}
