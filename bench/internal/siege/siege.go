// Package siege floods a limiter on a clock of its own, and measures what honest
// clients notice of it.
package siege

import (
	"context"
	"time"

	"github.com/slidegate/slidegate/core"
)

// A Siege says how everybody is limited, and who attacks.
type Siege struct {
	// Limit holds for every key.
	Limit core.Limit
	// MaxKeys is the capacity of the memory store.
	MaxKeys int
	// Attack is what the attacker does.
	Attack Attack
}

// A camp is a siege that is going on.
type camp struct {
	limiter *core.Limiter
	now     time.Time
	attack  func(answer core.Decision) request
	answer  core.Decision // that the attacker got last
	last    string        // key of the attacker
}

// start is a boundary of every window that is used.
var start = time.Unix(1_700_006_400, 0)

func (s *Siege) begin() *camp {
	c := &camp{now: start, attack: s.Attack(s.Limit)}
	noKey := func(core.Request) (string, error) { return "", core.ErrNoKey }
	c.limiter = core.MustNew(core.Config{
		Rules: []core.Rule{core.By(noKey, s.Limit)},
		Store: &core.Memory{MaxKeys: s.MaxKeys},
		Now:   func() time.Time { return c.now },
	})
	return c
}

// ask makes a request. The memory store does not fail, and no cost is above
// the quota.
func (c *camp) ask(r request) core.Decision {
	d, err := c.limiter.AllowN(context.Background(), r.cost, r.key)
	if err != nil {
		panic(err)
	}
	return d
}

// flood has the attacker come with so many new keys, evenly over a time.
func (c *camp) flood(keys int, over time.Duration) {
	begun := c.now
	for n := 0; n < keys; {
		c.now = begun.Add(over * time.Duration(n) / time.Duration(keys))
		r := c.attack(c.answer)
		c.answer = c.ask(r)
		if r.key != c.last {
			c.last = r.key
			n++
		}
	}
	c.now = begun.Add(over)
}

// Half has an honest client make half its quota of requests, evenly over each of
// so many windows, while after each of them the attacker comes with half as many
// keys again as there is room for: it is forgotten between any two. It returns
// the share of its requests that was refused, window by window.
func (s *Siege) Half(windows int) (refused []float64) {
	c := s.begin()
	requests := int(s.Limit.Quota() / 2)
	for range windows {
		denied := 0
		for range requests {
			if !c.ask(request{"honest client", 1}).Allowed {
				denied++
			}
			c.flood(s.MaxKeys*3/2, s.Limit.Window()/time.Duration(requests))
		}
		refused = append(refused, float64(denied)/float64(requests))
	}
	return refused
}

// MeanHalf is the mean of several runs of [Siege.Half], window by window.
func (s *Siege) MeanHalf(windows, runs int) []float64 {
	refused := make([]float64, windows)
	for range runs {
		for w, share := range s.Half(windows) {
			refused[w] += share / float64(runs)
		}
	}
	return refused
}

// Chance is by how much the means that Growth compares may differ without any
// growth.
const Chance = 0.15

// Growth compares a series of windows with itself: the mean of its last eight less
// that of the eight before. Eight are four generations of the sketches of a
// smooth limit, or a multiple of what any other forgets in.
func Growth(series []float64) float64 {
	n := len(series)
	return Mean(series[n-8:]) - Mean(series[n-16:n-8])
}

// Mean returns the mean of a series.
func Mean(series []float64) float64 {
	sum := 0.0
	for _, v := range series {
		sum += v
	}
	return sum / float64(len(series))
}

// newcomersAWindow are the honest clients of Newcomers.
const newcomersAWindow = 1000

// Newcomers has the attacker come with ten times as many keys as there is room
// for in each of so many windows, and then stop for as many. Meanwhile honest
// clients come, each with one request. It returns the share of them that was
// refused, window by window.
func (s *Siege) Newcomers(windows int) (refused []float64) {
	c := s.begin()
	name := newNames("newcomer ")
	for w := range 2 * windows {
		keys := 10 * s.MaxKeys / newcomersAWindow
		if w >= windows {
			keys = 0
		}
		denied := 0
		for range newcomersAWindow {
			c.flood(keys, s.Limit.Window()/newcomersAWindow)
			if !c.ask(request{name(), 1}).Allowed {
				denied++
			}
		}
		refused = append(refused, float64(denied)/newcomersAWindow)
	}
	return refused
}

// Gain has the attacker flood, and beside it come back to one key of its own
// whenever enough others came for that to be forgotten, to take what it is
// given. It returns the most units that this key got in any of so many windows
// by the clock, as a share of the quota.
func (s *Siege) Gain(windows int) (most float64) {
	c := s.begin()
	const returns = 20 // in a window
	for range windows {
		admitted := 0
		for range returns {
			for c.ask(request{"attacker", 1}).Allowed {
				admitted++
			}
			c.flood(s.MaxKeys*3/2, s.Limit.Window()/returns)
		}
		most = max(most, float64(admitted)/float64(s.Limit.Quota()))
	}
	return most
}
