package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slidegate/slidegate/bench/internal/redispeers"
)

// A page is what a report writes.
type page struct {
	*figures
	plan
	b strings.Builder
}

func (p *page) printf(format string, args ...any) { fmt.Fprintf(&p.b, format, args...) }

// row returns a row of a table.
func row(cells ...string) string { return "| " + strings.Join(cells, " | ") + " |\n" }

// head returns the head of a table, of which the first column is text.
func head(cells ...string) string {
	return row(cells...) + "|---" + strings.Repeat("|---:", len(cells)-1) + "|\n"
}

func (p *page) markdown() string {
	p.b.Reset()
	p.printf("# Benchmarks of the Redis store\n\n")
	p.printf("Written by `go run ./bench/cmd/redisreport`; no figure here is typed by hand. [redis.md](redis.md) explains the store, and [benchmarks.md](benchmarks.md) has limiters in memory.\n\n")
	if p.quick {
		p.printf("**This was a quick run, to see that it works. Its figures say little.**\n\n")
	}
	p.printf("Ratios are our throughput divided by the other's: above 1.00 Slidegate is the faster one. Each is the median of %s, of which each gives every limiter %v under every number of callers, one limiter soon after another; a ratio compares within a round. In parentheses stand the least and the greatest.\n\n", plural(p.rounds, "round"), p.lasts)
	p.machine()
	p.printf("## Targets\n\n%s\n", targetTable(p.targets()))
	p.throughput()
	p.denyCache()
	p.memory()
	p.versions()
	return p.b.String()
}

func (p *page) machine() {
	p.printf("The machine: %s, %s/%s, %s", plural(runtime.NumCPU(), "processor"), runtime.GOOS, runtime.GOARCH, runtime.Version())
	if name := processor(); name != "" {
		p.printf(", %s", name)
	}
	p.printf(", with %s on loopback, which shares the processors.", p.server)
	if p.load != "" {
		p.printf(" Its load average before the run was %s.", p.load)
	}
	p.printf("\n\n")
}

// throughput compares every limiter with redis_rate.
func (p *page) throughput() {
	p.printf("## A decision\n\n")
	p.printf("One unit for one of 10,000 keys, drawn alike, under one limit that nobody exhausts: one round trip of one script for Slidegate, redis_rate and ulule. ulule's script is a lone INCR for a fixed window, the least work of all, so that it has to be ahead of what shares its client. throttled reads, computes, and then writes if nothing has changed: two round trips. httprate-redis is not among them. *As it comes* is a client without `ContextTimeoutEnabled`, whose calls are handed over to goroutines.\n\n")
	p.printf("Throughput divided by that of redis_rate:\n\n")
	p.ratios(1, redispeers.RedisRate)
	p.printf("Decisions a second behind them:\n\n")
	p.decisions(1)
	p.printf("## Three limits\n\n")
	p.printf("A second, a minute and an hour: one decision of Slidegate, which charges all three or none, against three calls of redis_rate, one after another, which charge the first two although the third refuses. Throughput divided by that of the three calls:\n\n")
	p.ratios(3, redispeers.RedisRateThree)
	p.printf("Decisions a second behind them:\n\n")
	p.decisions(3)
}

// callersHead is the head of a table with a column for each number of callers.
func callersHead(first string) string {
	cells := []string{first}
	for _, n := range callers {
		cells = append(cells, plural(n, "caller"))
	}
	return head(cells...)
}

func (p *page) ratios(limits int, base string) {
	p.rows(limits, func(limiter string, n int) string { return p.ratio(limiter, base, n).String() }, base)
}

func (p *page) decisions(limits int) {
	p.rows(limits, func(limiter string, n int) string {
		s := p.of(limiter, n)
		if !s.known {
			return "–"
		}
		return grouped(int(s.median))
	}, "")
}

// rows writes a table with a row for each limiter of so many limits but one.
func (p *page) rows(limits int, cell func(limiter string, callers int) string, but string) {
	p.printf("%s", callersHead("limiter"))
	for _, l := range redispeers.All() {
		if l.Limits != limits || l.Name == but {
			continue
		}
		cells := []string{l.Name}
		for _, n := range callers {
			cells = append(cells, cell(l.Name, n))
		}
		p.printf("%s", row(cells...))
	}
	p.printf("\n")
}

func (p *page) denyCache() {
	p.printf("## The deny cache under attack\n\n")
	for _, a := range p.assaults[:min(len(p.assaults), 1)] {
		p.printf("%s ask for one key, %s times a second together, for %v, by the go-redis client. Calls are those of scripts that the server counted (INFO commandstats).\n\n", plural(a.Callers, "caller"), grouped(a.PerSecond), a.Lasts.Round(time.Millisecond))
	}
	p.printf("%s", head("limit of the key", "deny cache", "requests", "admitted", "calls to Redis", "calls a request"))
	for _, a := range p.assaults {
		for _, run := range []struct {
			cache string
			found redispeers.Attacked
		}{{"off", a.without}, {"on", a.with}} {
			p.printf("%s", row(a.Limit.String(), run.cache, grouped(int(run.found.Requests)), grouped(int(run.found.Admitted)), grouped(int(run.found.Calls)), fmt.Sprintf("%.4f", calls(run.found))))
		}
	}
	p.printf("\n")
}

func (p *page) memory() {
	p.printf("## Memory\n\n")
	p.printf("Bytes of the server for a key of 15 bytes after one decision, over %s keys: what MEMORY USAGE says of all Redis keys that it takes, and what the server has allocated more than before, with its tables. Prefixes are the defaults, and windows so long that nothing expires meanwhile. What the other clients write for Slidegate is the same.\n\n", grouped(p.keys))
	p.printf("%s", head("limiter", "limits", "Redis keys", "MEMORY USAGE, B", "growth, B"))
	for _, l := range redispeers.All() {
		if f, ok := p.footprints[l.Name]; ok {
			p.printf("%s", row(l.Name, strconv.Itoa(l.Limits), strconv.Itoa(f.Records), fmt.Sprintf("%.0f", f.Usage), fmt.Sprintf("%.0f", f.Growth)))
		}
	}
	p.printf("\n")
}

// versions lists what was compared.
func (p *page) versions() {
	p.printf("## Versions\n\n| module | version |\n|---|---|\n")
	versions := map[string]string{}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			versions[m.Path] = m.Version
		}
	}
	paths := redispeers.Modules()
	for _, l := range redispeers.All() {
		if !strings.HasPrefix(l.Name, "slidegate") {
			paths = append(paths, l.Module)
		}
	}
	slices.Sort(paths)
	for _, path := range slices.Compact(paths) {
		p.printf("%s", row("`"+path+"`", versions[path]))
	}
	p.printf("%s", row("server", p.server))
}

// grouped writes a number with commas.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
