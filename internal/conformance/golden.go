package conformance

import (
	"embed"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// The golden files hold for all adapters; to update them, run one adapter's test
// with -update and read the difference.
var update = flag.Bool("update", false, "write the golden files of the adapters' conformance suite")

//go:embed testdata
var golden embed.FS

// A transcript is a scenario whose responses must be those of a golden file,
// every byte of the header block and the body. Left out is what tells nothing:
// Date and Connection, the order of fields and the case of their names.
type transcript struct {
	name     string // and of the file
	setup    func(*stage) Setup
	requests []timed
}

// A timed is a request at an instant of the clock in seconds.
type timed struct {
	at float64
	request
}

func (tr transcript) run(tb testing.TB, a Adapter) {
	s := newStage(tb)
	s.serve(a, tr.setup(s))
	var b strings.Builder
	for _, q := range tr.requests {
		s.clock.set(q.at)
		before := s.hits.Load()
		r := s.send(q.request)
		s.write(&b, q, r, s.hits.Load()-before)
	}
	compare(tb, tr.name, b.String())
}

func (s *stage) write(b *strings.Builder, q timed, r response, ran int64) {
	fmt.Fprintf(b, "> at %gs: %v\n", q.at, q.request)
	fmt.Fprintf(b, "%d (handler ran: %d)\n", r.status, ran)
	for _, name := range slices.Sorted(maps.Keys(r.header)) {
		if name == "Date" || name == "Connection" {
			continue
		}
		for _, value := range r.header[name] {
			fmt.Fprintf(b, "%s: %s\n", http.CanonicalHeaderKey(name), value)
		}
	}
	fmt.Fprintf(b, "\n%s\n", r.body)
}

func compare(tb testing.TB, name, got string) {
	tb.Helper()
	file := strings.NewReplacer(" ", "-", ",", "").Replace(name) + ".golden"
	if *update {
		if err := os.WriteFile(filepath.Join(testdata(), file), []byte(got), 0o644); err != nil {
			tb.Fatal(err)
		}
		return
	}
	want, err := golden.ReadFile("testdata/" + file)
	if err != nil {
		tb.Fatalf("%v; run with -update to write it", err)
	}
	if got != string(want) {
		tb.Errorf("the responses differ from testdata/%s\n%s", file, difference(string(want), got))
	}
}

// testdata is the folder beside this file: tests run in their adapter's.
func testdata() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "testdata")
}

// difference returns the first lines that differ, with the request before them.
func difference(want, got string) string {
	wants, gots := strings.Split(want, "\n"), strings.Split(got, "\n")
	line := func(lines []string, i int) string {
		if i < len(lines) {
			return lines[i]
		}
		return "(the end)"
	}
	about := ""
	for i := 0; ; i++ {
		w, g := line(wants, i), line(gots, i)
		if w != g || i > len(wants) {
			return fmt.Sprintf("%s\n got: %s\nwant: %s", about, g, w)
		}
		if strings.HasPrefix(w, "> ") {
			about = w
		}
	}
}
