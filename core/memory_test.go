package core_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/slidegate/slidegate/core"
)

// newMemoryGate returns a limiter of 5 a minute on a Memory of a capacity.
func newMemoryGate(t *testing.T, maxKeys int) (gate, *core.Memory) {
	t.Helper()
	store := &core.Memory{MaxKeys: maxKeys}
	g := newGateOf(t, core.Config{Store: store, Rules: []core.Rule{{Name: "rule", Key: byNobody, Limits: []core.Limit{core.PerMinute(5)}}}})
	return g, store
}

func TestMemoryNeverKeepsMoreThanMaxKeys(t *testing.T) {
	for _, maxKeys := range []int{1, 2, 3, 100, 4095, 4096, 10_000, 16_384} {
		g, store := newMemoryGate(t, maxKeys)
		for i := range 3 * maxKeys {
			g.take(1, fmt.Sprint("key ", i))
			if i%(maxKeys/3+1) == 0 {
				if got := store.Stats().Keys; got > maxKeys {
					t.Fatalf("MaxKeys %d: %d keys are kept after %d", maxKeys, got, i+1)
				}
			}
		}
		if got := store.Stats(); got.Keys != maxKeys || got.LiveEvictions != uint64(2*maxKeys) {
			t.Errorf("MaxKeys %d: after three times as many: %+v, want all of the capacity used, and the rest evicted alive", maxKeys, got)
		}
	}
}

// TestMemoryEvictsNobodyBeforeItIsFull: the keys fall unevenly on the shards,
// which must make up for it among themselves.
func TestMemoryEvictsNobodyBeforeItIsFull(t *testing.T) {
	for _, maxKeys := range []int{0, 4096, 10_000, 100_000} {
		g, store := newMemoryGate(t, maxKeys)
		if maxKeys == 0 {
			maxKeys = core.DefaultMaxKeys
		}
		for i := range maxKeys {
			g.take(1, fmt.Sprintf("198.51.%d.%d", i/256, i%256))
		}
		if got := store.Stats(); got.Keys != maxKeys || got.LiveEvictions != 0 || got.ChargedNewcomers != 0 {
			t.Errorf("MaxKeys %d: after as many keys: %+v, want all kept", maxKeys, got)
		}
		g.take(1, "one more")
		if got := store.Stats(); got.Keys != maxKeys || got.LiveEvictions != 1 {
			t.Errorf("MaxKeys %d: after one more: %+v, want one evicted alive", maxKeys, got)
		}
	}
}

func TestMemoryEvictsTheLeastRecentlyUsed(t *testing.T) {
	g, store := newMemoryGate(t, 3)
	for _, key := range []string{"a", "b", "c", "a", "d", "a", "e"} {
		g.take(1, key)
	}
	if got := g.remaining("a"); got != 2 {
		t.Errorf("a, used again and again, has %d remaining, want 2: it stayed", got)
	}
	if got := store.Stats().LiveEvictions; got != 2 {
		t.Errorf("%d live evictions, want those of b and c", got)
	}
}

// TestADecisionEvictsNoneOfItsOwnKeys: in a store that holds just the keys of one
// request, the new ones of it make room for each other, never for one that was
// found there, whose charge would be lost.
func TestADecisionEvictsNoneOfItsOwnKeys(t *testing.T) {
	for _, count := range []int{2, 4, 8, 12} {
		random := rand.New(rand.NewPCG(uint64(count), 1))
		rules := make([]core.Rule, count)
		for i := range rules {
			rules[i] = core.Rule{Name: fmt.Sprint("r", i), Key: byNobody, Limits: []core.Limit{core.PerHour(20)}}
		}
		g := newGateOf(t, core.Config{Store: &core.Memory{MaxKeys: count}, Rules: rules})
		for range 2000 {
			keys := make([]string, count)
			for i := range keys {
				keys[i] = fmt.Sprint(random.IntN(3))
			}
			d := g.take(1, keys...)
			if !d.Allowed {
				continue
			}
			for i, s := range d.States() {
				if states, err := g.Peek(context.Background(), s.Rule, keys[i]); err != nil || states[0].Remaining != s.Remaining {
					t.Fatalf("%d rules: %s has %d remaining for %s, and %d after the decision, %v", count, s.Rule, s.Remaining, keys[i], states[0].Remaining, err)
				}
			}
			if random.IntN(100) == 0 {
				g.advance(2 * time.Hour)
			}
		}
	}
}

func TestSpentKeysLeaveSilently(t *testing.T) {
	g, store := newMemoryGate(t, 100)
	for i := range 1000 {
		g.take(1, fmt.Sprint(i))
		if i%100 == 99 {
			g.advance(2 * time.Minute)
		}
	}
	if got := store.Stats(); got.Keys != 100 || got.LiveEvictions != 0 {
		t.Errorf("%+v, want no live eviction: nothing was counted still for those that left", got)
	}
}

func TestResetMakesRoom(t *testing.T) {
	for _, maxKeys := range []int{3, 10_000} {
		g, store := newMemoryGate(t, maxKeys)
		for i := range maxKeys {
			g.take(1, fmt.Sprint(i))
		}
		for i := range maxKeys {
			if err := g.Reset(context.Background(), "rule", fmt.Sprint(i)); err != nil {
				t.Fatal(err)
			}
		}
		if got := store.Stats().Keys; got != 0 {
			t.Errorf("MaxKeys %d: %d keys are kept after a reset of each", maxKeys, got)
		}
		for i := range maxKeys {
			g.take(1, fmt.Sprint("new ", i))
		}
		if got := store.Stats(); got.Keys != maxKeys || got.LiveEvictions != 0 {
			t.Errorf("MaxKeys %d: then as many others: %+v, want all kept", maxKeys, got)
		}
	}
}

func TestDenialsAndPeeksKeepNothing(t *testing.T) {
	store := &core.Memory{}
	g := newGateOf(t, core.Config{Store: store, Rules: []core.Rule{
		{Name: "rule", Key: byNobody, Limits: []core.Limit{core.PerMinute(5)}},
		{Name: "closed", Key: byNobody, Limits: []core.Limit{core.PerMinute(0)}},
	}})
	for i := range 1000 {
		key := fmt.Sprint(i)
		if got := g.remaining(key); got != 5 {
			t.Fatalf("an unseen key has %d remaining, want 5", got)
		}
		if g.take(1, key, key).Allowed {
			t.Fatal("a request was admitted under a quota of 0")
		}
	}
	if got := store.Stats().Keys; got != 0 {
		t.Errorf("%d keys are kept of 1,000 that were only looked at and denied, want none", got)
	}
}

func TestMemoryStaysBoundedInACrowd(t *testing.T) {
	const maxKeys = 5000
	g, store := newMemoryGate(t, maxKeys)
	var group sync.WaitGroup
	for n := range 8 {
		group.Go(func() {
			for i := range 2000 {
				if _, err := g.Allow(context.Background(), fmt.Sprint(n, " ", i)); err != nil {
					t.Error(err)
				}
				if i%500 == 0 && store.Stats().Keys > maxKeys {
					t.Errorf("more than %d keys are kept", maxKeys)
				}
			}
		})
	}
	group.Wait()
	if got := store.Stats(); got.Keys != maxKeys || got.LiveEvictions != 8*2000-maxKeys {
		t.Errorf("%+v, want %d keys and the other %d evicted", got, maxKeys, 8*2000-maxKeys)
	}
}

// TestLongKeysTakeNoMoreMemory keeps a thousand keys of 64 kB.
func TestLongKeysTakeNoMoreMemory(t *testing.T) {
	g, store := newMemoryGate(t, 0)
	before := heap()
	long := strings.Repeat("k", 64<<10)
	for i := range 1000 {
		g.take(1, long+fmt.Sprint(i))
	}
	if grown := heap() - before; store.Stats().Keys != 1000 || grown > 4<<20 {
		t.Errorf("%d long keys take %d kB, want less than 4 MB of the 64 that they are long", store.Stats().Keys, grown>>10)
	}
	for i := range 1000 {
		if got := g.remaining(long + fmt.Sprint(i)); got != 4 {
			t.Fatalf("long key %d has %d remaining, want 4: it is not told from the others", i, got)
		}
	}
}

// TestKeysOfARequestMayBeBorrowed: a framework that reads every request into one
// buffer hands out strings that change.
func TestKeysOfARequestMayBeBorrowed(t *testing.T) {
	for _, length := range []int{8, 64, 65, 1000} {
		buffer := make([]byte, length)
		key := func(core.Request) (string, error) { return unsafe.String(&buffer[0], length), nil }
		g := newGateOf(t, core.Config{Rules: []core.Rule{{Name: "rule", Key: key, Limits: []core.Limit{core.PerMinute(5)}}}})
		for _, b := range []byte("aabacb") {
			copy(buffer, strings.Repeat(string(b), length))
			g.check(get())
		}
		for b, want := range map[string]int64{"a": 2, "b": 3, "c": 4, "d": 5} {
			if got := g.remaining(strings.Repeat(b, length)); got != want {
				t.Errorf("%d bytes of %s: %d remaining, want %d", length, b, got, want)
			}
		}
	}
}

func heap() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

func TestZeroMemoryIsReadyForACrowd(t *testing.T) {
	var store core.Memory
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			asks := []core.Ask{{Rule: "r", Key: "k", Cost: 1, Limits: []core.Limit{core.PerDay(100).Named("day")}, States: make([]core.State, 1)}}
			if _, err := store.Decide(context.Background(), asks); err != nil || asks[0].States[0].Denied {
				t.Errorf("the first use of a zero Memory: %+v, %v", asks[0].States, err)
			}
		})
	}
	group.Wait()
	a := core.Ask{Rule: "r", Key: "k", Cost: 1, Limits: []core.Limit{core.PerDay(100).Named("day")}, States: make([]core.State, 1)}
	if _, err := store.Peek(context.Background(), &a); err != nil || a.States[0].Remaining != 84 {
		t.Errorf("after 16 requests: %+v, %v, want 84 remaining", a.States, err)
	}
}
