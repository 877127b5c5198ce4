package core_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slidegate/slidegate/core"
)

// shared is a store of several processes that says how many.
type shared struct {
	scripted
	instances int
	watchers  []func(error)
}

func (s *shared) Instances() int          { return s.instances }
func (s *shared) Watch(f func(err error)) { s.watchers = append(s.watchers, f) }

func oneRule(limits ...core.Limit) []core.Rule {
	return []core.Rule{{Name: "rule", Key: byUser, Limits: limits}}
}

func TestDegradeGoesOnFromWhatThisProcessAdmitted(t *testing.T) {
	for _, l := range []core.Limit{
		core.PerDay(10), core.PerDay(10).Strict(6), core.PerDay(10).Exact(), core.PerDay(10).Fixed(), core.PerDay(10).Bucket(10),
	} {
		store := &scripted{}
		g := newGateOf(t, core.Config{Store: store, Rules: oneRule(l)})
		g.take(4, "u")
		refunded := g.take(3, "u")
		if d := g.take(9, "u"); d.Allowed {
			t.Fatalf("%v: 9 more were admitted after 7 of 10", l)
		}
		if err := g.Refund(context.Background(), &refunded); err != nil {
			t.Fatal(err)
		}
		store.fail(errGone)
		if d := g.take(1, "u"); !d.Allowed || d.States()[0].Remaining != 5 {
			t.Errorf("%v: after 4 in the store, 3 refunded, a denial of 9 and 1 here: %+v, want 5 remaining", l, d.States())
		}
	}
}

func TestDegradedProcessHoldsToItsPartOfTheQuota(t *testing.T) {
	for _, c := range []struct {
		phrase    string
		limit     core.Limit
		instances int
		want      int // of many requests while the store fails
	}{
		{"the number of instances is not known", core.PerDay(10), 0, 10},
		{"one instance", core.PerDay(10), 1, 10},
		{"two", core.PerDay(10), 2, 5},
		{"three, rounded up", core.PerDay(10), 3, 4},
		{"more instances than units: at least 1", core.PerDay(10), 1000, 1},
		{"a quota of 0 stays 0", core.PerDay(0), 3, 0},
		{"of a bucket the burst", core.PerDay(10).Bucket(7), 3, 3},
		{"of a log", core.PerDay(10).Exact(), 3, 4},
	} {
		g := newGateOf(t, core.Config{Store: &shared{scripted: scripted{fails: errGone}, instances: c.instances}, Rules: oneRule(c.limit)})
		got := 0
		for range 20 {
			if g.take(1, "u").Allowed {
				got++
			}
		}
		if got != c.want {
			t.Errorf("%s: %v: %d admitted while the store failed, want %d", c.phrase, c.limit, got, c.want)
		}
	}
}

// TestPartOfABucketIsNotLockedForLong has one process get all requests of a key,
// at the whole pace, while its part pays off a tenth.
func TestPartOfABucketIsNotLockedForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &shared{instances: 10}
		g := newGateOf(t, core.Config{Store: store, Rules: oneRule(core.PerSecond(10).Bucket(10))})
		for range 1000 {
			if !g.take(1, "u").Allowed {
				t.Fatal("denied at the pace of the limit")
			}
			time.Sleep(100 * time.Millisecond)
		}
		store.fail(errGone)
		time.Sleep(time.Second)
		if d := g.take(1, "u"); !d.Allowed {
			t.Errorf("a second after the store failed: %+v, want the part's burst of 1 paid off", d.States())
		}
	})
}

func TestDryRunsAreKeptWarmAsTheStoreChargedThem(t *testing.T) {
	store := &scripted{}
	g := newGateOf(t, core.Config{Store: store, Rules: oneRule(core.PerDay(9).Named("wide"), core.PerHour(1).DryRun().Named("dry"))})
	g.run(3, "u")
	store.fail(errGone)
	if states := g.take(1, "u").States(); states[0].Remaining != 5 || !states[1].Denied {
		t.Errorf("after 3 requests of which the dry run took one: %+v", states)
	}
}

func TestFaultyConfigurationIsNoOutage(t *testing.T) {
	broken := errors.Join(core.ErrConfig, errors.New("no permission to run scripts"))
	for _, failure := range []core.Failure{core.Degrade, core.FailOpen, core.FailClosed} {
		var kinds []core.EventKind
		g := newGateOf(t, core.Config{
			Store: &scripted{fails: broken}, Failure: failure, Rules: oneRule(core.PerHour(1)),
			Observer: func(_ context.Context, e core.Event) { kinds = append(kinds, e.Kind) },
		})
		d, err := g.Check(get("User: u"))
		if !errors.Is(err, core.ErrStore) || !errors.Is(err, broken) || d.Allowed || core.ProblemOf(err).Status != 500 {
			t.Errorf("%v: allowed %t, %v, want an error of status 500", failure, d.Allowed, err)
		}
		if want := []core.EventKind{core.StoreFailed, core.Refused}; !slices.Equal(kinds, want) {
			t.Errorf("%v: observed %v, want %v", failure, kinds, want)
		}
	}
}

func TestObserverIsToldOfStoresThatGoAndComeBack(t *testing.T) {
	store := &shared{}
	var events []core.Event
	newGateOf(t, core.Config{
		Store: store, Rules: oneRule(core.PerHour(1)),
		Observer: func(_ context.Context, e core.Event) { events = append(events, e) },
	})
	for _, watch := range store.watchers {
		watch(errGone)
		watch(nil)
	}
	if len(events) != 2 || events[0].Kind != core.StoreDown || !errors.Is(events[0].Err, errGone) || events[1].Kind != core.StoreUp || events[1].Err != nil {
		t.Errorf("observed %+v, want that the store went, with the reason, and came back", events)
	}
}
