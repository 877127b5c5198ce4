package core_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/slidegate/slidegate/core"
)

// A planned gate has a rule whose limits the test changes as it goes.
type planned struct {
	gate
	plan []core.Limit
	err  error
}

func newPlanned(t *testing.T, own []core.Limit, others ...core.Rule) *planned {
	t.Helper()
	p := &planned{}
	rule := core.Rule{Name: "rule", Key: byUser, Limits: own, LimitsFor: func(core.Request) ([]core.Limit, error) { return p.plan, p.err }}
	p.gate = newGateOf(t, core.Config{Rules: append([]core.Rule{rule}, others...)})
	return p
}

// left has a request decided on under a plan, and returns what it leaves.
func (p *planned) left(plan ...core.Limit) (remaining []int64) {
	p.t.Helper()
	p.plan = plan
	d := p.check(get("User: u"))
	for _, s := range d.States() {
		remaining = append(remaining, s.Remaining)
	}
	return remaining
}

func TestLimitsForKeepsCountsAcrossAChangeOfQuota(t *testing.T) {
	p := newPlanned(t, nil)
	for _, c := range []struct {
		phrase string
		plan   []core.Limit
		want   []int64
	}{
		{"the first request", []core.Limit{core.PerMinute(3)}, []int64{2}},
		{"a larger plan", []core.Limit{core.PerMinute(10)}, []int64{8}},
		{"a smaller one", []core.Limit{core.PerMinute(5)}, []int64{2}},
		{"with an hourly limit beside it, which begins now", []core.Limit{core.PerMinute(10), core.PerHour(100)}, []int64{6, 99}},
		{"in another order", []core.Limit{core.PerHour(100), core.PerMinute(10)}, []int64{98, 5}},
		{"in a log, which begins now", []core.Limit{core.PerHour(100), core.PerMinute(10).Exact()}, []int64{97, 9}},
		{"in a window of another length", []core.Limit{core.PerHour(100), core.Per(10, 2*time.Minute)}, []int64{96, 9}},
		{"named, which is another limit", []core.Limit{core.PerHour(100).Named("hourly")}, []int64{99}},
		{"without a name, which begins anew", []core.Limit{core.PerHour(100)}, []int64{99}},
		{"by the name that it would get", []core.Limit{core.PerHour(100).Named("hour")}, []int64{98}},
	} {
		if got := p.left(c.plan...); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v leaves %d, want %d", c.phrase, c.plan, got, c.want)
		}
	}
}

func TestLimitsForGivesEachCustomerItsPlan(t *testing.T) {
	p := newPlanned(t, nil)
	for user, quota := range map[string]int64{"free": 3, "paid": 7} {
		p.plan = []core.Limit{core.PerMinute(quota)}
		admitted := int64(0)
		for range 20 {
			if d := p.check(get("User: " + user)); d.Allowed {
				admitted++
			}
		}
		if admitted != quota {
			t.Errorf("%s: %d admitted, want its quota of %d", user, admitted, quota)
		}
	}
}

func TestLimitsForWithoutLimitsLeavesTheRulesOwn(t *testing.T) {
	p := newPlanned(t, []core.Limit{core.PerMinute(9)})
	if got := p.left(); !slices.Equal(got, []int64{8}) {
		t.Errorf("no plan: %d, want the rule's own limit", got)
	}
	if got := p.left(core.PerMinute(5)); !slices.Equal(got, []int64{3}) {
		t.Errorf("a plan of the same counts: %d, want 3: both count one thing", got)
	}
	if got := newPlanned(t, nil).left(); got != nil {
		t.Errorf("neither plan nor limits: %d, want the rule left out", got)
	}
}

func TestLimitsForRefusesWhatIsNotValid(t *testing.T) {
	cause := errors.New("no database")
	p := newPlanned(t, []core.Limit{core.PerMinute(9)}, core.By(byUser, core.PerDay(5).Named("daily")))
	for _, c := range []struct {
		phrase string
		plan   []core.Limit
		err    error
	}{
		{"a failure", nil, cause},
		{"a negative quota", []core.Limit{core.PerMinute(-1)}, nil},
		{"no window", []core.Limit{core.Per(1, 0)}, nil},
		{"the zero Limit", []core.Limit{{}}, nil},
		{"two equal limits", []core.Limit{core.PerMinute(5), core.PerMinute(5)}, nil},
		{"two of one name", []core.Limit{core.PerMinute(5).Named("n"), core.PerHour(5).Named("n")}, nil},
		{"the name of another rule's limit", []core.Limit{core.PerMinute(5).Named("daily")}, nil},
	} {
		for range 2 { // a fault is not forgotten
			p.plan, p.err = c.plan, c.err
			d, err := p.Check(get("User: u"))
			var rule *core.RuleError
			if !errors.Is(err, core.ErrLimits) || !errors.As(err, &rule) || rule.Rule != "rule" || d.Allowed {
				t.Errorf("%s: %t, %v, want ErrLimits of the rule", c.phrase, d.Allowed, err)
			}
			if c.err != nil && !errors.Is(err, c.err) {
				t.Errorf("%s: %v does not wrap what LimitsFor returned", c.phrase, err)
			}
		}
	}
	p.err = nil
	if got := p.left(); !slices.Equal(got, []int64{8, 4}) {
		t.Errorf("after the faults %d left, want 8 and 4: nothing was charged", got)
	}
}

func TestLimitsForNamesLikeTheConfiguration(t *testing.T) {
	p := newPlanned(t, []core.Limit{core.PerMinute(9)}, core.By(byUser, core.PerSecond(5)))
	p.plan = []core.Limit{core.PerMinute(5), core.PerSecond(3), core.PerMinute(6), core.PerHour(7).Named("mine")}
	d := p.check(get("User: u"))
	var got []string
	for _, s := range d.States() {
		got = append(got, s.Limit.Name())
	}
	if want := []string{"minute", "rule-second", "rule-minute", "mine", "second"}; !slices.Equal(got, want) {
		t.Errorf("the plan's limits are called %q, want %q", got, want)
	}
}

// TestManyPlansLoseNoCount has more plans in use than are kept laid out.
func TestManyPlansLoseNoCount(t *testing.T) {
	p := newPlanned(t, nil)
	const plans = 5000
	for i := range int64(2 * plans) {
		if got := p.left(core.PerDay(100_000 + i%plans)); got[0] != 100_000+i%plans-i-1 {
			t.Fatalf("request %d leaves %d, want %d", i+1, got[0], 100_000+i%plans-i-1)
		}
	}
}
