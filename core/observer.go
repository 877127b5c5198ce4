package core

import (
	"context"
	"time"
)

// An Observer is told what a [Limiter] does. It is called in the course of the
// request, with no lock held, and concurrently; it should return soon and must
// not keep the event's decision beyond the call without cloning what it needs.
type Observer func(ctx context.Context, e Event)

// An Event is one thing that an [Observer] is told.
type Event struct {
	Kind EventKind
	// Decision is the decision, for Decided.
	Decision Decision
	// Took is how long the decision took, for Decided.
	Took time.Duration
	// Err is the reason, for Refused, StoreFailed and StoreDown.
	Err error
	// Evicted is how many subjects had to make room while their counts
	// mattered, and Charged how many began with units from the sketches, for
	// Pressure.
	Evicted, Charged int
}

// EventKind is the kind of an [Event].
type EventKind uint8

const (
	// Decided is a decision: allowed or denied.
	Decided EventKind = iota + 1
	// Refused is a request that could not be decided on: it has no key, its
	// cost is not valid, or the store failed and the rule says to refuse.
	Refused
	// StoreFailed is a store that returned an error.
	StoreFailed
	// Pressure is a memory store that is full: see [MemoryStats] for what its
	// figures mean.
	Pressure
	// StoreDown is a [SharedStore] that went out of service. It may come
	// outside of any request.
	StoreDown
	// StoreUp is one that is back. It may come outside of any request.
	StoreUp
)

func (l *Limiter) observe(ctx context.Context, d Decision, took time.Duration, p pressure) {
	l.observer(ctx, Event{Kind: Decided, Decision: d, Took: took})
	if p != (pressure{}) {
		l.observer(ctx, Event{Kind: Pressure, Evicted: p.evicted, Charged: p.charged})
	}
}

func (l *Limiter) refused(ctx context.Context, err error) error {
	if l.observer != nil {
		l.observer(ctx, Event{Kind: Refused, Err: err})
	}
	return err
}

func (l *Limiter) storeFailed(ctx context.Context, err error) {
	if l.observer != nil {
		l.observer(ctx, Event{Kind: StoreFailed, Err: err})
	}
}
