package conformance

import (
	"testing"

	"github.com/slidegate/slidegate/core"
)

func chainPlays() []scenario {
	return []scenario{
		{"RL-096 fields of stacked limiters stand there once", stackedOnce},
		{"RL-100 one limiter on the application and a group counts once", countsOnce},
		{"RL-100 two limiters count each once", countsEach},
		{"RL-100 one limiter on sibling routes counts each request", siblings},
	}
}

// stackedOnce relies on the promises that are checked of every response.
func stackedOnce(tb testing.TB, a Adapter) {
	for _, format := range []core.HeaderFormat{core.HeadersDraft11, core.HeadersDraft7, core.HeadersDraft6} {
		s := newStage(tb)
		level := func(limits ...core.Limit) []*core.Limiter {
			c := by(limits...)
			c.Headers, c.LegacyHeaders = format, true
			return []*core.Limiter{s.limiter(c), s.limiter(c)}
		}
		s.serve(a, Setup{App: level(core.PerMinute(100)), Group: level(core.PerMinute(3), core.PerHour(4)), Route: level(core.PerSecond(2))})
		for _, want := range []string{"200", "200", "429 retry=2", "429 retry=80"} {
			s.expect(request{path: "/api/items/1"}, want)
		}
	}
}

func countsOnce(tb testing.TB, a Adapter) {
	s := newStage(tb)
	l := []*core.Limiter{s.limited(core.PerMinute(10))}
	s.serve(a, Setup{App: l, Group: l})
	for i := range 10 {
		s.expect(request{}, "200 r="+string(rune('9'-i)))
	}
	s.expect(request{}, "429 r=0")
}

func countsEach(tb testing.TB, a Adapter) {
	s := newStage(tb)
	s.serve(a, Setup{
		App: []*core.Limiter{s.limited(core.PerMinute(3))}, Group: []*core.Limiter{s.limited(core.PerMinute(3))},
	})
	for _, want := range []string{"200 r=2,2", "200 r=1,1", "200 r=0,0", "429 r=0"} {
		s.expect(request{}, want)
	}
}

func siblings(tb testing.TB, a Adapter) {
	s := newStage(tb)
	s.serve(a, Setup{Route: []*core.Limiter{s.limited(core.PerMinute(2))}})
	s.expect(request{path: "/login"}, "200 r=1")
	s.expect(request{path: "/api/items/1"}, "200 r=0")
	s.expect(request{path: "/login"}, "429")
}
