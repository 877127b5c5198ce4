package redisstore

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slidegate/slidegate/core"
)

// atWindowStart moves a bubble's time to a multiple of a window.
func atWindowStart(window time.Duration) {
	time.Sleep(window - time.Duration(time.Now().UnixNano())%window)
}

func TestRefusalsAreAnsweredWithoutACallUntilTheyEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		atWindowStart(500 * time.Millisecond)
		server := &fakeServer{}
		s := New(server.client())
		asks := askFor("key", 1, 1, 500*time.Millisecond)
		if !decideOn(t, s, asks) {
			t.Fatal("the first request was denied")
		}
		for passed := time.Duration(0); passed < 500*time.Millisecond; passed += 50 * time.Millisecond {
			asks[0].Receipt = core.Receipt{Serial: 9}
			now, err := s.Decide(context.Background(), asks)
			want := core.State{Denied: true, RetryAfter: 500*time.Millisecond - passed, Next: 500*time.Millisecond - passed}
			if got := asks[0].States[0]; err != nil || got != want || !now.Equal(time.Now()) || asks[0].Receipt != (core.Receipt{}) {
				t.Errorf("after %v: %+v at %v, %v; want %+v now, and no receipt", passed, got, now, err, want)
			}
			time.Sleep(50 * time.Millisecond)
		}
		if got := server.count("decide"); got != 1 {
			t.Errorf("%d calls, want only that of the request that took the last unit", got)
		}
		if got := s.Stats(); got.Calls != 1 || got.Refused != 10 {
			t.Errorf("the figures are %+v, want 1 call and 10 refusals", got)
		}
		if !decideOn(t, s, asks) {
			t.Error("denied at the instant at which the wait was over")
		}
	})
}

func TestRefusalIsHeldForASecondAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &fakeServer{}
		s := New(server.client())
		asks := askFor("key", 1, 1, time.Hour)
		decideOn(t, s, asks)
		for range 100 { // ten seconds
			if decideOn(t, s, asks) {
				t.Fatal("admitted beyond the quota")
			}
			time.Sleep(100 * time.Millisecond)
		}
		if got := server.count("decide"); got < 10 || got > 11 {
			t.Errorf("%d calls in ten seconds, want one a second", got)
		}
		server.mu.Lock()
		clear(server.counts) // another process resets the key
		server.mu.Unlock()
		time.Sleep(longestRefusal)
		if !decideOn(t, s, asks) {
			t.Errorf("still refused %v after another process reset the key", longestRefusal)
		}
	})
}

// The wait is counted from before the call, so that it can only end early, and
// told from after it, so that it is long enough.
func TestRefusalTakesTheRoundTripIntoAccount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		atWindowStart(200 * time.Millisecond)
		server := &fakeServer{hook: func(context.Context, fakeCall) error {
			time.Sleep(10 * time.Millisecond)
			return nil
		}}
		s := New(server.client())
		asks := askFor("key", 1, 1, 200*time.Millisecond)
		decideOn(t, s, asks) // sent at 0, decided and heard at 10 ms
		time.Sleep(100 * time.Millisecond)
		decideOn(t, s, asks)
		if got := asks[0].States[0].RetryAfter; got != 90*time.Millisecond {
			t.Errorf("at 110 of 200 ms RetryAfter is %v, want 90ms", got)
		}
		time.Sleep(80 * time.Millisecond) // 190 ms after the call began
		calls := server.count("decide")
		decideOn(t, s, asks)
		if server.count("decide") == calls {
			t.Error("the wait was counted from after the call")
		}
	})
}

func TestRefusalSpeaksOnlyForTheSameAsk(t *testing.T) {
	for _, c := range []struct {
		phrase string
		change func(*core.Ask)
		asked  bool // Redis is
	}{
		{"the same", func(*core.Ask) {}, false},
		{"the same in another slice", func(a *core.Ask) { a.Limits = append([]core.Limit{}, a.Limits...) }, false},
		{"a lower cost", func(a *core.Ask) { a.Cost = 1 }, true},
		{"a higher cost, which has another wait", func(a *core.Ask) { a.Cost = 4 }, true},
		{"a raised quota", func(a *core.Ask) { a.Limits = []core.Limit{core.PerHour(9).Fixed().Named("limit")} }, true},
		{"a dry run", func(a *core.Ask) { a.Limits = []core.Limit{a.Limits[0].DryRun()} }, true},
		{"another key", func(a *core.Ask) { a.Key = "other" }, true},
		{"another rule", func(a *core.Ask) { a.Rule = "other" }, true},
	} {
		server := &fakeServer{}
		s := New(server.client())
		refused := askFor("key", 3, 5, time.Hour)
		decideOn(t, s, refused)
		if decideOn(t, s, refused) {
			t.Fatal("6 of 5 were admitted")
		}
		before := server.count("decide")
		c.change(&refused[0])
		decideOn(t, s, refused)
		if got := server.count("decide") > before; got != c.asked {
			t.Errorf("%s: Redis was asked: %t, want %t", c.phrase, got, c.asked)
		}
	}
}

func TestLastUnitIsLearnedFromOnlyWhereTheWaitIsKnown(t *testing.T) {
	server := &fakeServer{}
	s := New(server.client())
	asks := askFor("key", 3, 4, time.Hour)
	decideOn(t, s, asks) // one is left; when there will be three is not known
	decideOn(t, s, asks)
	if got := server.count("decide"); got != 2 {
		t.Errorf("%d calls, want 2", got)
	}
}

func TestWhatEndsARefusal(t *testing.T) {
	refunded := core.Receipt{At: 1, Serial: 7}
	for phrase, end := range map[string]func(*Store) error{
		"a reset": func(s *Store) error { return s.Reset(context.Background(), "rule", "key") },
		"a refund": func(s *Store) error {
			a := askFor("key", 1, 2, time.Hour)
			a[0].Receipt = refunded
			return s.Refund(context.Background(), a)
		},
	} {
		s := New((&fakeServer{}).client())
		asks := askFor("key", 1, 2, time.Hour)
		for range 3 {
			decideOn(t, s, asks)
		}
		if err := end(s); err != nil || !decideOn(t, s, asks) {
			t.Errorf("after %s (%v) the key is still refused", phrase, err)
		}
	}
}

// A reply from before a refund must not be remembered after it.
func TestReplyThatCrossedARefundIsNotRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &fakeServer{}
		s := New(server.client())
		asks := askFor("key", 1, 1, time.Hour)
		decideOn(t, s, asks)
		s.refused.forget([]string{recordKey(DefaultPrefix, "rule", "key")}) // as if it had never been learned
		server.does(func(_ context.Context, c fakeCall) error {
			if c.script == "decide" {
				server.does(nil)
				asks[0].Receipt = core.Receipt{At: 1, Serial: 7}
				if err := s.Refund(context.Background(), asks); err != nil {
					t.Error(err)
				}
				server.mu.Lock()
				server.counts[c.keys[0]] = 1 // the server decides as if before the refund
				server.mu.Unlock()
			}
			return nil
		})
		if decideOn(t, s, askFor("key", 1, 1, time.Hour)) {
			t.Fatal("admitted beyond the quota")
		}
		server.mu.Lock()
		clear(server.counts)
		server.mu.Unlock()
		if !decideOn(t, s, askFor("key", 1, 1, time.Hour)) {
			t.Error("a denial that crossed a refund is remembered")
		}
	})
}

func TestWhatNoWaitEndsIsNotRemembered(t *testing.T) {
	server := &fakeServer{}
	s := New(server.client())
	for range 3 {
		decideOn(t, s, askFor("key", 9, 5, time.Hour))
	}
	if got := server.count("decide"); got != 3 {
		t.Errorf("%d calls for a cost above the quota, want 3", got)
	}
}

func TestDenyCacheCanBeTurnedOff(t *testing.T) {
	server := &fakeServer{}
	s := New(server.client(), Config{DenyKeys: -1})
	for range 5 {
		decideOn(t, s, askFor("key", 1, 1, time.Hour))
	}
	if got := server.count("decide"); got != 5 {
		t.Errorf("%d calls, want 5", got)
	}
}

func TestDenyCacheIsBounded(t *testing.T) {
	s := New((&fakeServer{}).client(), Config{DenyKeys: 50})
	for i := range 1000 {
		decideOn(t, s, askFor(fmt.Sprint("key-", i), 1, 1, time.Hour))
		if n := len(s.refused.entries); n > 50 || int64(n) != s.refused.size.Load() {
			t.Fatalf("%d keys are remembered, and said to be %d, want at most 50", n, s.refused.size.Load())
		}
	}
}

// A denial belongs to the key that denied: other keys of the request stay free.
func TestRefusedUserDoesNotCloseTheAddress(t *testing.T) {
	server := &fakeServer{}
	s := New(server.client())
	request := func(user string) []core.Ask {
		address := askFor("192.0.2.1", 1, 100, time.Hour)[0]
		address.Rule = "address"
		return []core.Ask{address, askFor(user, 1, 2, time.Hour)[0]}
	}
	for i := range 5 {
		if got := decideOn(t, s, request("mallory")); got != (i < 2) {
			t.Errorf("request %d of mallory: admitted %t", i+1, got)
		}
	}
	if server.count("decide") > 3 {
		t.Errorf("%d calls for five requests, want at most 3", server.count("decide"))
	}
	if !decideOn(t, s, request("alice")) {
		t.Error("alice is refused for what mallory did")
	}
	asks := request("mallory")
	decideOn(t, s, asks)
	if got := asks[0].States[0]; got.Remaining != 97 || got.Denied {
		t.Errorf("the address stands as %+v, want 97 of 100 left", got)
	}
}

// While a key is exhausted one caller at a time asks Redis. The server takes 10
// ms, and frees a unit every 100 ms.
func TestCallersOfAnExhaustedKeyTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const window = 100 * time.Millisecond
		atWindowStart(window)
		var calling, most atomic.Int64
		server := &fakeServer{hook: func(context.Context, fakeCall) error {
			most.Store(max(most.Load(), calling.Add(1)))
			time.Sleep(10 * time.Millisecond)
			calling.Add(-1)
			return nil
		}}
		s := New(server.client())
		decideOn(t, s, askFor("key", 1, 1, window))
		most.Store(0)
		var admitted atomic.Int64
		var wait sync.WaitGroup
		for range 64 {
			wait.Go(func() {
				for range 500 { // a second
					if decideOn(t, s, askFor("key", 1, 1, window)) {
						admitted.Add(1)
					}
					time.Sleep(2 * time.Millisecond)
				}
			})
		}
		wait.Wait()
		if got := most.Load(); got != 1 {
			t.Errorf("%d callers asked Redis at once, want 1", got)
		}
		if got := server.count("decide"); got > 40 {
			t.Errorf("%d calls for 32,000 requests, want about two a window", got)
		}
		if got := admitted.Load(); got < 9 || got > 12 {
			t.Errorf("%d admitted in about ten windows of one", got)
		}
	})
}

func TestWhoeverWaitsForATurnGivesUpInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const window = 100 * time.Millisecond
		atWindowStart(window)
		hang := make(chan struct{})
		server := &fakeServer{}
		s := New(server.client())
		decideOn(t, s, askFor("key", 1, 1, window))
		time.Sleep(window)
		server.does(block(hang))
		var wait sync.WaitGroup
		for i := range 10 {
			wait.Go(func() {
				ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
				defer cancel()
				if i == 9 {
					time.AfterFunc(5*time.Millisecond, cancel)
				}
				start := time.Now()
				_, err := s.Decide(ctx, askFor("key", 1, 1, window))
				switch took := time.Since(start); {
				case i == 9 && (took != 5*time.Millisecond || !errors.Is(err, context.Canceled)):
					t.Errorf("a request that ended after 5ms: held for %v, %v", took, err)
				case i < 9 && (took != DefaultTimeout || !errors.Is(err, ErrUnavailable)):
					t.Errorf("held for %v, %v; want %v in line and call together", took, err, DefaultTimeout)
				}
			})
		}
		wait.Wait()
		close(hang)
	})
}

// When a key has room again, those in line do not go one by one.
func TestLineIsOverWhenThereIsRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const window = 100 * time.Millisecond
		atWindowStart(window)
		server := &fakeServer{}
		s := New(server.client())
		for range 20 {
			decideOn(t, s, askFor("key", 1, 20, window))
		}
		time.Sleep(window)
		server.does(func(context.Context, fakeCall) error {
			time.Sleep(10 * time.Millisecond)
			return nil
		})
		start := time.Now()
		var wait sync.WaitGroup
		for range 15 {
			wait.Go(func() {
				if !decideOn(t, s, askFor("key", 1, 20, window)) {
					t.Error("denied although there was room")
				}
			})
		}
		wait.Wait()
		if took := time.Since(start); took != 20*time.Millisecond {
			t.Errorf("15 requests took %v, want 10ms for the first and 10ms for all others", took)
		}
	})
}

// TestTurnThatDoesNotComeIsNotWaitedForToTheEnd: a request that shares an exhausted
// key asks Redis itself, with half of its time left.
func TestTurnThatDoesNotComeIsNotWaitedForToTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New((&fakeServer{}).client())
		asks := askFor("key", 1, 1, time.Hour)
		decideOn(t, s, asks)
		r := s.request(asks)
		first, err := s.refused.wait(context.Background(), &r)
		if first == nil || err != nil {
			t.Fatalf("an exhausted key has no line: %v, %v", first, err)
		}
		defer first.leave()
		start, second := time.Now(), s.request(asks)
		if line, err := s.refused.wait(context.Background(), &second); line != nil || err != nil || time.Since(start) != DefaultTimeout/2 {
			t.Errorf("%v, %v after %v; want to go on without a turn after %v", line, err, time.Since(start), DefaultTimeout/2)
		}
	})
}
