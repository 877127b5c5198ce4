package siege

import (
	"strconv"

	"github.com/slidegate/slidegate/core"
)

// An Attack returns a new attacker of keys under a limit: a function that makes
// each of its requests, given the answer to the one before.
type Attack func(core.Limit) func(answer core.Decision) request

// Attacks returns all attacks by name.
func Attacks() map[string]Attack {
	return map[string]Attack{"sweep": Sweep, "spend": Spend, "adapt": Adapt}
}

// A request asks for units under a key.
type request struct {
	key  string
	cost int64
}

// newNames returns a maker of keys, each a new one.
func newNames(of string) func() string {
	n := 0
	return func() string {
		n++
		return of + strconv.Itoa(n)
	}
}

// Sweep has a new key for every request: the most keys for its requests.
func Sweep(core.Limit) func(core.Decision) request {
	name := newNames("attacker ")
	return func(core.Decision) request { return request{name(), 1} }
}

// Spend takes the whole quota of each key, half at a time, before the next: the
// most units for its keys.
func Spend(l core.Limit) func(core.Decision) request {
	name := newNames("attacker ")
	r := request{cost: l.Quota() / 2}
	return func(answer core.Decision) request {
		if !answer.Allowed {
			r.key = name()
		}
		return r
	}
}

// Adapt looks at what a new key begins with. Where that is its whole quota, the
// sketches have room still, and it spends the key to fill them; where it is
// less, it takes the next at once, to have more keys forgotten.
func Adapt(l core.Limit) func(core.Decision) request {
	name := newNames("attacker ")
	key, requests := "", 0
	return func(answer core.Decision) request {
		requests++
		if key == "" || !answer.Allowed || requests == 2 && !untouched(answer) {
			key, requests = name(), 1
			return request{key, 1}
		}
		return request{key, l.Quota() / 2}
	}
}

// untouched reports whether a first request found its whole quota.
func untouched(d core.Decision) bool {
	s := d.States()[0]
	return s.Remaining == s.Limit.Quota()-1
}
