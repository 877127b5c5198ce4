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
			// Who names rules alike in one store means to share their counts.
			if r.given == "" && store.Claim(r.Name, r.plan.limits) {
				find(SG109, r.Name, "the rule has no name of its own")
			}
		}
	}
	return errors.Join(errs...)
}

// A claimer is a store that several limiters can share.
type claimer interface {
	Claim(rule string, limits []Limit) (clash bool)
}

// Claims note which limits are counted under the name of a rule in a store that
// several limiters share, for the doctor: a store that embeds them, or has their
// method, has its limiters compared. The zero Claims are ready to use, also
// concurrently.
type Claims struct {
	mu    sync.Mutex
	rules map[string][]Limit
}

// Claim notes the limits of a rule, and reports whether the rule was noted with
// others before.
func (c *Claims) Claim(rule string, limits []Limit) (clash bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.rules == nil {
		c.rules = map[string][]Limit{}
	}
	before, claimed := c.rules[rule]
	c.rules[rule] = limits
	return claimed && !slices.Equal(before, limits)
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
