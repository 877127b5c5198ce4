// Redisreport measures the Redis store against other limiters on one real
// redis-server, which it starts on loopback and ends again, and writes what it
// found as a page of Markdown. Run it on a machine that has nothing else to do:
//
//	go run ./bench/cmd/redisreport
//
// Progress goes to the standard error, the table of targets to the standard
// output, and the page to docs/benchmarks-redis.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "redisreport:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("redisreport", flag.ContinueOnError)
	flags.SetOutput(stderr)
	quick := flags.Bool("quick", false, "fewer and shorter rounds: a look at whether it runs, no measurement")
	keys := flags.Int("keys", 100_000, "how many `keys` the memory is measured with")
	output := flags.String("o", "", "the `file` to write (default docs/benchmarks-redis.md of the repository; - for the standard output)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *keys < 1 {
		return fmt.Errorf("-keys %d must be at least 1", *keys)
	}
	if *output == "" {
		path, err := defaultOutput(ctx)
		if err != nil {
			return err
		}
		*output = path
	}
	p := newPlan(*quick, *keys)
	found, err := p.measure(ctx, stderr)
	if err != nil {
		return err
	}
	text := (&page{figures: found, plan: p}).markdown()
	if *output == "-" {
		_, err = io.WriteString(stdout, text)
		return err
	}
	if _, err := io.WriteString(stdout, targetTable(found.targets())); err != nil {
		return err
	}
	return os.WriteFile(*output, []byte(text), 0o644)
}

const modulePath = "github.com/slidegate/slidegate/bench"

// defaultOutput returns the page of the repository.
func defaultOutput(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", modulePath).Output()
	if err != nil {
		return "", fmt.Errorf("cannot find the repository; run this inside of it, or name a file with -o: %w", err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "..", "docs", "benchmarks-redis.md"), nil
}
