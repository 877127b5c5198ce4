package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/slidegate/slidegate/bench/internal/redispeers"
	"github.com/slidegate/slidegate/core"
)

// callers are how many decide at the same time.
var callers = []int{1, 16, 64, 256}

// A plan is how much is measured.
type plan struct {
	quick   bool
	rounds  int
	lasts   time.Duration // of one limiter under some callers
	attacks []redispeers.Attack
	keys    int // of which the memory is measured
}

func newPlan(quick bool, keys int) plan {
	p := plan{quick: quick, rounds: 9, lasts: time.Second, keys: keys}
	attacked := 10 * time.Second
	if quick {
		p.rounds, p.lasts, attacked = 5, 250*time.Millisecond, 4*time.Second
	}
	for _, limit := range []core.Limit{core.Per(200, 2*time.Second), core.PerMinute(100)} {
		p.attacks = append(p.attacks, redispeers.Attack{Limit: limit, Callers: 64, PerSecond: 16_000, Lasts: attacked})
	}
	return p
}

// A measurement takes a plan to a server.
type measurement struct {
	plan
	server   *redispeers.Server
	progress io.Writer
	found    *figures
}

// measure starts a server, takes all measurements on it, and ends it.
func (p plan) measure(ctx context.Context, progress io.Writer) (*figures, error) {
	load := loadAverage()
	server, err := redispeers.StartServer(ctx)
	if err != nil {
		return nil, err
	}
	defer server.Stop()
	m := measurement{plan: p, server: server, progress: progress, found: newFigures()}
	m.found.load = load
	if m.found.server, err = server.Version(ctx); err != nil {
		return nil, err
	}
	for _, step := range []func(context.Context) error{m.throughputs, m.attack, m.footprints} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return m.found, nil
}

// throughputs goes through all limiters and callers, round by round: what the
// machine does meanwhile hits all limiters of a round alike. Each round begins
// with another limiter.
func (m *measurement) throughputs(ctx context.Context) error {
	var peers []*redispeers.Peer
	for _, l := range redispeers.All() {
		peer, err := l.Start(m.server.Addr, redispeers.Ample)
		if err != nil {
			return err
		}
		defer peer.Close()
		peers = append(peers, peer)
	}
	for _, peer := range peers { // connects, and teaches Redis the scripts
		if _, err := peer.Throughput(ctx, slices.Max(callers), m.lasts/2); err != nil {
			return err
		}
	}
	for round := range m.rounds {
		m.tell("round %d of %d", round+1, m.rounds)
		first := round % len(peers)
		if err := m.round(ctx, slices.Concat(peers[first:], peers[:first])); err != nil {
			return err
		}
	}
	return nil
}

func (m *measurement) round(ctx context.Context, peers []*redispeers.Peer) error {
	for _, n := range callers {
		for _, peer := range peers {
			perSecond, err := peer.Throughput(ctx, n, m.lasts)
			if err != nil {
				return err
			}
			m.found.add(peer.Name, n, perSecond)
		}
	}
	return nil
}

func (m *measurement) attack(ctx context.Context) error {
	for _, a := range m.attacks {
		f := assault{Attack: a}
		for _, run := range []struct {
			cached bool
			found  *redispeers.Attacked
		}{{false, &f.without}, {true, &f.with}} {
			m.tell("attack on %s, deny cache %v", a.Limit, run.cached)
			var err error
			if *run.found, err = a.Run(ctx, m.server, run.cached); err != nil {
				return err
			}
		}
		m.found.assaults = append(m.found.assaults, f)
	}
	return nil
}

func (m *measurement) footprints(ctx context.Context) error {
	for _, l := range redispeers.All() {
		if l.Name == redispeers.OursByDefault || l.Name == redispeers.OursRueidis || l.Name == redispeers.OursThreeRueidis {
			continue // another client of the same store
		}
		m.tell("memory of %s", l.Name)
		f, err := l.Footprint(ctx, m.server, m.keys)
		if err != nil {
			return err
		}
		m.found.footprints[l.Name] = f
	}
	return nil
}

func (m *measurement) tell(format string, args ...any) {
	fmt.Fprintf(m.progress, format+"\n", args...)
}

// loadAverage returns how many processes wanted to run in the last minute, or
// nothing where the system does not say.
func loadAverage() string {
	text, _ := os.ReadFile("/proc/loadavg")
	minute, _, _ := strings.Cut(string(text), " ")
	return minute
}

// processor returns what the system calls its processor, or nothing.
func processor() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
