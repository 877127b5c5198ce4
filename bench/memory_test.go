package bench_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/slidegate/slidegate/bench/internal/peers"
	"github.com/slidegate/slidegate/core"
)

// BenchmarkMemory measures what the heap keeps for a number of distinct keys of
// 15 bytes. Limiters with a capacity have room for 65,536 of them.
func BenchmarkMemory(b *testing.B) {
	for _, keys := range []int{core.DefaultMaxKeys, 1_000_000, 10_000_000} {
		if keys > 1_000_000 && testing.Short() {
			continue
		}
		for _, l := range peers.All() {
			if l.Decider == nil || l.Name == peers.Floor || keys > 1_000_000 && !l.Bounded {
				continue
			}
			b.Run(fmt.Sprintf("distinct=%d/limiter=%s", keys, l.Name), func(b *testing.B) {
				keep(b, keys, func() peers.Decider { return l.Decider(peers.Load{}) })
			})
		}
		b.Run(fmt.Sprintf("distinct=%d/limiter=%s", keys, peers.Strict60), func(b *testing.B) {
			keep(b, keys, strict60)
		})
	}
}

func strict60() peers.Decider {
	limiter := peers.NewLimiter(peers.Load{}, core.PerHour(peers.Ample).Strict(60))
	return func(key string) bool {
		d, _ := limiter.Allow(context.Background(), key)
		return d.Allowed
	}
}

// keep reports by how much the heap grows.
func keep(b *testing.B, keys int, make func() peers.Decider) {
	for b.Loop() {
		before := heap()
		allow := make()
		for i := range keys {
			allow(clientKey(i))
		}
		grown := float64(heap() - before)
		b.ReportMetric(grown, "heap-B")
		b.ReportMetric(grown/float64(keys), "B/key")
		runtime.KeepAlive(allow)
	}
}

// heap returns the bytes that are reachable, or nearly so.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
