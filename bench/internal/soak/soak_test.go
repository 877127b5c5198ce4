package soak_test

import (
	"testing"
	"time"

	"github.com/slidegate/slidegate/bench/internal/soak"
)

// TestSoakLeavesNothing: a flood by all processors leaves no goroutine, and
// a heap that does not grow once the map is full.
func TestSoakLeavesNothing(t *testing.T) {
	p := soak.Plan{For: 10 * time.Second, MaxKeys: 4096, Tell: func(r soak.Reading) { t.Log(r) }}
	if testing.Short() {
		p.For = 3 * time.Second
	}
	result := soak.Run(t.Context(), p)
	for _, fault := range result.Faults() {
		t.Error(fault)
	}
}

func TestFaults(t *testing.T) {
	steady := func(heaps ...uint64) []soak.Reading {
		var all []soak.Reading
		for _, heap := range heaps {
			r := soak.Reading{Decisions: 10, Denied: 5, Heap: heap}
			r.Memory.LiveEvictions = 1
			all = append(all, r)
		}
		return all
	}
	idle := steady(1, 1, 1, 1, 1, 1, 1, 1, 1)
	idle[8].Memory.LiveEvictions = 0
	for _, c := range []struct {
		phrase string
		result soak.Result
		faults int
	}{
		{"a heap that grows in the warm-up only", soak.Result{Readings: steady(1, 2, 3, 4, 50, 100, 101, 100, 101)}, 0},
		{"a heap that grows after it", soak.Result{Readings: steady(1, 1, 1, 1, 1, 100, 100, 130, 130)}, 1},
		{"goroutines", soak.Result{Readings: steady(1, 1, 1, 1, 1, 1, 1, 1, 1), Goroutines: 2}, 1},
		{"no flood", soak.Result{Readings: idle}, 1},
		{"too few readings", soak.Result{Readings: steady(1, 1, 1, 1, 1, 1)}, 1},
	} {
		if got := c.result.Faults(); len(got) != c.faults {
			t.Errorf("%s: faults %q, want %d", c.phrase, got, c.faults)
		}
	}
}
