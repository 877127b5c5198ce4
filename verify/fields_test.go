package verify_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"unicode"

	"github.com/dunglas/httpsfv"
	"pgregory.net/rapid"

	"github.com/slidegate/slidegate/core"
)

// names are policy names, some of which need escaping or look like the syntax
// around them.
var names = rapid.OneOf(
	rapid.SampledFrom([]string{"minute", "minute-2", `"`, `\`, `\"`, `a"b\c`, `x";q=1, "y`, " ", ",", ";", "", ""}),
	rapid.StringOf(rapid.RuneFrom(nil, &unicode.RangeTable{R16: []unicode.Range16{{Lo: ' ', Hi: '~', Stride: 1}}})),
)

// A speaker is a limiter on a random clock whose decisions go into headers.
type speaker struct {
	clock   *clock
	limits  []core.Limit
	limiter *core.Limiter
}

func drawSpeaker(t *rapid.T, format core.HeaderFormat) *speaker {
	s := &speaker{clock: drawClock(t)}
	taken := map[string]bool{}
	for range rapid.IntRange(1, 4).Draw(t, "limits") {
		name := names.Filter(func(name string) bool { return name == "" || !taken[name] }).Draw(t, "name")
		l := limitOf(t, algorithms.Draw(t, "algorithm"), name)
		taken[name] = true
		s.limits = append(s.limits, l)
	}
	limiter, err := core.New(core.Config{Rules: []core.Rule{core.By(byHand, s.limits...)}, Headers: format, Now: s.clock.now})
	if err != nil {
		t.Skip("two limits are equal")
	}
	s.limiter = limiter
	return s
}

// decide decides on a random request after a random pause.
func (s *speaker) decide(t *rapid.T) core.Decision {
	steps.Add(1)
	l := rapid.SampledFrom(s.limits).Draw(t, "limit")
	s.clock.move(t, l)
	cost := rapid.OneOf(rapid.Int64Range(1, 3), rapid.Int64Range(1, max(1, l.Burst())), rapid.Just(l.Burst()+1)).Draw(t, "cost")
	d, err := s.limiter.AllowN(context.Background(), cost, "key")
	if err != nil && !errors.Is(err, core.ErrCostExceedsLimit) {
		t.Fatal(err)
	}
	return d
}

// say sets a decision's fields beside those that are there.
func say(h http.Header, d core.Decision) { d.SetHeaders(core.HeaderMap(h)) }

// TestListFieldsAreCanonical has one to three stacked limiters set the fields of
// random decisions. A parser of Structured Fields reads each field as a List,
// writes it again byte for byte, and finds the items of all the limiters, or of
// the one that denied.
func TestListFieldsAreCanonical(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		stack := make([]*speaker, rapid.IntRange(1, 3).Draw(t, "limiters"))
		for i := range stack {
			stack[i] = drawSpeaker(t, core.HeadersDraft11)
		}
		for range rapid.IntRange(1, 6).Draw(t, "requests") {
			h, policies, limits := http.Header{}, 0, 0
			for _, s := range stack {
				d := s.decide(t)
				say(h, d)
				policies += len(s.limits)
				limits += len(s.limits)
				if !d.Allowed { // no limiter further in is asked
					limits = denials(d)
					break
				}
			}
			checkItems(t, listOf(t, h, "RateLimit-Policy"), policies, "q", "w")
			checkItems(t, listOf(t, h, "RateLimit"), limits, "r", "t")
		}
	})
}

// denials returns how many limits denied, which are those that RateLimit then
// speaks of.
func denials(d core.Decision) int {
	n := 0
	for _, s := range d.States() {
		if s.Denied {
			n++
		}
	}
	return n
}

// listOf reads a field as a List, and back.
func listOf(t *rapid.T, h http.Header, name string) httpsfv.List {
	lines := h.Values(name)
	if len(lines) != 1 {
		t.Fatalf("%s occurs %d times", name, len(lines))
	}
	list, err := httpsfv.UnmarshalList(lines)
	if err != nil {
		t.Fatalf("%s: %s: %v", name, lines[0], err)
	}
	if again, err := httpsfv.Marshal(list); err != nil || again != lines[0] {
		t.Fatalf("%s is %s, which is written as %s, %v", name, lines[0], again, err)
	}
	return list
}

// checkItems checks that the items are Strings of different values, each with
// a whole number under the first parameter and no others than the two.
func checkItems(t *rapid.T, list httpsfv.List, want int, must, may string) {
	seen := map[string]bool{}
	for _, member := range list {
		item, _ := member.(httpsfv.Item)
		name, isString := item.Value.(string)
		if !isString || name == "" || seen[name] {
			t.Fatalf("item %v is no String, is empty, or is there twice: %v", item.Value, list)
		}
		seen[name] = true
		for i, param := range item.Params.Names() {
			n, _ := item.Params.Get(param)
			if _, whole := n.(int64); !whole || i == 0 && param != must || i == 1 && param != may || i > 1 {
				t.Fatalf("%q: parameter %d is %s=%v, want Integers %s and %s", name, i, param, n, must, may)
			}
		}
		if len(item.Params.Names()) == 0 {
			t.Fatalf("%q has no %s", name, must)
		}
	}
	if len(list) != want {
		t.Fatalf("%d items, want %d: %v", len(list), want, seen)
	}
}

// TestSingleFieldsAreStructured reads what drafts 6 and 7 set: the policies are
// a List of Integers, draft 7's RateLimit is a Dictionary, draft 6's fields are
// Items.
func TestSingleFieldsAreStructured(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		format := rapid.SampledFrom([]core.HeaderFormat{core.HeadersDraft6, core.HeadersDraft7}).Draw(t, "format")
		first, second := drawSpeaker(t, format), drawSpeaker(t, format)
		for range rapid.IntRange(1, 6).Draw(t, "requests") {
			h := http.Header{}
			say(h, first.decide(t))
			say(h, second.decide(t))
			checkQuotas(t, listOf(t, h, "RateLimit-Policy"))
			if format == core.HeadersDraft7 {
				checkDictionary(t, h)
				continue
			}
			for _, name := range []string{"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"} {
				checkInteger(t, h, name)
			}
		}
	})
}

// checkQuotas checks that the policies of drafts 6 and 7 are different Integers,
// each with its window.
func checkQuotas(t *rapid.T, list httpsfv.List) {
	seen := map[int64]bool{}
	for _, member := range list {
		item, _ := member.(httpsfv.Item)
		quota, whole := item.Value.(int64)
		window, _ := item.Params.Get("w")
		if seconds, _ := window.(int64); !whole || seen[quota] || seconds < 1 {
			t.Fatalf("item %v, w=%v, is no Integer with a window, or is there twice: %v", item.Value, window, list)
		}
		seen[quota] = true
	}
}

func checkDictionary(t *rapid.T, h http.Header) {
	lines := h.Values("RateLimit")
	dictionary, err := httpsfv.UnmarshalDictionary(lines)
	if err != nil {
		t.Fatalf("RateLimit: %v: %v", lines, err)
	}
	if again, err := httpsfv.Marshal(dictionary); err != nil || len(lines) != 1 || again != lines[0] {
		t.Fatalf("RateLimit is %q, which is written as %s, %v", lines, again, err)
	}
	for _, name := range []string{"limit", "remaining", "reset"} {
		member, _ := dictionary.Get(name)
		if item, _ := member.(httpsfv.Item); len(dictionary.Names()) != 3 || item.Value == nil {
			t.Fatalf("RateLimit %q has no %s, or more than three members", lines, name)
		}
	}
}

func checkInteger(t *rapid.T, h http.Header, name string) {
	lines := h.Values(name)
	item, err := httpsfv.UnmarshalItem(lines)
	if _, whole := item.Value.(int64); err != nil || !whole || len(lines) != 1 {
		t.Fatalf("%s: %q must be one Integer: %v", name, lines, err)
	}
}
