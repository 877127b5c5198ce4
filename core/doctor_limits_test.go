package core_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/keyfuncs"
)

// unreachable returns what a strict doctor says of limits, "" if it finds nothing.
func unreachable(t *testing.T, limits ...core.Limit) string {
	t.Helper()
	_, err := core.New(core.Config{Rules: by(keyfuncs.IP, limits...), Doctor: core.Doctor{Strict: true}})
	if err != nil && !errors.Is(err, core.ErrDoctor) {
		t.Fatal(err)
	}
	if err == nil {
		return ""
	}
	_, about, _ := strings.Cut(err.Error(), "denies first (")
	about, _, _ = strings.Cut(about, "); ")
	return about
}

func TestDoctorFindsLimitsThatCannotDeny(t *testing.T) {
	for _, c := range []struct {
		phrase string
		limits []core.Limit
		found  bool
	}{
		{"a tighter limit of a longer window", []core.Limit{core.PerSecond(100), core.PerMinute(10)}, true},
		{"the other order", []core.Limit{core.PerMinute(10), core.PerSecond(100)}, true},
		{"one quota in two windows", []core.Limit{core.PerSecond(10), core.PerMinute(10)}, true},
		{"one window, two quotas", []core.Limit{core.PerMinute(10), core.PerMinute(11)}, true},
		{"one window, the larger quota counted exactly", []core.Limit{core.PerMinute(10).Strict(60), core.PerMinute(100).Exact()}, true},
		{"one bucket within another", []core.Limit{core.PerMinute(10).Bucket(5), core.PerMinute(10).Bucket(6)}, true},
		{"a bucket that a quota cannot empty", []core.Limit{core.PerMinute(10).Exact(), core.PerSecond(1).Bucket(10)}, true},
		{"the largest numbers", []core.Limit{core.Per(core.MaxQuota, core.MinWindow), core.Per(core.MaxQuota/2, core.MaxWindow)}, true},

		{"a usual pair", []core.Limit{core.PerSecond(10), core.PerMinute(100)}, false},
		{"one quota, of which two counters admit more", []core.Limit{core.PerMinute(100).Exact(), core.PerMinute(100)}, false},
		{"a fixed window, which admits twice its quota", []core.Limit{core.Per(15, 10*time.Second), core.PerMinute(10).Fixed()}, false},
		{"a bucket with a burst beyond the other's quota", []core.Limit{core.PerSecond(20), core.PerMinute(10).Bucket(30)}, false},
		{"a bucket that a burst can empty", []core.Limit{core.PerMinute(10).Bucket(5), core.PerHour(10).Exact()}, false},
		{"a tighter limit that only watches", []core.Limit{core.PerSecond(100), core.PerMinute(10).DryRun()}, false},
		{"a looser limit that only watches", []core.Limit{core.PerSecond(100).DryRun(), core.PerMinute(10)}, false},
		{"a quota of 0, on purpose", []core.Limit{core.PerSecond(100), core.PerMinute(0)}, false},
		{"the largest numbers the other way", []core.Limit{core.Per(core.MaxQuota-1, core.MinWindow), core.Per(core.MaxQuota, core.MaxWindow)}, false},
	} {
		t.Run(c.phrase, func(t *testing.T) {
			for i := range c.limits {
				c.limits[i] = c.limits[i].Named(fmt.Sprint("limit-", i))
			}
			if got := unreachable(t, c.limits...); (got != "") != c.found {
				t.Errorf("found %q, want a finding: %v", got, c.found)
			}
		})
	}
}

// Whatever is sent, a limit that the doctor calls unreachable denies nothing that
// the other one would admit.
func TestLimitsThatTheDoctorFindsNeverDeny(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 105))
	rounds, found := 4000, 0
	if testing.Short() {
		rounds = 800
	}
	for round := range rounds {
		limits := []core.Limit{anyLimit(random).Named("a"), anyLimit(random).Named("b")}
		about := unreachable(t, limits...)
		if about == "" {
			continue
		}
		found++
		idle := 0
		if strings.HasPrefix(about, limits[1].String()) {
			idle = 1
		}
		if d := besiege(t, random, limits, idle); d != "" {
			t.Fatalf("round %d: %s: %s", round, about, d)
		}
	}
	if found < rounds/4 {
		t.Errorf("%d pairs of %d were found, want at least a quarter: the test has become weak", found, rounds)
	}
}

func anyLimit(random *rand.Rand) core.Limit {
	window := []time.Duration{time.Second, 2 * time.Second, 3 * time.Second, 10 * time.Second}[random.IntN(4)]
	l := core.Per(1+random.Int64N(12), window)
	switch random.IntN(6) {
	case 0:
		return l.Exact()
	case 1:
		return l.Fixed()
	case 2:
		return l.Strict(1 + random.IntN(4))
	case 3:
		return l.Smooth(2 + random.IntN(3))
	case 4:
		return l.Bucket(1 + random.Int64N(15))
	}
	return l
}

// besiege sends requests in bursts, around boundaries and at the instants of
// retry, and tells when the idle limit denied alone.
func besiege(t *testing.T, random *rand.Rand, limits []core.Limit, idle int) string {
	g := newGate(t, limits...)
	for range 150 {
		for range random.IntN(15) {
			d := g.take(1+random.Int64N(2), "k")
			states := d.States()
			if states[idle].Denied && !states[1-idle].Denied {
				return fmt.Sprintf("%v denied alone", states[idle].Limit)
			}
			if d.RetryAfter > 0 && random.IntN(3) == 0 {
				g.advance(d.RetryAfter)
			}
		}
		step := limits[random.IntN(2)].Window()
		switch random.IntN(4) {
		case 0: // to a boundary, or just before
			g.advance(step - time.Duration(g.Now().UnixNano())%step - time.Duration(random.IntN(2)))
		case 1:
			g.advance(time.Duration(random.Int64N(int64(step))))
		case 2:
			g.advance(step / time.Duration(1+random.IntN(8)))
		}
	}
	return ""
}

// TestOrderOfLimitsIsNoClash: limits that two limiters of one store name in another
// order share their counts all the same.
func TestOrderOfLimitsIsNoClash(t *testing.T) {
	store, second, hour := &core.Memory{}, core.PerSecond(5), core.PerHour(50)
	for _, limits := range [][]core.Limit{{second, hour}, {hour, second}} {
		_, err := core.New(core.Config{
			Store: store, Doctor: core.Doctor{Strict: true},
			Rules: []core.Rule{{Name: "shared", Key: keyfuncs.IP, Limits: limits}},
		})
		if err != nil {
			t.Errorf("%v: %v", limits, err)
		}
	}
}
