// Package storetest is the contract of [core.Store] as a test suite, for those
// who write a store:
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) storetest.Fixture {
//			clock := newClock()
//			return storetest.Fixture{Store: mystore.New(clock), Advance: clock.Advance, Tick: time.Microsecond}
//		})
//	}
//
// Each subtest is named after a promise. The suite needs the store's time to
// stand still between calls, so that it can be held against numbers worked out
// by hand and against a model that computes them from the definition.
package storetest

import (
	"testing"
	"time"

	"github.com/slidegate/slidegate/core"
)

// A Fixture is a fresh store and its time, which is in the hands of the suite.
type Fixture struct {
	// Store is the store, with nothing counted. It must have room for 4,096
	// subjects.
	Store core.Store
	// Advance moves the time that the store reads by a duration: whole ticks,
	// and, unless OneWay is set, also backwards. Between calls it stands
	// still. It is never called while another call is under way.
	Advance func(d time.Duration)
	// Tick is the resolution of the store's time, of which its waits are
	// multiples. It must divide a millisecond.
	Tick time.Duration
	// OneWay says that the store's time cannot be moved backwards.
	OneWay bool
}

// Run tests the stores that fresh makes, one a call, as subtests of t.
func Run(t *testing.T, fresh func(t *testing.T) Fixture) {
	for _, c := range checks {
		t.Run(c.promise, func(t *testing.T) {
			c.check(&probe{tester: t, fresh: func() Fixture { return fresh(t) }})
		})
	}
}

// A check tries one promise on as many fresh stores as it needs.
type check struct {
	promise string
	check   func(*probe)
}

var checks = []check{
	{"every algorithm counts what its definition says", workedExamples},
	{"a burst around a boundary passes as far as its algorithm lets it", boundaryBursts},
	{"RetryAfter is the worked-out wait", workedWaits},

	{"valid limits pass Check", validLimitsPass},
	{"an admitted request is charged to every limit of every ask", chargesAll},
	{"a denied request is charged to none", deniedChargesNone},
	{"Remaining is how many more requests are admitted", remainingIsExact},
	{"knocking while denied does not put the admission off", knockingCostsNothing},
	{"Peek charges nothing", peekChargesNothing},
	{"a dry run reports and does not deny", dryRunsWatch},
	{"dry runs are charged only together", dryRunsChargeTogether},
	{"a call whose context is done charges at most what it says", endedContext},

	{"RetryAfter is enough, and one tick less is not", waitsAreExact},
	{"of several limits each has its own wait", waitsOfSeveral},
	{"Next is when Remaining grows", nextIsExact},
	{"what can never be admitted is denied with Never and no wait", neverAdmitted},

	{"a refund gives back what was charged, to where it was charged", refundGivesBack},
	{"a second refund does nothing", refundOnce},
	{"a refund takes nothing from a count that another request made", refundTakesOwn},
	{"a refund of what was not charged does nothing", refundOfNothing},
	{"a bucket has refunded what the charge still owes", refundOfBucket},
	{"a refund after a change of limits grants nothing extra", refundAfterChange},

	{"rule and key together are the subject", subjectsAreApart},
	{"keys are any bytes of any length", keysAreBytes},
	{"a key may be borrowed", keysAreCloned},
	{"Reset forgets one subject", resetForgetsOne},
	{"counts outlive a change of the quota", countsOutliveQuota},
	{"a limit counted in another way starts empty", otherCountsStartEmpty},
	{"a denied request changes no limits", deniedKeepsLimits},

	{"the largest and smallest limits count without overflow", extremeLimits},
	{"a cost of any size is compared without overflow", extremeCosts},

	{"a request counts for less than a window after it, and for no longer", windowIsHalfOpen},
	{"after a silence the whole quota is there", silenceFreesAll},
	{"a clock that steps back frees nothing and denies nothing", clockStepsBack},

	{"random histories go as the model says", randomHistories},
	{"a crowd on one key gets exactly the quota", crowdOnOneKey},
	{"asks in any order of subjects end, with exact totals", crowdOnSharedSubjects},
	{"concurrent refunds give back exactly what was charged", crowdOfRefunds},
}
