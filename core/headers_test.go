package core_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slidegate/slidegate/core"
)

// headersOf returns the header fields that a decision sets, as lines.
func headersOf(d core.Decision) []string {
	h := core.HeaderMap{}
	d.SetHeaders(h)
	return lines(h)
}

func lines(h core.HeaderMap) (out []string) {
	for _, name := range slices.Sorted(maps.Keys(h)) {
		for _, value := range h[name] {
			out = append(out, name+": "+value)
		}
	}
	return out
}

func wantLines(t *testing.T, phrase string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %s\nwant %s", phrase, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
}

func TestListHeaders(t *testing.T) {
	for _, c := range []struct {
		phrase string
		limits []core.Limit
		costs  []int64 // of the requests, all in the first instant of every window
		want   []string
	}{
		{"two limits", []core.Limit{core.PerSecond(10), core.PerMinute(100)}, []int64{1}, []string{
			`Ratelimit: "second";r=9;t=1, "minute";r=99;t=60`,
			`Ratelimit-Policy: "second";q=10;w=1, "minute";q=100;w=60`,
		}},
		{"a denial lists those that denied", []core.Limit{core.PerSecond(3).Exact(), core.PerMinute(100), core.PerHour(3).Exact()}, []int64{3, 1}, []string{
			"Cache-Control: no-store",
			`Ratelimit: "second";r=0;t=1, "hour";r=0;t=3600`,
			`Ratelimit-Policy: "second";q=3;w=1, "minute";q=100;w=60, "hour";q=3;w=3600`,
			"Retry-After: 3600",
		}},
		{"a denial with units left", []core.Limit{core.PerMinute(5).Exact()}, []int64{3, 4}, []string{
			"Cache-Control: no-store", `Ratelimit: "minute";r=2;t=60`, `Ratelimit-Policy: "minute";q=5;w=60`, "Retry-After: 60",
		}},
		{"a denial without remedy promises no time", []core.Limit{core.PerMinute(5)}, []int64{6}, []string{
			"Cache-Control: no-store", `Ratelimit: "minute";r=5`, `Ratelimit-Policy: "minute";q=5;w=60`,
		}},
		{"a quota of 0", []core.Limit{core.PerMinute(0)}, []int64{1}, []string{
			"Cache-Control: no-store", `Ratelimit: "minute";r=0`, `Ratelimit-Policy: "minute";q=0;w=60`,
		}},
		{"a denial with and one without remedy", []core.Limit{core.PerMinute(5).Exact(), core.PerHour(9).Bucket(6)}, []int64{5, 7}, []string{
			"Cache-Control: no-store", `Ratelimit: "minute";r=0, "hour";r=1`, `Ratelimit-Policy: "minute";q=5;w=60, "hour";q=9;w=3600`,
		}},
		{"names are quoted", []core.Limit{core.PerMinute(5).Named(`the "best" \o/`)}, []int64{1}, []string{
			`Ratelimit: "the \"best\" \\o/";r=4;t=60`, `Ratelimit-Policy: "the \"best\" \\o/";q=5;w=60`,
		}},
		{"a window below a second has no w", []core.Limit{core.Per(2, 500*time.Millisecond)}, []int64{1}, []string{
			`Ratelimit: "500ms";r=1;t=1`, `Ratelimit-Policy: "500ms";q=2`,
		}},
		{"a broken number of seconds is rounded up", []core.Limit{core.Per(4, 1500*time.Millisecond).Exact()}, []int64{1}, []string{
			`Ratelimit: "1.5s";r=3;t=2`, `Ratelimit-Policy: "1.5s";q=4;w=2`,
		}},
		{"dry runs do not show", []core.Limit{core.PerMinute(5), core.PerHour(0).DryRun()}, []int64{1}, []string{
			`Ratelimit: "minute";r=4;t=60`, `Ratelimit-Policy: "minute";q=5;w=60`,
		}},
		{"dry runs alone set nothing", []core.Limit{core.PerHour(0).DryRun()}, []int64{1}, nil},
		{"a burst beyond the quota", []core.Limit{core.PerMinute(6).Bucket(60)}, []int64{1}, []string{
			`Ratelimit: "minute";r=59;t=60`, `Ratelimit-Policy: "minute";q=6;w=60`,
		}},
		{"what remains lasts for as long at the quota's pace", []core.Limit{core.PerMinute(5).Bucket(5)}, []int64{1}, []string{
			`Ratelimit: "minute";r=4;t=48`, `Ratelimit-Policy: "minute";q=5;w=60`,
		}},
		{"a bucket's next unit", []core.Limit{core.PerMinute(6).Bucket(6)}, []int64{6}, []string{
			`Ratelimit: "minute";r=0;t=10`, `Ratelimit-Policy: "minute";q=6;w=60`,
		}},
		{"fifteen digits", []core.Limit{core.Per(core.MaxQuota, core.MaxWindow)}, []int64{1}, []string{
			`Ratelimit: "3653d";r=999999999999998;t=315619200`, `Ratelimit-Policy: "3653d";q=999999999999999;w=315619200`,
		}},
	} {
		g := newGate(t, c.limits...)
		// 1980-01-01 is a multiple of 3653 days since 1970, and of all the others.
		g.stillClock.now = time.Unix(0, 0).Add(core.MaxWindow)
		var d core.Decision
		for _, cost := range c.costs {
			d = g.take(cost, "u")
		}
		wantLines(t, c.phrase, headersOf(d), c.want...)
	}
}

// TestLastAdmissionAndDenialAfterItSayTheSame: a client that stops at r=0 waits
// as long as one that has to be told.
func TestLastAdmissionAndDenialAfterItSayTheSame(t *testing.T) {
	for _, l := range []core.Limit{core.PerMinute(5), core.PerMinute(5).Smooth(10), core.PerMinute(5).Strict(1), core.PerMinute(5).Exact(), core.PerMinute(5).Fixed(), core.PerMinute(5).Bucket(5)} {
		g := newGate(t, l)
		g.at(17.25)
		g.take(2, "u")
		g.at(31)
		last, denied := g.take(g.remaining("u"), "u"), g.take(1, "u")
		seconds := wholeWait(denied.RetryAfter)
		for _, d := range []core.Decision{last, denied} {
			want := fmt.Sprintf(`Ratelimit: "minute";r=0;t=%d`, seconds)
			if got := headersOf(d); !slices.Contains(got, want) {
				t.Errorf("%v: allowed %t: %q, want %s", l, d.Allowed, got, want)
			}
		}
		if got := headersOf(denied); !slices.Contains(got, fmt.Sprintf("Retry-After: %d", seconds)) {
			t.Errorf("%v: %q, want the true wait of %v, rounded up", l, got, denied.RetryAfter)
		}
	}
}

// wholeWait returns a wait in whole seconds, rounded up.
func wholeWait(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }

func TestSingleHeaders(t *testing.T) {
	two := []core.Limit{core.PerSecond(10), core.PerMinute(100)}
	slow := []core.Limit{core.PerSecond(2).Exact(), core.PerMinute(2).Exact(), core.PerHour(9)}
	for _, c := range []struct {
		phrase string
		format core.HeaderFormat
		legacy bool
		limits []core.Limit
		costs  []int64
		want   []string
	}{
		{"draft 7 shows the limit with least remaining", core.HeadersDraft7, false, two, []int64{1}, []string{
			"Ratelimit: limit=10, remaining=9, reset=1", "Ratelimit-Policy: 10;w=1, 100;w=60",
		}},
		{"and of equals the longer window", core.HeadersDraft7, false, []core.Limit{core.PerSecond(5), core.PerMinute(5).Exact(), core.PerSecond(6)}, []int64{5}, []string{
			"Ratelimit: limit=5, remaining=0, reset=60", "Ratelimit-Policy: 5;w=60, 6;w=1",
		}},
		{"on a denial the one to wait for longest", core.HeadersDraft7, false, slow, []int64{2, 1}, []string{
			"Cache-Control: no-store", "Ratelimit: limit=2, remaining=0, reset=60", "Ratelimit-Policy: 2;w=60, 9;w=3600", "Retry-After: 60",
		}},
		{"draft 6", core.HeadersDraft6, false, two, []int64{1}, []string{
			"Ratelimit-Limit: 10", "Ratelimit-Policy: 10;w=1, 100;w=60", "Ratelimit-Remaining: 9", "Ratelimit-Reset: 1",
		}},
		{"draft 6, denied", core.HeadersDraft6, false, slow, []int64{2, 1}, []string{
			"Cache-Control: no-store", "Ratelimit-Limit: 2", "Ratelimit-Policy: 2;w=60, 9;w=3600", "Ratelimit-Remaining: 0", "Ratelimit-Reset: 60", "Retry-After: 60",
		}},
		{"no fields", core.HeadersNone, false, two, []int64{1}, nil},
		{"no fields, denied", core.HeadersNone, false, slow, []int64{2, 1}, []string{"Cache-Control: no-store", "Retry-After: 60"}},
		{"legacy fields reset at an instant", core.HeadersNone, true, slow, []int64{1}, []string{
			"X-Ratelimit-Limit: 2", "X-Ratelimit-Remaining: 1", "X-Ratelimit-Reset: 1728000060",
		}},
		{"legacy fields of a denial", core.HeadersNone, true, slow, []int64{2, 1}, []string{
			"Cache-Control: no-store", "Retry-After: 60", "X-Ratelimit-Limit: 2", "X-Ratelimit-Remaining: 0", "X-Ratelimit-Reset: 1728000060",
		}},
		{"legacy beside the list", core.HeadersDraft11, true, []core.Limit{core.PerMinute(5)}, []int64{1}, []string{
			`Ratelimit: "minute";r=4;t=60`, `Ratelimit-Policy: "minute";q=5;w=60`, "X-Ratelimit-Limit: 5", "X-Ratelimit-Remaining: 4", "X-Ratelimit-Reset: 1728000060",
		}},
		{"dry runs do not show", core.HeadersDraft6, true, []core.Limit{core.PerHour(0).DryRun()}, []int64{1}, nil},
	} {
		g := newGateOf(t, core.Config{Headers: c.format, LegacyHeaders: c.legacy, Rules: []core.Rule{core.By(byNobody, c.limits...)}})
		var d core.Decision
		for _, cost := range c.costs {
			d = g.take(cost, "u")
		}
		wantLines(t, c.phrase, headersOf(d), c.want...)
	}
}

func TestSkippedAndUncountedRequestsCarryNoHeaders(t *testing.T) {
	rules := []core.Rule{core.By(byUser, core.PerMinute(5))}
	skipped := newGateOf(t, core.Config{LegacyHeaders: true, Rules: rules, Skip: func(core.Request) bool { return true }})
	wantLines(t, "skipped", headersOf(skipped.check(get("User: u"))))
	open := newGateOf(t, core.Config{LegacyHeaders: true, Rules: rules, Store: &scripted{fails: errGone}, Failure: core.FailOpen})
	wantLines(t, "passed uncounted", headersOf(open.check(get("User: u"))))
	local := newGateOf(t, core.Config{Rules: rules, Store: &scripted{fails: errGone}})
	if got := headersOf(local.check(get("User: u"))); len(got) != 2 {
		t.Errorf("counted in this process: %q, want its budget", got)
	}
}

// stacked has one request pass several limiters, the outermost first.
func stacked(decisions ...core.Decision) []string {
	h := core.HeaderMap{}
	for _, d := range decisions {
		d.SetHeaders(h)
	}
	return lines(h)
}

func TestStackedLimitersShareOneHeader(t *testing.T) {
	take := func(format core.HeaderFormat, costs []int64, limits ...core.Limit) (d core.Decision) {
		g := newGateOf(t, core.Config{Headers: format, LegacyHeaders: format == core.HeadersNone, Rules: []core.Rule{core.By(byNobody, limits...)}})
		for _, cost := range costs {
			d = g.take(cost, "u")
		}
		return d
	}
	one, full := []int64{1}, []int64{2, 1}
	list, draft7, draft6, none := core.HeadersDraft11, core.HeadersDraft7, core.HeadersDraft6, core.HeadersNone
	wantLines(t, "lists merge, and a name that is taken is numbered",
		stacked(take(list, one, core.PerMinute(100)), take(list, one, core.PerMinute(5), core.PerHour(9)), take(list, one, core.PerMinute(7))),
		`Ratelimit: "minute";r=99;t=60, "minute-2";r=4;t=60, "hour";r=8;t=3600, "minute-3";r=6;t=60`,
		`Ratelimit-Policy: "minute";q=100;w=60, "minute-2";q=5;w=60, "hour";q=9;w=3600, "minute-3";q=7;w=60`)
	wantLines(t, "quoted names are read back",
		stacked(take(list, one, core.PerMinute(5).Named(`a", "b`)), take(list, one, core.PerMinute(5).Named("b"))),
		`Ratelimit: "a\", \"b";r=4;t=60, "b";r=4;t=60`,
		`Ratelimit-Policy: "a\", \"b";q=5;w=60, "b";q=5;w=60`)
	wantLines(t, "a denial speaks of who denied",
		stacked(take(list, one, core.PerMinute(100)), take(list, full, core.PerMinute(2).Exact())),
		"Cache-Control: no-store",
		`Ratelimit: "minute-2";r=0;t=60`,
		`Ratelimit-Policy: "minute";q=100;w=60, "minute-2";q=2;w=60`,
		"Retry-After: 60")
	wantLines(t, "draft 7: the inner limit is tighter",
		stacked(take(draft7, one, core.PerMinute(100)), take(draft7, one, core.PerHour(5))),
		"Ratelimit: limit=5, remaining=4, reset=3600", "Ratelimit-Policy: 100;w=60, 5;w=3600")
	wantLines(t, "draft 7: the outer limit is tighter",
		stacked(take(draft7, one, core.PerHour(5)), take(draft7, one, core.PerMinute(100))),
		"Ratelimit: limit=5, remaining=4, reset=3600", "Ratelimit-Policy: 5;w=3600, 100;w=60")
	wantLines(t, "draft 6: a denial shows over a tighter limit",
		stacked(take(draft6, []int64{5}, core.PerHour(5)), take(draft6, full, core.PerMinute(2).Exact())),
		"Cache-Control: no-store", "Ratelimit-Limit: 2", "Ratelimit-Policy: 5;w=3600, 2;w=60", "Ratelimit-Remaining: 0", "Ratelimit-Reset: 60", "Retry-After: 60")
	wantLines(t, "draft 6: of two policies with one quota the one that shows",
		stacked(take(draft6, one, core.PerMinute(5)), take(draft6, one, core.PerHour(5))),
		"Ratelimit-Limit: 5", "Ratelimit-Policy: 5;w=3600", "Ratelimit-Remaining: 4", "Ratelimit-Reset: 3600")
	wantLines(t, "draft 6: and that is the outer one while it is tighter",
		stacked(take(draft6, []int64{2}, core.PerMinute(5)), take(draft6, one, core.PerHour(5))),
		"Ratelimit-Limit: 5", "Ratelimit-Policy: 5;w=60", "Ratelimit-Remaining: 3", "Ratelimit-Reset: 60")
	wantLines(t, "legacy: the outer limit is tighter",
		stacked(take(none, one, core.PerHour(5)), take(none, one, core.PerMinute(100))),
		"X-Ratelimit-Limit: 5", "X-Ratelimit-Remaining: 4", "X-Ratelimit-Reset: 1728003600")
}

func TestLaterRetryAfterIsKept(t *testing.T) {
	for _, c := range []struct{ phrase, there, want string }{
		{"none", "", "60"},
		{"an earlier one", "59", "60"},
		{"the same", "60", "60"},
		{"a later one", "61", "61"},
		{"a much later one", "31536000", "31536000"},
		{"an earlier date", "Fri, 04 Oct 2024 00:00:59 GMT", "60"},
		{"a later date", "Fri, 04 Oct 2024 00:01:01 GMT", "Fri, 04 Oct 2024 00:01:01 GMT"},
		{"a date long past", "Sun, 06 Nov 1994 08:49:37 GMT", "60"},
		{"a negative number", "-5", "60"},
		{"nonsense", "soon", "60"},
		{"a date of another zone", "Fri, 04 Oct 2024 00:01:01 CET", "60"},
	} {
		g := newGate(t, core.PerMinute(1).Exact())
		g.take(1, "u")
		d := g.take(1, "u")
		h := core.HeaderMap{}
		if c.there != "" {
			h.Set("Retry-After", c.there)
		}
		d.SetHeaders(h)
		if got := h["Retry-After"]; !slices.Equal(got, []string{c.want}) {
			t.Errorf("%s: %q, want %q", c.phrase, got, c.want)
		}
	}
}

func TestRetryAfterIsTheTrueWaitRoundedUp(t *testing.T) {
	g := newGate(t, core.PerMinute(1).Exact())
	g.take(1, "u")
	for _, c := range []struct {
		at   float64
		want string
	}{{0.5, "60"}, {1, "59"}, {1.000001, "59"}, {58.999999, "2"}, {59, "1"}, {59.5, "1"}, {59.999999, "1"}} {
		g.at(c.at)
		d := g.take(1, "u")
		if got := headersOf(d); !slices.Contains(got, "Retry-After: "+c.want) || d.Allowed {
			t.Errorf("at %v s: %q, want Retry-After: %s", c.at, got, c.want)
		}
	}
}

func TestExposedHeadersAreAllThatAreSet(t *testing.T) {
	exposed := strings.Split(strings.ToLower(core.ExposedHeaders), ", ")
	for _, format := range []core.HeaderFormat{core.HeadersDraft11, core.HeadersDraft7, core.HeadersDraft6, core.HeadersNone} {
		g := newGateOf(t, core.Config{Headers: format, LegacyHeaders: true, Rules: []core.Rule{core.By(byNobody, core.PerMinute(1))}})
		g.take(1, "u")
		h := core.HeaderMap{}
		d := g.take(1, "u")
		d.SetHeaders(h)
		delete(h, "Cache-Control") // every script may read it
		for name := range h {
			if !slices.Contains(exposed, strings.ToLower(name)) {
				t.Errorf("format %d sets %s, which is not among the exposed headers", format, name)
			}
		}
	}
}

// plainHeader is a Header that is no HeaderMap.
type plainHeader struct{ core.HeaderMap }

func TestHeadersOfEveryKindGetTheSame(t *testing.T) {
	g := newGate(t, core.PerSecond(1), core.PerMinute(2))
	for range 2 {
		d := g.take(1, "u")
		plain := plainHeader{core.HeaderMap{}}
		d.SetHeaders(plain)
		wantLines(t, "a header of a framework's own", lines(plain.HeaderMap), headersOf(d)...)
	}
}

func TestHeaderMapSetsAndGets(t *testing.T) {
	h := core.HeaderMap{"X": {"1", "2"}, "Y": nil}
	h.Set("X", "3")
	if got := h.Get("X"); got != "3" || len(h["X"]) != 1 || h.Get("Y") != "" || h.Get("Z") != "" {
		t.Errorf("%v; X reads %q", h, got)
	}
}

// TestAgainKnowsAResponse has three limiters meet one response in several
// orders. Some set a policy that is theirs alone, some one that varies, and some
// none.
func TestAgainKnowsAResponse(t *testing.T) {
	anyone := func(core.Request) (string, error) { return "anyone", nil }
	always := core.By(anyone, core.PerSecond(1000))
	sometimes := always
	sometimes.When = func(core.Request) bool { return false }
	for name, c := range map[string]core.Config{
		"one rule":      {Rules: []core.Rule{always}},
		"two rules":     {Rules: []core.Rule{always, always}},
		"not all asked": {Rules: []core.Rule{sometimes, always}},
		"a dry run":     {Rules: []core.Rule{{Key: anyone, DryRun: true, Limits: always.Limits}, sometimes}},
		"limits vary":   {Rules: []core.Rule{{Key: anyone, LimitsFor: func(core.Request) ([]core.Limit, error) { return always.Limits, nil }}}},
		"legacy":        {Rules: []core.Rule{always}, LegacyHeaders: true},
		"draft 7":       {Rules: []core.Rule{always}, Headers: core.HeadersDraft7},
		"no fields":     {Rules: []core.Rule{always}, Headers: core.HeadersNone},
	} {
		t.Run(name, func(t *testing.T) {
			gates := []gate{newGateOf(t, c), newGateOf(t, c), newGateOf(t, core.Config{Rules: []core.Rule{always}})}
			for _, order := range [][]int{{0, 0}, {0, 1, 0}, {0, 1, 1}, {0, 1, 2, 1, 0, 2}, {2, 0, 0}, {2, 0, 2}, {0, 2, 0}} {
				h, met := core.HeaderMap{}, map[int]bool{}
				for at, i := range order {
					if got := gates[i].Again(h); got != met[i] {
						t.Fatalf("order %v: at %d Again says %t", order, at, got)
					}
					if met[i] {
						continue
					}
					met[i] = true
					d, err := gates[i].Check(get())
					if err != nil {
						t.Fatal(err)
					}
					d.SetHeaders(h)
				}
				if fresh := (core.HeaderMap{}); gates[0].Again(fresh) {
					t.Fatalf("order %v: the next response is met again", order)
				}
			}
		})
	}
}

func TestDegradedHeadersAreOfTheLocalCount(t *testing.T) {
	store := &scripted{}
	g := newGateOf(t, core.Config{Store: store, Rules: []core.Rule{core.By(byNobody, core.PerDay(5).Exact())}})
	g.take(2, "u")
	store.fail(errGone)
	d, err := g.AllowN(context.Background(), 2, "u")
	if err != nil {
		t.Fatal(err)
	}
	wantLines(t, "after 2 in the store that failed and 2 here", headersOf(d)[:1], `Ratelimit: "day";r=1;t=86400`)
}
