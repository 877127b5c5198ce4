package bench_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/slidegate/slidegate/bench/internal/redispeers"
)

// BenchmarkRedis measures decisions on a real redis-server; it is skipped where
// none is installed. The time of an operation is that of all callers together:
// with 16 of them, a decision takes each about 16 times as long.
func BenchmarkRedis(b *testing.B) {
	server, err := redispeers.StartServer(b.Context())
	if errors.Is(err, redispeers.ErrNoServer) {
		b.Skip(err)
	}
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(server.Stop)
	for _, callers := range []int{1, 16, 64, 256} {
		for _, l := range inTurn(redispeers.All()) {
			b.Run(fmt.Sprintf("callers=%d/limiter=%s", callers, l.Name), func(b *testing.B) {
				peer, err := l.Start(server.Addr, redispeers.Ample)
				if err != nil {
					b.Fatal(err)
				}
				defer peer.Close()
				decideTogether(b, peer, callers)
			})
		}
	}
}

// decideTogether divides the operations among callers.
func decideTogether(b *testing.B, peer *redispeers.Peer, callers int) {
	b.ReportAllocs()
	ctx := b.Context()
	b.ResetTimer()
	var all sync.WaitGroup
	for caller := range callers {
		all.Go(func() {
			for n := caller; n < b.N; n += callers {
				if ok, err := peer.Allow(ctx, clientKey(rand.IntN(10_000))); !ok || err != nil {
					b.Errorf("%v, %v", ok, err)
					return
				}
			}
		})
	}
	all.Wait()
}
