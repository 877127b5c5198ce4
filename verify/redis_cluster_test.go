//go:build unix

package verify_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/redisstore"
	"github.com/slidegate/slidegate/verify/internal/redistest"
)

// TestAFailoverForgetsNothingThatTheReplicaHas kills the master of a key. What
// its replica had heard of is counted on; another part of the slots goes on.
func TestAFailoverForgetsNothingThatTheReplicaHas(t *testing.T) {
	cluster := redistest.StartCluster(t, 1)
	// The client looks once a minute by default where the slots lie, and
	// until then calls a server that is no more.
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: cluster.Addrs(), ClusterStateReloadInterval: 500 * time.Millisecond})
	t.Cleanup(func() { _ = client.Close() })
	c := newCallers(t, redisstore.New(client), core.FailClosed)
	c.key = keyBetween(t, cluster, 0, 5000) // of the first master
	for range 50 {
		c.ask(t)
	}
	cluster.Masters[0].Do("WAIT", 1, 1000)
	early := c.sum()

	cluster.Masters[0].Kill()
	c.askFor(t, 300*time.Millisecond)
	began := time.Now()
	eventually(t, "the replica counts", func() bool { return c.ask(t) })
	t.Logf("the replica counts after %v", time.Since(began).Round(time.Millisecond))
	c.askFor(t, 700*time.Millisecond)
	got := c.sum()
	if early.inRedis == 0 || got.failed == 0 || got.inRedis > faultQuota {
		t.Errorf("admitted %d, of them %d before the failover; %d failed; the quota is %d", got.inRedis, early.inRedis, got.failed, faultQuota)
	}
	t.Logf("%d requests, held for at most %v, p99 %v: %+v", len(c.took), percentile(c.took, 1), percentile(c.took, 0.99), got)
}

// TestASlotThatMovesKeepsItsCounts moves the slot of a key to another node and
// back while callers ask: the client is redirected, and every request is counted
// once.
func TestASlotThatMovesKeepsItsCounts(t *testing.T) {
	cluster := redistest.StartCluster(t, 0)
	store := redisstore.New(newClusterClient(t, cluster), redisstore.Config{Timeout: patient, DenyKeys: -1})
	key := keyBetween(t, cluster, 0, 5000)
	const quota = 3000
	limiter := on(t, store, core.FailClosed, core.By(byHand, core.Per(quota, core.MaxWindow).Strict(2)))
	var admitted atomic.Int64
	ended := make(chan struct{})
	var asking sync.WaitGroup
	for range 4 {
		asking.Go(func() {
			for running := true; running; {
				select {
				case <-ended:
					running = false
				default:
				}
				if d, err := limiter.Allow(background, key); err != nil {
					t.Error(err)
					return
				} else if d.Allowed {
					admitted.Add(1)
				}
			}
		})
	}
	a, b, slot := cluster.Masters[0], cluster.Masters[1], cluster.SlotOf(key)
	for range 2 {
		cluster.Move(slot, a, b)
		cluster.Move(slot, b, a)
	}
	close(ended)
	asking.Wait()
	states, err := limiter.Peek(background, "rule-1", key)
	if got := admitted.Load(); err != nil || states[0].Remaining != quota-got || got == 0 {
		t.Errorf("%d admitted, %+v remaining of %d, error %v", got, states, quota, err)
	}
}

// keyBetween returns a key whose slot is in a range.
func keyBetween(t *testing.T, cluster *redistest.Cluster, least, most int64) string {
	t.Helper()
	for i := range 1000 {
		key := fmt.Sprint("key", i)
		if slot := cluster.SlotOf(key); slot >= least && slot <= most {
			return key
		}
	}
	t.Fatal("no such key")
	return ""
}
