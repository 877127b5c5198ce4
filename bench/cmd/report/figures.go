package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// The units of measurement, as package benchfmt tidies them.
const (
	seconds     = "sec/op"
	allocations = "allocs/op"
	heapBytes   = "heap-B"
	bytesPerKey = "B/key"
)

// figures are what was measured: by benchmark and unit, one value a round.
type figures struct {
	values map[string]map[string][]float64
	cpu    string
	// Profiles of a decision, and of a request that is served.
	decided, served []function
}

func newFigures() *figures { return &figures{values: map[string]map[string][]float64{}} }

// read adds the output of a round: of several tries of a benchmark the least
// value stands, which is the one that the machine disturbed least.
func (f *figures) read(r io.Reader) error {
	round := map[string]map[string]float64{}
	for results := benchfmt.NewReader(r, "benchmarks"); results.Scan(); {
		switch record := results.Result().(type) {
		case *benchfmt.SyntaxError:
			return record
		case *benchfmt.Result:
			f.cpu = strings.TrimSpace(record.GetConfig("cpu"))
			keepLeast(round, record)
		}
	}
	for name, units := range round {
		if f.values[name] == nil {
			f.values[name] = map[string][]float64{}
		}
		for unit, value := range units {
			f.values[name][unit] = append(f.values[name][unit], value)
		}
	}
	return nil
}

func keepLeast(round map[string]map[string]float64, r *benchfmt.Result) {
	name := nameOf(r.Name)
	if round[name] == nil {
		round[name] = map[string]float64{}
	}
	for _, v := range r.Values {
		if least, ok := round[name][v.Unit]; !ok || v.Value < least {
			round[name][v.Unit] = v.Value
		}
	}
}

// nameOf returns a benchmark's name that always ends with the processors.
func nameOf(n benchfmt.Name) string {
	name := n.String()
	if _, parts := n.Parts(); len(parts) == 0 || !strings.HasPrefix(string(parts[len(parts)-1]), "-") {
		name += "-1"
	}
	return name
}

// names of the benchmarks.

func decision(keys, limiter string, processors int) string {
	return fmt.Sprintf("Decision/keys=%s/limiter=%s-%d", keys, limiter, processors)
}

func full(room int, requests, limiter string, processors int) string {
	return fmt.Sprintf("Full/room=%d/requests=%s/limiter=%s-%d", room, requests, limiter, processors)
}

func service(framework, outcome, limiter string) string {
	return fmt.Sprintf("Middleware/framework=%s/outcome=%s/limiter=%s-1", framework, outcome, limiter)
}

func memory(distinct int, limiter string) string {
	return fmt.Sprintf("Memory/distinct=%d/limiter=%s-2", distinct, limiter)
}

// A spread is the median of a value over the rounds, and its least and greatest.
// It is not known if no round measured it.
type spread struct {
	median, least, greatest float64
	known                   bool
}

func spreadOf(values []float64) spread {
	if len(values) == 0 {
		return spread{}
	}
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return spread{(sorted[(n-1)/2] + sorted[n/2]) / 2, sorted[0], sorted[n-1], true}
}

// of returns a figure of a benchmark.
func (f *figures) of(name, unit string) spread { return spreadOf(f.values[name][unit]) }

// ratio returns the time of a benchmark as a share of another's, compared round
// by round.
func (f *figures) ratio(name, other string) spread {
	times, others := f.values[name][seconds], f.values[other][seconds]
	var ratios []float64
	for i := range min(len(times), len(others)) {
		ratios = append(ratios, times[i]/others[i])
	}
	return spreadOf(ratios)
}

// fastest returns which of the limiters takes the least time, given the name of
// each one's benchmark.
func (f *figures) fastest(limiters []string, benchmark func(limiter string) string) (limiter string) {
	least := math.Inf(1)
	for _, l := range limiters {
		if s := f.of(benchmark(l), seconds); s.known && s.median < least {
			limiter, least = l, s.median
		}
	}
	return limiter
}
