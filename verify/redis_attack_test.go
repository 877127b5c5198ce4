//go:build unix

package verify_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/redisstore"
	"github.com/slidegate/slidegate/verify/internal/redistest"
)

// TestAnAttackOnOneKeyCostsRedisNextToNothing has a crowd ask under one key for
// a while, at most 64,000 times a second. An admission takes a call, but of a
// hundred refusals not one does, and none more is admitted than without that.
func TestAnAttackOnOneKeyCostsRedisNextToNothing(t *testing.T) {
	const quota = 100
	for _, c := range []struct {
		attack string
		limit  core.Limit
		most   int64 // admitted in three seconds
	}{
		{"under a quota that stays spent", core.Per(quota, 10*time.Minute).Exact(), quota},
		{"under a window that slides meanwhile", core.Per(quota, 2*time.Second).Exact(), 2 * quota},
		{"under a window that gives units back one by one", core.Per(quota, 2*time.Second), 3 * quota},
	} {
		t.Run(c.attack, func(t *testing.T) {
			server := redistest.Start(t)
			proxy := redistest.NewProxy(t, server.Addr)
			store := redisstore.New(newClient(t, proxy.Addr), redisstore.Config{Timeout: patient})
			limiter := on(t, store, core.FailClosed, core.By(byHand, c.limit))
			asked, admitted := attack(t, limiter, 3*time.Second)
			calls := proxy.Calls()
			t.Logf("%d requests, %d admitted, %d calls", asked, admitted, calls)
			if refused := asked - admitted; (calls-admitted)*100 >= refused {
				t.Errorf("%d calls for %d admissions and %d refusals, want less than one call in a hundred refusals", calls, admitted, refused)
			}
			if admitted > c.most || admitted < quota {
				t.Errorf("%d admitted, want from %d to %d", admitted, quota, c.most)
			}
			if stats := store.Stats(); int64(stats.Calls) > calls || int64(stats.Refused) > asked-admitted {
				t.Errorf("%+v for %d calls and %d refusals", stats, calls, asked-admitted)
			}
			noImmortalKeys(t, server, 0, c.limit)
		})
	}
}

// attack has 64 goroutines ask, each 1,000 times a second at most.
func attack(t *testing.T, limiter *core.Limiter, d time.Duration) (asked, admitted int64) {
	var all, through atomic.Int64
	end := time.Now().Add(d)
	crowd(func(int) {
		pace := time.NewTicker(time.Millisecond)
		defer pace.Stop()
		for time.Now().Before(end) {
			decision, err := limiter.Allow(background, "key")
			if err != nil {
				t.Error(err)
			}
			all.Add(1)
			if decision.Allowed {
				through.Add(1)
			}
			<-pace.C
		}
	})
	return all.Load(), through.Load()
}

// TestARefusalElsewhereEndsWithinASecond has another instance reset a key whose
// refusal is remembered here.
func TestARefusalElsewhereEndsWithinASecond(t *testing.T) {
	server := redistest.Start(t)
	rule := core.By(byHand, core.PerDay(1).Exact())
	here := on(t, redisstore.New(newClient(t, server.Addr), redisstore.Config{Timeout: patient}), core.FailClosed, rule)
	there := on(t, redisstore.New(newClient(t, server.Addr), redisstore.Config{Timeout: patient}), core.FailClosed, rule)
	if d := allowed(t, here, "key"); !d.Allowed {
		t.Fatal("the first request was denied")
	}
	if err := there.Reset(background, "rule-1", "key"); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	eventually(t, "the reset is seen", func() bool { return allowed(t, here, "key").Allowed })
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("a reset elsewhere was seen after %v, want about a second at most", took)
	}
}
