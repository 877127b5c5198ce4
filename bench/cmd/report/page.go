package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/slidegate/slidegate/bench/internal/peers"
)

// A page is what a report writes.
type page struct {
	*figures
	rounds    int
	quick     bool
	simulated string // sections that took no measurement
	b         strings.Builder
}

func (p *page) printf(format string, args ...any) { fmt.Fprintf(&p.b, format, args...) }

// row writes a row of a table.
func (p *page) row(cells ...string) { p.printf("| %s |\n", strings.Join(cells, " | ")) }

// head writes the head of a table, of which the first column is text.
func (p *page) head(cells ...string) {
	p.row(cells...)
	p.printf("|---%s|\n", strings.Repeat("|---:", len(cells)-1))
}

func (p *page) markdown() string {
	p.b.Reset()
	p.printf("# Benchmarks\n\n")
	p.printf("Written by `go run ./bench/cmd/report`; no figure here is typed by hand. [performance.md](performance.md) explains them.\n\n")
	if p.quick {
		p.printf("**This was a quick run, to see that it works. Its figures say little.**\n\n")
	}
	p.printf("Ratios are our time divided by the other's: below 1.00 Slidegate is the faster one. Each is the median of %d rounds; in a round all limiters did the same work, one soon after another, most of them %d times in turn of which the fastest counts, and a ratio compares within a round. In parentheses stand the least and the greatest.\n\n", p.rounds, suites[0].tries)
	p.machine()
	p.printf("## Targets\n\n%s\n", p.targets())
	p.decisions()
	p.pieces()
	p.fullMap()
	p.middleware()
	p.memoryTable()
	p.printf("%s", p.simulated)
	p.modules()
	return p.b.String()
}

func (p *page) machine() {
	p.printf("The machine: %s, %s, %s/%s, %s.\n\n", p.cpu, plural(runtime.NumCPU(), "processor"), runtime.GOOS, runtime.GOARCH, runtime.Version())
}

// targets returns the table of targets.
func (p *page) targets() string {
	var t page
	t.head("what", "target", "found", "")
	for _, target := range p.figures.targets() {
		what := target.promise
		if target.detail != "" {
			what += " (" + target.detail + ")"
		}
		t.row(what, target.wanted(), target.found.text(target.unit), target.verdict())
	}
	return t.b.String()
}

// decisions compares every limiter with ours.
func (p *page) decisions() {
	p.printf("## A decision\n\n")
	p.printf("One unit for a known key, without HTTP. The floor is one reading of the clock, one seeded hash, one look-up in a map and one lock, in as many shards as ours. Zipf draws from 100,000 keys with exponent 1.1, and *denied* is a key whose quota is used up.\n\n")
	var columns []string
	for _, s := range situations() {
		columns = append(columns, s.String())
	}
	p.head(append([]string{"Slidegate divided by"}, columns...)...)
	for _, l := range append([]string{peers.Floor}, deciders()...) {
		p.row(append([]string{l}, p.situationCells(func(s situation) string {
			return p.ratio(s.of(peers.Ours), s.of(l)).text("")
		})...)...)
	}
	p.printf("\nThe times behind them, in nanoseconds, and allocations where there are any:\n\n")
	p.head(append([]string{"limiter"}, columns...)...)
	for _, l := range append([]string{peers.Ours, peers.TwoLimits, peers.Floor}, deciders()...) {
		p.row(append([]string{l}, p.situationCells(func(s situation) string { return p.time(s.of(l)) })...)...)
	}
	p.printf("\n")
}

func (p *page) situationCells(cell func(situation) string) (cells []string) {
	for _, s := range situations() {
		cells = append(cells, cell(s))
	}
	return cells
}

// time returns the nanoseconds and allocations of a benchmark.
func (p *page) time(benchmark string) string {
	s := p.of(benchmark, seconds)
	if !s.known {
		return "–"
	}
	text := fmt.Sprintf("%.0f", s.median*1e9)
	if n := p.of(benchmark, allocations).median; n > 0 {
		text += fmt.Sprintf(" (%.0f)", n)
	}
	return text
}

func (p *page) fullMap() {
	p.printf("## A full map\n\n")
	p.printf("Nanoseconds, and allocations where there are any, of a decision while a limiter holds as many keys as it has room for: under the keys that it holds, each as often as any other, and under a flood of new ones, each of which makes another leave while its count still matters. The only other limiter here that bounds its keys is throttled, which forgets what it lets go.\n\n")
	p.head("limiter", "processors", "room for", "known key", "new key", "new ÷ known")
	for _, l := range []string{peers.Ours, "throttled"} {
		for _, processors := range []int{1, 2} {
			for _, room := range []int{defaultRoom, largeRoom} {
				known, flood := full(room, "known", l, processors), full(room, "new", l, processors)
				p.row(l, fmt.Sprint(processors), grouped(room), p.time(known), p.time(flood), p.ratio(flood, known).text(""))
			}
		}
	}
	p.printf("\n")
}

func (p *page) middleware() {
	p.printf("## Middleware\n\n")
	p.printf("One request through a framework with one route, keyed by the peer's address, with the header fields that each limiter writes by default, into a response that goes nowhere; on one processor, so that collecting garbage is paid for. Echo's own limiter writes no header fields, and Fiber's own none on denials but Retry-After.\n\n")
	p.head("framework", "limiter", "allowed, ns (allocations)", "Slidegate ÷ it", "denied, ns (allocations)", "Slidegate ÷ it")
	for _, s := range peers.Services() {
		cells := []string{s.Framework, s.Limiter}
		for _, outcome := range []string{"allowed", "denied"} {
			name := service(s.Framework, outcome, s.Limiter)
			ratio := "–"
			if s.Limiter != peers.Ours && s.Limiter != peers.None {
				ratio = p.ratio(service(s.Framework, outcome, peers.Ours), name).text("")
			}
			cells = append(cells, p.time(name), ratio)
		}
		p.row(cells...)
	}
	p.printf("\nThe floor decides as above, denies nobody, and as middleware sets two header fields that always say the same. What it takes of the fastest other limiter is what no exact limiter with two fields can go below:\n\n")
	p.head("framework", "fastest other", "the floor ÷ it")
	for _, framework := range []string{peers.NetHTTP, peers.Echo, peers.Fiber} {
		of := func(limiter string) string { return service(framework, "allowed", limiter) }
		best := p.fastest(others(framework), of)
		p.row(framework, best, p.ratio(of(peers.Floor), of(best)).text(""))
	}
	p.printf("\n")
}

func (p *page) memoryTable() {
	p.printf("## Memory\n\n")
	p.printf("What the heap keeps after so many distinct keys of 15 bytes. Slidegate and throttled have room for 65,536; the others keep every key until it expires, httprate only a hash of it.\n\n")
	p.head("limiter", "bytes a key of 65,536", "MB after 1,000,000", "MB after 10,000,000")
	for _, l := range append([]string{peers.Ours, peers.TwoLimits, peers.Strict60}, deciders()...) {
		p.row(l, p.of(memory(defaultRoom, l), bytesPerKey).middle("B"), p.of(memory(million, l), heapBytes).middle("MB"), p.of(memory(tenMillion, l), heapBytes).middle("MB"))
	}
	p.printf("\n")
}

// modules lists what was compared.
func (p *page) modules() {
	p.printf("## Versions\n\nOf tollbooth it is version 7; version 8 was not measured.\n\n| module | version |\n|---|---|\n")
	versions := map[string]string{}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			versions[m.Path] = m.Version
		}
	}
	paths := []string{"github.com/gin-gonic/gin", "github.com/gofiber/fiber/v2"}
	for _, l := range peers.All() {
		if l.Module != "" && !ours(l.Name) {
			paths = append(paths, l.Module)
		}
	}
	slices.Sort(paths)
	for _, path := range paths {
		p.row("`"+path+"`", versions[path])
	}
}
