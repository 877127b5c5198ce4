package core

import (
	"context"
	"time"
)

// A Store keeps the counters of rules and decides on them. [Memory] is one;
// package storetest has the contract as a test suite. Only a [Limiter] needs to
// call a store.
//
// A store reads time itself, once a call, after it has taken whatever makes the
// call exclusive; for each subject it uses the later of the reading and the
// instant of that subject's last charge. Its methods are called concurrently,
// must return soon after the context is done or a deadline of their own has
// passed, and never panic on any key, cost or clock.
type Store interface {
	// Check returns an error for limits that the store cannot count, which
	// names the limit and the remedy. It is called when a limiter is made, and
	// before limits from LimitsFor are used.
	Check(limits []Limit) error

	// Decide decides on all asks as one step and returns the reading of the
	// clock. It fills the states of every ask, one a limit: as they stand
	// after the charge if the request is admitted, and unchanged if not. An
	// admitted request is charged to every limit and each ask gets its
	// receipt; a request that a limit denies is charged to none. Limits that
	// are dry runs do not deny; those of one ask are charged only if all of
	// them have room. No two asks share rule and key; each has a cost of at
	// least 1 and limits that passed Check. On an error nothing is charged,
	// as far as the store can know.
	Decide(ctx context.Context, asks []Ask) (now time.Time, err error)

	// Peek fills the states of an ask as they stand, with RetryAfter for the
	// ask's cost, and neither charges nor creates anything.
	Peek(ctx context.Context, ask *Ask) (now time.Time, err error)

	// Reset forgets what is counted for a rule and key.
	Reset(ctx context.Context, rule, key string) error

	// Refund takes back the charges of asks by their receipts and clears
	// these, so that a second call does nothing. The units leave the slot that
	// they were charged to; if that has left the window, or the subject was
	// reset or forgotten or its limits were changed since, nothing happens. No
	// count falls below zero, and no later request is admitted that would not
	// have been, had the refunded one never come.
	Refund(ctx context.Context, asks []Ask) error
}

// A SharedStore is a [Store] that several processes share. A [Limiter] looks for
// these methods, too.
type SharedStore interface {
	Store

	// Instances returns how many processes share the counts, or 0 if that is
	// not known. While the store fails, under [Degrade], each process holds
	// its keys to that part of a quota, rounded up.
	Instances() int

	// Watch has a function called when the store goes out of service, with the
	// reason, and with nil when it is back. It is called with no lock held.
	Watch(f func(err error))
}

// An Ask is the part of one rule in a decision: its subject, the cost and the
// limits, and room for the answer.
type Ask struct {
	// Rule is the rule's name; Rule and Key together are the subject.
	Rule string
	// Key is the request's key: any bytes, of any length. It may be borrowed;
	// a store clones what it keeps.
	Key string
	// Cost is the units to charge.
	Cost int64
	// Limits are what to count. Each has a name, unique within the ask.
	Limits []Limit
	// States has as many elements as Limits, for the store to fill.
	States []State
	// Receipt is set by Decide and used up by Refund.
	Receipt Receipt
}

// A State is how a limit stood for its key after a decision.
type State struct {
	// Remaining is how many more requests of cost 1 this limit alone would
	// admit at the same instant: from 0 to the quota, or a bucket's burst.
	Remaining int64
	// RetryAfter is the smallest wait after which this limit alone would
	// admit the same request; 0 unless it denied.
	RetryAfter time.Duration
	// Next is the smallest wait after which Remaining grows by at least one;
	// 0 where it cannot grow.
	Next time.Duration
	// Denied says that the limit has no room for the request. A dry run that
	// says so did not stop it.
	Denied bool
	// Never says that the limit denied and no wait can help: the cost is
	// above its quota, or above its burst.
	Never bool
}

// A Receipt is what a store needs to find a charge again. The zero Receipt
// stands for no charge. Its meaning is the store's own.
type Receipt struct {
	// At is the instant of the charge on the store's clock.
	At int64
	// Serial tells the charged record from later ones of the same subject.
	Serial uint64
	// Dry says that the limits that are dry runs were charged too.
	Dry bool
}
