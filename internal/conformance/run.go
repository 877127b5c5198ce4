package conformance

import "testing"

// A scenario is one thing that an adapter must get right.
type scenario struct {
	name string
	run  func(testing.TB, Adapter)
}

// Run runs all scenarios against an adapter, each as a subtest.
func Run(t *testing.T, a Adapter) {
	t.Helper()
	for _, sc := range scenarios() {
		t.Run(sc.name, func(t *testing.T) { sc.run(t, a) })
	}
}

func scenarios() []scenario {
	var all []scenario
	for _, sc := range scripts() {
		all = append(all, scenario{sc.name, sc.run})
	}
	for _, tr := range transcripts() {
		all = append(all, scenario{"golden " + tr.name, tr.run})
	}
	return append(all, plays()...)
}
