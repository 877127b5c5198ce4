package conformance

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/slidegate/slidegate/core"
)

func crowdPlays() []scenario {
	return []scenario{
		{"RL-011 requests that arrive together get exactly the quota", together},
		{"64 clients at once get exactly the quota", crowdOnOneKey},
		{"RL-013 a slow handler holds no other request up", slowHandler},
	}
}

// crowd runs a function n times at once and waits for all.
func (s *stage) crowd(n int, f func(i int)) {
	var ready, done sync.WaitGroup
	start := make(chan struct{})
	ready.Add(n)
	for i := range n {
		done.Go(func() {
			ready.Done()
			<-start
			f(i)
		})
	}
	ready.Wait()
	close(start)
	done.Wait()
}

// statuses sends requests at once and counts the answers by status.
func (s *stage) statuses(n int, of func(i int) request) map[int]int {
	var mu sync.Mutex
	counts := map[int]int{}
	s.crowd(n, func(i int) {
		status := s.send(of(i)).status
		mu.Lock()
		defer mu.Unlock()
		counts[status]++
	})
	return counts
}

func together(tb testing.TB, a Adapter) {
	s := newStage(tb)
	s.serve(a, Setup{Group: []*core.Limiter{s.limited(core.PerSecond(25))}})
	for round := range 4 {
		got := s.statuses(50, func(int) request { return request{client: fmt.Sprint("round-", round)} })
		if got[200] != 25 || got[429] != 25 {
			tb.Errorf("statuses %v, want 25 of 200 and 25 of 429", got)
		}
	}
}

func crowdOnOneKey(tb testing.TB, a Adapter) {
	const clients, requests, quota = 64, 6, 100
	s := newStage(tb)
	s.serve(a, Setup{
		App:   []*core.Limiter{s.limited(core.PerMinute(1000), core.PerHour(quota))},
		Group: []*core.Limiter{s.limited(core.PerMinute(quota).Exact())},
	})
	var served atomic.Int64
	s.crowd(clients, func(int) {
		for range requests {
			if s.send(request{}).status == 200 {
				served.Add(1)
			}
		}
	})
	if served.Load() != quota || s.hits.Load() != quota {
		tb.Errorf("%d served and %d runs of the handler, want %d", served.Load(), s.hits.Load(), quota)
	}
}

func slowHandler(tb testing.TB, a Adapter) {
	s := newStage(tb)
	entered, leave := make(chan struct{}), make(chan struct{})
	release := sync.OnceFunc(func() { close(leave) })
	defer release()
	s.serve(a, Setup{Group: []*core.Limiter{s.limited(core.PerMinute(100))}, Handle: func(c Call) Reply {
		if c.Header("X-Slow") != "" {
			close(entered)
			<-leave
		}
		return plain(200, "ok\n")
	}})
	slow := make(chan response, 1)
	go func() { slow <- s.send(request{client: "a", header: [][2]string{{"X-Slow", "yes"}}}) }()
	select {
	case <-entered:
	case <-time.After(patienceOf(tb)):
		tb.Fatal("the slow handler was not reached")
	}
	for _, client := range []string{"a", "b"} {
		if r := s.send(request{client: client}); r.status != 200 {
			tb.Errorf("client %s: status %d while another handler is slow", client, r.status)
		}
	}
	select {
	case r := <-slow:
		tb.Fatalf("the slow handler answered %d before it was let go", r.status)
	default:
	}
	release()
	if r := <-slow; r.status != 200 {
		tb.Errorf("the slow handler answered %d", r.status)
	}
}
