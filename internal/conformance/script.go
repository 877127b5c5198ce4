package conformance

import (
	"slices"
	"strings"
	"testing"

	"github.com/slidegate/slidegate/core"
)

// A script is a scenario of requests one after another, on one limiter that is
// mounted on the group.
type script struct {
	name   string
	config core.Config
	steps  []step
}

// A step is a request and what its response must tell, in the words of
// response.facts; what want does not name may be anything.
type step struct {
	at     float64 // seconds on the clock, forth or back
	times  int     // 0 means once
	client string
	cost   string
	method string
	want   string
}

func (sc script) run(tb testing.TB, a Adapter) {
	s := newStage(tb)
	s.serve(a, Setup{Group: []*core.Limiter{s.limiter(sc.config)}})
	for _, st := range sc.steps {
		s.play(st)
	}
}

func (s *stage) play(st step) {
	s.tb.Helper()
	s.clock.set(st.at)
	for range max(1, st.times) {
		s.expect(request{client: st.client, cost: st.cost, method: st.method}, st.want)
	}
}

// expect sends a request and compares what the response tells.
func (s *stage) expect(q request, want string) {
	s.tb.Helper()
	got := s.do(q).facts()
	for word := range strings.FieldsSeq(want) {
		if !slices.Contains(got, word) {
			s.tb.Errorf("at %v, %v: got %q, want %q", s.clock.now().Sub(origin), q, strings.Join(got, " "), want)
			return
		}
	}
}

// each returns steps of one kind at several instants.
func each(want string, instants ...float64) []step {
	var steps []step
	for _, at := range instants {
		steps = append(steps, step{at: at, want: want})
	}
	return steps
}
