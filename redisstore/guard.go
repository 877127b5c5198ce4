package redisstore

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/slidegate/slidegate/core"
)

const (
	// mostCalls bounds the calls under way, and so those that hang in a client
	// that obeys no deadline. Probes may exceed it by mostProbes.
	mostCalls  = 1024
	mostProbes = 64
	// sections is how many breakers share the slots of a cluster: a node that
	// fails takes ranges of slots with it, and the others go on.
	sections = 32
)

// A guard stands before the client: no call holds a request for longer than the
// timeout, whatever the client does, and once Redis is known not to answer,
// requests do not wait for it.
type guard struct {
	timeout  time.Duration
	follows  bool // the client follows redirections
	breakers [sections]breaker
	calls    atomic.Int64 // under way
	total    atomic.Uint64

	mu       sync.Mutex
	down     int // breakers that are open
	watchers []func(error)
}

// A job is a call of the client for keys of one slot.
type job struct {
	run  func(context.Context) (any, error)
	slot int
	// probe looks whether the server can be counted in, by a key of the slot.
	probe func(context.Context) error
}

// call runs a job and waits for its end, the deadline or that of the request,
// whichever comes first. A job goes on after its request has ended, up to the
// deadline: to break it off could break a connection, and what it charges
// stands. An ended request says nothing of Redis.
func (g *guard) call(ctx context.Context, deadline time.Time, j job) (any, error) {
	if ctx.Err() != nil {
		return nil, ended(ctx)
	}
	b := &g.breakers[j.slot*sections/hashSlots]
	term, probe, err := b.enter()
	if err != nil {
		if probe {
			go g.probe(b, j.probe)
		}
		return nil, err
	}
	value, err := g.do(ctx, deadline, mostCalls, j.run)
	switch {
	case err == nil, errors.Is(err, core.ErrConfig):
		b.succeeded()
	case !errors.Is(err, ErrUnavailable): // the request has ended
	case b.failed(term, err):
		g.changed(1, err)
	}
	return value, err
}

func ended(ctx context.Context) error {
	return fmt.Errorf("redisstore: the request ended before Redis answered: %w", context.Cause(ctx))
}

type outcome struct {
	value any
	err   error
}

// do runs a function of the client in a goroutine of its own, which ends when
// the client returns.
func (g *guard) do(ctx context.Context, deadline time.Time, most int64, run func(context.Context) (any, error)) (any, error) {
	if g.calls.Add(1) > most {
		g.calls.Add(-1)
		return nil, unavailable(errCrowded)
	}
	g.total.Add(1)
	own, cancel := context.WithDeadline(context.WithoutCancel(ctx), deadline)
	done := make(chan outcome, 1)
	go func() {
		defer cancel()
		defer g.calls.Add(-1)
		done <- g.try(own, run)
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
		return nil, ended(ctx)
	case <-own.Done():
	}
	select {
	case o := <-done: // it was done when the goroutine ended the context
		return o.value, o.err
	default:
		return nil, unavailable(errSilent)
	}
}

// try runs a function of the client. A panic in it must not end the program
// from a goroutine that no handler can recover in.
func (g *guard) try(ctx context.Context, run func(context.Context) (any, error)) (o outcome) {
	defer func() {
		if v := recover(); v != nil {
			o = outcome{err: fault("the client panicked: %v", v)}
		}
	}()
	value, err := run(ctx)
	if err != nil {
		return outcome{err: classify(err, g.follows)}
	}
	return outcome{value: value}
}

// probe looks whether the server of a breaker is back, and closes it if so.
func (g *guard) probe(b *breaker, look func(context.Context) error) {
	_, err := g.do(context.Background(), time.Now().Add(g.timeout), mostCalls+mostProbes, func(ctx context.Context) (any, error) {
		return nil, look(ctx)
	})
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
