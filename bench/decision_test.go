package bench_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/slidegate/slidegate/bench/internal/peers"
)

// rotate lets another limiter begin, so that over several runs none always has
// the machine as the one before it left it.
var rotate = flag.Int("rotate", 0, "begin with the limiter of this number")

// inTurn returns limiters in the order of this run.
func inTurn[T any](all []T) []T {
	n := *rotate % len(all)
	return slices.Concat(all[n:], all[:n])
}

const zipfKeys = 100_000

// situations are the keys that decisions are measured under.
var situations = []struct {
	keys   string
	room   int // of limiters that bound their keys
	denies bool
	drawn  func() []string
}{
	{"hot", 0, false, hotKey},
	{"zipf", 2 * zipfKeys, false, drawZipf},
	{"hot-denied", 0, true, hotKey},
}

func hotKey() []string { return []string{clientKey(0)} }

// drawZipf draws from many keys, a few of them very often, as the clients of
// a public service come: Zipf's law with exponent 1.1.
func drawZipf() []string {
	keys := make([]string, zipfKeys)
	for i := range keys {
		keys[i] = clientKey(i)
	}
	zipf := rand.NewZipf(rand.New(rand.NewPCG(1, 2)), 1.1, 1, zipfKeys-1)
	drawn := make([]string, 1<<18)
	for i := range drawn {
		drawn[i] = keys[zipf.Uint64()]
	}
	return drawn
}

// clientKey returns a key of 15 bytes.
func clientKey(n int) string { return fmt.Sprintf("client-%08d", n) }

// BenchmarkDecision measures one decision under known keys.
func BenchmarkDecision(b *testing.B) {
	for _, s := range situations {
		drawn := s.drawn()
		for _, l := range inTurn(peers.All()) {
			if l.Decider == nil || s.denies && l.Name == peers.Floor {
				continue
			}
			b.Run("keys="+s.keys+"/limiter="+l.Name, func(b *testing.B) {
				decide(b, l.Decider(peers.Load{Denies: s.denies, Keys: s.room}), drawn)
			})
		}
	}
}

// decide has all processors go round the drawn keys, each from another place. The
// keys that are asked for are not the strings that the limiter may have kept: as
// in a server, where each request brings its own, a limiter has to compare them.
func decide(b *testing.B, allow peers.Decider, drawn []string) {
	asked := make([]string, len(drawn))
	for i, key := range drawn {
		allow(key)
		asked[i] = strings.Clone(key)
	}
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for i := rand.IntN(len(asked)); pb.Next(); i++ {
			if i >= len(asked) {
				i = 0
			}
			allow(asked[i])
		}
	})
}
