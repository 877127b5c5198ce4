package interop_test

import (
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strconv"
	"testing"
	"time"

	"github.com/dunglas/httpsfv"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/keyfuncs"
)

// asked is how often each site with Lists is asked: some admit all of it, some
// deny the last request, some all.
const asked = 3

// A listCase is a stack of limiters, and the Lists of the last response.
type listCase struct {
	name             string
	limiters         stack
	policies, limits string
}

// A stack is limiters of one site, the outermost first.
type stack = []core.Config

// byIP has one rule, whose key is the client's address.
func byIP(limits ...core.Limit) core.Config {
	return core.Config{Rules: []core.Rule{core.By(keyfuncs.IP, limits...)}}
}

var listCases = []listCase{
	{
		"a limit with nothing left", stack{byIP(core.PerMinute(3).Exact())},
		`"minute";q=3;w=60`, `"minute";r=0;t=60`,
	},
	{
		"limits of two rules", stack{{Rules: []core.Rule{
			core.By(keyfuncs.IP, core.PerSecond(10).Exact(), core.PerMinute(100).Exact()),
			core.By(keyfuncs.Global, core.PerHour(1000).Exact().Named("all")),
		}}},
		`"second";q=10;w=1, "minute";q=100;w=60, "all";q=1000;w=3600`,
		`"second";r=7;t=1, "minute";r=97;t=60, "all";r=997;t=3600`,
	},
	{
		"one limit of three denied", stack{byIP(core.PerSecond(2).Exact(), core.PerMinute(100), core.PerHour(1000))},
		`"second";q=2;w=1, "minute";q=100;w=60, "hour";q=1000;w=3600`, `"second";r=0;t=1`,
	},
	{
		"a name with quotes and a backslash", stack{byIP(core.PerMinute(9).Exact().Named(`of "A" \ B`))},
		`"of \"A\" \\ B";q=9;w=60`, `"of \"A\" \\ B";r=6;t=60`,
	},
	{
		"two limiters with policies of one name", stack{byIP(core.PerMinute(100).Exact()), byIP(core.PerMinute(50).Exact())},
		`"minute";q=100;w=60, "minute-2";q=50;w=60`, `"minute";r=97;t=60, "minute-2";r=47;t=60`,
	},
	{
		"the inner of two limiters denied", stack{byIP(core.PerMinute(100).Exact()), byIP(core.PerMinute(2).Exact())},
		`"minute";q=100;w=60, "minute-2";q=2;w=60`, `"minute-2";r=0;t=60`,
	},
	{
		"the largest quota and window", stack{byIP(core.Per(core.MaxQuota, core.MaxWindow).Named("decade"))},
		`"decade";q=999999999999999;w=315619200`, `"decade";r=999999999999996;t=315619200`,
	},
	{
		"a window below a second", stack{byIP(core.Per(9, 100*time.Millisecond).Exact())},
		`"100ms";q=9`, `"100ms";r=6;t=1`,
	},
	{
		"a bucket whose burst passes its quota", stack{byIP(core.PerSecond(2).Bucket(10))},
		`"second";q=2;w=1`, `"second";r=7;t=1`,
	},
	{
		"a denial for ever", stack{byIP(core.PerMinute(0))},
		`"minute";q=0;w=60`, `"minute";r=0`,
	},
}

// open serves the case by an adapter.
func (c listCase) open(t *testing.T, a adapter) string {
	t.Helper()
	return a.open(t, site{limiters: limitersOf(c.limiters...)})
}

func TestListsSerialiseToThemselves(t *testing.T) {
	for _, c := range listCases {
		for _, a := range adapters() {
			t.Run(c.name+"/"+a.name, func(t *testing.T) {
				url, got := c.open(t, a), http.Header{}
				for range asked {
					got = headerOf(t, url)
					wantSame(t, got, "RateLimit-Policy", listAgain)
					wantSame(t, got, "RateLimit", listAgain)
				}
				wantField(t, got, "RateLimit-Policy", c.policies)
				wantField(t, got, "RateLimit", c.limits)
			})
		}
	}
}

// Draft 6 has one List, and draft 7 a Dictionary beside it.
func TestOlderFormatsSerialiseToThemselves(t *testing.T) {
	config := byIP(core.PerSecond(2).Exact(), core.PerMinute(100).Exact())
	for _, a := range adapters() {
		t.Run(a.name, func(t *testing.T) {
			for _, config.Headers = range []core.HeaderFormat{core.HeadersDraft6, core.HeadersDraft7} {
				url := a.open(t, site{limiters: limitersOf(config)})
				for range asked {
					got := headerOf(t, url)
					wantSame(t, got, "RateLimit-Policy", listAgain)
					wantField(t, got, "RateLimit-Policy", "2;w=1, 100;w=60")
					if config.Headers == core.HeadersDraft7 {
						wantSame(t, got, "RateLimit", dictionaryAgain)
					}
				}
			}
		})
	}
}

// A parse is what structured-headers makes of a List.
type parse struct {
	Text    string   `json:"text"`
	Again   string   `json:"again"` // serialised from the members
	Members []member `json:"members"`
}

type member struct {
	Name       string           `json:"name"`
	Parameters map[string]int64 `json:"parameters"`
}

// Two parsers read the same members from each List, and both serialise them to
// the text that came.
func TestStructuredHeadersReadsTheLists(t *testing.T) {
	args, want := []string{strconv.Itoa(asked)}, []listCase{}
	for _, c := range listCases {
		for _, a := range adapters() {
			args = append(args, c.open(t, a))
			c.name += " by " + a.name
			want = append(want, c)
		}
	}
	var got [][]struct{ Policies, Limits parse }
	runScript(t, &got, "structured-headers.mjs", args...)
	if len(got) != len(want) {
		t.Fatalf("readings of %d servers, want %d", len(got), len(want))
	}
	for i, c := range want {
		if len(got[i]) != asked {
			t.Fatalf("%s: %d responses, want %d", c.name, len(got[i]), asked)
		}
		for _, r := range got[i] {
			r.Policies.check(t, c.name)
			r.Limits.check(t, c.name)
		}
		if last := got[i][asked-1]; last.Policies.Text != c.policies || last.Limits.Text != c.limits {
			t.Errorf("%s: got %s and %s, want %s and %s", c.name, last.Policies.Text, last.Limits.Text, c.policies, c.limits)
		}
	}
}

func (p parse) check(t *testing.T, name string) {
	t.Helper()
	if p.Again != p.Text {
		t.Errorf("%s: %s becomes %s", name, p.Text, p.Again)
	}
	want, err := members(p.Text)
	if err != nil {
		t.Errorf("%s: %s: %v", name, p.Text, err)
	}
	if !reflect.DeepEqual(p.Members, want) {
		t.Errorf("%s: one parser reads %v from %s, another %v", name, p.Members, p.Text, want)
	}
}

// members reads a List whose members are Strings with Integers as parameters.
func members(text string) ([]member, error) {
	list, err := httpsfv.UnmarshalList([]string{text})
	if err != nil {
		return nil, err
	}
	var all []member
	for _, m := range list {
		item, ok := m.(httpsfv.Item)
		if !ok {
			return nil, fmt.Errorf("%v is not an Item", m)
		}
		name, ok := item.Value.(string)
		if !ok {
			return nil, fmt.Errorf("%v is not a String", item.Value)
		}
		parameters := map[string]int64{}
		for _, key := range item.Params.Names() {
			value, _ := item.Params.Get(key)
			if parameters[key], ok = value.(int64); !ok {
				return nil, fmt.Errorf("%s is %v, not an Integer", key, value)
			}
		}
		all = append(all, member{name, parameters})
	}
	return all, nil
}

// wantSame fails the test unless a field stands there once and comes through
// a parser and a serialiser unchanged.
func wantSame(t *testing.T, h http.Header, name string, again func([]string) (string, error)) {
	t.Helper()
	lines := h.Values(name)
	if len(lines) != 1 {
		t.Fatalf("%s has %d lines, want 1", name, len(lines))
	}
	switch text, err := again(lines); {
	case err != nil:
		t.Errorf("%s: %s: %v", name, lines[0], err)
	case text != lines[0]:
		t.Errorf("%s: %s becomes %s", name, lines[0], text)
	}
}

func wantField(t *testing.T, h http.Header, name, want string) {
	t.Helper()
	if got := h.Get(name); got != want {
		t.Errorf("%s: got %s, want %s", name, got, want)
	}
}

func listAgain(lines []string) (string, error) {
	list, err := httpsfv.UnmarshalList(lines)
	if err != nil {
		return "", err
	}
	return httpsfv.Marshal(list)
}

func dictionaryAgain(lines []string) (string, error) {
	dictionary, err := httpsfv.UnmarshalDictionary(lines)
	if err != nil {
		return "", err
	}
	return httpsfv.Marshal(dictionary)
}

// headerOf asks over a connection of its own.
func headerOf(t *testing.T, url string) http.Header {
	t.Helper()
	c := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	resp, err := c.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.ReadAll(resp.Body); err != nil {
		t.Fatal(err)
	}
	return resp.Header
}
