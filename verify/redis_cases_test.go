//go:build unix

package verify_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/redisstore"
	"github.com/slidegate/slidegate/verify/internal/redistest"
)

// one is the key function of rules that all requests share.
func one(core.Request) (string, error) { return "key", nil }

// allowed asks once under one key a rule.
func allowed(t testing.TB, limiter *core.Limiter, keys ...string) core.Decision {
	t.Helper()
	d, err := limiter.Allow(background, keys...)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// RL-102.
func TestWindowsBelowAndBetweenSecondsExpireInWholeMilliseconds(t *testing.T) {
	server := redistest.Start(t)
	client, clock := newClient(t, server.Addr), newHandClock()
	for _, window := range []time.Duration{time.Millisecond, 500 * time.Millisecond, 999 * time.Millisecond, 1500 * time.Millisecond, 90_500 * time.Millisecond} {
		t.Run(fmt.Sprintf("RL-102 %v", window), func(t *testing.T) {
			server.Do("FLUSHALL")
			limit := core.Per(2, window)
			standing := on(t, redisstore.New(client, redisstore.Config{Now: clock.now, Timeout: patient}), core.FailClosed, core.By(byHand, limit))
			for i, want := range []bool{true, true, false} {
				if d := allowed(t, standing, "key"); d.Allowed != want {
					t.Errorf("request %d within a window: allowed %v", i+1, d.Allowed)
				}
			}
			noImmortalKeys(t, server, otherClock, limit)

			server.Do("FLUSHALL")
			running := on(t, redisstore.New(client, redisstore.Config{Timeout: patient}), core.FailClosed, core.By(byHand, limit))
			allowed(t, running, "key")
			noImmortalKeys(t, server, 0, limit)
		})
	}
}

// RL-106.
func TestKeysOfOneCallShareASlotAndClientsSpread(t *testing.T) {
	cluster := redistest.StartCluster(t, 0)
	client := newClusterClient(t, cluster)
	calls := recording(client)
	limiter := on(t, redisstore.New(calls.client(), redisstore.Config{Cluster: true, Timeout: patient}), core.FailClosed,
		core.Rule{Name: "user", Key: byHand, Limits: []core.Limit{core.PerHour(5).Smooth(6), core.PerDay(20)}},
		core.Rule{Name: "user's uploads", Key: byHand, Limits: []core.Limit{core.PerMinute(9)}},
		core.Rule{Name: "address", Key: byHand, Limits: []core.Limit{core.PerMinute(100)}},
	)
	for i := range 1000 {
		user := fmt.Sprint("user ", i)
		if d := allowed(t, limiter, user, user, fmt.Sprint("192.0.2.", i%256)); !d.Allowed && i < 256 {
			t.Fatalf("client %d: %+v", i, d.States())
		}
	}
	spread := map[int64]bool{}
	for _, keys := range calls.keys {
		slots := map[int64]bool{}
		for _, slot := range slotsOf(t, client, keys) {
			slots[slot], spread[slot] = true, true
		}
		if len(slots) != 1 {
			t.Fatalf("a call has keys of %d slots: %q", len(slots), keys)
		}
	}
	if len(spread) < 900 {
		t.Errorf("1,000 clients lie in %d slots, which is few", len(spread))
	}
}

// slotsOf asks the server, not our own reckoning.
func slotsOf(t *testing.T, client redis.UniversalClient, keys []string) []int64 {
	t.Helper()
	var slots []int64
	for _, key := range keys {
		slot, err := client.ClusterKeySlot(background, key).Result()
		if err != nil {
			t.Fatal(err)
		}
		slots = append(slots, slot)
	}
	return slots
}

// RL-106: a client that does not say that it is one of a cluster gets CROSSSLOT,
// which must open nothing.
func TestKeysOfDifferentSlotsOpenNothing(t *testing.T) {
	cluster := redistest.StartCluster(t, 0)
	calls := recording(newClusterClient(t, cluster))
	limiter := on(t, redisstore.New(calls.client(), redisstore.Config{Timeout: patient}), core.FailOpen,
		core.Rule{Name: "user", Key: byHand, Limits: []core.Limit{core.PerDay(2)}},
		core.Rule{Name: "address", Key: byHand, Limits: []core.Limit{core.PerDay(100).Named("address")}},
	)
	for i, want := range []bool{true, true, false} {
		if d := allowed(t, limiter, "ada", "192.0.2.1"); d.Allowed != want || d.Degraded {
			t.Errorf("request %d: allowed %v, degraded %v, want %v and counted", i+1, d.Allowed, d.Degraded, want)
		}
	}
	if !slices.ContainsFunc(calls.errors, func(text string) bool { return strings.HasPrefix(text, "CROSSSLOT") }) {
		t.Errorf("the cluster never said CROSSSLOT: %q", calls.errors)
	}
}

// A recorder keeps the keys that a client was called with, and its errors.
type recorder struct {
	redis.UniversalClient

	mu     sync.Mutex
	keys   [][]string
	errors []string
}

func recording(client redis.UniversalClient) *recorder { return &recorder{UniversalClient: client} }

func (r *recorder) client() redisstore.Func {
	return func(ctx context.Context, command, script string, keys, args []string) (any, error) {
		words := []any{command, script, len(keys)}
		for _, word := range slices.Concat(keys, args) {
			words = append(words, word)
		}
		value, err := r.Do(ctx, words...).Result()
		r.mu.Lock()
		defer r.mu.Unlock()
		r.keys = append(r.keys, keys)
		if err != nil {
			r.errors = append(r.errors, err.Error())
		}
		return value, err
	}
}

// RL-109.
func TestRequestsOfOneInstantCountOneByOne(t *testing.T) {
	server := redistest.Start(t)
	clock := newHandClock()
	store := redisstore.New(newClient(t, server.Addr), redisstore.Config{Now: clock.now, Timeout: patient})
	l := core.PerMinute(10)
	for i, limit := range []core.Limit{l, l.Smooth(6), l.Strict(6), l.Exact(), l.Fixed(), l.Bucket(10)} {
		t.Run("RL-109 "+limit.String(), func(t *testing.T) {
			limiter := on(t, store, core.FailClosed, core.Rule{Name: fmt.Sprint(i), Key: byHand, Limits: []core.Limit{limit}})
			if got := admittedOf(t, limiter, 3, 10); got != 10 {
				t.Errorf("%d of 30 requests of one instant admitted, want 10", got)
			}
		})
	}
}

// RL-110.
func TestLargeNumbersAreExact(t *testing.T) {
	server := redistest.Start(t)
	client, clock := newClient(t, server.Addr), newHandClock()
	clock.us.Store(2_000_000_000_000_000) // in 2033
	store := redisstore.New(client, redisstore.Config{Now: clock.now, Timeout: patient})

	if _, err := core.New(core.Config{Store: store, Rules: []core.Rule{core.By(byHand, core.PerDay(9_007_199_254_740_993))}}); err == nil {
		t.Error("a quota of 2^53 + 1 was taken")
	}

	large := on(t, store, core.FailClosed, core.Rule{Name: "large", Key: byHand, Limits: []core.Limit{core.Per(core.MaxQuota, time.Millisecond)}})
	d, err := large.AllowN(background, 123_456_789_012_345, "key")
	if want := int64(core.MaxQuota - 123_456_789_012_345); err != nil || d.States()[0].Remaining != want {
		t.Errorf("a count of 123456789012345 leaves %d, error %v; want %d", d.States()[0].Remaining, err, want)
	}

	small := on(t, store, core.FailClosed, core.Rule{Name: "small", Key: byHand, Limits: []core.Limit{core.Per(1, time.Millisecond).Fixed()}})
	for i, want := range []bool{true, false} {
		if d := allowed(t, small, "key"); d.Allowed != want {
			t.Errorf("request %d of a window of 1 ms: allowed %v", i+1, d.Allowed)
		}
	}
	clock.advance(time.Millisecond)
	if d := allowed(t, small, "key"); !d.Allowed {
		t.Error("the next window of 1 ms is the same as the one before")
	}
	server.EachKey(func(key string, _ int64) {
		if strings.Contains(key, "e+") {
			t.Errorf("key %q holds a rounded number", key)
		}
	})
}

// RL-112: the clocks are those of two instances. By default there is only one,
// the server's.
func TestInstancesWhoseClocksDifferALittleShareTheWindow(t *testing.T) {
	server := redistest.Start(t)
	client, ahead, behind := newClient(t, server.Addr), newHandClock(), newHandClock()
	ahead.advance(10*time.Second + 500*time.Microsecond)
	behind.advance(10*time.Second - 500*time.Microsecond)
	for i, limit := range []core.Limit{core.Per(5, 10*time.Second), core.Per(5, 10*time.Second).Fixed()} {
		var limiters []*core.Limiter
		for _, clock := range []*handClock{ahead, behind} {
			store := redisstore.New(client, redisstore.Config{Now: clock.now, Timeout: patient, DenyKeys: -1})
			limiters = append(limiters, on(t, store, core.FailClosed, core.Rule{Name: fmt.Sprint(i), Key: byHand, Limits: []core.Limit{limit}}))
		}
		for request, left := range []int64{4, 3, 2, 1, 0} {
			d := allowed(t, limiters[request%2], "key")
			if got := d.States()[0]; !d.Allowed || got.Remaining != left || got.Next < 0 {
				t.Errorf("RL-112 %v, request %d: allowed %v, %+v; want %d remaining", limit, request+1, d.Allowed, got.State, left)
			}
		}
		for _, limiter := range limiters {
			if allowed(t, limiter, "key").Allowed {
				t.Errorf("RL-112 %v: a sixth request was admitted", limit)
			}
		}
	}
}

// RL-113: a server tells which keys its scripts touch.
func TestScriptsTouchTheKeysThatTheyDeclareAndNoOthers(t *testing.T) {
	server := redistest.Start(t)
	calls := recording(newClient(t, server.Addr))
	touched := server.Watch()
	l := core.PerMinute(3)
	limiter := on(t, redisstore.New(calls.client(), redisstore.Config{Timeout: patient}), core.FailClosed,
		core.Rule{Name: "first", Key: byHand, Limits: []core.Limit{l, l.Strict(6).Named("strict"), l.Exact().Named("exact")}},
		core.Rule{Name: "second", Key: byHand, Limits: []core.Limit{l.Fixed().Named("fixed"), l.Bucket(3).Named("bucket")}},
	)
	for range 5 {
		d := allowed(t, limiter, "ada", "192.0.2.1")
		if err := limiter.Refund(background, &d); err != nil {
			t.Error(err)
		}
	}
	for range 5 {
		allowed(t, limiter, "ada", "192.0.2.1")
	}
	if _, err := limiter.Peek(background, "first", "ada"); err != nil {
		t.Error(err)
	}
	if err := limiter.Reset(background, "first", "ada"); err != nil {
		t.Error(err)
	}
	declared := map[string]bool{}
	for _, keys := range calls.keys {
		for _, key := range keys {
			declared[key] = true
		}
	}
	if got := touched(); !maps.Equal(got, declared) {
		t.Errorf("RL-113: touched %v, declared %v", got, declared)
	}
}
