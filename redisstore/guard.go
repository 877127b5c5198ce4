package redisstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/slidegate/slidegate/core"
)

const (
	// mostCalls bounds the calls that run in goroutines of their own, and so
	// those that hang in a client that obeys no deadline. Probes may exceed it
	// by mostProbes.
	mostCalls  = 1024
	mostProbes = 64
	// sections is how many breakers share the slots of a cluster: a node that
	// fails takes ranges of slots with it, and the others go on.
	sections = 32
)

// A guard stands before the client: no call holds a request for longer than the
// timeout, whatever the client does, and once Redis is known not to answer,
// requests do not wait for it.
//
// Only a goroutine of its own can be left behind in a client that hangs, but to
// hand every call over to one costs about as much time as Redis takes. A client
// that says that it obeys deadlines is therefore called directly, unless it was
// lately seen not to.
type guard struct {
	evaluate evaluate
	prefix   string
	timeout  time.Duration
	follows  bool        // the client follows redirections
	trusted  atomic.Bool // to return in time

	breakers [sections]breaker
	underway atomic.Int64
	total    atomic.Uint64

	mu       sync.Mutex
	down     int // breakers that are open
	watchers []func(error)
}

func (g *guard) init(e evaluate, c *Config, k known) {
	g.evaluate, g.prefix, g.timeout = e, c.Prefix, c.Timeout
	g.follows = k.cluster || c.Cluster
	g.trusted.Store(k.obeys || c.ObeysDeadlines)
}

// A call is a script for keys of one slot.
type call struct {
	script *script
	keys   []string
	args   []any
}

// call makes a call and waits for its end, the deadline or that of the request,
// whichever comes first. It goes on after its request has ended, up to the
// deadline: to break it off could break a connection, and what it charges
// stands. An ended request says nothing of Redis.
func (g *guard) call(ctx context.Context, deadline time.Time, slot int, c call) (any, error) {
	if ctx.Err() != nil {
		return nil, ended(ctx)
	}
	b := &g.breakers[slot*sections/hashSlots]
	term, probe, err := b.enter()
	if err != nil {
		if probe {
			go g.probe(b, c.keys[0])
		}
		return nil, err
	}
	short := time.Until(deadline) < g.timeout/2
	tell := func(err error) { g.note(b, term, short, err) }
	value, err := g.do(ctx, deadline, mostCalls, c, tell)
	tell(err)
	return value, err
}

// note tells a breaker how a call ended that it let through in a term. A call that
// had less than half of the time, since others had the rest, says nothing by
// taking longer; nor does one that was not made, or not waited for.
func (g *guard) note(b *breaker, term int, short bool, err error) {
	switch {
	case err == nil, errors.Is(err, core.ErrConfig):
		b.succeeded()
	case !errors.Is(err, ErrUnavailable), errors.Is(err, errCrowded), short && isTimeout(err):
	case b.failed(term, err):
		g.changed(1, err)
	}
}

func isTimeout(err error) bool {
	return errors.Is(err, errSilent) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded)
}

func ended(ctx context.Context) error {
	return fmt.Errorf("redisstore: the request ended before Redis answered: %w", context.Cause(ctx))
}

// do makes a call, unless it needs a goroutine and too many are under way. If the
// request ends before, late is told how the call did.
func (g *guard) do(ctx context.Context, deadline time.Time, most int64, c call, late func(error)) (any, error) {
	direct := g.trusted.Load()
	if !direct && g.underway.Add(1) > most {
		g.underway.Add(-1)
		return nil, unavailable(errCrowded)
	}
	g.total.Add(1)
	own, cancel := context.WithDeadline(context.WithoutCancel(ctx), deadline)
	if direct {
		defer cancel()
		return g.directly(own, c)
	}
	return g.aside(ctx, own, cancel, c, late)
}

// distrusted is for how long a client is not trusted that has broken its word. It
// may have been the machine that was busy.
const distrusted = time.Minute

// directly makes a call on the request's goroutine. Where the client holds it
// for twice its time, it is not trusted for a while.
func (g *guard) directly(ctx context.Context, c call) (any, error) {
	timer := time.AfterFunc(2*g.timeout, g.distrust)
	defer timer.Stop()
	o := g.try(ctx, c)
	return o.value, o.err
}

func (g *guard) distrust() {
	g.trusted.Store(false)
	time.AfterFunc(distrusted, func() { g.trusted.Store(true) })
}

type outcome struct {
	value any
	err   error
}

// aside makes a call in a goroutine of its own, which ends when the client
// returns.
func (g *guard) aside(ctx, own context.Context, cancel func(), c call, late func(error)) (any, error) {
	done := make(chan outcome, 1)
	go func() {
		defer cancel()
		defer g.underway.Add(-1)
		done <- g.try(own, c)
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
		go func() { late(last(done, own).err) }() // which ends with the call, or at its deadline
		return nil, ended(ctx)
	case <-own.Done():
	}
	o := last(done, own)
	return o.value, o.err
}

// last returns the outcome that has come when a call's context is done.
func last(done <-chan outcome, own context.Context) outcome {
	<-own.Done()
	select {
	case o := <-done: // it was done when the goroutine ended the context
		return o
	default:
		return outcome{err: unavailable(errSilent)}
	}
}

// try makes a call. A panic of the client must not end the program from
// a goroutine that no handler can recover in.
func (g *guard) try(ctx context.Context, c call) (o outcome) {
	defer func() {
		if v := recover(); v != nil {
			o = outcome{err: fault("the client panicked: %v", v)}
		}
	}()
	value, err := c.script.run(ctx, g.evaluate, c.keys, c.args)
	if err != nil {
		return outcome{err: classify(err, g.follows)}
	}
	return outcome{value: value}
}

// probe looks whether the server of a breaker is back, by writing beside a key
// of its, and closes the breaker if so.
func (g *guard) probe(b *breaker, key string) {
	c := call{script: probeScript, keys: []string{probeKey(g.prefix, key)}}
	_, err := g.do(context.Background(), time.Now().Add(g.timeout), mostCalls+mostProbes, c, nil)
	if (err == nil || errors.Is(err, core.ErrConfig)) && b.close() {
		g.changed(-1, nil)
	}
}

// changed tells the watchers when the first breaker opens and when the last
// one closes.
func (g *guard) changed(by int, cause error) {
	g.mu.Lock()
	before := g.down
	g.down += by
	told := g.watchers
	if (before == 0) == (g.down == 0) {
		told = nil
	}
	g.mu.Unlock()
	for _, watch := range told {
		watch(cause)
	}
}

func (g *guard) watch(f func(error)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.watchers = append(g.watchers, f)
}

// isDown reports whether any breaker is open.
func (g *guard) isDown() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.down > 0
}
