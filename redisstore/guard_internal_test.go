package redisstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slidegate/slidegate/core"
)

// held is how long a call took and what it returned.
type held struct {
	took time.Duration
	err  error
}

// decideTimed has a store decide and measures.
func decideTimed(ctx context.Context, s *Store, key string) held {
	start := time.Now()
	_, err := s.Decide(ctx, askFor(key, 1, 1000, time.Minute))
	return held{time.Since(start), err}
}

// RL-115, on a server that takes calls and never answers them, with a client
// that obeys no deadline.
func TestHangingClientHoldsNoRequestBeyondTheTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		s := New((&fakeServer{hook: block(hang)}).client(), Config{Timeout: 100 * time.Millisecond})
		var wait sync.WaitGroup
		for range 50 {
			wait.Go(func() {
				if h := decideTimed(context.Background(), s, "key"); h.took != 100*time.Millisecond || !errors.Is(h.err, ErrUnavailable) {
					t.Errorf("RL-115: held for %v, %v; want 100ms and ErrUnavailable", h.took, h.err)
				}
			})
		}
		wait.Wait()
		for range 1000 {
			if h := decideTimed(context.Background(), s, "key"); h.took != 0 || !errors.Is(h.err, ErrUnavailable) {
				t.Errorf("RL-115: once Redis is known not to answer, held for %v, %v; want no time at all", h.took, h.err)
			}
			time.Sleep(3 * time.Millisecond)
		}
		if got := s.guard.underway.Load(); got > 50+mostProbes {
			t.Errorf("%d calls hang in the client, want those of the first 50 requests and some probes", got)
		}
		close(hang)
	})
}

func TestAllCallsKeepTheTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		defer close(hang)
		ask := func() core.Ask {
			a := askFor("key", 1, 9, time.Minute)[0]
			a.Receipt = core.Receipt{At: 1, Serial: 3}
			return a
		}
		for name, call := range map[string]func(*Store) error{
			"Peek": func(s *Store) error {
				a := ask()
				_, err := s.Peek(context.Background(), &a)
				return err
			},
			"Reset":  func(s *Store) error { return s.Reset(context.Background(), "rule", "key") },
			"Refund": func(s *Store) error { return s.Refund(context.Background(), []core.Ask{ask()}) },
		} {
			s, start := New((&fakeServer{hook: block(hang)}).client()), time.Now()
			if err := call(s); !errors.Is(err, ErrUnavailable) || time.Since(start) != DefaultTimeout {
				t.Errorf("%s: %v after %v, want ErrUnavailable after %v", name, err, time.Since(start), DefaultTimeout)
			}
		}
	})
}

func TestCallsThatHangAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		s := New((&fakeServer{hook: block(hang)}).client())
		var wait sync.WaitGroup
		var atOnce atomic.Int64
		for range 3 * mostCalls {
			wait.Go(func() {
				if h := decideTimed(context.Background(), s, "key"); h.took == 0 && errors.Is(h.err, ErrUnavailable) {
					atOnce.Add(1)
				}
			})
		}
		wait.Wait()
		if got := s.guard.underway.Load(); got != mostCalls || atOnce.Load() != 2*mostCalls {
			t.Errorf("%d calls hang and %d requests were turned away, want %d and %d", got, atOnce.Load(), mostCalls, 2*mostCalls)
		}
		close(hang)
	})
}

// TestACrowdIsNoOutage: who is turned away for want of a goroutine says nothing of
// Redis, and a client that is called directly turns nobody away.
func TestACrowdIsNoOutage(t *testing.T) {
	for _, obeys := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			server := &fakeServer{hook: func(context.Context, fakeCall) error {
				time.Sleep(time.Millisecond)
				return nil
			}}
			s := New(server.client(), Config{ObeysDeadlines: obeys})
			var wait sync.WaitGroup
			var away atomic.Int64
			for i := range 3 * mostCalls {
				wait.Go(func() {
					if _, err := s.Decide(context.Background(), askFor(fmt.Sprint(i), 1, 9, time.Minute)); err != nil {
						away.Add(1)
					}
				})
			}
			wait.Wait()
			want := int64(2 * mostCalls)
			if obeys {
				want = 0
			}
			if _, err := s.Decide(context.Background(), askFor("key", 1, 9, time.Minute)); err != nil || s.Stats().Down || away.Load() != want {
				t.Errorf("obeys %t: %d turned away, want %d; the next: %v, down: %t", obeys, away.Load(), want, err, s.Stats().Down)
			}
		})
	}
}

// TestRequestsThatEndEarlyDoNotHideAnOutage: they are held for their own time, a
// few times; then Redis is known not to answer.
func TestRequestsThatEndEarlyDoNotHideAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New((&fakeServer{hook: func(ctx context.Context, _ fakeCall) error {
			<-ctx.Done()
			return ctx.Err()
		}}).client(), Config{Timeout: time.Second})
		for range 2 * failuresToOpen {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second/2)
			_, _ = s.Decide(ctx, askFor("key", 1, 9, time.Minute))
			cancel()
		}
		time.Sleep(time.Second)
		if h := decideTimed(context.Background(), s, "key"); h.took != 0 || !errors.Is(h.err, ErrUnavailable) {
			t.Errorf("held for %v, %v; want ErrUnavailable at once", h.took, h.err)
		}
		time.Sleep(time.Second) // for the probe that it began
	})
}

func TestEndedRequestsSayNothingOfRedis(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &fakeServer{hook: func(context.Context, fakeCall) error {
			time.Sleep(20 * time.Millisecond)
			return nil
		}}
		s := New(server.client())
		cause := errors.New("the client hung up")
		for range 100 {
			ctx, cancel := context.WithCancelCause(context.Background())
			time.AfterFunc(5*time.Millisecond, func() { cancel(cause) })
			if h := decideTimed(ctx, s, "key"); h.took != 5*time.Millisecond || !errors.Is(h.err, cause) || errors.Is(h.err, ErrUnavailable) {
				t.Fatalf("held for %v, %v; want 5ms and the request's own cause", h.took, h.err)
			}
		}
		if h := decideTimed(context.Background(), s, "key"); h.err != nil || s.Stats().Down {
			t.Errorf("after 100 requests that hung up: %v, down: %t; want neither", h.err, s.Stats().Down)
		}
		calls := server.count("decide")
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if h := decideTimed(ctx, s, "key"); !errors.Is(h.err, context.Canceled) || server.count("decide") != calls {
			t.Errorf("a request that had ended before: %v, and %d calls; want none", h.err, server.count("decide")-calls)
		}
	})
}

func TestCallGoesOnAfterItsRequestHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan error, 1)
		s := New((&fakeServer{hook: func(ctx context.Context, _ fakeCall) error {
			time.Sleep(20 * time.Millisecond)
			ended <- ctx.Err()
			return nil
		}}).client())
		ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		defer cancel()
		decideTimed(ctx, s, "key")
		if err := <-ended; err != nil {
			t.Errorf("the client's context ended with the request: %v; a broken-off call can break its connection", err)
		}
	})
}

// RL-116: a store can be made, and used, before its Redis is there.
func TestBreakerOpensAndClosesAndTellsSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &fakeServer{hook: refuse}
		s := New(server.client())
		told := make(chan error, 9)
		s.Watch(func(err error) { told <- err })
		for range failuresToOpen {
			decideTimed(context.Background(), s, "key")
		}
		if !s.Stats().Down || len(told) != 1 || !errors.Is(<-told, ErrUnavailable) {
			t.Fatalf("after %d failures: down: %t; want to be told so once", failuresToOpen, s.Stats().Down)
		}
		for range 100 { // ten seconds
			decideTimed(context.Background(), s, "key")
			time.Sleep(100 * time.Millisecond)
		}
		if got := server.count("decide"); got != failuresToOpen {
			t.Errorf("%d requests asked Redis, want only the %d that failed first", got, failuresToOpen)
		}
		if got := server.count("probe"); got < 9 || got > 14 {
			t.Errorf("%d probes in ten seconds, want about one a second", got)
		}
		server.does(nil)
		back := time.Now()
		for decideTimed(context.Background(), s, "key").err != nil {
			time.Sleep(10 * time.Millisecond)
		}
		if took := time.Since(back); took > longestProbe+20*time.Millisecond {
			t.Errorf("RL-116: counted in Redis %v after it came back, want within %v", took, longestProbe)
		}
		synctest.Wait()
		if s.Stats().Down || len(told) != 1 || <-told != nil {
			t.Errorf("back: down: %t; want to be told so by nil, once", s.Stats().Down)
		}
	})
}

func TestOnlyFailuresInARowOpenTheBreaker(t *testing.T) {
	server := &fakeServer{}
	s := New(server.client())
	for range 20 {
		server.does(refuse)
		for range failuresToOpen - 1 {
			if h := decideTimed(context.Background(), s, "key"); !errors.Is(h.err, ErrUnavailable) {
				t.Fatal(h.err)
			}
		}
		server.does(nil)
		if h := decideTimed(context.Background(), s, "key"); h.err != nil {
			t.Fatalf("after %d failures and a success between each: %v", failuresToOpen-1, h.err)
		}
	}
}

// A late failure of a call that began before the breaker closed again says
// nothing of the server that is back.
func TestFailuresOfAnEarlierTermDoNotCount(t *testing.T) {
	b := &breaker{}
	term, _, _ := b.enter()
	for range failuresToOpen {
		b.failed(term, errSilent)
	}
	b.close()
	for range failuresToOpen {
		if b.failed(term, errSilent) {
			t.Fatal("opened again by calls from before")
		}
	}
}

func TestFaultsOfTheConfigurationSurfaceAndOpenNothing(t *testing.T) {
	s := New((&fakeServer{hook: func(context.Context, fakeCall) error { return errors.New("NOPERM no permission to run evalsha") }}).client())
	for range 10 * failuresToOpen {
		if h := decideTimed(context.Background(), s, "key"); !errors.Is(h.err, core.ErrConfig) || errors.Is(h.err, ErrUnavailable) {
			t.Fatalf("%v, want a fault of the configuration every time", h.err)
		}
	}
}

func TestProbeThatIsRefusedForTheConfigurationClosesTheBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &fakeServer{hook: refuse}
		s := New(server.client())
		for range failuresToOpen {
			decideTimed(context.Background(), s, "key")
		}
		server.does(func(context.Context, fakeCall) error { return errors.New("NOAUTH Authentication required.") })
		time.Sleep(firstProbe)
		decideTimed(context.Background(), s, "key") // has it probed
		synctest.Wait()
		if h := decideTimed(context.Background(), s, "key"); !errors.Is(h.err, core.ErrConfig) {
			t.Errorf("%v, want the fault to surface: the server answers", h.err)
		}
	})
}

func TestPanicOfTheClientIsAFault(t *testing.T) {
	for _, obeys := range []bool{false, true} {
		s := New((&fakeServer{hook: func(context.Context, fakeCall) error { panic("multi key command with different key slots") }}).client(), Config{ObeysDeadlines: obeys})
		if h := decideTimed(context.Background(), s, "key"); !errors.Is(h.err, core.ErrConfig) {
			t.Errorf("obeys %t: %v, want a fault", obeys, h.err)
		}
	}
}

// A cluster loses a part of its slots with a node. Keys of the others must not
// wait for that, nor be counted elsewhere.
func TestOneNodeOfAClusterFailsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lost, kept := recordKey(DefaultPrefix, "rule", "a"), recordKey(DefaultPrefix, "rule", "b")
		if slotOf(lost)*sections/hashSlots == slotOf(kept)*sections/hashSlots {
			t.Fatal("the keys of the test share a breaker")
		}
		server := &fakeServer{cluster: true, hook: func(ctx context.Context, c fakeCall) error {
			if slotOf(c.keys[0]) == slotOf(lost) {
				<-ctx.Done()
				return ctx.Err()
			}
			return nil
		}}
		s := New(server.client(), Config{Cluster: true})
		told := make(chan error, 9)
		s.Watch(func(err error) { told <- err })
		for range 2 * failuresToOpen {
			decideTimed(context.Background(), s, "a")
			if h := decideTimed(context.Background(), s, "b"); h.err != nil {
				t.Fatalf("a key of another node: %v", h.err)
			}
		}
		if h := decideTimed(context.Background(), s, "a"); h.took != 0 || !errors.Is(h.err, ErrUnavailable) || len(told) != 1 {
			t.Errorf("a key of the lost node: held for %v, %v, told %d times; want it known as lost", h.took, h.err, len(told))
		}
	})
}

type obedient struct{ Func }

func (obedient) Options() *struct{ ContextTimeoutEnabled bool } {
	return &struct{ ContextTimeoutEnabled bool }{true}
}

type disobedient struct{ Func }

func (disobedient) Options() *struct{ ContextTimeoutEnabled bool } {
	return &struct{ ContextTimeoutEnabled bool }{}
}

type odd struct{ Func }

func (odd) Options(int) string { return "" }

type clustered struct{ Func }

func (clustered) ReloadState(context.Context) {}

type redisRing struct{ Func }

func (redisRing) SetAddrs(map[string]string) {}

func TestWhatIsKnownOfAClient(t *testing.T) {
	f := (&fakeServer{}).client()
	for _, c := range []struct {
		phrase string
		client any
		want   known
	}{
		{"a function", f, known{}},
		{"a client with ContextTimeoutEnabled", obedient{f}, known{obeys: true}},
		{"a client without", disobedient{f}, known{}},
		{"a client with other Options", odd{f}, known{}},
		{"a cluster client", clustered{f}, known{cluster: true}},
		{"a ring, which has several servers too", redisRing{f}, known{cluster: true}},
		{"nil", nil, known{}},
	} {
		if got := knownOf(c.client); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.phrase, got, c.want)
		}
	}
	if s := New(obedient{f}); !s.guard.trusted.Load() {
		t.Error("a client that obeys deadlines is not called directly")
	}
	if s := New(clustered{f}); !s.cluster.Load() || !s.guard.follows {
		t.Error("a cluster client is not known as one")
	}
}

func TestDirectCallsUseNoGoroutine(t *testing.T) {
	for _, obeys := range []bool{false, true} {
		own := goroutine()
		var seen string
		s := New((&fakeServer{hook: func(context.Context, fakeCall) error {
			seen = goroutine()
			return nil
		}}).client(), Config{ObeysDeadlines: obeys})
		decideOn(t, s, askFor("key", 1, 9, time.Minute))
		if (seen == own) != obeys {
			t.Errorf("a client that obeys: %t; called by %s, the request is %s", obeys, seen, own)
		}
	}
}

func TestClientThatBreaksItsWordIsNotTrustedForAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &fakeServer{hook: func(context.Context, fakeCall) error {
			time.Sleep(5 * time.Second)
			return errors.New("i/o timeout")
		}}
		s := New(server.client(), Config{ObeysDeadlines: true})
		var wait sync.WaitGroup
		wait.Go(func() { decideTimed(context.Background(), s, "key") }) // it held this one
		time.Sleep(2*DefaultTimeout + 1)
		if h := decideTimed(context.Background(), s, "key"); h.took != DefaultTimeout {
			t.Errorf("held for %v after the client broke its word, want %v", h.took, DefaultTimeout)
		}
		wait.Wait()
		time.Sleep(distrusted)
		if h := decideTimed(context.Background(), s, "key"); h.took != 5*time.Second {
			t.Errorf("held for %v a minute later, want to see the client called directly", h.took)
		}
	})
}

func TestWatchersAreToldOfTheFirstAndLastBreaker(t *testing.T) {
	var told []bool
	g := &guard{}
	g.watch(func(err error) { told = append(told, err == nil) })
	for _, by := range []int{1, 1, -1, 1, -1, -1} {
		g.changed(by, map[bool]error{true: errSilent}[by > 0])
	}
	if want := []bool{false, true}; !slices.Equal(told, want) {
		t.Errorf("told that it is back: %v, want %v", told, want)
	}
}
