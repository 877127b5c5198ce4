package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const modulePath = "github.com/slidegate/slidegate/bench"

// moduleDir returns the folder of the benchmarks.
func moduleDir(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", modulePath).Output()
	if err != nil {
		return "", fmt.Errorf("cannot find the benchmarks; run this inside of the repository: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// A suite is a benchmark and how often it is run. Counts are fixed, so that
// every limiter does the same work, and their setting up is done twice only.
type suite struct {
	benchmark    string
	count, quick int
	tries        int // in a round, of which the fastest counts
	processors   string
	once         bool // what it measures is the same in every round
}

var suites = []suite{
	{benchmark: "Decision", count: 1_000_000, quick: 200_000, tries: 4, processors: "1,2"},
	{benchmark: "Full", count: 1_000_000, quick: 100_000, tries: 1, processors: "1,2"},
	{benchmark: "Middleware", count: 200_000, quick: 50_000, tries: 4, processors: "1"},
	{benchmark: "Memory", count: 1, quick: 1, tries: 1, processors: "2", once: true},
}

// A measurement runs the suites, one round after another, each in a process of
// its own: what the machine does meanwhile hits all limiters of a round alike.
type measurement struct {
	dir      string // of the benchmarks
	quick    bool
	rounds   int
	progress io.Writer
}

func (m *measurement) run(ctx context.Context) (*figures, error) {
	temp, err := os.MkdirTemp("", "slidegate-bench")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	binary := filepath.Join(temp, "bench.test")
	m.tell("building the benchmarks")
	if _, err := m.output(ctx, "go", "test", "-c", "-o", binary, "."); err != nil {
		return nil, err
	}
	found := newFigures()
	if err := m.allRounds(ctx, binary, found); err != nil {
		return nil, err
	}
	found.decided, err = m.profile(ctx, temp, binary, "^BenchmarkDecision$/^keys=hot$/^limiter=slidegate$", 20_000_000)
	if err != nil {
		return nil, err
	}
	found.served, err = m.profile(ctx, temp, binary, "^BenchmarkMiddleware$/^framework=nethttp$/^outcome=allowed$/^limiter=slidegate$", 5_000_000)
	return found, err
}

func (m *measurement) allRounds(ctx context.Context, binary string, found *figures) error {
	begun := time.Now()
	for round := range m.rounds {
		for _, s := range suites {
			if s.once && round > 0 {
				continue
			}
			m.tell("%8s  round %d of %d: %s", time.Since(begun).Round(time.Second), round+1, m.rounds, s.benchmark)
			out, err := m.try(ctx, binary, s, round)
			if err == nil {
				err = found.read(bytes.NewReader(out))
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// try runs a suite as often as it is to be in a round. The tries of one limiter lie
// apart, so that a slow spell of the machine does not meet all of them.
func (m *measurement) try(ctx context.Context, binary string, s suite, round int) (all []byte, err error) {
	for i := range s.tries {
		out, err := m.output(ctx, binary, m.arguments(s, round*s.tries+i)...)
		if err != nil {
			return nil, err
		}
		all = append(all, out...)
	}
	return all, nil
}

// arguments are those of one try, which begins with the limiter of a number.
func (m *measurement) arguments(s suite, first int) []string {
	count := s.count
	if m.quick {
		count = s.quick
	}
	return []string{
		"-test.run=^$", "-test.bench=^Benchmark" + s.benchmark + "$", "-test.benchtime=" + strconv.Itoa(count) + "x",
		"-test.cpu=" + s.processors, "-test.timeout=0", "-rotate=" + strconv.Itoa(first), "-test.short=" + strconv.FormatBool(m.quick),
	}
}

func (m *measurement) tell(format string, args ...any) {
	fmt.Fprintf(m.progress, format+"\n", args...)
}

// output runs a command among the benchmarks.
func (m *measurement) output(ctx context.Context, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = m.dir
	cmd.Stderr = m.progress
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", filepath.Base(name), strings.Join(args, " "), err, out)
	}
	return out, nil
}
