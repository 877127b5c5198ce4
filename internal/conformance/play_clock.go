package conformance

import (
	"math"
	"testing"

	"github.com/slidegate/slidegate/core"
)

func clockPlays() []scenario {
	return []scenario{
		{"RL-022 a client as fast as can be gets what two counters promise", saturated},
		{"RL-041 a jumping clock refuses nobody and gives no free quota", jumpingClock},
		{"the wait that OnDenied is told is exact", exactWait},
	}
}

// saturated asks every 5 ms until it is refused, from 0.45 s into a slot on.
func saturated(tb testing.TB, a Adapter) {
	const quota = 1000
	s := newStage(tb)
	s.serve(a, Setup{Group: []*core.Limiter{s.limited(core.PerSecond(quota))}})
	var served [600]int // by 5 ms since 0.45 s
	for i := range served {
		s.clock.set(0.45 + float64(i)*0.005)
		for s.do(request{}).status == 200 {
			served[i]++
		}
	}
	count := func(from int) (n int) {
		for _, units := range served[from:min(from+200, len(served))] {
			n += units
		}
		return n
	}
	first, second, third, most := count(0), count(200), count(400), 0
	for from := range served {
		most = max(most, count(from))
	}
	if served[0] != quota {
		tb.Errorf("%d admitted at one instant, want the quota", served[0])
	}
	if most > 2*quota-1 {
		tb.Errorf("%d admitted in a second, want at most twice the quota less one", most)
	}
	if first < 1440 || first > 1450 || math.Abs(float64(second-quota)) > 50 || math.Abs(float64(third-quota)) > 50 {
		tb.Errorf("%d, %d and %d admitted second by second, want about 1445, 1000 and 1000", first, second, third)
	}
}

// jumpingClock is wrong by 11 s every other three seconds.
func jumpingClock(tb testing.TB, a Adapter) {
	s := newStage(tb)
	s.serve(a, Setup{Group: []*core.Limiter{s.limited(core.PerMinute(5))}})
	wall := func(second int) float64 {
		jump := 11 * (second / 3 % 2)
		return float64(second + jump)
	}
	for _, second := range []int{0, 3, 6} {
		s.clock.set(wall(second))
		s.expect(request{client: "calm"}, "200")
	}
	served := 0
	for second := range 60 {
		s.clock.set(wall(second))
		if s.do(request{client: "busy"}).status == 200 {
			served++
		}
	}
	if served < 5 || served > 9 {
		tb.Errorf("%d of 60 requests admitted, want 5 to 9", served)
	}
}

func exactWait(tb testing.TB, a Adapter) {
	s := newStage(tb)
	waits := make(chan float64, 8)
	s.serve(a, Setup{
		Group: []*core.Limiter{s.limited(core.PerMinute(7), core.PerHour(7).Exact())},
		OnDenied: func(d core.Decision, _ func(string) string) Reply {
			waits <- d.RetryAfter.Seconds()
			return plain(403, "")
		},
	})
	s.clock.set(1.5)
	for range 7 {
		s.send(request{})
	}
	s.clock.set(2.5)
	if got := s.send(request{}).status; got != 403 {
		tb.Fatalf("status %d, want the denial of OnDenied", got)
	}
	admission := 2.5 + <-waits
	s.clock.set(admission)
	s.clock.nanoseconds.Add(-1)
	if got := s.send(request{}).status; got != 403 {
		tb.Errorf("a nanosecond before the wait is over: status %d", got)
	}
	s.clock.set(admission)
	if got := s.send(request{}).status; got != 200 {
		tb.Errorf("when the wait is over: status %d", got)
	}
}
