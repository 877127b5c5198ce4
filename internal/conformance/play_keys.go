package conformance

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/keyfuncs"
)

func keyPlays() []scenario {
	return []scenario{
		{"RL-047 a look at a key makes no state", peekMakesNothing},
		{"RL-049 parts of a key are not glued together", partsStayApart},
		{"RL-050 no separator in a value joins two clients", separatorsStayApart},
		{"RL-054 spellings that one handler serves share one bucket", spellings},
		{"RL-058 one account has one bucket however it spells its token", accounts},
		{"RL-086 keys outlive the request that they came with, by header", borrowedHeader},
		{"RL-086 keys outlive the request that they came with, of any length", borrowedLengths},
	}
}

// memory returns a memory store on the stage's clock, which its limiters then
// need not be given.
func (s *stage) memory() *core.Memory {
	s.tb.Helper()
	m := &core.Memory{}
	c := core.Config{Rules: []core.Rule{byClient(core.PerDay(1))}, Store: m, Now: s.clock.now}
	c.Doctor.Logger = quiet()
	if _, err := core.New(c); err != nil {
		s.tb.Fatal(err)
	}
	return m
}

func peekMakesNothing(tb testing.TB, a Adapter) {
	s := newStage(tb)
	m := s.memory()
	l := s.limiter(core.Config{Rules: []core.Rule{byClient(core.PerMinute(2))}, Store: m})
	s.serve(a, Setup{Group: []*core.Limiter{l}})
	for i := range 1000 {
		key := fmt.Sprint("key-", i)
		states, err := l.Peek(context.Background(), "rule-1", key)
		if err != nil || len(states) != 1 || states[0].Remaining != 2 {
			tb.Fatalf("Peek of an unused key: %+v, %v; want 2 remaining", states, err)
		}
	}
	if got := m.Stats().Keys; got != 0 {
		tb.Errorf("%d keys are stored after looks only, want 0", got)
	}
	s.expect(request{}, "200 r=1")
}

// joined counts once a minute by two header fields.
func joined(second core.KeyFunc) core.Config {
	return core.Config{Rules: []core.Rule{core.By(keyfuncs.Join(keyfuncs.Header("X-A"), second), core.PerMinute(1))}}
}

func pair(a, b string) request {
	return request{header: [][2]string{{"X-A", a}, {"X-B", b}}}
}

func partsStayApart(tb testing.TB, a Adapter) {
	s := newStage(tb)
	orGlobal := keyfuncs.FirstOf(keyfuncs.Header("X-B"), keyfuncs.Global)
	s.serve(a, Setup{
		Group: []*core.Limiter{s.limiter(joined(keyfuncs.Header("X-B")))},
		Route: []*core.Limiter{s.limiter(joined(orGlobal))},
	})
	s.expect(pair("aa", "b"), "200")
	s.expect(pair("a", "ab"), "200")
	s.expect(pair("aab", ""), "400") // an empty part is none, and shares no bucket
	s.expect(pair("aa", "b"), "429")

	s = newStage(tb)
	s.serve(a, Setup{Group: []*core.Limiter{s.limiter(joined(orGlobal))}})
	s.expect(pair("aa", "b"), "200")
	s.expect(pair("a", "ab"), "200")
	s.expect(pair("aab", ""), "200")
	s.expect(pair("aab", "global"), "200")
	s.expect(pair("aab", ""), "429")
}

func separatorsStayApart(tb testing.TB, a Adapter) {
	s := newStage(tb)
	s.serve(a, Setup{Group: []*core.Limiter{s.limiter(joined(keyfuncs.Header("X-B")))}})
	for _, both := range [][2][2]string{
		{{"2001:db8::1", "80"}, {"2001:db8::", "1:80"}},
		{{"a:b", "c"}, {"a", "b:c"}},
		{{"a|b", "c"}, {"a", "b|c"}},
		{{`a\x00b`, "c"}, {"a", `b\x00c`}},
		{{`a\n`, "b"}, {"a", `\nb`}},
		{{"1:x", "2:y"}, {"1:x2", ":y"}},
	} {
		for _, p := range both {
			s.expect(pair(p[0], p[1]), "200")
		}
		s.expect(pair(both[0][0], both[0][1]), "429")
	}
}

func spellings(tb testing.TB, a Adapter) {
	s := newStage(tb)
	key := keyfuncs.Join(keyfuncs.Header("X-Client"), keyfuncs.Route)
	rule := core.By(key, core.PerMinute(int64(len(a.Spellings)-1)))
	s.serve(a, Setup{Route: []*core.Limiter{s.limiter(core.Config{Rules: []core.Rule{rule}})}})
	for i, spelling := range a.Spellings {
		want := "200"
		if i == len(a.Spellings)-1 {
			want = "429"
		}
		s.expect(request{path: spelling}, want)
	}
	if len(a.Spellings) < 3 {
		tb.Errorf("%d spellings, want at least 3", len(a.Spellings))
	}
}

func accounts(tb testing.TB, a Adapter) {
	s := newStage(tb)
	rule := core.By(keyfuncs.UserID(a.UserKey), core.PerMinute(3))
	s.serve(a, Setup{
		Group:        []*core.Limiter{s.limiter(core.Config{Rules: []core.Rule{rule}})},
		Authenticate: looseBearer,
	})
	var statuses []int
	for i, token := range []string{
		"Bearer k1", "bearer k1", "Bearer  k1", "Bearer k1 ", "junk Bearer k1", "BEARER k1", "Bearer k1", "k1",
	} {
		statuses = append(statuses, s.send(request{header: [][2]string{
			{"Authorization", token}, {"X-API-Key", fmt.Sprint("random-", i)},
		}}).status)
	}
	want := []int{200, 200, 200, 429, 401, 429, 429, 401}
	if fmt.Sprint(statuses) != fmt.Sprint(want) {
		tb.Errorf("statuses %v, want %v", statuses, want)
	}
	if got := s.hits.Load(); got != 3 {
		tb.Errorf("the handler ran %d times, want 3", got)
	}
}

// looseBearer takes a token in more spellings than one.
func looseBearer(header func(string) string) (string, bool) {
	fields := strings.Fields(header("Authorization"))
	if len(fields) != 2 || !strings.EqualFold(fields[0], "Bearer") || fields[1] != "k1" {
		return "", false
	}
	return "account-1", true
}

func borrowedHeader(tb testing.TB, a Adapter) {
	borrowed(tb, a, func(i int) string { return fmt.Sprintf("client-%04d", i) })
}

func borrowedLengths(tb testing.TB, a Adapter) {
	borrowed(tb, a, func(i int) string { return fmt.Sprintf("%d-%s", i, strings.Repeat("x", i%97)) })
}

// borrowed sends a thousand keys over four connections, and then again.
func borrowed(tb testing.TB, a Adapter, name func(i int) string) {
	const keys, connections = 1000, 4
	s := newStage(tb)
	m := s.memory()
	l := s.limiter(core.Config{Rules: []core.Rule{byClient(core.PerMinute(1))}, Store: m})
	s.serve(a, Setup{Group: []*core.Limiter{l}})
	for _, want := range []int{200, 429} {
		s.crowd(connections, func(c int) {
			for i := c; i < keys; i += connections {
				q := request{client: name(i), peer: fmt.Sprintf("198.51.100.%d:1", c)}
				if got := s.send(q).status; got != want {
					tb.Errorf("%v: status %d, want %d", q, got, want)
				}
			}
		})
	}
	if got := m.Stats().Keys; got != keys {
		tb.Errorf("%d keys are stored, want %d", got, keys)
	}
	for i := range keys {
		states, err := l.Peek(context.Background(), "rule-1", name(i))
		if err != nil || states[0].Remaining != 0 {
			tb.Fatalf("key %d as it was sent: %+v, %v; want 0 remaining", i, states, err)
		}
	}
}
