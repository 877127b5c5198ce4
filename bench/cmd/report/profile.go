package main

import (
	"bufio"
	"bytes"
	"context"
	"path/filepath"
	"strconv"
	"strings"
)

// A part is something that a decision spends time on, known by what the names of
// its functions contain.
type part struct {
	name  string
	holds []string
}

// parts of a decision; a function belongs to the first that it fits.
var parts = []part{
	{"reading the clock", []string{"runtime.nanotime", "time.Since", "time.runtimeNano", "time.now", "core.(*clock)"}},
	{"hashing the key", []string{"aeshash", "memhash", "strhash", "hash/maphash", "core.(*Memory).subject"}},
	{"finding the entry", []string{"core.(*table)", "memeqbody", "runtime.memequal"}},
	{"taking and giving back the lock", []string{"sync.(*Mutex)", "core.(*Memory).lock", "core.(*Memory).unlock"}},
	{"arithmetic of the limit", []string{"core.(*gauge)", "core.(*entry).decidePlainly", "core.(*entry).plain", "core.momentAt", "core.uint128", "core.mul128"}},
	{"all else in the core: the decision as a value, and charging all or nothing", []string{"slidegate/core."}},
}

// A function is a line of a profile: its share of the samples by itself, and
// with all that it calls.
type function struct {
	name      string
	flat, cum float64
}

// profile runs a benchmark once more and returns where its time goes.
func (m *measurement) profile(ctx context.Context, temp, binary, benchmark string, count int) ([]function, error) {
	if m.quick {
		count /= 10
	}
	file := filepath.Join(temp, "cpu.prof")
	m.tell("profiling %s", benchmark)
	_, err := m.output(ctx, binary, "-test.run=^$", "-test.bench="+benchmark, "-test.cpu=1",
		"-test.benchtime="+strconv.Itoa(count)+"x", "-test.cpuprofile="+file)
	if err != nil {
		return nil, err
	}
	out, err := m.output(ctx, "go", "tool", "pprof", "-top", "-nodecount=1000", "-nodefraction=0", binary, file)
	return functionsOf(out), err
}

// functionsOf reads the table that pprof prints: flat, flat%, sum%, cum, cum%
// and the name.
func functionsOf(table []byte) (all []function) {
	for lines := bufio.NewScanner(bytes.NewReader(table)); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) < 6 {
			continue
		}
		flat, err1 := strconv.ParseFloat(strings.TrimSuffix(fields[1], "%"), 64)
		cum, err2 := strconv.ParseFloat(strings.TrimSuffix(fields[4], "%"), 64)
		if err1 == nil && err2 == nil {
			all = append(all, function{strings.Join(fields[5:], " "), flat / 100, cum / 100})
		}
	}
	return all
}

// divide adds up the shares of the parts of a decision, as shares of what all
// parts take together: what the benchmark itself does is left out.
func divide(functions []function) (shares []float64) {
	shares = make([]float64, len(parts))
	sum := 0.0
	for _, f := range functions {
		if i := partOf(f.name); i >= 0 {
			shares[i] += f.flat
			sum += f.flat
		}
	}
	for i := range shares {
		shares[i] /= max(sum, 1e-9)
	}
	return shares
}

func partOf(function string) int {
	for i, p := range parts {
		for _, text := range p.holds {
			if strings.Contains(function, text) {
				return i
			}
		}
	}
	return -1
}

// within returns the share of the samples in a function and what it calls.
func within(functions []function, name string) float64 {
	for _, f := range functions {
		if strings.HasPrefix(f.name, name) {
			return f.cum
		}
	}
	return 0
}

// The functions by which a request through the middleware is divided.
const (
	wholeRequest = "github.com/slidegate/slidegate/nethttp.(*handler).ServeHTTP"
	checkPart    = "github.com/slidegate/slidegate/core.(*Limiter).Check"
	keyPart      = "github.com/slidegate/slidegate/keyfuncs.IP"
	headersPart  = "github.com/slidegate/slidegate/core.(*Decision).SetHeaders"
)

// pieces writes where the time of a decision, and of a request, goes.
func (p *page) pieces() {
	p.printf("## Piece by piece\n\nFrom profiles, on one processor: the share of an admission under one hot key.\n\n")
	p.head("piece", "share")
	for i, share := range divide(p.decided) {
		p.row(parts[i].name, percent(share))
	}
	p.printf("\nAnd of an allowed request through the middleware of net/http:\n\n")
	p.head("piece", "share")
	whole := max(within(p.served, wholeRequest), 1e-9)
	key, check, headers := within(p.served, keyPart)/whole, within(p.served, checkPart)/whole, within(p.served, headersPart)/whole
	p.row("the key function `keyfuncs.IP`", percent(key))
	p.row("the decision", percent(check-key))
	p.row("the header fields", percent(headers))
	p.row("all else, with the handler", percent(1-check-headers))
	p.printf("\n")
}
