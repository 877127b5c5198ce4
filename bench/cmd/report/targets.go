package main

import (
	"fmt"
	"slices"

	"github.com/slidegate/slidegate/bench/internal/peers"
	"github.com/slidegate/slidegate/core"
)

// A target is a promise with a number, and what was found.
type target struct {
	promise string
	detail  string // which limiter was the fastest, or the like
	most    float64
	below   bool // it must be less than that
	found   spread
	unit    string
}

// verdict compares.
func (t target) verdict() string {
	switch {
	case !t.found.known:
		return "not measured"
	case t.below && t.found.median < t.most, !t.below && t.found.median <= t.most:
		return "met"
	}
	return "**not met**"
}

func (t target) wanted() string {
	if t.below {
		return "below " + number(t.most, t.unit)
	}
	return "at most " + number(t.most, t.unit)
}

// The rooms and distinct keys that are measured, as the benchmarks name them.
const (
	defaultRoom = core.DefaultMaxKeys
	largeRoom   = 1_048_576
	million     = 1_000_000
	tenMillion  = 10_000_000
)

// targets returns all of them.
func (f *figures) targets() []target {
	return slices.Concat(f.decisionTargets(), f.floodTargets(), f.middlewareTargets(), f.memoryTargets())
}

// situation is a column of the decisions.
type situation struct {
	keys, title string
	processors  int
}

func situations() []situation {
	return []situation{
		{"hot", "one hot key", 1}, {"hot", "one hot key", 2},
		{"zipf", "Zipf", 1}, {"zipf", "Zipf", 2},
		{"hot-denied", "denied", 1}, {"hot-denied", "denied", 2},
	}
}

func (s situation) String() string {
	if s.processors == 1 {
		return s.title + ", 1 processor"
	}
	return fmt.Sprintf("%s, %d processors", s.title, s.processors)
}

func (s situation) of(limiter string) string { return decision(s.keys, limiter, s.processors) }

func (f *figures) decisionTargets() (all []target) {
	var allocs []float64
	for _, s := range situations()[:4] {
		best := f.fastest(deciders(), s.of)
		all = append(all, target{
			promise: "decision against the fastest other, " + s.String(), detail: best,
			most: 1, below: true, found: f.ratio(s.of(peers.Ours), s.of(best)),
		})
		allocs = append(allocs, f.of(s.of(peers.Ours), allocations).greatest)
	}
	for _, s := range situations()[:4] {
		all = append(all, target{
			promise: "decision against the floor, " + s.String(),
			most:    1.5, found: f.ratio(s.of(peers.Ours), s.of(peers.Floor)),
		})
	}
	for _, s := range situations()[:4] {
		all = append(all, target{
			promise: "two limits in a rule against one, " + s.String(),
			most:    1.4, found: f.ratio(s.of(peers.TwoLimits), s.of(peers.Ours)),
		})
	}
	return append(all, target{promise: "allocations of a decision", most: 0, found: f.worst(allocs)})
}

// worst returns the greatest of some values as a spread, or none if nothing was
// measured.
func (f *figures) worst(values []float64) spread {
	if len(f.values) == 0 || len(values) == 0 {
		return spread{}
	}
	return spreadOf([]float64{slices.Max(values)})
}

func (f *figures) floodTargets() (all []target) {
	for _, processors := range []int{1, 2} {
		for _, room := range []int{defaultRoom, largeRoom} {
			all = append(all, target{
				promise: fmt.Sprintf("full with %s keys, %s: a new key against a known one", grouped(room), plural(processors, "processor")),
				most:    7, found: f.ratio(full(room, "new", peers.Ours, processors), full(room, "known", peers.Ours, processors)),
			})
		}
		all = append(all, target{
			promise: fmt.Sprintf("a new key with room for %s against %s, %s", grouped(largeRoom), grouped(defaultRoom), plural(processors, "processor")),
			most:    1.5, found: f.ratio(full(largeRoom, "new", peers.Ours, processors), full(defaultRoom, "new", peers.Ours, processors)),
		})
	}
	return all
}

func (f *figures) middlewareTargets() []target {
	against := func(framework, outcome string, others []string, most float64, below bool) target {
		of := func(limiter string) string { return service(framework, outcome, limiter) }
		best := f.fastest(others, of)
		return target{
			promise: fmt.Sprintf("middleware on %s, %s", framework, outcome), detail: best,
			most: most, below: below, found: f.ratio(of(peers.Ours), of(best)),
		}
	}
	allowed := service(peers.NetHTTP, "allowed", peers.Ours)
	return []target{
		against(peers.NetHTTP, "allowed", others(peers.NetHTTP), 0.25, false),
		{promise: "allocations of it", most: 2, found: f.of(allowed, allocations)},
		against(peers.NetHTTP, "denied", others(peers.NetHTTP), 1.0/3, false),
		against(peers.Echo, "allowed", others(peers.Echo), 1, true),
		against(peers.Fiber, "allowed", others(peers.Fiber), 1, true),
	}
}

func (f *figures) memoryTargets() []target {
	const most = 24e6
	return []target{
		{promise: "heap after 1,000,000 distinct keys with room for 65,536", most: most, unit: "MB", found: f.of(memory(million, peers.Ours), heapBytes)},
		{promise: "heap after 10,000,000 distinct keys", most: most, unit: "MB", found: f.of(memory(tenMillion, peers.Ours), heapBytes)},
		{promise: "a key of 15 bytes at capacity, one smooth(1) limit", most: 260, unit: "B", found: f.of(memory(defaultRoom, peers.Ours), bytesPerKey)},
	}
}

// deciders returns the names of the other limiters that decide without HTTP.
func deciders() (names []string) {
	for _, l := range peers.All() {
		if l.Decider != nil && !ours(l.Name) && l.Name != peers.Floor {
			names = append(names, l.Name)
		}
	}
	return names
}

// others returns the names of the other limiters on a framework.
func others(framework string) (names []string) {
	for _, s := range peers.Services() {
		if s.Framework == framework && !ours(s.Limiter) && peers.Denies(s.Limiter) {
			names = append(names, s.Limiter)
		}
	}
	return names
}

func ours(limiter string) bool {
	return limiter == peers.Ours || limiter == peers.TwoLimits || limiter == peers.WithoutHeaders
}
