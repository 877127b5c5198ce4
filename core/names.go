package core

import (
	"fmt"
	"maps"
)

// names are the policy names that a limiter has given out: those that the
// configuration gives, and then one for each limit without.
type names struct {
	given map[string]bool // by users, in any rule
	taken map[string]bool // by limits without a name
}

func newNames(rules []Rule) *names {
	n := &names{given: map[string]bool{}, taken: map[string]bool{}}
	for _, r := range rules {
		for _, l := range r.Limits {
			if l.name != "" {
				n.given[l.name] = true
			}
		}
	}
	return n
}

// assign names the limits of a rule. A limit without a name is called by its
// window; where that is taken, by the rule's name and its window, or by a
// number.
func (n *names) assign(rule string, limits []Limit) []Limit {
	for i := range limits {
		if limits[i].name == "" {
			limits[i].name = n.free(rule, windowName(limits[i].window))
			n.taken[limits[i].name] = true
		}
	}
	return limits
}

func (n *names) free(rule, name string) string {
	used := func(name string) bool { return n.given[name] || n.taken[name] }
	if !used(name) {
		return name
	}
	if rule != "" {
		name = rule + "-" + name
		if !used(name) {
			return name
		}
	}
	for i := 2; ; i++ {
		numbered := fmt.Sprintf("%s-%d", name, i)
		if !used(numbered) {
			return numbered
		}
	}
}

// without returns the names less those of some limits: a rule that counts under
// other limits for a request has its own names back.
func (n *names) without(own []Limit) *names {
	rest := &names{given: maps.Clone(n.given), taken: maps.Clone(n.taken)}
	for _, l := range own {
		delete(rest.given, l.name)
		delete(rest.taken, l.name)
	}
	return rest
}
