package core_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/slidegate/slidegate/core"
)

// epoch is a multiple of every window that tests use.
var epoch = time.Unix(0, 0).UTC().Add(20_000 * 24 * time.Hour)

// A stillClock stands still until it is set.
type stillClock struct {
	mu  sync.Mutex
	now time.Time
}

func newStillClock() *stillClock { return &stillClock{now: epoch} }

func (c *stillClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *stillClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// at sets the clock to so many seconds after the epoch of the tests.
func (c *stillClock) at(seconds float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = epoch.Add(time.Duration(seconds*1e6+0.5) * time.Microsecond)
}

// A stubRequest is a request of which the rules look at little.
type stubRequest struct {
	ctx    context.Context
	method string
	header map[string]string
}

func get(header ...string) stubRequest {
	r := stubRequest{ctx: context.Background(), method: "GET", header: map[string]string{}}
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		r.header[name] = value
	}
	return r
}

func (r stubRequest) Context() context.Context   { return r.ctx }
func (r stubRequest) Method() string             { return r.method }
func (stubRequest) Path() string                 { return "/" }
func (stubRequest) Route() string                { return "" }
func (stubRequest) Host() string                 { return "example.org" }
func (stubRequest) Peer() string                 { return "192.0.2.1:1234" }
func (stubRequest) Cookie(string) (string, bool) { return "", false }
func (stubRequest) Value(any) any                { return nil }
func (stubRequest) Native() any                  { return nil }
func (r stubRequest) HeaderValues(n string) []string {
	if v, ok := r.header[n]; ok {
		return []string{v}
	}
	return nil
}

// byHeader is a key function: the value of a header field.
func byHeader(name string) core.KeyFunc {
	return func(r core.Request) (string, error) {
		if v := r.HeaderValues(name); v != nil {
			return v[0], nil
		}
		return "", core.ErrNoKey
	}
}

// byUser is the key function of tests that need no other.
var byUser = byHeader("User")

// byNobody is for tests that give their keys to Allow.
func byNobody(core.Request) (string, error) { return "", core.ErrNoKey }

// A gate is a limiter on a clock that the test sets.
type gate struct {
	*core.Limiter
	*stillClock
	t *testing.T
}

// newGate returns a limiter of one rule named "rule" by the header User.
func newGate(t *testing.T, limits ...core.Limit) gate {
	t.Helper()
	return newGateOf(t, core.Config{Rules: []core.Rule{{Name: "rule", Key: byUser, Limits: limits}}})
}

func newGateOf(t *testing.T, c core.Config) gate {
	t.Helper()
	clock := newStillClock()
	if _, memory := c.Store.(*core.Memory); c.Store == nil || memory {
		c.Now = clock.Now
	}
	l, err := core.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return gate{l, clock, t}
}

// take asks for cost units and returns the decision.
func (g gate) take(cost int64, keys ...string) core.Decision {
	g.t.Helper()
	d, err := g.AllowN(context.Background(), cost, keys...)
	if err != nil && !d.Never {
		g.t.Fatal(err)
	}
	return d
}

// check has a request decided on.
func (g gate) check(r core.Request) core.Decision {
	g.t.Helper()
	d, err := g.Check(r)
	if err != nil {
		g.t.Fatal(err)
	}
	return d
}

// remaining returns what the first limit of "rule" has left.
func (g gate) remaining(key string, limits ...core.Limit) int64 {
	g.t.Helper()
	states, err := g.Peek(context.Background(), "rule", key, limits...)
	if err != nil {
		g.t.Fatal(err)
	}
	return states[0].Remaining
}

// run sends requests of cost 1 and returns how many were admitted.
func (g gate) run(n int, key string) (admitted int) {
	g.t.Helper()
	for range n {
		if g.take(1, key).Allowed {
			admitted++
		}
	}
	return admitted
}
