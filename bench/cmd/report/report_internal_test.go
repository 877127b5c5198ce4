package main

import (
	"bytes"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/slidegate/slidegate/bench/internal/peers"
)

// output is what rounds of benchmarks print, cut down to what the tests ask for.
func output(lines ...string) string {
	return "goos: linux\ncpu: Fast One\n" + strings.Join(lines, "\n") + "\nPASS\n"
}

func read(t *testing.T, rounds ...string) *figures {
	t.Helper()
	f := newFigures()
	for _, round := range rounds {
		if err := f.read(strings.NewReader(round)); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

func twoRounds(t *testing.T) *figures {
	return read(t, output(
		"BenchmarkDecision/keys=hot/limiter=slidegate \t 100\t 50.0 ns/op\t 0 B/op\t 0 allocs/op",
		"BenchmarkDecision/keys=hot/limiter=slidegate-2 \t 100\t 60.0 ns/op\t 0 B/op\t 0 allocs/op",
		"BenchmarkDecision/keys=hot/limiter=go-limiter \t 100\t 100 ns/op",
		"BenchmarkDecision/keys=hot/limiter=ulule \t 100\t 80 ns/op",
		"BenchmarkMemory/distinct=1000000/limiter=slidegate-2 \t 1\t 5 ns/op\t 20000000 heap-B\t 20.0 B/key",
	), output(
		"BenchmarkDecision/keys=hot/limiter=slidegate \t 100\t 900 ns/op\t 0 B/op\t 0 allocs/op",
		"BenchmarkDecision/keys=hot/limiter=slidegate \t 100\t 150 ns/op\t 0 B/op\t 0 allocs/op",
		"BenchmarkDecision/keys=hot/limiter=go-limiter \t 100\t 150 ns/op",
		"BenchmarkDecision/keys=hot/limiter=ulule \t 100\t 480 ns/op",
	))
}

func TestRatiosCompareWithinARound(t *testing.T) {
	f := twoRounds(t)
	got := f.ratio(decision("hot", peers.Ours, 1), decision("hot", "go-limiter", 1))
	if !got.known || got.least != 0.5 || math.Abs(got.greatest-1) > 1e-9 || math.Abs(got.median-0.75) > 1e-9 {
		t.Errorf("50/100 and 150/150: %+v, want the median 0.75 of 0.5 and 1", got)
	}
	if got := f.ratio(decision("hot", peers.Ours, 1), decision("hot", "echo", 1)); got.known {
		t.Errorf("a limiter that did not run: %+v", got)
	}
	if f.cpu != "Fast One" {
		t.Errorf("the processor is %q", f.cpu)
	}
}

func TestFastestIsByTheMedian(t *testing.T) {
	of := func(limiter string) string { return decision("hot", limiter, 1) }
	if got := twoRounds(t).fastest([]string{"ulule", "go-limiter", "echo"}, of); got != "go-limiter" {
		t.Errorf("the fastest of medians 280, 125 and none is %q", got)
	}
}

func TestVerdicts(t *testing.T) {
	known := func(median float64) spread { return spread{median: median, known: true} }
	for _, c := range []struct {
		phrase string
		target target
		want   string
	}{
		{"at the most", target{most: 1.5, found: known(1.5)}, "met"},
		{"above it", target{most: 1.5, found: known(1.51)}, "**not met**"},
		{"not below", target{most: 1, below: true, found: known(1)}, "**not met**"},
		{"below", target{most: 1, below: true, found: known(0.99)}, "met"},
		{"unknown", target{most: 1}, "not measured"},
	} {
		if got := c.target.verdict(); got != c.want {
			t.Errorf("%s: %q, want %q", c.phrase, got, c.want)
		}
	}
}

// TestTargetsNameWhatIsMeasured: the names that targets ask for are those of
// benchmarks, so that none is silently "not measured".
func TestTargetsNameWhatIsMeasured(t *testing.T) {
	f := newFigures()
	for _, l := range peers.All() {
		if l.Decider == nil {
			continue
		}
		for _, s := range situations() {
			f.values[s.of(l.Name)] = oneSecond()
		}
		for _, processors := range []int{1, 2} {
			for _, room := range []int{defaultRoom, largeRoom} {
				f.values[full(room, "known", l.Name, processors)] = oneSecond()
				f.values[full(room, "new", l.Name, processors)] = oneSecond()
			}
		}
		for _, distinct := range []int{defaultRoom, million, tenMillion} {
			f.values[memory(distinct, l.Name)] = oneSecond()
		}
	}
	for _, s := range peers.Services() {
		f.values[service(s.Framework, "allowed", s.Limiter)] = oneSecond()
		f.values[service(s.Framework, "denied", s.Limiter)] = oneSecond()
	}
	for _, target := range f.targets() {
		if target.verdict() == "not measured" {
			t.Errorf("%s: not measured", target.promise)
		}
	}
}

func oneSecond() map[string][]float64 {
	return map[string][]float64{seconds: {1}, allocations: {0}, heapBytes: {1}, bytesPerKey: {1}}
}

func TestPageShowsTargetsAndVersions(t *testing.T) {
	p := page{figures: twoRounds(t), rounds: 2}
	text := p.markdown()
	for _, want := range []string{
		"Fast One",
		"| decision against the fastest other, one hot key, 1 processor (go-limiter) | below 1.00 | 0.75 (0.50–1.00) | met |",
		"| heap after 1,000,000 distinct keys with room for 65,536 | at most 24.0 MB | 20.0 MB | met |",
		"| heap after 10,000,000 distinct keys | at most 24.0 MB | – | not measured |",
		"| `golang.org/x/time` | v",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(text, "quick run") || !strings.Contains((&page{figures: p.figures, quick: true}).markdown(), "quick run") {
		t.Error("a quick run must say so, and no other")
	}
}

func TestProfileIsDividedIntoParts(t *testing.T) {
	functions := functionsOf([]byte(`File: bench.test
Showing nodes accounting for 5.03s, 90.63% of 5.55s total
      flat  flat%   sum%        cum   cum%
     0.80s 40.00% 16.40%      0.91s 16.40%  runtime.nanotime (inline)
     0.40s 20.00% 33.07%      0.44s  7.93%  aeshashbody
     0.20s 10.00% 25.05%      4.55s 82.00%  github.com/slidegate/slidegate/core.(*Memory).decide
     0.20s 10.00% 47.05%      0.20s 10.00%  github.com/slidegate/slidegate/core.(*gauge).assess
     0.40s 20.00% 49.05%      0.40s 20.00%  testing.(*PB).Next
`))
	if got := within(functions, "github.com/slidegate/slidegate/core.(*Memory).decide"); got != 0.82 {
		t.Errorf("with all that it calls decide takes %v, want 0.82", got)
	}
	want := map[int]float64{0: 0.5, 1: 0.25, 4: 0.125, 5: 0.125}
	for i, got := range divide(functions) {
		if math.Abs(got-want[i]) > 1e-9 {
			t.Errorf("%s: %v, want %v", parts[i].name, got, want[i])
		}
	}
}

func TestContentionHasARowForEveryMachine(t *testing.T) {
	var p page
	p.contention(100)
	text := p.b.String()
	if rows := strings.Count(text, "\n| "); rows != 8 || !strings.Contains(text, "\n| 64 | 256 | ") {
		t.Errorf("%d rows, want 8 with the head:\n%s", rows, text)
	}
}

func TestFlags(t *testing.T) {
	var stderr bytes.Buffer
	if err := run(t.Context(), []string{"-h"}, io.Discard, &stderr); err == nil || !strings.Contains(stderr.String(), "-quick") {
		t.Errorf("-h: %v, %q", err, stderr.String())
	}
	if err := run(t.Context(), []string{"-fast"}, io.Discard, io.Discard); err == nil {
		t.Error("an unknown flag was taken")
	}
}

func TestText(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{grouped(7), "7"}, {grouped(1000), "1,000"}, {grouped(10_000_000), "10,000,000"},
		{plural(1, "window"), "1 window"}, {plural(0, "window"), "0 windows"},
		{spread{0.5, 0.25, 2, true}.text(""), "0.50 (0.25–2.00)"},
		{spread{2e6, 2e6, 2e6, true}.text("MB"), "2.0 MB"},
		{spread{}.text("B"), "–"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}
