package core

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// examineConfig looks at a limiter that is ready, and returns what a strict
// doctor found.
func (l *Limiter) examineConfig(c Config) error {
	var errs []error
	find := func(f Finding, rule, about string) {
		errs = append(errs, l.doctor.find(context.Background(), f, rule, about))
	}
	for _, r := range l.rules {
		if about := unreachable(r.plan.limits); about != "" {
			find(SG105, r.Name, about)
		}
	}
	if c.Store == nil && l.doctor.looksFor(SG108) && servesRequest() {
		find(SG108, "", "")
	}
	if store, ok := c.Store.(claimer); ok {
		for _, r := range l.rules {
			if about := clash(r.given != "", store.Claim(r.Name, r.plan.limits), r.plan.limits); about != "" {
				find(SG109, r.Name, about)
			}
		}
	}
	return errors.Join(errs...)
}

// A claimer is a store that several limiters can share.
type claimer interface {
	Claim(rule string, limits []Limit) (before []Limit)
}

// clash tells what is wrong with limits of a rule that another limiter noted
// before, or nothing. Who names rules alike in one store means to share their
// counts, which limits do that mean the same; rules without a name of their own
// are more likely alike by accident.
func clash(named bool, before, limits []Limit) string {
	switch {
	case before == nil:
		return ""
	case named && !sameCounts(before, limits):
		return "they erase each other's counts"
	case !named && !slices.Equal(before, limits):
		return "the rule has no name of its own"
	}
	return ""
}

// sameCounts reports whether limits count the same, in whatever order.
func sameCounts(before, limits []Limit) bool {
	return len(before) == len(limits) && !slices.ContainsFunc(limits, func(l Limit) bool {
		return !slices.ContainsFunc(before, l.SameCounts)
	})
}

// Claims note which limits are counted under the name of a rule in a store that
// several limiters share, for the doctor: a store that embeds them, or has their
// method, has its limiters compared. The zero Claims are ready to use, also
// concurrently.
type Claims struct {
	mu    sync.Mutex
	rules map[string][]Limit
}

// Claim notes the limits of a rule, and returns those that were noted before, nil
// if there are none.
func (c *Claims) Claim(rule string, limits []Limit) (before []Limit) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.rules == nil {
		c.rules = map[string][]Limit{}
	}
	before = c.rules[rule]
	c.rules[rule] = limits
	return before
}

// servesRequest reports whether the caller's caller runs within the handler of a
// request, and not once for all of them.
func servesRequest() bool {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	for {
		frame, more := frames.Next()
		switch name := frame.Function; {
		case strings.HasPrefix(name, "sync.(*Once)."):
			return false
		case strings.HasSuffix(name, ".ServeHTTP"), strings.HasSuffix(name, ".serveConn"):
			return true
		}
		if !more {
			return false
		}
	}
}
