package main

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/slidegate/slidegate/bench/internal/redispeers"
)

// twoRounds is a run in which ours had 0.5 and 1.5 times the throughput of
// redis_rate under one caller.
func twoRounds() *figures {
	f := newFigures()
	f.server = "Redis 9"
	f.add(redispeers.Ours, 1, 50)
	f.add(redispeers.RedisRate, 1, 100)
	f.add(redispeers.Ours, 1, 300)
	f.add(redispeers.RedisRate, 1, 200)
	f.footprints[redispeers.Ours] = redispeers.Footprint{Records: 1, Usage: 88, Growth: 145}
	for _, a := range newPlan(true, 1).attacks {
		f.assaults = append(f.assaults, assault{a, redispeers.Attacked{Requests: 1000, Admitted: 3, Calls: 1000}, redispeers.Attacked{Requests: 2000, Admitted: 3, Calls: 10}})
	}
	return f
}

func TestRatiosCompareWithinARound(t *testing.T) {
	got := twoRounds().ratio(redispeers.Ours, redispeers.RedisRate, 1)
	if !got.known || got.least != 0.5 || got.greatest != 1.5 || got.median != 1 {
		t.Errorf("50/100 and 300/200: %+v, want the median 1 of 0.5 and 1.5", got)
	}
	if got := twoRounds().ratio(redispeers.Ours, redispeers.Ulule, 1); got.known {
		t.Errorf("a limiter that did not run: %+v", got)
	}
}

func TestTheCutIsOfCallsARequest(t *testing.T) {
	if got := twoRounds().assaults[0].cut(); math.Abs(got-0.995) > 1e-9 {
		t.Errorf("10 calls for 2,000 requests against one each: %v, want 0.995", got)
	}
}

func TestVerdicts(t *testing.T) {
	f := newFigures()
	f.add(redispeers.Ours, 1, 90)
	f.add(redispeers.RedisRate, 1, 100)
	for _, c := range []struct {
		phrase  string
		callers int
		least   float64
		want    string
	}{
		{"at the least", 1, 0.9, "met"},
		{"below it", 1, 0.91, "**not met**"},
		{"without a target", 1, 0, "reported"},
		{"unknown", 16, 0.9, "not measured"},
	} {
		if got := f.throughputTarget(redispeers.Ours, redispeers.RedisRate, c.callers, c.least).verdict; got != c.want {
			t.Errorf("%s: %q, want %q", c.phrase, got, c.want)
		}
	}
	a := assault{without: redispeers.Attacked{Requests: 100, Calls: 100}, with: redispeers.Attacked{Requests: 100, Calls: 1}}
	f.assaults = []assault{a}
	all := f.targets()
	if got := all[len(all)-1].verdict; got != "**not met**" {
		t.Errorf("99 %% where more is wanted: %q", got)
	}
}

func TestTargetsAreThoseOfEveryNumberOfCallers(t *testing.T) {
	count := map[string]int{}
	f := newFigures()
	for _, l := range redispeers.All() {
		for _, n := range callers {
			f.add(l.Name, n, 1)
		}
	}
	for _, target := range f.targets() {
		count[target.verdict]++
	}
	// Equal throughputs: met at 0.9 (2), not at 1.2 (2) and 2.0 (4).
	if count["met"] != 2 || count["**not met**"] != 6 || count["reported"] != 4 || count["not measured"] != 0 {
		t.Errorf("%v, want 2 met, 6 not met, 4 reported", count)
	}
}

func TestPageShowsTargetsAndVersions(t *testing.T) {
	text := (&page{figures: twoRounds(), plan: newPlan(false, 1000)}).markdown()
	for _, want := range []string{
		"with Redis 9 on loopback",
		"| throughput of slidegate with go-redis against redis_rate, 1 caller | at least 0.90 | 1.00 (0.50–1.50) | met |",
		"| more than 99.00 % | 99.50 % | met |",
		"| slidegate with go-redis | 1 | 1 | 88 | 145 |",
		"over 1,000 keys",
		"| `github.com/go-redis/redis_rate/v10` | v10",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "quick run") || !strings.Contains((&page{figures: twoRounds(), plan: newPlan(true, 1000)}).markdown(), "quick run") {
		t.Error("a quick run must say so, and no other")
	}
}

func TestFlags(t *testing.T) {
	var stderr bytes.Buffer
	if err := run(t.Context(), []string{"-h"}, io.Discard, &stderr); err == nil || !strings.Contains(stderr.String(), "-quick") {
		t.Errorf("-h: %v, %q", err, stderr.String())
	}
	for _, args := range [][]string{{"-fast"}, {"-keys", "0"}} {
		if err := run(t.Context(), args, io.Discard, io.Discard); err == nil {
			t.Errorf("%q was taken", args)
		}
	}
}

func TestWithoutAServerTheReportSaysWhatToInstall(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	err := run(t.Context(), []string{"-o", "-"}, io.Discard, io.Discard)
	if !errors.Is(err, redispeers.ErrNoServer) || !strings.Contains(err.Error(), "install") {
		t.Errorf("%v, want that redis-server is to be installed", err)
	}
}
