//go:build unix

package verify_test

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/redisstore"
	"github.com/slidegate/slidegate/verify/internal/redistest"
)

// lives returns for how long the only key of a client's server lives.
func lives(t *testing.T, client *redis.Client) time.Duration {
	t.Helper()
	keys, err := client.Keys(background, "*").Result()
	if err != nil || len(keys) != 1 {
		t.Fatalf("keys %q, %v; want one", keys, err)
	}
	return client.PTTL(background, keys[0]).Val()
}

// TestRecordOutlivesAClockThatStepsBack charges a key whose last charge is an
// hour ahead of the clock: its counts matter for that hour more.
func TestRecordOutlivesAClockThatStepsBack(t *testing.T) {
	for _, l := range []core.Limit{core.PerMinute(9), core.PerMinute(9).Exact(), core.PerMinute(9).Bucket(9)} {
		client, clock := newClient(t, redistest.Start(t).Addr), newHandClock()
		store := redisstore.New(client, redisstore.Config{Timeout: patient, Now: clock.now})
		limits := []core.Limit{l.Named("limit")}
		for range 2 {
			a := []core.Ask{{Rule: "rule", Key: "key", Cost: 1, Limits: limits, States: make([]core.State, 1)}}
			if _, err := store.Decide(background, a); err != nil {
				t.Fatal(err)
			}
			clock.advance(-time.Hour)
		}
		if got, least := lives(t, client)-otherClock, time.Hour+l.Window(); got < least-time.Second {
			t.Errorf("%v: the record lives for %v, want at least %v", l, got, least)
		}
	}
}

// TestRecordOutlivesADebtThatASlowerPaceTakesOver lowers the quota of a bucket
// that only watches, and was not charged: its record is written for the limit
// beside it, and has to live until the debt is paid off at the new pace.
func TestRecordOutlivesADebtThatASlowerPaceTakesOver(t *testing.T) {
	client, clock := newClient(t, redistest.Start(t).Addr), newHandClock()
	store := redisstore.New(client, redisstore.Config{Timeout: patient, Now: clock.now})
	beside := core.PerSecond(100).Named("beside")
	for _, c := range []struct {
		bucket core.Limit
		cost   int64
	}{{core.PerHour(3600).Bucket(60), 60}, {core.PerHour(1).Bucket(1), 1}} {
		a := []core.Ask{{Rule: "rule", Key: "key", Cost: c.cost, Limits: []core.Limit{beside, c.bucket.DryRun().Named("bucket")}, States: make([]core.State, 2)}}
		if _, err := store.Decide(background, a); err != nil || a[0].States[0].Denied {
			t.Fatalf("%v, %+v", err, a[0].States)
		}
		clock.advance(5 * time.Second)
	}
	// It owed 60 units, of which 1/720 was paid off in 5 s at one an hour.
	if got, want := lives(t, client)-otherClock, 60*time.Hour-5*time.Second; got < want-time.Second || got > want+time.Second {
		t.Errorf("the record lives for %v, want %v", got, want)
	}
}

// TestDenialAtASlowerPaceKeepsTheRecordUntilItsWaitIsOver takes a wait at its
// word: the record was written when the bucket was faster.
func TestDenialAtASlowerPaceKeepsTheRecordUntilItsWaitIsOver(t *testing.T) {
	client, clock := newClient(t, redistest.Start(t).Addr), newHandClock()
	store := redisstore.New(client, redisstore.Config{Timeout: patient, Now: clock.now})
	ask := func(cost int64, l core.Limit) core.State {
		a := []core.Ask{{Rule: "rule", Key: "key", Cost: cost, Limits: []core.Limit{l.Named("bucket")}, States: make([]core.State, 1)}}
		if _, err := store.Decide(background, a); err != nil {
			t.Fatal(err)
		}
		return a[0].States[0]
	}
	ask(10, core.PerHour(3600).Bucket(10))
	denied := ask(1, core.PerHour(1).Bucket(10))
	if got := lives(t, client); !denied.Denied || got < denied.RetryAfter {
		t.Errorf("%+v, and the record lives for %v, want at least as long", denied, got)
	}
}
