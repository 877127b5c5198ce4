package main

import (
	"fmt"
	"slices"

	"github.com/slidegate/slidegate/bench/internal/redispeers"
)

// A situation is a limiter under a number of callers.
type situation struct {
	limiter string
	callers int
}

// figures are what was measured.
type figures struct {
	perSecond  map[situation][]float64 // decisions, one value a round
	assaults   []assault
	footprints map[string]redispeers.Footprint
	server     string // its name and version
	load       string // of the machine before it began
}

// An assault is an attack and what it came to without and with the deny cache.
type assault struct {
	redispeers.Attack
	without, with redispeers.Attacked
}

// calls returns the calls of Redis a request.
func calls(a redispeers.Attacked) float64 { return float64(a.Calls) / float64(max(a.Requests, 1)) }

// cut returns the share of the calls that the deny cache spared.
func (a assault) cut() float64 { return 1 - calls(a.with)/max(calls(a.without), 1e-9) }

func newFigures() *figures {
	return &figures{perSecond: map[situation][]float64{}, footprints: map[string]redispeers.Footprint{}}
}

func (f *figures) add(limiter string, callers int, perSecond float64) {
	s := situation{limiter, callers}
	f.perSecond[s] = append(f.perSecond[s], perSecond)
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

func (s spread) String() string {
	if !s.known {
		return "–"
	}
	return fmt.Sprintf("%.2f (%.2f–%.2f)", s.median, s.least, s.greatest)
}

// of returns the decisions a second.
func (f *figures) of(limiter string, callers int) spread {
	return spreadOf(f.perSecond[situation{limiter, callers}])
}

// ratio returns the throughput of a limiter as a multiple of another's under as
// many callers, compared round by round.
func (f *figures) ratio(limiter, other string, callers int) spread {
	ours, others := f.perSecond[situation{limiter, callers}], f.perSecond[situation{other, callers}]
	var ratios []float64
	for i := range min(len(ours), len(others)) {
		ratios = append(ratios, ours[i]/others[i])
	}
	return spreadOf(ratios)
}
