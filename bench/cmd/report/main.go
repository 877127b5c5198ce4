// Report measures the library against other limiters and writes what it found
// as a page of Markdown. Run it on a machine that has nothing else to do:
//
//	go run ./bench/cmd/report
//
// Progress goes to the standard error, the table of targets to the standard
// output, and the page to docs/benchmarks.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "report:", err)
		os.Exit(1)
	}
}

// rounds of all benchmarks, of which a quick report has few.
const (
	rounds      = 6
	quickRounds = 3
)

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("report", flag.ContinueOnError)
	flags.SetOutput(stderr)
	quick := flags.Bool("quick", false, "fewer and shorter rounds: a look at whether it runs, no measurement")
	output := flags.String("o", "", "the `file` to write (default docs/benchmarks.md of the repository; - for the standard output)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	dir, err := moduleDir(ctx)
	if err != nil {
		return err
	}
	m := measurement{dir: dir, quick: *quick, rounds: rounds, progress: stderr}
	if *quick {
		m.rounds = quickRounds
	}
	found, err := m.run(ctx)
	if err != nil {
		return err
	}
	p := page{figures: found, rounds: m.rounds, quick: *quick, simulated: simulate(found, *quick)}
	if *output == "-" {
		_, err = io.WriteString(stdout, p.markdown())
		return err
	}
	if *output == "" {
		*output = filepath.Join(dir, "..", "docs", "benchmarks.md")
	}
	if _, err := io.WriteString(stdout, p.targets()); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(*output), 0o755); err != nil {
		return err
	}
	return os.WriteFile(*output, []byte(p.markdown()), 0o644)
}
