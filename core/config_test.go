package core_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slidegate/slidegate/core"
)

func TestNewNamesRuleValueAndRemedyOfEachFault(t *testing.T) {
	minute := core.PerMinute(5)
	by := func(limits ...core.Limit) []core.Rule { return []core.Rule{{Name: "api", Key: byUser, Limits: limits}} }
	for _, c := range []struct {
		phrase string
		config core.Config
		says   []string
	}{
		{"no rules", core.Config{}, []string{"no rules", "core.By"}},
		{"no key function", core.Config{Rules: []core.Rule{{Name: "api", Limits: []core.Limit{minute}}}}, []string{`rule "api"`, "key function", "set Key"}},
		{"no limits", core.Config{Rules: by()}, []string{`rule "api"`, "no limits", "set Limits or LimitsFor"}},
		{"a negative quota", core.Config{Rules: by(core.PerMinute(-1))}, []string{`rule "api"`, "quota -1", "from 0"}},
		{"a quota too large", core.Config{Rules: by(core.PerMinute(1e15))}, []string{`rule "api"`, "1000000000000000", "999999999999999"}},
		{"a window too short", core.Config{Rules: by(core.Per(5, time.Microsecond))}, []string{`rule "api"`, "1µs", "from 1ms"}},
		{"a window too long", core.Config{Rules: by(core.Per(5, 4000*24*time.Hour))}, []string{`rule "api"`, "96000h", "ten years"}},
		{"too many slots", core.Config{Rules: by(minute.Strict(1001))}, []string{`rule "api"`, "strict(1001)", "1 to 1000"}},
		{"a log too long", core.Config{Rules: by(core.PerMinute(20_000).Exact())}, []string{`rule "api"`, "20000", "10000", "Strict(60)"}},
		{"no burst", core.Config{Rules: by(minute.Bucket(0))}, []string{`rule "api"`, "burst 0", "1 to"}},
		{"a bucket too slow", core.Config{Rules: by(core.Per(1, core.MaxWindow).Bucket(99))}, []string{`rule "api"`, "burst of 99", "lower the burst"}},
		{"a limit's name that is not printable", core.Config{Rules: by(minute.Named("a\x00"))}, []string{`rule "api"`, `"a\x00"`, "printable ASCII"}},
		{"a rule's name that is not printable", core.Config{Rules: []core.Rule{{Name: "ä", Key: byUser, Limits: []core.Limit{minute}}}}, []string{`rule "ä"`, "printable ASCII"}},
		{"two equal limits", core.Config{Rules: by(minute, minute)}, []string{`rule "api"`, "5/minute", "twice", "remove one"}},
		{"two limits of one name in a rule", core.Config{Rules: by(minute.Named("n"), core.PerHour(9).Named("n"))}, []string{`rule "api"`, "one name", "name them apart"}},
		{"two limits of one name in two rules", core.Config{Rules: append(by(minute.Named("n")), core.By(byUser, core.PerHour(9).Named("n")))},
			[]string{`rule "rule-2"`, `"n"`, "rule 1", "name them apart"}},
		{"two rules of one name", core.Config{Rules: append(by(minute), by(core.PerHour(9))...)}, []string{`rule "api"`, "rule 1", "unique"}},
		{"a name that an unnamed rule has", core.Config{Rules: []core.Rule{core.By(byUser, minute), {Name: "rule-1", Key: byUser, Limits: []core.Limit{minute}}}},
			[]string{`rule "rule-1"`, "same name"}},
		{"a format that is none", core.Config{Rules: by(minute), Headers: 99}, []string{"Config.Headers 99", "HeadersDraft11"}},
		{"a failure policy that is none", core.Config{Rules: by(minute), Failure: 9}, []string{"Config.Failure 9", "FailOpen"}},
		{"one of a rule", core.Config{Rules: []core.Rule{{Key: byUser, Limits: []core.Limit{minute}, Failure: 9}}}, []string{`rule "rule-1"`, "Failure 9", "FailOpen"}},
		{"an answer to a missing key that is none", core.Config{Rules: []core.Rule{{Key: byUser, Limits: []core.Limit{minute}, OnMissing: 7}}}, []string{"OnMissing 7", "SkipRule"}},
		{"a negative capacity", core.Config{Rules: by(minute), Store: &core.Memory{MaxKeys: -1}}, []string{"MaxKeys -1", "at least 1"}},
		{"a nil memory", core.Config{Rules: by(minute), Store: (*core.Memory)(nil)}, []string{"nil *Memory", "&core.Memory{}"}},
		{"a clock for another store", core.Config{Rules: by(minute), Store: &scripted{}, Now: time.Now}, []string{"Config.Now", "Memory store"}},
		{"limits that the store cannot count", core.Config{Rules: by(minute), Store: &scripted{unfit: errors.New("windows of whole hours only")}},
			[]string{`rule "api"`, "whole hours"}},
	} {
		t.Run(c.phrase, func(t *testing.T) {
			l, err := core.New(c.config)
			if err == nil || l != nil {
				t.Fatalf("New = %v, %v, want an error", l, err)
			}
			for _, want := range c.says {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not say %q", err, want)
				}
			}
			if foreign := strings.Contains(err.Error(), "whole hours"); !foreign && !errors.Is(err, core.ErrConfig) {
				t.Errorf("%v is not an ErrConfig", err)
			}
		})
	}
}

func TestNewReportsAllFaultsAtOnce(t *testing.T) {
	_, err := core.New(core.Config{
		Headers: 77,
		Rules: []core.Rule{
			{Limits: []core.Limit{core.PerMinute(-5), core.Per(1, 0)}},
			{Name: "fine", Key: byUser, Limits: []core.Limit{core.PerMinute(5)}},
			{Name: "bare", OnMissing: 55},
		},
	})
	if err == nil {
		t.Fatal("New took a configuration full of faults")
	}
	for _, want := range []string{"77", "quota -5", "window 0s", `rule "rule-1": it has no key`, `rule "bare": it has no key`, `rule "bare": it has no limits`, "55"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing from:\n%v", want, err)
		}
	}
	if strings.Contains(err.Error(), `"fine"`) {
		t.Errorf("a rule without fault is blamed:\n%v", err)
	}
	if lines := strings.Count(err.Error(), "\n") + 1; lines != 7 {
		t.Errorf("%d lines for 7 faults:\n%v", lines, err)
	}
}

func TestMustNewPanicsWithTheText(t *testing.T) {
	if core.MustNew(core.Config{Rules: []core.Rule{core.By(byUser, core.PerMinute(1))}}) == nil {
		t.Error("MustNew of a valid configuration gave nothing")
	}
	defer func() {
		if err, ok := recover().(error); !ok || !errors.Is(err, core.ErrConfig) || !strings.Contains(err.Error(), "no rules") {
			t.Errorf("it panicked with %v, want the error of New", err)
		}
	}()
	core.MustNew(core.Config{})
}

func TestNewLeavesTheConfigurationAsItWas(t *testing.T) {
	limits := []core.Limit{core.PerMinute(5), core.PerHour(9)}
	rules := []core.Rule{core.By(byUser, limits...)}
	if _, err := core.New(core.Config{Rules: rules}); err != nil {
		t.Fatal(err)
	}
	if rules[0].Name != "" || limits[0] != core.PerMinute(5) || limits[1] != core.PerHour(9) {
		t.Errorf("New changed the caller's rules to %q, %v", rules[0].Name, limits)
	}
}

// policies returns the names of rules and limits as decisions give them.
func policies(t *testing.T, rules ...core.Rule) (names []string) {
	t.Helper()
	l, err := core.New(core.Config{Rules: rules})
	if err != nil {
		t.Fatal(err)
	}
	d, err := l.Check(get("User: u"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range d.States() {
		names = append(names, s.Rule+"/"+s.Limit.Name())
	}
	return names
}

func TestPolicyNames(t *testing.T) {
	rule := func(name string, limits ...core.Limit) core.Rule {
		return core.Rule{Name: name, Key: byUser, Limits: limits}
	}
	for _, c := range []struct {
		phrase string
		rules  []core.Rule
		want   []string
	}{
		{"units", []core.Rule{rule("", core.PerSecond(1), core.PerMinute(1), core.PerHour(1), core.PerDay(1))},
			[]string{"rule-1/second", "rule-1/minute", "rule-1/hour", "rule-1/day"}},
		{"windows", []core.Rule{rule("", core.Per(1, 15*time.Minute), core.Per(1, 90*time.Minute), core.Per(1, 7*24*time.Hour), core.Per(1, 500*time.Millisecond))},
			[]string{"rule-1/15m", "rule-1/1h30m", "rule-1/7d", "rule-1/500ms"}},
		{"a window written otherwise is still its unit", []core.Rule{rule("", core.Per(1, 60*time.Second))}, []string{"rule-1/minute"}},
		{"rules count from 1", []core.Rule{rule("", core.PerSecond(1)), rule("", core.PerMinute(1)), rule("", core.PerHour(1))},
			[]string{"rule-1/second", "rule-2/minute", "rule-3/hour"}},
		{"a rule's place counts, named or not", []core.Rule{rule("api", core.PerSecond(1)), rule("", core.PerMinute(1))},
			[]string{"api/second", "rule-2/minute"}},
		{"a taken name is prefixed by the rule's", []core.Rule{rule("", core.PerMinute(1)), rule("plan", core.PerMinute(2))},
			[]string{"rule-1/minute", "plan/plan-minute"}},
		{"or numbered, without one", []core.Rule{rule("", core.PerMinute(1)), rule("", core.PerMinute(2)), rule("", core.PerMinute(3))},
			[]string{"rule-1/minute", "rule-2/minute-2", "rule-3/minute-3"}},
		{"two of a window in a rule", []core.Rule{rule("", core.PerMinute(1), core.PerMinute(2).Exact())},
			[]string{"rule-1/minute", "rule-1/minute-2"}},
		{"two of a window in a named rule", []core.Rule{rule("ip", core.PerMinute(1), core.PerMinute(2), core.PerMinute(3))},
			[]string{"ip/minute", "ip/ip-minute", "ip/ip-minute-2"}},
		{"a given name stands", []core.Rule{rule("ip", core.PerMinute(1).Named("burst"), core.PerMinute(2))},
			[]string{"ip/burst", "ip/minute"}},
		{"a given name is never taken by a limit without one", []core.Rule{rule("", core.PerMinute(1)), rule("", core.PerHour(2).Named("minute"))},
			[]string{"rule-1/minute-2", "rule-2/minute"}},
		{"nor a prefixed one", []core.Rule{rule("a", core.PerMinute(1), core.PerMinute(2)), rule("", core.PerHour(2).Named("a-minute"))},
			[]string{"a/minute", "a/a-minute-2", "rule-2/a-minute"}},
	} {
		if got := policies(t, c.rules...); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.phrase, got, c.want)
		}
	}
}

func TestAMemoryThatHasCountedKeepsItsClock(t *testing.T) {
	rules := []core.Rule{core.By(byUser, core.PerMinute(1))}
	store := &core.Memory{}
	if _, err := core.New(core.Config{Store: store, Now: time.Now}); !errors.Is(err, core.ErrConfig) {
		t.Fatalf("a configuration without rules: %v, want ErrConfig", err)
	}
	l, err := core.New(core.Config{Rules: rules, Store: store, Now: time.Now})
	if err != nil {
		t.Fatalf("the same store once the fault is mended: %v", err)
	}
	if _, err := l.Allow(t.Context(), "u"); err != nil {
		t.Fatal(err)
	}
	if _, err := core.New(core.Config{Rules: rules, Store: store}); err != nil {
		t.Errorf("a second limiter on the same store: %v", err)
	}
	if _, err := core.New(core.Config{Rules: rules, Store: store, Now: time.Now}); !errors.Is(err, core.ErrConfig) {
		t.Errorf("another clock: %v, want ErrConfig", err)
	}
}

func TestLimitersOnOneStoreShareRulesOfOneName(t *testing.T) {
	store := &core.Memory{}
	clock := newStillClock()
	newGateOn(t, store, clock)
	limiter := func(name string) gate {
		l, err := core.New(core.Config{Store: store, Rules: []core.Rule{{Name: name, Key: byUser, Limits: []core.Limit{core.PerMinute(2)}}}})
		if err != nil {
			t.Fatal(err)
		}
		return gate{l, clock, t}
	}
	if got := limiter("api").run(1, "u") + limiter("api").run(5, "u"); got != 2 {
		t.Errorf("two limiters with the rule api admitted %d together, want 2", got)
	}
	if got := limiter("other").run(5, "u"); got != 2 {
		t.Errorf("a limiter with another rule admitted %d, want 2 of its own", got)
	}
}
