package conformance

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/keyfuncs"
)

func requestPlays() []scenario {
	return []scenario{
		{"a key function sees the request as the client sent it", requestIsWhole},
		{"each level knows the route as far as it is matched", routesAreKnown},
		{"a native key function sees the framework's request", nativeKey},
		{"a native key function fails under another adapter", foreignKey},
		{"keyfuncs find what they look for", keyFunctions},
		{"a whole application without a matched route has no route key", routeOfApp},
	}
}

// seen is a rule that notes what a function makes of each request.
func seen(look func(core.Request) string) (rule core.Rule, notes func() []string) {
	var mu sync.Mutex
	var all []string
	key := func(r core.Request) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, strings.Clone(look(r)))
		return "k", nil
	}
	return core.By(key, core.PerMinute(1000)), func() []string {
		mu.Lock()
		defer mu.Unlock()
		return all
	}
}

func requestIsWhole(tb testing.TB, a Adapter) {
	rule, notes := seen(func(r core.Request) string {
		session, found := r.Cookie("session")
		_, other := r.Cookie("other")
		return strings.Join([]string{
			r.Method(), r.Path(), r.Host(), withoutPort(r.Peer()),
			fmt.Sprintf("%q", r.HeaderValues("X-Many")), fmt.Sprintf("%q", r.HeaderValues("x-mANY")),
			strconv.Itoa(len(r.HeaderValues("X-None"))),
			session, fmt.Sprint(found, other),
			fmt.Sprint(r.Value(a.UserKey)), fmt.Sprint(r.Native() != nil, r.Context().Err()),
		}, "\n")
	})
	s := newStage(tb)
	s.serve(a, Setup{
		Route:        []*core.Limiter{s.limiter(core.Config{Rules: []core.Rule{rule}})},
		Authenticate: func(func(string) string) (string, bool) { return "user-7", true },
	})
	s.do(request{method: "POST", path: "/api/items/a%20b?x=1", peer: "198.51.100.7:1001", header: [][2]string{
		{"X-Many", "one"}, {"X-Many", "two, three"}, {"Cookie", "session=abc; session=def"},
	}})
	want := strings.Join([]string{
		"POST", "/api/items/a b", "slidegate.test", "198.51.100.7",
		`["one" "two, three"]`, `["one" "two, three"]`, "0",
		"abc", "true false", "user-7", "true <nil>",
	}, "\n")
	if got := notes(); len(got) != 1 || got[0] != want {
		tb.Errorf("a key function saw\n%s\nwant\n%s", strings.Join(got, "\n--\n"), want)
	}
}

// withoutPort leaves out what an adapter need not tell.
func withoutPort(peer string) string {
	host, _, err := net.SplitHostPort(peer)
	if err != nil {
		return peer
	}
	return host
}

func routesAreKnown(tb testing.TB, a Adapter) {
	s := newStage(tb)
	setup := Setup{}
	var notes [3]func() []string
	for i, level := range []*[]*core.Limiter{&setup.App, &setup.Group, &setup.Route} {
		var rule core.Rule
		rule, notes[i] = seen(core.Request.Route)
		*level = []*core.Limiter{s.limiter(core.Config{Rules: []core.Rule{rule}})}
	}
	s.serve(a, setup)
	s.do(request{path: "/api/items/42"})
	s.do(request{path: "/api/items/43?q=1", method: "POST"})
	for i, want := range []string{a.AppRoute, a.GroupRoute, a.ItemRoute} {
		if got := notes[i](); len(got) != 2 || got[0] != want || got[1] != want {
			tb.Errorf("level %d: routes %q, want twice %q", i, got, want)
		}
	}
}

func nativeKey(tb testing.TB, a Adapter) {
	s := newStage(tb)
	rule := core.By(a.NativeKey, core.PerMinute(1))
	s.serve(a, Setup{Group: []*core.Limiter{s.limiter(core.Config{Rules: []core.Rule{rule}})}})
	s.expect(request{client: "a"}, "200 r=0")
	s.expect(request{client: "b"}, "200 r=0")
	s.expect(request{client: "a"}, "429")
	s.expect(request{client: "-"}, "400")
}

// A foreign request is one of another adapter.
type foreign struct{ core.Request }

func (foreign) Native() any { return "nothing that a framework knows" }

func foreignKey(tb testing.TB, a Adapter) {
	if key, err := a.NativeKey(foreign{}); err == nil || key != "" {
		tb.Errorf("the key of another adapter's request is %q, %v; want an error", key, err)
	}
}

func keyFunctions(tb testing.TB, a Adapter) {
	s := newStage(tb)
	one := core.PerMinute(1)
	s.serve(a, Setup{
		Route: []*core.Limiter{s.limiter(core.Config{Rules: []core.Rule{
			{Name: "cookie", Key: keyfuncs.Cookie("session"), Limits: []core.Limit{one}, OnMissing: core.SkipRule},
			{Name: "host", Key: keyfuncs.Join(keyfuncs.Host, keyfuncs.Header("X-Host-Key")), Limits: []core.Limit{one}, OnMissing: core.SkipRule},
			{Name: "method", Key: keyfuncs.Join(keyfuncs.Method, keyfuncs.Path, keyfuncs.Header("X-Path-Key")), Limits: []core.Limit{one}, OnMissing: core.SkipRule},
			{Name: "user", Key: keyfuncs.UserID(a.UserKey), Limits: []core.Limit{one}, When: has("X-User")},
		}})},
		Authenticate: func(header func(string) string) (string, bool) { return header("X-User"), true },
	})
	for _, name := range []string{"X-Host-Key", "X-Path-Key", "X-User"} {
		with := func(value string) request {
			return request{path: "/api/items/1", header: [][2]string{{name, value}}}
		}
		s.expect(with("k"), "200 r=0")
		s.expect(with("l"), "200 r=0")
		s.expect(with("k"), "429")
	}
	cookie := request{path: "/api/items/1", header: [][2]string{{"Cookie", "session=abc"}}}
	s.expect(cookie, "200 r=0")
	s.expect(cookie, "429")
	s.expect(request{path: "/api/items/1", header: [][2]string{{"Cookie", "session="}}}, "200 none")
}

// has applies a rule to requests with a header field.
func has(name string) func(core.Request) bool {
	return func(r core.Request) bool { return len(r.HeaderValues(name)) > 0 }
}

func routeOfApp(tb testing.TB, a Adapter) {
	s := newStage(tb)
	rule := core.By(keyfuncs.Route, core.PerMinute(100))
	s.serve(a, Setup{App: []*core.Limiter{s.limiter(core.Config{Rules: []core.Rule{rule}})}})
	want := "200"
	if a.AppRoute == "" {
		want = "400"
	}
	s.expect(request{path: "/api/items/42"}, want)
}
