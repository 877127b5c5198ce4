package bench_test

import (
	"testing"

	"github.com/slidegate/slidegate/bench/internal/peers"
)

// BenchmarkMiddleware measures a request through a framework, whose own part is
// what the limiter no-limiter takes.
func BenchmarkMiddleware(b *testing.B) {
	for _, outcome := range []string{"allowed", "denied"} {
		for _, s := range inTurn(peers.Services()) {
			denies := outcome == "denied"
			if denies && !peers.Denies(s.Limiter) {
				continue
			}
			b.Run("framework="+s.Framework+"/outcome="+outcome+"/limiter="+s.Limiter, func(b *testing.B) {
				serve := s.New(peers.Load{Denies: denies})
				serve()
				b.ReportAllocs()
				for b.Loop() {
					serve()
				}
			})
		}
	}
}
