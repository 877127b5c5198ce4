package core_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/slidegate/slidegate/core"
)

var errGone = errors.New("connection refused")

func TestFailurePolicies(t *testing.T) {
	for _, c := range []struct {
		phrase   string
		config   core.Failure
		rule     core.Failure
		admitted int // of five requests under a quota of three, while the store fails
		refused  bool
	}{
		{"the default counts in this process", 0, 0, 3, false},
		{"so does Degrade", core.Degrade, 0, 3, false},
		{"FailOpen lets all pass", core.FailOpen, 0, 5, false},
		{"FailClosed refuses", core.FailClosed, 0, 0, true},
		{"a rule has its own way: open", core.FailClosed, core.FailOpen, 5, false},
		{"closed", core.FailOpen, core.FailClosed, 0, true},
		{"degraded", core.FailClosed, core.Degrade, 3, false},
	} {
		store := &scripted{fails: errGone}
		g := newGateOf(t, core.Config{
			Store: store, Failure: c.config,
			Rules: []core.Rule{{Name: "rule", Key: byUser, Limits: []core.Limit{core.PerHour(3)}, Failure: c.rule}},
		})
		admitted := 0
		for range 5 {
			d, err := g.Check(get("User: u"))
			if refused := errors.Is(err, core.ErrStore) && errors.Is(err, errGone); refused != c.refused || err != nil && !refused {
				t.Errorf("%s: %v, want an ErrStore: %t", c.phrase, err, c.refused)
			}
			if d.Degraded == c.refused {
				t.Errorf("%s: Degraded %t", c.phrase, d.Degraded)
			}
			if d.Allowed {
				admitted++
			}
		}
		if admitted != c.admitted {
			t.Errorf("%s: %d of 5 admitted while the store failed, want %d", c.phrase, admitted, c.admitted)
		}
	}
}

func TestDegradedLimiterReturnsToItsStore(t *testing.T) {
	store := &scripted{}
	g := newGateOf(t, core.Config{Store: store, Rules: []core.Rule{{Name: "rule", Key: byUser, Limits: []core.Limit{core.PerHour(3)}}}})
	g.run(2, "u")
	store.fail(errGone)
	if d := g.take(1, "u"); !d.Allowed || !d.Degraded || d.States()[0].Remaining != 0 {
		t.Errorf("while the store is gone: %+v; it counts on from what it admitted", d.States())
	}
	store.fail(nil)
	if d := g.take(1, "u"); d.Degraded || d.States()[0].Remaining != 0 {
		t.Errorf("when it is back: degraded %t, %+v, want the store's count", d.Degraded, d.States())
	}
}

func TestRulesOfOneRequestFailEachItsOwnWay(t *testing.T) {
	rules := []core.Rule{
		{Name: "open", Key: byUser, Limits: []core.Limit{core.PerHour(1)}, Failure: core.FailOpen},
		{Name: "local", Key: byUser, Limits: []core.Limit{core.PerHour(2)}, Failure: core.Degrade},
	}
	g := newGateOf(t, core.Config{Store: &scripted{fails: errGone}, Rules: rules})
	for i := range 3 {
		d := g.check(get("User: u"))
		if states := d.States(); len(states) != 1 || states[0].Rule != "local" || d.Allowed != (i < 2) {
			t.Errorf("request %d: allowed %t, %+v, want the local rule alone to decide", i+1, d.Allowed, states)
		}
	}
	closed := append(rules, core.Rule{Name: "closed", Key: byUser, Limits: []core.Limit{core.PerHour(3)}, Failure: core.FailClosed})
	var rule *core.RuleError
	if _, err := newGateOf(t, core.Config{Store: &scripted{fails: errGone}, Rules: closed}).Check(get("User: u")); !errors.As(err, &rule) || rule.Rule != "closed" {
		t.Errorf("with a closed rule among them: %v, want its ErrStore", err)
	}
}

func TestEndedRequestIsNoOutage(t *testing.T) {
	var kinds []core.EventKind
	for _, failure := range []core.Failure{core.Degrade, core.FailOpen, core.FailClosed} {
		ctx, cancel := context.WithCancelCause(context.Background())
		cause := errors.New("client left")
		cancel(cause)
		g := newGateOf(t, core.Config{
			Store: &scripted{fails: context.Canceled}, Failure: failure,
			Rules:    []core.Rule{core.By(byUser, core.PerHour(1))},
			Observer: func(_ context.Context, e core.Event) { kinds = append(kinds, e.Kind) },
		})
		r := get("User: u")
		r.ctx = ctx
		if d, err := g.Check(r); !errors.Is(err, cause) || d.Allowed || d.Degraded || errors.Is(err, core.ErrStore) {
			t.Errorf("%v: a request that ended: %+v, %v, want its own cause", failure, d, err)
		}
	}
	if want := []core.EventKind{core.Refused, core.Refused, core.Refused}; !slices.Equal(kinds, want) {
		t.Errorf("observed %v, want three refusals and no failure of the store", kinds)
	}
}

func TestOtherCallsReportAFailingStore(t *testing.T) {
	store := &scripted{}
	g := newGateOf(t, core.Config{Store: store, Failure: core.FailOpen, Rules: []core.Rule{{Name: "rule", Key: byUser, Limits: []core.Limit{core.PerHour(3)}}}})
	d := g.take(1, "u")
	store.fail(errGone)
	ctx := context.Background()
	_, peek := g.Peek(ctx, "rule", "u")
	for call, err := range map[string]error{"Peek": peek, "Reset": g.Reset(ctx, "rule", "u"), "Refund": g.Refund(ctx, &d)} {
		if !errors.Is(err, core.ErrStore) || !errors.Is(err, errGone) {
			t.Errorf("%s: %v, want ErrStore and the store's own error", call, err)
		}
	}
	store.fail(nil)
	if err := g.Refund(ctx, &d); err != nil || g.remaining("u") != 3 {
		t.Errorf("a refund once the store is back: %d remaining, %v, want 3", g.remaining("u"), err)
	}
}

func TestAllowRefusesWhileTheStoreFailsClosed(t *testing.T) {
	g := newGateOf(t, core.Config{Store: &scripted{fails: errGone}, Failure: core.FailClosed, Rules: []core.Rule{core.By(byNobody, core.PerHour(3))}})
	for call, ask := range map[string]func(context.Context, ...string) (core.Decision, error){"Allow": g.Allow, "Wait": g.Wait} {
		if d, err := ask(context.Background(), "u"); !errors.Is(err, core.ErrStore) || d.Allowed {
			t.Errorf("%s: %t, %v, want ErrStore", call, d.Allowed, err)
		}
	}
}

func TestStoreMayRefuseLimitsOfARequest(t *testing.T) {
	store := &scripted{}
	g := newGateOf(t, core.Config{Store: store, Rules: []core.Rule{{Name: "rule", Key: byUser, LimitsFor: func(core.Request) ([]core.Limit, error) {
		return []core.Limit{core.PerHour(3)}, nil
	}}}})
	store.unfit = errors.New("windows of whole days only")
	if d, err := g.Check(get("User: u")); !errors.Is(err, core.ErrLimits) || !errors.Is(err, store.unfit) || d.Allowed {
		t.Errorf("limits that the store cannot count: %t, %v, want ErrLimits", d.Allowed, err)
	}
	store.unfit = nil
	if d := g.check(get("User: u")); !d.Allowed || d.Degraded {
		t.Errorf("once it can: allowed %t", d.Allowed)
	}
}

func TestRefundOfADegradedDecisionStaysLocal(t *testing.T) {
	store := &scripted{fails: errGone}
	g := newGateOf(t, core.Config{Store: store, Rules: []core.Rule{{Name: "rule", Key: byUser, Limits: []core.Limit{core.PerHour(3)}}}})
	d := g.take(2, "u")
	calls := store.calls
	if err := g.Refund(context.Background(), &d); err != nil || store.calls != calls {
		t.Errorf("%v after %d calls of the store, want none", err, store.calls-calls)
	}
	if got := g.take(1, "u"); got.States()[0].Remaining != 2 {
		t.Errorf("%d left, want 2 of 3", got.States()[0].Remaining)
	}
}

func TestObserverIsToldOnce(t *testing.T) {
	store := &scripted{}
	var events []core.Event
	g := newGateOf(t, core.Config{
		Store: store,
		Skip:  func(r core.Request) bool { return r.HeaderValues("Health") != nil },
		Rules: []core.Rule{
			{Name: "rule", Key: byUser, Limits: []core.Limit{core.PerHour(1)}},
			{Name: "strict", Key: byHeader("Team"), Limits: []core.Limit{core.PerHour(9)}, OnMissing: core.SkipRule, Failure: core.FailClosed},
		},
		Observer: func(_ context.Context, e core.Event) { events = append(events, e) },
	})
	for _, c := range []struct {
		phrase string
		header []string
		fails  error
		want   []core.EventKind
	}{
		{"an admission", []string{"User: u"}, nil, []core.EventKind{core.Decided}},
		{"a denial", []string{"User: u"}, nil, []core.EventKind{core.Decided}},
		{"a missing key", nil, nil, []core.EventKind{core.Refused}},
		{"a skipped request", []string{"Health: 1"}, nil, nil},
		{"a failing store", []string{"User: u"}, errGone, []core.EventKind{core.StoreFailed, core.Decided}},
		{"a failing store under a closed rule", []string{"User: u", "Team: t"}, errGone, []core.EventKind{core.StoreFailed, core.Refused}},
	} {
		events = nil
		store.fail(c.fails)
		d, err := g.Check(get(c.header...))
		var kinds []core.EventKind
		for _, e := range events {
			kinds = append(kinds, e.Kind)
			switch e.Kind {
			case core.Decided:
				if e.Decision.Allowed != d.Allowed || len(e.Decision.States()) != len(d.States()) || e.Took < 0 || e.Err != nil {
					t.Errorf("%s: observed as %+v", c.phrase, e)
				}
			case core.Refused:
				if !errors.Is(e.Err, err) {
					t.Errorf("%s: observed %v, returned %v", c.phrase, e.Err, err)
				}
			case core.StoreFailed:
				if !errors.Is(e.Err, errGone) {
					t.Errorf("%s: observed %v, want the store's error", c.phrase, e.Err)
				}
			}
		}
		if !slices.Equal(kinds, c.want) {
			t.Errorf("%s: observed %v, want %v", c.phrase, kinds, c.want)
		}
	}
}

func TestObserverIsToldOfLiveEvictions(t *testing.T) {
	evicted := 0
	g := newGateOf(t, core.Config{
		Store: &core.Memory{MaxKeys: 2},
		Rules: []core.Rule{core.By(byNobody, core.PerHour(5))},
		Observer: func(_ context.Context, e core.Event) {
			if e.Kind == core.Pressure {
				evicted += e.Evicted
			}
		},
	})
	for _, key := range []string{"a", "b", "a", "c", "d"} {
		g.take(1, key)
	}
	if evicted != 2 {
		t.Errorf("observed %d live evictions, want 2", evicted)
	}
}
