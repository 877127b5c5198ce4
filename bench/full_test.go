package bench_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/slidegate/slidegate/bench/internal/peers"
)

// A numberedKey makes keys of 15 bytes in no time, so that a flood of new ones
// can be told from the work of making them. All but the last key are gone when
// the next one is made, unless they are cloned.
type numberedKey struct {
	bytes [15]byte
	clone bool
}

func (k *numberedKey) of(n uint64) string {
	binary.BigEndian.PutUint64(k.bytes[7:], n)
	if k.clone {
		return string(k.bytes[:])
	}
	return unsafe.String(&k.bytes[0], len(k.bytes))
}

// BenchmarkFull measures decisions of limiters that are full: under the keys that
// they hold, each as often as any other, and under keys that are all new, each
// of which makes another one leave while it still matters. As many new keys as
// there is room for have come before.
func BenchmarkFull(b *testing.B) {
	for _, room := range []int{65_536, 1_048_576} {
		for _, l := range inTurn(peers.All()) {
			if !l.Bounded || l.Name == peers.TwoLimits {
				continue
			}
			load := peers.Load{Keys: room}
			b.Run(fmt.Sprintf("room=%d/requests=known/limiter=%s", room, l.Name), func(b *testing.B) {
				known(b, l.Decider(load), !l.Lends, uint64(room))
			})
			b.Run(fmt.Sprintf("room=%d/requests=new/limiter=%s", room, l.Name), func(b *testing.B) {
				flood(b, l.Decider(load), !l.Lends, uint64(room))
			})
		}
	}
}

// scatter is odd, and so visits every one of a power of two of keys, far apart.
const scatter = 0x9e3779b97f4a7c15

func known(b *testing.B, allow peers.Decider, clone bool, room uint64) {
	key := numberedKey{clone: clone}
	for n := range room {
		allow(key.of(n))
	}
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		key := numberedKey{clone: clone}
		for n := rand.Uint64(); pb.Next(); n += scatter {
			allow(key.of(n % room))
		}
	})
}

func flood(b *testing.B, allow peers.Decider, clone bool, room uint64) {
	var made atomic.Uint64 // keys
	key := numberedKey{clone: clone}
	for range 2 * room {
		allow(key.of(made.Add(1)))
	}
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		key := numberedKey{clone: clone}
		const batch = 1 << 12 // of numbers that no other processor makes
		for n, end := uint64(0), uint64(0); pb.Next(); n++ {
			if n == end {
				end = made.Add(batch)
				n = end - batch
			}
			allow(key.of(n + 1))
		}
	})
}
