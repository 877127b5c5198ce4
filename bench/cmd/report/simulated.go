package main

import (
	"fmt"
	"maps"
	"slices"

	"github.com/slidegate/slidegate/bench/internal/contention"
	"github.com/slidegate/slidegate/bench/internal/peers"
	"github.com/slidegate/slidegate/bench/internal/siege"
	"github.com/slidegate/slidegate/core"
)

// simulate returns the sections about floods and locks.
func simulate(f *figures, quick bool) string {
	runs := 8
	if quick {
		runs = 1
	}
	var p page
	p.siege(runs)
	p.contention(f.of(decision("hot", peers.Ours, 1), seconds).median * 1e9)
	return p.b.String()
}

// siege writes what honest clients notice of a flood.
func (p *page) siege(runs int) {
	const windows = 20
	p.printf("## Under attack\n\n")
	p.printf("On a clock of its own, a flood of new keys against a small memory store; its size does not matter, since the sketches grow with it. *Half* is a client at half its quota for %d windows that is forgotten between any two of its requests: the mean share that was refused, and by how much that grew from eight windows to the next eight (differences up to %.2f are chance). *Newcomers* are clients with one request each while keys come in for ten times the capacity a window: the greatest share that was refused in a window, and after how many windows without a flood none was. *Gain* is the most of its quota that a key got in a window which floods to have itself forgotten. The attackers: *sweep* has a new key for every request, *spend* takes the whole quota of each, *adapt* does either, as its answers tell that it hurts more.\n\n", windows, siege.Chance)
	p.head("limit", "attack", "half: refused", "half: growth", "newcomers: refused", "recovered after", "gain")
	attacks := siege.Attacks()
	for _, quota := range []int64{100, 5} {
		limit := core.PerMinute(quota)
		for _, limit := range []core.Limit{limit, limit.Strict(60)} {
			for _, name := range slices.Sorted(maps.Keys(attacks)) {
				small := siege.Siege{Limit: limit, MaxKeys: 64, Attack: attacks[name]}
				refused := small.MeanHalf(windows, runs)
				cells := []string{limit.String(), name, percent(siege.Mean(refused)), fmt.Sprintf("%+.2f", siege.Growth(refused))}
				p.row(append(append(cells, newcomers(limit, attacks[name])...), percent(small.Gain(windows)))...)
			}
		}
	}
	p.printf("\n")
}

// newcomers returns the cells about newcomers.
func newcomers(limit core.Limit, attack siege.Attack) []string {
	const windows = 6
	s := siege.Siege{Limit: limit, MaxKeys: 1024, Attack: attack}
	refused := s.Newcomers(windows)
	recovered := 0
	for w, share := range refused[windows:] {
		if share > 0 {
			recovered = w + 1
		}
	}
	return []string{percent(slices.Max(refused[:windows])), plural(recovered, "window")}
}

// The shares of a decision's time that the simulation of locks reckons with.
const (
	heldShare  = 0.6  // is under the lock
	transferNS = 100. // is what it costs to fetch a lock and an entry from another processor
)

// contention writes how decisions that take so many nanoseconds would go on
// larger machines.
func (p *page) contention(total float64) {
	p.printf("## Many processors, simulated\n\n")
	p.printf("Decisions of %.0f ns, of which %.0f %% are under a lock, and %.0f ns more where another processor had that lock last: how many times as many decisions a machine makes as one processor alone, if it does nothing else. Slidegate has 8 shards a processor, up to 256.\n\n", total, 100*heldShare, transferNS)
	p.head("processors", "shards", "one hot key", "Zipf, one shard", "Zipf, shards", "many keys alike, shards")
	for _, processors := range []int{1, 2, 4, 8, 16, 32, 64} {
		m := contention.Machine{
			Processors: processors, Shards: min(8*processors, 256),
			Outside: total * (1 - heldShare), Held: total * heldShare, Transfer: transferNS,
		}
		one := m
		one.Shards = 1
		times := func(m contention.Machine, keys contention.Keys) string {
			return fmt.Sprintf("%.1f", m.Rate(keys)*total)
		}
		p.row(fmt.Sprint(processors), fmt.Sprint(m.Shards), times(m, contention.Hot), times(one, contention.Zipf), times(m, contention.Zipf), times(m, contention.Uniform))
	}
	p.printf("\n")
}
