//go:build unix

package verify_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/verify/internal/redistest"
)

// patient is a timeout for tests in which Redis works: a busy machine must not
// look like an outage.
const patient = 10 * time.Second

// newClient returns a client of go-redis as its users make one, closed with the
// test.
func newClient(t testing.TB, addr string) *redis.Client {
	client := redis.NewClient(&redis.Options{Addr: addr})
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func newClusterClient(t testing.TB, c *redistest.Cluster) *redis.ClusterClient {
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: c.Addrs()})
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// on returns a limiter with a store, which must be valid.
func on(t testing.TB, store core.Store, failure core.Failure, rules ...core.Rule) *core.Limiter {
	t.Helper()
	limiter, err := core.New(core.Config{Rules: rules, Store: store, Failure: failure, Doctor: silent})
	if err != nil {
		t.Fatal(err)
	}
	return limiter
}

// silent is a doctor for set-ups that are odd on purpose.
var silent = core.Doctor{Logger: slog.New(slog.DiscardHandler)}

// eventually waits until a condition holds, for ten seconds at most.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for range 1000 {
		if holds() {
			return
		}
		<-time.After(10 * time.Millisecond)
	}
	t.Fatalf("%s: not within ten seconds", what)
}

// A handClock is moved by hand and may be read concurrently, in µs since the
// Unix epoch, as Redis has it.
type handClock struct{ us atomic.Int64 }

func newHandClock() *handClock {
	c := &handClock{}
	c.us.Store(1_800_000_000_000_000)
	return c
}

func (c *handClock) now() time.Time          { return time.UnixMicro(c.us.Load()) }
func (c *handClock) advance(d time.Duration) { c.us.Add(d.Microseconds()) }

// freshPrefix returns a prefix that no other store has.
func freshPrefix() string { return fmt.Sprintf("%x:", rand.Uint64()) }

var background = context.Background()

// A keyspace is a server or a cluster whose keys can be looked at.
type keyspace interface {
	EachKey(do func(key string, ms int64))
}

// noImmortalKeys fails if a key never expires, or only after its counts have
// ceased to matter: limits are those of all keys, and slack what is added for
// clocks that differ from the server's.
func noImmortalKeys(t testing.TB, k keyspace, slack time.Duration, limits ...core.Limit) {
	t.Helper()
	most := slack
	for _, l := range limits {
		most = max(most, slack+countsFor(l))
	}
	most += ownSlack
	keys := 0
	k.EachKey(func(key string, ms int64) {
		keys++
		if ms <= 0 || ms > most.Milliseconds() {
			t.Errorf("key %q lives for %d ms, must be above 0 and at most %v", key, ms, most)
		}
	})
	if keys == 0 {
		t.Error("there is no key: nothing was looked at")
	}
}

// ownSlack is for how long the numbers of calls are kept at least, and what is
// rounded up to whole milliseconds.
const ownSlack = 530 * time.Millisecond

// otherClock is what is added where the time is not the server's.
const otherClock = time.Hour

// countsFor returns for how long a charge matters at most.
func countsFor(l core.Limit) time.Duration {
	switch l.Algorithm() {
	case core.Smooth, core.Strict:
		return l.Window() + l.Window()/time.Duration(l.Slots())
	case core.Bucket:
		return time.Duration(float64(l.Window()) * float64(l.Burst()) / float64(max(1, l.Quota())))
	default:
		return l.Window()
	}
}

// percentile returns the duration below which a part of them lies.
func percentile(all []time.Duration, part float64) time.Duration {
	slices.Sort(all)
	return all[min(len(all)-1, int(part*float64(len(all))))]
}
