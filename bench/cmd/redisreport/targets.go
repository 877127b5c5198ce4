package main

import (
	"fmt"
	"strings"

	"github.com/slidegate/slidegate/bench/internal/redispeers"
)

// A target is a promise with a number, and what was found.
type target struct {
	promise, wanted, found string
	verdict                string
}

// The targets.
const (
	leastGoRedis = 0.9  // of redis_rate, under few callers
	leastRueidis = 1.2  // of redis_rate, under many
	leastThree   = 2.0  // of three calls
	leastCut     = 0.99 // of the calls under attack, which must be exceeded
)

// targets returns all of them, with what has none but is reported.
func (f *figures) targets() (all []target) {
	for _, n := range callers {
		least := leastGoRedis
		if n > 16 {
			least = 0
		}
		all = append(all, f.throughputTarget(redispeers.Ours, redispeers.RedisRate, n, least))
	}
	for _, n := range callers {
		least := leastRueidis
		if n < 64 {
			least = 0
		}
		all = append(all, f.throughputTarget(redispeers.OursRueidis, redispeers.RedisRate, n, least))
	}
	for _, n := range callers {
		all = append(all, f.throughputTarget(redispeers.OursThree, redispeers.RedisRateThree, n, leastThree))
	}
	for _, a := range f.assaults {
		all = append(all, target{
			promise: fmt.Sprintf("calls to Redis that the deny cache spares under attack on one key of %s", a.Limit),
			wanted:  "more than " + percent(leastCut),
			found:   percent(a.cut()),
			verdict: verdict(a.cut() > leastCut),
		})
	}
	return all
}

// throughputTarget compares; a least of zero is no target.
func (f *figures) throughputTarget(limiter, other string, callers int, least float64) target {
	ratio := f.ratio(limiter, other, callers)
	t := target{
		promise: fmt.Sprintf("throughput of %s against %s, %s", limiter, other, plural(callers, "caller")),
		found:   ratio.String(),
	}
	switch {
	case least == 0:
		t.wanted, t.verdict = "–", "reported"
	case !ratio.known:
		t.wanted, t.verdict = atLeast(least), "not measured"
	default:
		t.wanted, t.verdict = atLeast(least), verdict(ratio.median >= least)
	}
	return t
}

func verdict(met bool) string {
	if met {
		return "met"
	}
	return "**not met**"
}

func atLeast(least float64) string { return fmt.Sprintf("at least %.2f", least) }

func percent(share float64) string { return fmt.Sprintf("%.2f %%", 100*share) }

// plural writes a count of things.
func plural(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprint(n, " ", thing)
}

// targetTable writes targets as a table.
func targetTable(all []target) string {
	var b strings.Builder
	b.WriteString(head("what", "target", "found", ""))
	for _, t := range all {
		b.WriteString(row(t.promise, t.wanted, t.found, t.verdict))
	}
	return b.String()
}
