package core_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/slidegate/slidegate/core"
)

// A problemBody is what clients read.
type problemBody struct {
	Type     string   `json:"type"`
	Title    string   `json:"title"`
	Status   int      `json:"status"`
	Detail   string   `json:"detail"`
	Violated []string `json:"violated-policies"`
}

func read(t *testing.T, p core.Problem) (body problemBody) {
	t.Helper()
	if err := json.Unmarshal(p.JSON(), &body); err != nil {
		t.Fatalf("%s: %v", p.JSON(), err)
	}
	if body.Type != p.Type || body.Title != p.Title || body.Status != p.Status || body.Detail != p.Detail || !slices.Equal(body.Violated, p.Violated) {
		t.Errorf("%+v was written as %s", p, p.JSON())
	}
	return body
}

func TestDenialNamesTheViolatedPolicies(t *testing.T) {
	const quotaExceeded = "https://iana.org/assignments/http-problem-types#quota-exceeded"
	for _, c := range []struct {
		phrase string
		limits []core.Limit
		costs  []int64
		want   problemBody
	}{
		{"one of two", []core.Limit{core.PerSecond(9), core.PerMinute(2).Exact()}, []int64{2, 1},
			problemBody{quotaExceeded, "Quota exceeded", 429, "Try again in 60 seconds.", []string{"minute"}}},
		{"both", []core.Limit{core.PerSecond(2), core.PerHour(2).Exact()}, []int64{2, 1},
			problemBody{quotaExceeded, "Quota exceeded", 429, "Try again in 3600 seconds.", []string{"second", "hour"}}},
		{"a single second", []core.Limit{core.PerSecond(1).Exact()}, []int64{1, 1},
			problemBody{quotaExceeded, "Quota exceeded", 429, "Try again in 1 second.", []string{"second"}}},
		{"no dry run", []core.Limit{core.PerSecond(1).Exact(), core.PerSecond(1).DryRun().Named("watched")}, []int64{1, 1},
			problemBody{quotaExceeded, "Quota exceeded", 429, "Try again in 1 second.", []string{"second"}}},
		{"without remedy", []core.Limit{core.PerMinute(2)}, []int64{3},
			problemBody{quotaExceeded, "Quota exceeded", 429, "The request can never be admitted: it costs more than the quota holds.", []string{"minute"}}},
		{"a name to be escaped", []core.Limit{core.PerMinute(0).Named(`"</script>\`)}, []int64{1},
			problemBody{quotaExceeded, "Quota exceeded", 429, "The request can never be admitted: it costs more than the quota holds.", []string{`"</script>\`}}},
	} {
		g := newGate(t, c.limits...)
		var d core.Decision
		for _, cost := range c.costs {
			d = g.take(cost, "u")
		}
		got := read(t, d.Problem())
		var direct strings.Builder
		err := d.WriteProblem(&direct)
		if one, two := direct.String(), string(d.Problem().JSON()); one != two || err != nil {
			t.Errorf("%s: written in two ways:\n%s\n%s\n%v", c.phrase, one, two, err)
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: %+v, want %+v", c.phrase, got, c.want)
		}
	}
}

// TestBodyAndHeaderCallAPolicyTheSame: a name that another limiter's policy has
// is numbered, in both.
func TestBodyAndHeaderCallAPolicyTheSame(t *testing.T) {
	h := core.HeaderMap{}
	outer, inner := newGate(t, core.PerMinute(9)), newGate(t, core.PerMinute(0))
	first, second := outer.take(1, "u"), inner.take(1, "u")
	first.SetHeaders(h)
	second.SetHeaders(h)
	if got := second.Problem().Violated; !slices.Equal(got, []string{"minute-2"}) || h.Get("Ratelimit") != `"minute-2";r=0` {
		t.Errorf("the body says %q, the header %s", got, h.Get("Ratelimit"))
	}
}

func TestErrorsBecomeProblems(t *testing.T) {
	cause := errors.New("dial tcp 10.0.0.7:6379: connection refused")
	for _, c := range []struct {
		phrase string
		err    error
		want   problemBody
	}{
		{"a missing key", &core.RuleError{Rule: `by "user"`, Kind: core.ErrNoKey},
			problemBody{"about:blank", "Bad Request", 400, `The request carries no key for the rule "by \"user\"".`, nil}},
		{"a missing key of no rule", core.ErrNoKey, problemBody{"about:blank", "Bad Request", 400, "The request carries nothing to count it under.", nil}},
		{"a failing key function", &core.RuleError{Rule: "r", Kind: core.ErrKey, Err: cause},
			problemBody{"about:blank", "Internal Server Error", 500, "The limits of the request could not be determined.", nil}},
		{"an invalid cost", &core.RuleError{Rule: "r", Kind: core.ErrCost, Err: cause},
			problemBody{"about:blank", "Internal Server Error", 500, "The limits of the request could not be determined.", nil}},
		{"failing limits", fmt.Errorf("while serving: %w", &core.RuleError{Rule: "r", Kind: core.ErrLimits, Err: cause}),
			problemBody{"about:blank", "Internal Server Error", 500, "The limits of the request could not be determined.", nil}},
		{"a failing store", &core.RuleError{Rule: "r", Kind: core.ErrStore, Err: cause},
			problemBody{"https://iana.org/assignments/http-problem-types#temporary-reduced-capacity", "Temporarily reduced capacity", 503,
				"Requests cannot be counted at the moment. Try again later.", nil}},
		{"a request that ended", cause,
			problemBody{"https://iana.org/assignments/http-problem-types#temporary-reduced-capacity", "Temporarily reduced capacity", 503,
				"Requests cannot be counted at the moment. Try again later.", nil}},
	} {
		got := read(t, core.ProblemOf(c.err))
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: %+v, want %+v, which tells nothing of causes within", c.phrase, got, c.want)
		}
	}
}
