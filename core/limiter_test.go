package core_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slidegate/slidegate/core"
)

func TestDenialChargesNoRule(t *testing.T) {
	g := newGateOf(t, core.Config{Rules: []core.Rule{
		{Name: "wide", Key: byUser, Limits: []core.Limit{core.PerMinute(10)}},
		{Name: "narrow", Key: byUser, Limits: []core.Limit{core.PerMinute(3)}},
		{Name: "rule", Key: byUser, Limits: []core.Limit{core.PerMinute(20)}},
	}})
	for i := range 9 {
		if d := g.check(get("User: u")); d.Allowed != (i < 3) {
			t.Fatalf("request %d: allowed %t", i+1, d.Allowed)
		}
	}
	for rule, want := range map[string]int64{"wide": 7, "narrow": 0, "rule": 17} {
		if got, err := g.Peek(context.Background(), rule, "u"); err != nil || got[0].Remaining != want {
			t.Errorf("after 3 admissions and 6 denials %q has %d remaining, %v, want %d", rule, got[0].Remaining, err, want)
		}
	}
}

func TestStatesComeInTheOrderOfTheRules(t *testing.T) {
	var rules []core.Rule
	var want []string
	for i := range 6 { // more than a decision has room for without memory of its own
		rule := core.Rule{Name: fmt.Sprint("r", i), Key: byUser}
		for j := range 1 + i%3 {
			l := core.PerMinute(int64(10*i + j + 1)).Named(fmt.Sprint("r", i, "-", j))
			rule.Limits = append(rule.Limits, l)
			want = append(want, fmt.Sprintf("%s/%s: %d left", rule.Name, l.Name(), l.Quota()-1))
		}
		rules = append(rules, rule)
	}
	for n := 1; n <= len(rules); n++ {
		g := newGateOf(t, core.Config{Rules: rules[:n]})
		d := g.check(get("User: u"))
		var got []string
		for _, s := range d.States() {
			got = append(got, fmt.Sprintf("%s/%s: %d left", s.Rule, s.Limit.Name(), s.Remaining))
		}
		if !slices.Equal(got, want[:len(got)]) || got == nil {
			t.Errorf("%d rules: %q, want %q", n, got, want)
		}
		if err := g.Refund(context.Background(), &d); err != nil {
			t.Fatal(err)
		}
		again := g.check(get("User: u"))
		for i, s := range again.States() {
			if s.Remaining != d.States()[i].Remaining {
				t.Errorf("%d rules: after a refund %q has %d left, and had %d before", n, s.Limit.Name(), s.Remaining, d.States()[i].Remaining)
			}
		}
	}
}

func TestRetryAfterIsThatOfTheSlowestDenier(t *testing.T) {
	g := newGate(t, core.PerSecond(1).Exact(), core.PerMinute(2).Exact(), core.PerHour(3).Exact())
	for _, c := range []struct {
		at      float64
		allowed bool
		wait    time.Duration
	}{
		{0, true, 0},
		{0.25, false, 750 * time.Millisecond},
		{1, true, 0},
		{1.5, false, 58500 * time.Millisecond},
		{60, true, 0},
		{60.5, false, time.Hour - 60500*time.Millisecond},
	} {
		g.at(c.at)
		if d := g.take(1, "u"); d.Allowed != c.allowed || d.RetryAfter != c.wait || d.Never {
			t.Errorf("at %v s: allowed %t, wait %v, want %t and %v", c.at, d.Allowed, d.RetryAfter, c.allowed, c.wait)
		}
	}
}

func TestNeverOutweighsEveryWait(t *testing.T) {
	g := newGate(t, core.PerSecond(5), core.PerHour(1000).Bucket(3))
	g.take(3, "u")
	d, err := g.AllowN(context.Background(), 4, "u")
	if d.Allowed || !d.Never || d.RetryAfter != 0 || !errors.Is(err, core.ErrCostExceedsLimit) {
		t.Errorf("a cost above the burst: %t, Never %t, wait %v, %v", d.Allowed, d.Never, d.RetryAfter, err)
	}
	if s := d.States(); !s[0].Denied || s[0].Never || s[0].RetryAfter == 0 || !s[1].Never {
		t.Errorf("each limit has a state of its own: %+v", s)
	}
}

func TestSkipAndWhenLeaveRequestsOut(t *testing.T) {
	g := newGateOf(t, core.Config{
		Skip: func(r core.Request) bool { return r.HeaderValues("Health") != nil },
		Rules: []core.Rule{
			{Name: "posts", Key: byUser, Limits: []core.Limit{core.PerMinute(1)}, When: func(r core.Request) bool { return r.Method() == "POST" }},
			{Name: "rule", Key: byUser, Limits: []core.Limit{core.PerMinute(9)}},
		},
	})
	for range 3 {
		if d := g.check(get("Health: 1")); !d.Allowed || d.States() != nil || d.Degraded {
			t.Errorf("a skipped request: %+v", d)
		}
		if d := g.check(get("User: u")); !d.Allowed || len(d.States()) != 1 {
			t.Errorf("a request that one rule of two is for: %v", d.States())
		}
	}
	if got := g.remaining("u"); got != 6 {
		t.Errorf("%d remaining, want 6", got)
	}
	post := get("User: u")
	post.method = "POST"
	if first, second := g.check(post), g.check(post); !first.Allowed || second.Allowed {
		t.Errorf("of two posts the first was allowed: %t, the second: %t", first.Allowed, second.Allowed)
	}
}

func TestCostIsTheUnitsOfARequest(t *testing.T) {
	cause := errors.New("no idea")
	g := newGateOf(t, core.Config{Rules: []core.Rule{
		{Name: "rule", Key: byUser, Limits: []core.Limit{core.PerMinute(10)}},
		{Name: "units", Key: byUser, Limits: []core.Limit{core.PerMinute(10).Exact()}, Cost: func(r core.Request) (int64, error) {
			v := r.HeaderValues("Cost")
			if v == nil {
				return 0, cause
			}
			return strconv.ParseInt(v[0], 10, 64)
		}},
	}})
	for _, c := range []struct {
		cost    string
		allowed bool
		states  int
		left    int64 // of the second rule
	}{
		{"4", true, 2, 6}, {"7", false, 2, 6}, {"6", true, 2, 0}, {"0", true, 1, 0}, {"1", false, 2, 0},
	} {
		d := g.check(get("User: u", "Cost: "+c.cost))
		states, err := g.Peek(context.Background(), "units", "u")
		if err != nil {
			t.Fatal(err)
		}
		if d.Allowed != c.allowed || len(d.States()) != c.states || states[0].Remaining != c.left {
			t.Errorf("cost %s: allowed %t, %d states, %d left, want %t, %d and %d",
				c.cost, d.Allowed, len(d.States()), states[0].Remaining, c.allowed, c.states, c.left)
		}
	}
	left := g.remaining("u")
	for _, r := range []stubRequest{get("User: u", "Cost: -1"), get("User: u", "Cost: -9223372036854775808"), get("User: u")} {
		d, err := g.Check(r)
		var rule *core.RuleError
		if !errors.Is(err, core.ErrCost) || !errors.As(err, &rule) || rule.Rule != "units" || d.Allowed || d.States() != nil {
			t.Errorf("a cost of %q: %v, %v, want ErrCost of the rule", r.header["Cost"], d.Allowed, err)
		}
	}
	if _, err := g.Check(get("User: u")); !errors.Is(err, cause) {
		t.Errorf("%v does not wrap what the cost function returned", err)
	}
	if got := g.remaining("u"); got != left {
		t.Errorf("the rule before the failing one was charged: %d left, want %d", got, left)
	}
}

func TestMissingKeys(t *testing.T) {
	broken := errors.New("token store is down")
	for _, c := range []struct {
		phrase    string
		key       core.KeyFunc
		onMissing core.OnMissing
		want      error // nil: the rule is left out
	}{
		{"no key", byNobody, core.RefuseRequest, core.ErrNoKey},
		{"an empty key", func(core.Request) (string, error) { return "", nil }, core.RefuseRequest, core.ErrNoKey},
		{"a wrapped one", func(core.Request) (string, error) { return "", fmt.Errorf("header X: %w", core.ErrNoKey) }, core.RefuseRequest, core.ErrNoKey},
		{"a failure", func(core.Request) (string, error) { return "", broken }, core.RefuseRequest, core.ErrKey},
		{"a failure with a key", func(core.Request) (string, error) { return "secret", broken }, core.SkipRule, core.ErrKey},
		{"no key, skipped", byNobody, core.SkipRule, nil},
		{"an empty key, skipped", func(core.Request) (string, error) { return "", nil }, core.SkipRule, nil},
	} {
		g := newGateOf(t, core.Config{Rules: []core.Rule{
			{Name: "rule", Key: byUser, Limits: []core.Limit{core.PerMinute(5)}},
			{Name: "second", Key: c.key, Limits: []core.Limit{core.PerMinute(5)}, OnMissing: c.onMissing},
		}})
		d, err := g.Check(get("User: u"))
		if c.want == nil {
			if err != nil || !d.Allowed || len(d.States()) != 1 {
				t.Errorf("%s: %v, %v, want a decision of the first rule", c.phrase, d.States(), err)
			}
			continue
		}
		var rule *core.RuleError
		if !errors.Is(err, c.want) || !errors.As(err, &rule) || rule.Rule != "second" || rule.Kind != c.want || d.Allowed {
			t.Errorf("%s: %v, want %v of the second rule", c.phrase, err, c.want)
			continue
		}
		if strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the key stands in the text %q", c.phrase, err)
		}
		if g.remaining("u") != 5 {
			t.Errorf("%s: the first rule was charged", c.phrase)
		}
	}
}

func TestRuleErrorsTellRuleKindAndCause(t *testing.T) {
	cause := errors.New("boom")
	for _, c := range []struct {
		err  *core.RuleError
		want string
	}{
		{&core.RuleError{Rule: "api", Kind: core.ErrNoKey}, `slidegate: request has no key (rule "api")`},
		{&core.RuleError{Rule: "api", Kind: core.ErrNoKey, Err: core.ErrNoKey}, `slidegate: request has no key (rule "api")`},
		{&core.RuleError{Rule: "api", Kind: core.ErrKey, Err: cause}, `slidegate: key function failed (rule "api"): boom`},
	} {
		if got := c.err.Error(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
		if !errors.Is(c.err, c.err.Kind) || c.err.Err == cause && !errors.Is(c.err, cause) {
			t.Errorf("%v does not unwrap to its kind and cause", c.err)
		}
	}
}

func TestDryRunRuleNeverDenies(t *testing.T) {
	g := newGateOf(t, core.Config{Rules: []core.Rule{
		{Name: "rule", Key: byUser, Limits: []core.Limit{core.PerMinute(2)}, DryRun: true,
			LimitsFor: func(r core.Request) ([]core.Limit, error) {
				if r.HeaderValues("Plan") != nil {
					return []core.Limit{core.PerMinute(1).Named("plan")}, nil
				}
				return nil, nil
			}},
	}})
	for _, r := range []stubRequest{get("User: u"), get("User: v", "Plan: 1")} {
		for i := range 5 {
			d := g.check(r)
			s := d.States()[0]
			if !d.Allowed || d.RetryAfter != 0 || !s.Limit.IsDryRun() || s.Denied != (int64(i) >= s.Limit.Quota()) {
				t.Errorf("request %d: allowed %t, %+v, want allowed, and Denied from the quota on", i+1, d.Allowed, s)
			}
		}
	}
}

func TestAllowWantsOneKeyARule(t *testing.T) {
	g := newGateOf(t, core.Config{Rules: []core.Rule{core.By(byNobody, core.PerMinute(1)), core.By(byNobody, core.PerHour(2))}})
	ctx := context.Background()
	for _, c := range []struct {
		phrase string
		keys   []string
		cost   int64
		want   error
	}{
		{"too few keys", []string{"a"}, 1, core.ErrMisuse},
		{"too many keys", []string{"a", "b", "c"}, 1, core.ErrMisuse},
		{"no keys", nil, 1, core.ErrMisuse},
		{"an empty key", []string{"a", ""}, 1, core.ErrNoKey},
		{"a cost below 0", []string{"a", "b"}, -1, core.ErrCost},
	} {
		if d, err := g.AllowN(ctx, c.cost, c.keys...); !errors.Is(err, c.want) || d.Allowed {
			t.Errorf("%s: %t, %v, want %v", c.phrase, d.Allowed, err, c.want)
		}
	}
	if d, err := g.AllowN(ctx, 0, "a", "b"); err != nil || !d.Allowed || d.States() != nil {
		t.Errorf("a cost of 0: %v, %v, want allowed and nothing counted", d.States(), err)
	}
	if d := g.take(1, "a", "b"); !d.Allowed || d.States()[0].Remaining != 0 || d.States()[1].Remaining != 1 {
		t.Errorf("the first unit: %+v", d.States())
	}
	if d, err := g.Allow(ctx, "a", "b"); err != nil || d.Allowed {
		t.Errorf("the second: %t, %v, want a denial and no error", d.Allowed, err)
	}
}

func TestAllowCannotKnowLimitsOfARequest(t *testing.T) {
	perRequest := func(core.Request) ([]core.Limit, error) { return []core.Limit{core.PerMinute(1)}, nil }
	g := newGateOf(t, core.Config{Rules: []core.Rule{{Name: "rule", Key: byUser, LimitsFor: perRequest}}})
	if _, err := g.Allow(context.Background(), "u"); !errors.Is(err, core.ErrMisuse) {
		t.Errorf("Allow under limits that depend on a request: %v, want ErrMisuse", err)
	}
	if _, err := g.Peek(context.Background(), "rule", "u"); !errors.Is(err, core.ErrMisuse) {
		t.Errorf("Peek without limits: %v, want ErrMisuse", err)
	}
	if got := g.remaining("u", core.PerMinute(1)); got != 1 {
		t.Errorf("Peek with limits: %d remaining, want 1", got)
	}
	g.check(get("User: u"))
	if got := g.remaining("u", core.PerMinute(1)); got != 0 {
		t.Errorf("after a request: %d remaining, want 0", got)
	}
}

func TestPeekAndResetWantAKnownRule(t *testing.T) {
	g := newGate(t, core.PerMinute(3))
	ctx := context.Background()
	if _, err := g.Peek(ctx, "ruel", "u"); !errors.Is(err, core.ErrMisuse) {
		t.Errorf("Peek of an unknown rule: %v, want ErrMisuse", err)
	}
	if err := g.Reset(ctx, "ruel", "u"); !errors.Is(err, core.ErrMisuse) {
		t.Errorf("Reset of an unknown rule: %v, want ErrMisuse", err)
	}
	if _, err := g.Peek(ctx, "rule", "u", core.PerMinute(-1)); !errors.Is(err, core.ErrLimits) {
		t.Errorf("Peek under limits that are not valid: %v, want ErrLimits", err)
	}
	g.take(3, "u")
	states, err := g.Peek(ctx, "rule", "u")
	if err != nil || !states[0].Denied || states[0].RetryAfter == 0 || states[0].Rule != "rule" || states[0].Limit.Name() != "minute" {
		t.Errorf("a peek at a spent quota: %+v, %v", states, err)
	}
	if err := g.Reset(ctx, "rule", "u"); err != nil || g.remaining("u") != 3 {
		t.Errorf("after a reset %d remaining, %v, want 3", g.remaining("u"), err)
	}
}

func TestRefundOfDecisions(t *testing.T) {
	g := newGate(t, core.PerMinute(5))
	ctx := context.Background()
	kept, taken := g.take(2, "u"), g.take(3, "u")
	denied := g.take(1, "u")
	for _, d := range []*core.Decision{&denied, {}, &taken, &taken, &taken} {
		if err := g.Refund(ctx, d); err != nil {
			t.Fatal(err)
		}
	}
	if got := g.remaining("u"); got != 3 || !kept.Allowed {
		t.Errorf("after refunds of a denial, of nothing, and of 3 units three times: %d remaining, want 3", got)
	}
}

func TestSettleRefundsByStatus(t *testing.T) {
	store := &scripted{}
	var failed []error
	g := newGateOf(t, core.Config{
		Store: store,
		Rules: []core.Rule{{Name: "rule", Key: byUser, Limits: []core.Limit{core.PerMinute(5)}}},
		Observer: func(_ context.Context, e core.Event) {
			if e.Kind == core.StoreFailed {
				failed = append(failed, e.Err)
			}
		},
	})
	ended, cancel := context.WithCancel(context.Background())
	cancel() // the response is written, and the request over
	serverError := func(status int) bool { return status >= 500 }
	for _, c := range []struct {
		status int
		left   int64
	}{{200, 4}, {503, 4}, {404, 3}, {500, 3}} {
		d := g.take(1, "u")
		g.Settle(ended, &d, c.status, serverError)
		if got := g.remaining("u"); got != c.left {
			t.Errorf("after a response of %d: %d remaining, want %d", c.status, got, c.left)
		}
	}
	d := g.take(1, "u")
	store.fail(errors.New("gone"))
	g.Settle(ended, &d, 500, serverError)
	if len(failed) != 1 {
		t.Errorf("a refund that failed was observed %d times, want once", len(failed))
	}
}

func TestWaitSleepsUntilItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := core.MustNew(core.Config{Rules: []core.Rule{core.By(byNobody, core.PerSecond(2).Exact())}})
		start := time.Now()
		for i := range 6 {
			if d, err := l.Wait(context.Background(), "u"); err != nil || !d.Allowed {
				t.Fatalf("request %d: %t, %v", i+1, d.Allowed, err)
			}
			if got, want := time.Since(start), time.Duration(i/2)*time.Second; got != want {
				t.Errorf("request %d was admitted after %v, want %v", i+1, got, want)
			}
		}
	})
}

func TestWaitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := core.MustNew(core.Config{Rules: []core.Rule{core.By(byNobody, core.PerMinute(1).Exact())}})
		if _, err := l.Wait(context.Background(), "u"); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		short, cancel := context.WithTimeout(context.Background(), 59*time.Second)
		defer cancel()
		d, err := l.Wait(short, "u")
		if !errors.Is(err, context.DeadlineExceeded) || d.Allowed || time.Since(start) != 0 {
			t.Errorf("a deadline before the admission: %v after %v, want DeadlineExceeded at once", err, time.Since(start))
		}
		cause := errors.New("the caller left")
		ctx, leave := context.WithCancelCause(context.Background())
		time.AfterFunc(20*time.Second, func() { leave(cause) })
		if d, err := l.Wait(ctx, "u"); !errors.Is(err, cause) || d.Allowed || time.Since(start) != 20*time.Second {
			t.Errorf("a context that ended: %v after %v, want its cause after 20 s", err, time.Since(start))
		}
		long, cancelLong := context.WithTimeout(context.Background(), 41*time.Second)
		defer cancelLong()
		if d, err := l.Wait(long, "u"); err != nil || !d.Allowed || time.Since(start) != time.Minute {
			t.Errorf("a deadline after the admission: %v after %v, want admitted after 1m", err, time.Since(start))
		}
	})
}

func TestWaitDoesNotWaitForWhatNeverComes(t *testing.T) {
	g := newGate(t, core.PerMinute(0))
	d, err := g.Wait(context.Background(), "u")
	if !errors.Is(err, core.ErrCostExceedsLimit) || d.Allowed || !d.Never {
		t.Errorf("under a quota of 0: %+v, %v, want ErrCostExceedsLimit", d, err)
	}
	if _, err := g.Wait(context.Background()); !errors.Is(err, core.ErrMisuse) {
		t.Errorf("without a key: %v, want ErrMisuse", err)
	}
}

func TestDecisionGoesThroughAContext(t *testing.T) {
	g := newGate(t, core.PerMinute(3))
	if _, ok := core.DecisionFrom(context.Background()); ok {
		t.Error("a bare context carries a decision")
	}
	outer := core.WithDecision(context.Background(), g.take(1, "u"))
	inner := core.WithDecision(outer, g.take(1, "u"))
	if d, ok := core.DecisionFrom(inner); !ok || d.States()[0].Remaining != 1 {
		t.Errorf("the innermost decision is %+v, %t", d.States(), ok)
	}
}

func TestZeroDecisionDenies(t *testing.T) {
	var d core.Decision
	if d.Allowed || d.States() != nil || d.RetryAfter != 0 {
		t.Errorf("the zero Decision: %+v", d)
	}
	h := core.HeaderMap{}
	if d.SetHeaders(h); len(h) != 0 {
		t.Errorf("the zero Decision set %v", h)
	}
}
