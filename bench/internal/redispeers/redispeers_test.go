package redispeers_test

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/slidegate/slidegate/bench/internal/redispeers"
	"github.com/slidegate/slidegate/core"
)

// server starts a server that ends with the test, which is skipped where none is
// installed, but not in CI.
func server(t *testing.T) *redispeers.Server {
	t.Helper()
	s, err := redispeers.StartServer(t.Context())
	if errors.Is(err, redispeers.ErrNoServer) && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s
}

// TestEveryLimiterHoldsAKeyToItsQuota: what is compared limits, and counts in
// Redis.
func TestEveryLimiterHoldsAKeyToItsQuota(t *testing.T) {
	s := server(t)
	for _, l := range redispeers.All() {
		t.Run(l.Name, func(t *testing.T) {
			if err := s.Clear(t.Context()); err != nil {
				t.Fatal(err)
			}
			for instance := range 2 {
				p, err := l.Start(s.Addr, redispeers.Load{Quota: 4, Window: time.Hour})
				if err != nil {
					t.Fatal(err)
				}
				defer p.Close()
				for n := range 2 {
					if ok, err := p.Allow(t.Context(), "one"); !ok || err != nil {
						t.Fatalf("instance %d, request %d of a quota of 4: %v, %v", instance, n, ok, err)
					}
				}
				if instance == 0 {
					continue
				}
				if ok, err := p.Allow(t.Context(), "one"); ok || err != nil {
					t.Errorf("the fifth request of a quota of 4 by two instances: %v, %v", ok, err)
				}
				if ok, err := p.Allow(t.Context(), "another"); !ok || err != nil {
					t.Errorf("another key: %v, %v", ok, err)
				}
			}
		})
	}
}

// TestThreeLimitsAreOneCallOfOursAndThreeOfTheirs: as the report says.
func TestThreeLimitsAreOneCallOfOursAndThreeOfTheirs(t *testing.T) {
	s := server(t)
	want := map[string]int64{redispeers.OursThree: 1, redispeers.OursThreeRueidis: 1, redispeers.RedisRateThree: 3}
	for _, l := range redispeers.All() {
		if want[l.Name] == 0 {
			continue
		}
		p, err := l.Start(s.Addr, redispeers.Ample)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		var calls [2]int64
		for n := range calls { // the first may have to send the script
			before, _ := s.ScriptCalls(t.Context())
			if ok, err := p.Allow(t.Context(), "one"); !ok || err != nil {
				t.Fatalf("%s: %v, %v", l.Name, ok, err)
			}
			after, err := s.ScriptCalls(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			calls[n] = after - before
		}
		if calls[1] != want[l.Name] {
			t.Errorf("%s: %d calls, want %d", l.Name, calls[1], want[l.Name])
		}
	}
}

func TestThroughputFailsOnARefusal(t *testing.T) {
	s := server(t)
	for _, l := range redispeers.All()[:1] {
		p, err := l.Start(s.Addr, redispeers.Load{Window: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		if _, err := p.Throughput(t.Context(), 2, time.Minute); err == nil {
			t.Error("a quota of 0 was measured as if it admitted")
		}
	}
}

func TestAttackIsCountedOnTheServer(t *testing.T) {
	s := server(t)
	attack := redispeers.Attack{Limit: core.PerHour(3), Callers: 2, PerSecond: 1000, Lasts: 20 * time.Millisecond}
	without, err := attack.Run(t.Context(), s, false)
	if err != nil {
		t.Fatal(err)
	}
	if without.Requests != 20 || without.Admitted != 3 || without.Calls < without.Requests {
		t.Errorf("without the cache: %+v, want 20 requests, 3 admitted and a call each", without)
	}
	with, err := attack.Run(t.Context(), s, true)
	if err != nil {
		t.Fatal(err)
	}
	if with.Requests != 20 || with.Admitted != 3 || with.Calls >= 10 {
		t.Errorf("with the cache: %+v, want 3 admitted and few calls", with)
	}
}

func TestFootprintIsThatOfTheKeysAskedFor(t *testing.T) {
	s := server(t)
	for _, l := range redispeers.All() {
		f, err := l.Footprint(t.Context(), s, 300)
		if err != nil {
			t.Fatal(err)
		}
		records := 1
		if l.Name == redispeers.RedisRateThree {
			records = 3
		}
		if f.Records != records || f.Usage < 40*float64(records) || f.Usage > 300*float64(records) {
			t.Errorf("%s: %+v, want %d records of 40 to 300 bytes", l.Name, f, records)
		}
	}
}

func TestAMissingServerIsSaidClearly(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := redispeers.StartServer(t.Context()); !errors.Is(err, redispeers.ErrNoServer) {
		t.Errorf("%v, want ErrNoServer", err)
	}
}
