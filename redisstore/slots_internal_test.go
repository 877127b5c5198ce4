package redisstore

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slidegate/slidegate/core"
)

// wideAndNarrow returns a request whose two keys lie in two slots: an address
// with a wide quota, and a user with a narrow one.
func wideAndNarrow(narrow int64) []core.Ask {
	address := askFor("192.0.2.1", 1, 1000, time.Hour)[0]
	address.Rule = "address"
	return []core.Ask{address, askFor("mallory", 1, narrow, time.Hour)[0]}
}

func scriptsOf(f *fakeServer) (scripts []string) {
	for _, c := range f.calls {
		scripts = append(scripts, c.script)
	}
	return scripts
}

func TestClusterIsLearnedFromItsFirstRefusal(t *testing.T) {
	server := &fakeServer{cluster: true}
	s := New(server.client())
	for i := range 3 {
		asks := wideAndNarrow(9)
		if !decideOn(t, s, asks) {
			t.Fatalf("request %d was denied", i+1)
		}
		for j, quota := range []int64{1000, 9} {
			if got := asks[j].States[0].Remaining; got != quota-1-int64(i) || asks[j].Receipt == (core.Receipt{}) {
				t.Errorf("request %d: ask %d has %d left and the receipt %+v", i+1, j+1, got, asks[j].Receipt)
			}
		}
	}
	if got := len(server.calls); got != 1+3*2 {
		t.Errorf("%d calls: %v; want one that was refused, then one a slot", got, scriptsOf(server))
	}
}

func TestServerWithoutSlotsDecidesInOneCall(t *testing.T) {
	server := &fakeServer{}
	s := New(server.client())
	decideOn(t, s, wideAndNarrow(9))
	if len(server.calls) != 1 || len(server.calls[0].keys) != 2 {
		t.Errorf("%d calls, want one with both keys", len(server.calls))
	}
}

func TestKeysOfOneSlotAreDecidedInOneCall(t *testing.T) {
	server := &fakeServer{cluster: true}
	s := New(server.client(), Config{Cluster: true})
	asks := append(wideAndNarrow(9), askFor("mallory", 1, 5, time.Minute)...)
	asks[2].Rule = "other"
	decideOn(t, s, asks)
	tagged := New(server.client(), Config{Cluster: true, Prefix: "{limits}:"})
	decideOn(t, tagged, asks)
	var keys []int
	for _, c := range server.calls {
		keys = append(keys, len(c.keys))
	}
	if want := []int{2, 1, 3}; !slices.Equal(keys, want) {
		t.Errorf("calls with %v keys, want %v: the user's two, the address, and all under a tag", keys, want)
	}
}

func TestLikeliestDenialComesFirstAndSparesTheOthers(t *testing.T) {
	server := &fakeServer{cluster: true}
	s := New(server.client(), Config{Cluster: true, DenyKeys: -1})
	decideOn(t, s, wideAndNarrow(1))
	server.calls = nil
	asks := wideAndNarrow(1)
	if decideOn(t, s, asks) {
		t.Fatal("admitted beyond the quota")
	}
	if got, want := scriptsOf(server), []string{"decide", "peek"}; !slices.Equal(got, want) {
		t.Errorf("calls %v, want %v: the wide one is only looked at", got, want)
	}
	if got := asks[0].States[0]; got.Remaining != 999 || got.Denied {
		t.Errorf("the address stands as %+v, want 999 left", got)
	}
}

func TestExhaustedKeyComesFirstThoughItsLimitIsWider(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &fakeServer{cluster: true}
		s := New(server.client(), Config{Cluster: true})
		for range 1000 {
			if !decideOn(t, s, wideAndNarrow(2000)) { // now the address denies
				t.Fatal("denied within the quota")
			}
		}
		time.Sleep(longestRefusal)
		server.calls = nil
		decideOn(t, s, wideAndNarrow(900)) // another limit, so that nothing is remembered of the user
		if got := server.calls[0].keys[0]; got != recordKey(DefaultPrefix, "address", "192.0.2.1") {
			t.Errorf("%s is asked first, want the address, which was exhausted before", got)
		}
	})
}

// deniedSecond has the wide key asked first and deny nothing, and the narrow one
// deny.
func deniedSecond(t *testing.T, server *fakeServer, s *Store) []core.Ask {
	t.Helper()
	asks := wideAndNarrow(5000)
	asks[0].Limits = []core.Limit{core.Per(1000, 2*time.Hour).Fixed().Named("limit")} // slower, so it goes first
	server.counts = map[string]int64{recordKey(DefaultPrefix, "rule", "mallory"): 5000}
	server.window = map[string]int64{recordKey(DefaultPrefix, "rule", "mallory"): time.Now().UnixMicro() / time.Hour.Microseconds()}
	return asks
}

func TestChargesBeforeADenialAreTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &fakeServer{cluster: true}
		s := New(server.client(), Config{Cluster: true})
		asks := deniedSecond(t, server, s)
		if decideOn(t, s, asks) {
			t.Fatal("admitted beyond the quota")
		}
		if got, want := scriptsOf(server), []string{"decide", "decide", "refund", "peek"}; !slices.Equal(got, want) {
			t.Errorf("calls %v, want %v", got, want)
		}
		if got := server.units("address", "192.0.2.1"); got != 0 {
			t.Errorf("%d units stay charged to the address, want 0", got)
		}
		if got := asks[0].States[0]; got.Remaining != 1000 || asks[0].Receipt != (core.Receipt{}) {
			t.Errorf("the address stands as %+v with the receipt %+v, want it unchanged and none", got, asks[0].Receipt)
		}
	})
}

func TestChargesBeforeAFailureAreTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &fakeServer{cluster: true, hook: func(_ context.Context, c fakeCall) error {
			if c.keys[0] == recordKey(DefaultPrefix, "rule", "mallory") {
				return errors.New("CLUSTERDOWN Hash slot not served")
			}
			return nil
		}}
		s := New(server.client(), Config{Cluster: true})
		_, err := s.Decide(context.Background(), deniedSecond(t, server, s))
		if !errors.Is(err, ErrUnavailable) || server.units("address", "192.0.2.1") != 0 {
			t.Errorf("%v, and %d units stay charged; want ErrUnavailable and none", err, server.units("address", "192.0.2.1"))
		}
	})
}

// The request does not wait for a refund that hangs, and the refund does not
// give up with the request.
func TestCompensationOutlivesTheRequestAndDoesNotHoldIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		server := &fakeServer{cluster: true}
		server.hook = func(_ context.Context, c fakeCall) error {
			time.Sleep(15 * time.Millisecond)
			if c.script == "refund" {
				<-release
			}
			return nil
		}
		s := New(server.client(), Config{Cluster: true})
		start := time.Now()
		_, err := s.Decide(context.Background(), deniedSecond(t, server, s))
		if took := time.Since(start); took != DefaultTimeout || !errors.Is(err, ErrUnavailable) {
			t.Errorf("held for %v, %v; want %v", took, err, DefaultTimeout)
		}
		close(release)
		time.Sleep(time.Second)
		if got := server.units("address", "192.0.2.1"); got != 0 {
			t.Errorf("%d units stay charged to the address, want 0", got)
		}
	})
}

func TestRefundsGoSlotBySlot(t *testing.T) {
	server := &fakeServer{cluster: true}
	s := New(server.client(), Config{Cluster: true})
	asks := wideAndNarrow(9)
	decideOn(t, s, asks)
	if err := s.Refund(context.Background(), asks); err != nil {
		t.Fatal(err)
	}
	for _, a := range asks {
		if units := server.units(a.Rule, a.Key); units != 0 || a.Receipt != (core.Receipt{}) {
			t.Errorf("%s: %d units stay charged, receipt %+v", a.Key, units, a.Receipt)
		}
	}
	calls := len(server.calls)
	if err := s.Refund(context.Background(), asks); err != nil || len(server.calls) != calls {
		t.Errorf("a second refund: %v and %d calls, want none", err, len(server.calls)-calls)
	}
}

// TestDenialOfALaterPartIsLearned: what a request takes back of its own, to find
// how its keys stand, does not make it doubt what it saw. The last unit was taken
// by another process.
func TestDenialOfALaterPartIsLearned(t *testing.T) {
	server := &fakeServer{cluster: true}
	request := func() []core.Ask {
		address := askFor("192.0.2.1", 1, 100, time.Hour)[0] // is asked first, and has room
		address.Rule = "address"
		return []core.Ask{address, askFor("mallory", 1, 5, time.Minute)[0]}
	}
	for range 5 {
		decideOn(t, New(server.client(), Config{Cluster: true}), request())
	}
	s := New(server.client(), Config{Cluster: true})
	server.calls = nil
	for range 50 {
		if decideOn(t, s, request()) {
			t.Fatal("admitted beyond the quota")
		}
	}
	if got := s.Stats(); got.Refused != 49 {
		t.Errorf("%d of 50 refusals came from memory, with the calls %v; want 49", got.Refused, scriptsOf(server))
	}
}

// TestSlowNodeDoesNotOpenTheBreakerOfAnother: a node that leaves the next one no
// time says nothing of that.
func TestSlowNodeDoesNotOpenTheBreakerOfAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sectionOf := func(key string) int { return slotOf(recordKey(DefaultPrefix, "rule", key)) * sections / hashSlots }
		slow, fast := "slow", "fast"
		for sectionOf(slow) == sectionOf(fast) {
			fast += "!"
		}
		server := &fakeServer{cluster: true, hook: func(ctx context.Context, c fakeCall) error {
			takes := 2 * time.Millisecond
			if slotOf(c.keys[0])*sections/hashSlots == sectionOf(slow) {
				takes = DefaultTimeout - time.Millisecond
			}
			select {
			case <-time.After(takes):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}}
		s := New(server.client(), Config{Cluster: true})
		for range failuresToOpen {
			asks := append(askFor(slow, 1, 100, time.Hour), askFor(fast, 1, 1_000_000, time.Hour)...)
			if _, err := s.Decide(context.Background(), asks); !errors.Is(err, ErrUnavailable) {
				t.Fatalf("both nodes in time: %v", err)
			}
		}
		time.Sleep(time.Second)
		if _, err := s.Decide(context.Background(), askFor(fast, 1, 1_000_000, time.Hour)); err != nil {
			t.Errorf("a request of the fast node alone: %v", err)
		}
	})
}
