//go:build unix

package verify_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/redisstore"
	"github.com/slidegate/slidegate/verify/internal/redistest"
)

// A fault is something that goes wrong with a server, or the way to it.
type fault struct {
	name       string
	begin, end func(*testing.T, *redistest.Server, *redistest.Proxy)
	// forgets says that the server loses what it counted.
	forgets bool
}

var faults = []fault{
	{
		name:  "connections are refused",
		begin: func(_ *testing.T, _ *redistest.Server, p *redistest.Proxy) { p.Refuse() },
		end:   func(_ *testing.T, _ *redistest.Server, p *redistest.Proxy) { p.Accept() },
	},
	{
		name:  "replies hang",
		begin: func(_ *testing.T, _ *redistest.Server, p *redistest.Proxy) { p.Hang() },
		end:   func(_ *testing.T, _ *redistest.Server, p *redistest.Proxy) { p.Pass() },
	},
	{
		name:  "replies are slower than the timeout",
		begin: func(_ *testing.T, _ *redistest.Server, p *redistest.Proxy) { p.Slow(2 * redisstore.DefaultTimeout) },
		end:   func(_ *testing.T, _ *redistest.Server, p *redistest.Proxy) { p.Pass() },
	},
	{
		name:  "replies are cut in the middle",
		begin: func(_ *testing.T, _ *redistest.Server, p *redistest.Proxy) { p.Cut(1 << 30) },
		end:   func(_ *testing.T, _ *redistest.Server, p *redistest.Proxy) { p.Pass() },
	},
	{
		name:  "the server stands still (kill -STOP)",
		begin: func(_ *testing.T, s *redistest.Server, _ *redistest.Proxy) { s.Freeze() },
		end:   func(_ *testing.T, s *redistest.Server, _ *redistest.Proxy) { s.Thaw() },
	},
	{
		name:    "the server is killed (kill -9) and started again",
		begin:   func(_ *testing.T, s *redistest.Server, _ *redistest.Proxy) { s.Kill() },
		end:     func(_ *testing.T, s *redistest.Server, _ *redistest.Proxy) { s.Restart() },
		forgets: true,
	},
	{
		name:  "the server has become a replica that can only be read",
		begin: func(_ *testing.T, s *redistest.Server, _ *redistest.Proxy) { s.Do("REPLICAOF", "127.0.0.1", "1") },
		end:   func(_ *testing.T, s *redistest.Server, _ *redistest.Proxy) { s.Do("REPLICAOF", "NO", "ONE") },
	},
	{
		name: "the server has no memory left",
		begin: func(_ *testing.T, s *redistest.Server, _ *redistest.Proxy) {
			s.Do("CONFIG", "SET", "maxmemory", "1")
		},
		end: func(_ *testing.T, s *redistest.Server, _ *redistest.Proxy) {
			s.Do("CONFIG", "SET", "maxmemory", "0")
		},
	},
}

// faultQuota is the quota of the key that callers ask under during a fault.
const faultQuota = 200

// TestNoFaultAdmitsBeyondItsBound has callers ask before, during and after each
// fault, far more than the quota. What Redis admits stays within the quota, or
// within two where it forgot the first; what is admitted in its place, by a
// policy that does so, stays within what this process had left.
func TestNoFaultAdmitsBeyondItsBound(t *testing.T) {
	for _, f := range faults {
		for _, failure := range policies() {
			t.Run(fmt.Sprintf("%s/%s", f.name, policyNames[failure]), func(t *testing.T) {
				before := goleak.IgnoreCurrent()
				t.Run("asked", func(t *testing.T) { f.try(t, failure) })
				goleak.VerifyNone(t, before)
			})
		}
	}
}

// policies are those that admit a bounded number: a short run takes the default.
func policies() []core.Failure {
	if testing.Short() {
		return []core.Failure{core.Degrade}
	}
	return []core.Failure{core.Degrade, core.FailClosed}
}

var policyNames = map[core.Failure]string{core.Degrade: "degrade", core.FailClosed: "fail closed"}

func (f *fault) try(t *testing.T, failure core.Failure) {
	server := redistest.Start(t)
	proxy := redistest.NewProxy(t, server.Addr)
	c := newCallers(t, redisstore.New(newClient(t, proxy.Addr)), failure)
	for range 20 {
		c.ask(t)
	}
	early := c.sum()
	if early.inRedis == 0 {
		t.Fatalf("before the fault: %+v of 20 requests", early)
	}

	f.begin(t, server, proxy)
	c.askFor(t, 600*time.Millisecond)
	during := c.sum()
	if during.inRedis > early.inRedis+int64(len(c.workers)) {
		t.Errorf("the fault is none: %+v", during)
	}
	f.end(t, server, proxy)

	began := time.Now()
	eventually(t, "Redis counts again", func() bool { return c.ask(t) })
	t.Logf("Redis counts again after %v", time.Since(began).Round(time.Millisecond))
	c.askFor(t, 300*time.Millisecond)
	c.check(t, f.forgets, early.inRedis)
	noImmortalKeys(t, server, 0, core.Per(1, core.MaxWindow).Exact())
}

// callers ask one limiter under one key.
type callers struct {
	limiter *core.Limiter
	failure core.Failure
	key     string
	workers [4]struct{}

	mu sync.Mutex
	tally
	took []time.Duration
}

// A tally is how many requests were admitted by Redis and without it, and how
// many were refused because of a failure.
type tally struct{ inRedis, without, failed int64 }

func newCallers(t *testing.T, store core.Store, failure core.Failure) *callers {
	return &callers{
		limiter: on(t, store, failure, core.By(byHand, core.Per(faultQuota, core.MaxWindow).Exact())),
		failure: failure,
		key:     "key",
	}
}

// ask asks once and reports whether Redis answered.
func (c *callers) ask(t *testing.T) (answered bool) {
	began := time.Now()
	d, err := c.limiter.Allow(background, c.key)
	took := time.Since(began)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.took = append(c.took, took)
	switch {
	case err != nil && c.failure != core.FailClosed:
		t.Errorf("an error although requests are to be decided without Redis: %v", err)
	case err != nil:
		c.failed++
		return false
	case d.Allowed && d.Degraded:
		c.without++
	case d.Allowed:
		c.inRedis++
	}
	return !d.Degraded
}

// askFor has all callers ask for a while, pausing for 2 ms after each request.
func (c *callers) askFor(t *testing.T, d time.Duration) {
	end := time.Now().Add(d)
	var group sync.WaitGroup
	for range c.workers {
		group.Go(func() {
			for time.Now().Before(end) {
				c.ask(t)
				<-time.After(2 * time.Millisecond)
			}
		})
	}
	group.Wait()
}

func (c *callers) sum() tally {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tally
}

// check holds what was admitted against the documented bounds, and what each
// request was held for against the timeout. early is what this process had
// admitted before the fault, and so must have counted for itself.
func (c *callers) check(t *testing.T, forgets bool, early int64) {
	t.Helper()
	got, most := c.sum(), int64(faultQuota)
	if forgets {
		most *= 2
	}
	if got.inRedis > most {
		t.Errorf("Redis admitted %d, may admit %d", got.inRedis, most)
	}
	if got.without > faultQuota-early {
		t.Errorf("%d admitted without Redis, after %d of a quota of %d with it", got.without, early, faultQuota)
	}
	if got.failed == 0 == (c.failure == core.FailClosed) {
		t.Errorf("%d requests refused because of the fault", got.failed)
	}
	t.Logf("%d requests, held for at most %v, p99 %v: %+v", len(c.took), percentile(c.took, 1), percentile(c.took, 0.99), got)
	if longest := percentile(c.took, 1); longest > 20*redisstore.DefaultTimeout {
		t.Errorf("a request was held for %v, far beyond the timeout of %v", longest, redisstore.DefaultTimeout)
	}
}
