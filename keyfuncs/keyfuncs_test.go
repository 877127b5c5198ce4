package keyfuncs_test

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"testing"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/keyfuncs"
)

func TestGlobalIsOneKey(t *testing.T) {
	wantKey(t, "a request", keyfuncs.Global, fake{}, "global")
	wantKey(t, "another request", keyfuncs.Global, peer("198.51.100.7"), "global")
}

func TestMethodAndRouteAreAsTheyAre(t *testing.T) {
	wantKey(t, "a method", keyfuncs.Method, fake{method: "POST"}, "POST")
	wantKey(t, "no method", keyfuncs.Method, fake{}, noKey)
	wantKey(t, "a route", keyfuncs.Route, fake{route: "/users/{id}", path: "/users/42"}, "/users/{id}")
	wantKey(t, "no route is no shared bucket", keyfuncs.Route, fake{path: "/users/42"}, noKey)
}

func TestPathIsCleaned(t *testing.T) {
	for _, c := range []struct{ phrase, path, want string }{
		{"RL-054 as it should be", "/login", "/login"},
		{"RL-054 a doubled slash", "//login", "/login"},
		{"RL-054 a dot", "/./login", "/login"},
		{"RL-054 two dots", "/a/../login", "/login"},
		{"two dots above the root", "/../../login", "/login"},
		{"a slash behind", "/login/", "/login"},
		{"no slash in front", "login", "/login"},
		{"two dots in front", "../login", "/login"},
		{"nothing", "", "/"},
		{"the root", "/", "/"},
		{"slashes only", "///", "/"},
		{"other spellings stay apart", "/Login", "/Login"},
		{"the request for the server itself", "*", "/*"},
	} {
		wantKey(t, c.phrase, keyfuncs.Path, fake{path: c.path}, c.want)
	}
}

func TestHostIsLowerCaseWithoutPort(t *testing.T) {
	for _, c := range []struct{ phrase, host, want string }{
		{"a name", "api.example.com", "api.example.com"},
		{"a port", "api.example.com:8443", "api.example.com"},
		{"capital letters", "API.Example.COM", "api.example.com"},
		{"the dot of the root", "api.example.com.", "api.example.com"},
		{"the dot of the root and a port", "api.example.com.:80", "api.example.com"},
		{"an IPv4 address", "192.0.2.1:80", "192.0.2.1"},
		{"an IPv6 address", "[2001:DB8::1]", "[2001:db8::1]"},
		{"an IPv6 address and a port", "[2001:db8::1]:80", "[2001:db8::1]"},
		{"an empty port", "api.example.com:", "api.example.com"},
		{"nothing", "", noKey},
		{"a port alone", ":80", noKey},
	} {
		wantKey(t, c.phrase, keyfuncs.Host, fake{host: c.host}, c.want)
	}
}

func TestHeaderIsOneValueThatIsThere(t *testing.T) {
	f := keyfuncs.Header("X-Tenant")
	for _, c := range []struct {
		phrase string
		lines  []string
		want   string
	}{
		{"a value", []string{"acme"}, "acme"},
		{"spaces and tabs around it", []string{" \tacme\t "}, "acme"},
		{"inside it they stay", []string{"a \tb"}, "a \tb"},
		{"a list is one value", []string{"a, b"}, "a, b"},
		{"no line", nil, noKey},
		{"an empty line", []string{""}, noKey},
		{"a blank line", []string{" \t "}, noKey},
		{"two lines", []string{"acme", "acme"}, noKey},
		{"an empty line beside one", []string{"", "acme"}, noKey},
	} {
		wantKey(t, c.phrase, f, with("x-tenant", c.lines...), c.want)
	}
}

func TestUserIDIsWhatAuthenticationLeft(t *testing.T) {
	type key struct{}
	f := keyfuncs.UserID(key{})
	user := func(id any) fake { return fake{values: map[any]any{key{}: id}} }
	for _, c := range []struct {
		phrase string
		id     any
		want   string
	}{
		{"a string", "alice", "alice"},
		{"an int", 7, "7"},
		{"a negative int", -7, "-7"},
		{"the smallest int64", int64(math.MinInt64), "-9223372036854775808"},
		{"the largest uint64", uint64(math.MaxUint64), "18446744073709551615"},
		{"an int32", int32(7), "7"},
		{"a uint32", uint32(7), "7"},
		{"a uint", uint(7), "7"},
		{"a Stringer", netip.MustParseAddr("192.0.2.1"), "192.0.2.1"},
		{"nobody", nil, noKey},
		{"an empty string", "", noKey},
		{"a Stringer of nothing", nobody{}, noKey},
	} {
		wantKey(t, c.phrase, f, user(c.id), c.want)
	}
	wantKey(t, "under another key", keyfuncs.UserID("other"), user("alice"), noKey)
	for _, id := range []any{1.5, []byte("alice"), struct{}{}, true} {
		if got, err := f(user(id)); err == nil || got != "" || errors.Is(err, core.ErrNoKey) {
			t.Errorf("a %T gives %q, %v; want an error that is not a missing key", id, got, err)
		}
	}
}

type nobody struct{}

func (nobody) String() string { return "" }

// constant gives a key.
func constant(key string) core.KeyFunc {
	return func(core.Request) (string, error) { return key, nil }
}

var errBroken = errors.New("broken")

func broken(core.Request) (string, error) { return "", errBroken }
func absent(core.Request) (string, error) { return "", fmt.Errorf("no user: %w", core.ErrNoKey) }

// never fails a test that calls it.
func never(t *testing.T) core.KeyFunc {
	return func(core.Request) (string, error) {
		t.Error("a function that is not needed is called")
		return "", nil
	}
}

func TestJoinKeepsPartsApart(t *testing.T) {
	for _, c := range []struct {
		phrase     string
		one, other []string
	}{
		{"RL-049 another boundary", []string{"aa", "b"}, []string{"a", "ab"}},
		{"RL-050 an IPv6 address and a port", []string{"2001:db8::1", "80"}, []string{"2001:db8::", "1:80"}},
		{"RL-050 a colon", []string{"a:b", "c"}, []string{"a", "b:c"}},
		{"RL-050 a bar", []string{"a|b", "c"}, []string{"a", "b|c"}},
		{"RL-050 a zero byte", []string{"a\x00b", "c"}, []string{"a", "b\x00c"}},
		{"RL-050 a newline", []string{"a\nb", "c"}, []string{"a", "b\nc"}},
		{"RL-050 an escape and what it stands for", []string{"a\n", "c"}, []string{`a\n`, "c"}},
		{"RL-050 what looks like a length", []string{"a1:b", "c"}, []string{"a", "b1:c"}},
		{"RL-050 a part that looks like two", []string{"1:a1:b"}, []string{"a", "b"}},
		{"one part and the same twice", []string{"a"}, []string{"a", "a"}},
		{"another order", []string{"a", "b"}, []string{"b", "a"}},
	} {
		if one, other := join(t, c.one), join(t, c.other); one == other {
			t.Errorf("%s: %q and %q have one key, %q", c.phrase, c.one, c.other, one)
		}
	}
	if one, same := join(t, []string{"a", "b"}), join(t, []string{"a", "b"}); one != same {
		t.Errorf("the same parts have the keys %q and %q", one, same)
	}
}

func join(t *testing.T, parts []string) string {
	t.Helper()
	var fs []core.KeyFunc
	for _, part := range parts {
		fs = append(fs, constant(part))
	}
	key, err := keyfuncs.Join(fs...)(fake{})
	if err != nil || key == "" {
		t.Fatalf("joining %q: %q, %v", parts, key, err)
	}
	return key
}

func TestJoinIsWrittenWithLengths(t *testing.T) {
	wantKey(t, "two parts", keyfuncs.Join(constant("alice"), constant("/login")), fake{}, "5:alice6:/login")
}

func TestJoinNeedsAllParts(t *testing.T) {
	a := constant("a")
	wantKey(t, "RL-049 an empty part", keyfuncs.Join(a, constant("")), fake{}, noKey)
	wantKey(t, "a missing part", keyfuncs.Join(a, absent, never(t)), fake{}, noKey)
	if got, err := keyfuncs.Join(a, broken, never(t))(fake{}); got != "" || !errors.Is(err, errBroken) {
		t.Errorf("a broken part gives %q, %v; want its error", got, err)
	}
	if got := join(t, []string{"aab", "1:" + "a"}); got == join(t, []string{"aab"}) {
		t.Errorf("a second part changes nothing: %q", got)
	}
}

func TestFirstOfFallsThroughOnMissingKeys(t *testing.T) {
	a, b := constant("a"), constant("b")
	for _, c := range []struct {
		phrase string
		f      core.KeyFunc
		want   string
	}{
		{"the first", keyfuncs.FirstOf(a, never(t)), "1:a"},
		{"the second", keyfuncs.FirstOf(absent, b), "2:b"},
		{"an empty key is missing", keyfuncs.FirstOf(constant(""), absent, b), "3:b"},
		{"none", keyfuncs.FirstOf(absent, constant("")), noKey},
		{"nested", keyfuncs.FirstOf(absent, keyfuncs.FirstOf(absent, b)), "2:2:b"},
	} {
		wantKey(t, c.phrase, c.f, fake{}, c.want)
	}
	if got, err := keyfuncs.FirstOf(broken, never(t))(fake{}); got != "" || !errors.Is(err, errBroken) {
		t.Errorf("a broken choice gives %q, %v; want its error", got, err)
	}
}

func TestFirstOfKeepsChoicesApart(t *testing.T) {
	f := keyfuncs.FirstOf(keyfuncs.Header("X-User"), keyfuncs.IP)
	address, _ := f(peer("192.0.2.1:5"))
	named, _ := f(with("X-User", "192.0.2.1"))
	if address == named {
		t.Errorf("a user who is called like an address has its key, %q", address)
	}
}

func TestArgumentsThatCanNeverWorkPanic(t *testing.T) {
	const notNil = "key functions that are not nil"
	for _, c := range []struct {
		want string
		call func()
	}{
		{"Header needs a header name", func() { keyfuncs.Header("") }},
		{"Cookie needs a cookie name", func() { keyfuncs.Cookie("") }},
		{"UserID needs a context key", func() { keyfuncs.UserID(nil) }},
		{"Join needs at least one key function", func() { keyfuncs.Join() }},
		{"Join needs " + notNil, func() { keyfuncs.Join(keyfuncs.IP, nil) }},
		{"FirstOf needs at least one key function", func() { keyfuncs.FirstOf() }},
		{"FirstOf needs " + notNil, func() { keyfuncs.FirstOf(nil, keyfuncs.IP) }},
		{"Hashed needs a key function", func() { keyfuncs.Hashed(nil, []byte("s")) }},
		{"Hashed needs a secret that is not empty", func() { keyfuncs.Hashed(keyfuncs.IP, nil) }},
	} {
		wantPanic(t, "keyfuncs: "+c.want, c.call)
	}
}
