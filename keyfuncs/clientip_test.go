package keyfuncs_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/keyfuncs"
)

// A hop is a request as a server behind proxies sees it.
type hop struct {
	phrase, peer string
	lines        []string
	want         string
}

func (h hop) request(header string) core.Request {
	r := with(header, h.lines...)
	r.peer = h.peer
	return r
}

func TestClientIPWalksTheListFromTheRight(t *testing.T) {
	f := keyfuncs.ClientIP("X-Forwarded-For", keyfuncs.TrustedProxies("192.0.2.0/24", "2001:db8:ffff::/48"))
	for _, c := range []hop{
		{"RL-061 a made-up first entry", "192.0.2.10:1", []string{"203.0.113.1, 198.51.100.7"}, "198.51.100.7"},
		{"RL-061 another made-up first entry", "192.0.2.10:1", []string{"203.0.113.2, 198.51.100.7"}, "198.51.100.7"},
		{"RL-062 trusted hops of both families", "192.0.2.20:1", []string{"203.0.113.5, 2001:db8:ffff::10, 192.0.2.30"}, "203.0.113.5"},
		{"RL-062 junk further left", "192.0.2.20:1", []string{"junk.example, 203.0.113.50, 192.0.2.30"}, "203.0.113.50"},
		{"RL-062 nothing trusted in the list", "192.0.2.20:1", []string{"198.51.100.1, 203.0.113.50"}, "203.0.113.50"},
		{"RL-066 no header", "192.0.2.10:1", nil, "192.0.2.10"},
		{"RL-066 trusted hops only: the last that vouches", "192.0.2.10:1", []string{"192.0.2.40, 192.0.2.30"}, "192.0.2.40"},
		{"RL-066 an empty header", "192.0.2.10:1", []string{""}, "192.0.2.10"},
		{"RL-066 a direct peer without a header", "198.51.100.8:1", nil, "198.51.100.8"},
		{"a direct peer that forges", "198.51.100.8:1", []string{"203.0.113.1"}, "198.51.100.8"},
		{"RL-075 a zone", "192.0.2.10:1", []string{"2001:db8:1:2::9%a"}, "2001:db8:1:2::/64"},
		{"RL-075 another zone", "192.0.2.10:1", []string{"2001:db8:1:2::9%b"}, "2001:db8:1:2::/64"},
		{"RL-075 mapped, with a zone", "192.0.2.10:1", []string{"::ffff:198.51.100.7%z"}, "198.51.100.7"},
		{"RL-075 a zone of 4000 letters", "192.0.2.10:1", []string{"::1%" + strings.Repeat("A", 4000)}, "::/64"},
		{"several lines are one list", "192.0.2.10:1", []string{"203.0.113.1", "198.51.100.7, 192.0.2.30", "192.0.2.31"}, "198.51.100.7"},
		{"junk on the right ends the walk at the peer", "192.0.2.10:1", []string{"203.0.113.1, junk"}, "192.0.2.10"},
		{"junk beyond a trusted hop", "192.0.2.10:1", []string{"203.0.113.1, junk, 192.0.2.30"}, "192.0.2.30"},
		{"an empty element ends the walk", "192.0.2.10:1", []string{"203.0.113.1, , 192.0.2.30"}, "192.0.2.30"},
		{"an empty element at the start of a line ends the walk", "192.0.2.10:1", []string{"203.0.113.1", ",192.0.2.30"}, "192.0.2.30"},
		{"ports", "192.0.2.10:1", []string{"203.0.113.1:99, 192.0.2.30:5"}, "203.0.113.1"},
		{"IPv6 with a port", "192.0.2.10:1", []string{"[2001:db8:1:2::9]:99"}, "2001:db8:1:2::/64"},
		{"spaces and tabs", "192.0.2.10:1", []string{" \t203.0.113.1\t ,\t192.0.2.30 "}, "203.0.113.1"},
		{"a mapped proxy", "[::ffff:192.0.2.10]:1", []string{"203.0.113.1"}, "203.0.113.1"},
		{"a peer without an address", "@", []string{"203.0.113.1"}, noKey},
	} {
		wantKey(t, c.phrase, f, c.request("X-Forwarded-For"), c.want)
	}
}

func TestClientIPReadsALoneAddress(t *testing.T) {
	f := keyfuncs.ClientIP("X-Real-IP", keyfuncs.TrustedProxies("192.0.2.0/24"))
	for _, c := range []hop{
		{"RL-068 a forger who names a proxy", "203.0.113.9:1", []string{"192.0.2.5"}, "203.0.113.9"},
		{"RL-068 a proxy", "192.0.2.10:1", []string{"198.51.100.7"}, "198.51.100.7"},
		{"RL-068 nonsense", "192.0.2.10:1", []string{"nonsense"}, "192.0.2.10"},
		{"a list is no address", "192.0.2.10:1", []string{"198.51.100.7, 198.51.100.8"}, "192.0.2.10"},
		{"two lines are no address", "192.0.2.10:1", []string{"198.51.100.7", "198.51.100.7"}, "192.0.2.10"},
		{"no line", "192.0.2.10:1", nil, "192.0.2.10"},
		{"spaces around", "192.0.2.10:1", []string{" 198.51.100.7 "}, "198.51.100.7"},
		{"the proxy vouches for another proxy, and no further", "192.0.2.10:1", []string{"192.0.2.11"}, "192.0.2.11"},
	} {
		wantKey(t, c.phrase, f, c.request("X-Real-IP"), c.want)
	}
}

func TestClientIPReadsForwarded(t *testing.T) {
	f := keyfuncs.ClientIP("Forwarded", keyfuncs.TrustedProxies("192.0.2.0/24"))
	for _, c := range []struct{ phrase, line, want string }{
		{"an address", "for=203.0.113.1", "203.0.113.1"},
		{"other parameters", "proto=https;for=203.0.113.1;by=192.0.2.10", "203.0.113.1"},
		{"capital letters", "For=203.0.113.1;Proto=https", "203.0.113.1"},
		{"IPv6 with a port, quoted", `for="[2001:db8:1:2::9]:4711"`, "2001:db8:1:2::/64"},
		{"a port without quotes", "for=203.0.113.1:99", "203.0.113.1"},
		{"a list", "for=203.0.113.1, for=192.0.2.30", "203.0.113.1"},
		{"a comma in quotes", `for=203.0.113.1, for=192.0.2.30;host="a,for=198.51.100.1"`, "203.0.113.1"},
		{"an escaped quote", `for=203.0.113.1;host="a\",for=198.51.100.1"`, "203.0.113.1"},
		{"a comma before an escaped quote", `for=203.0.113.1;host="a,b\"c"`, "203.0.113.1"},
		{"spaces around a semicolon", "for=203.0.113.1 ; proto=http", "203.0.113.1"},
		{"an escape in an address", `for="203.0.113\.1"`, "203.0.113.1"},
		{"unknown", "for=203.0.113.1, for=unknown", "192.0.2.10"},
		{"a hidden name", "for=203.0.113.1, for=_hidden", "192.0.2.10"},
		{"no for", "for=203.0.113.1, proto=https", "192.0.2.10"},
		{"for twice", "for=203.0.113.1;for=203.0.113.2", "192.0.2.10"},
		{"text after a quoted address", `for="203.0.113.1"x`, "192.0.2.10"},
		{"a value with a space", "for=203.0.113.1;host=a b", "192.0.2.10"},
		{"a value with a quote", `for=203.0.113.1;host=a"b`, "192.0.2.10"},
		{"a name with a space", "for=203.0.113.1;a b=c", "192.0.2.10"},
		{"a name without a value", "for=203.0.113.1;secure", "192.0.2.10"},
		{"an open quote", `for="203.0.113.1`, "192.0.2.10"},
		{"no value", "for=", "192.0.2.10"},
		{"the bare address of another header", "203.0.113.1", "192.0.2.10"},
		{"nothing", "", "192.0.2.10"},
	} {
		wantKey(t, c.phrase, f, hop{peer: "192.0.2.10:1", lines: []string{c.line}}.request("Forwarded"), c.want)
	}
}

func TestClientIPReadsNoHeaderButItsOwn(t *testing.T) {
	f := keyfuncs.ClientIP("CF-Connecting-IP", keyfuncs.Loopback())
	r := with("X-Forwarded-For", "203.0.113.1")
	r.header["Forwarded"] = []string{"for=203.0.113.1"}
	r.peer = "127.0.0.1:1"
	wantKey(t, "others", f, r, "127.0.0.1")
	r.header["Cf-Connecting-Ip"] = []string{"198.51.100.7"}
	wantKey(t, "its own beside them", f, r, "198.51.100.7")
}

func TestTrustedHopsCountFromThePeer(t *testing.T) {
	lines := []string{"203.0.113.1, 203.0.113.2", "203.0.113.3"}
	for _, c := range []struct {
		phrase string
		hops   int
		lines  []string
		want   string
	}{
		{"the peer", 1, lines, "203.0.113.3"},
		{"the peer and the one before it", 2, lines, "203.0.113.2"},
		{"all", 3, lines, "203.0.113.1"},
		{"more than there are", 4, lines, "203.0.113.1"},
		{"no list", 2, nil, "198.51.100.9"},
	} {
		f := keyfuncs.ClientIP("X-Forwarded-For", keyfuncs.TrustedHops(c.hops))
		wantKey(t, c.phrase, f, hop{peer: "198.51.100.9:1", lines: c.lines}.request("X-Forwarded-For"), c.want)
	}
	f := keyfuncs.ClientIP("X-Forwarded-For", keyfuncs.TrustedHops(1))
	wantKey(t, "a Unix socket", f, hop{peer: "@", lines: lines}.request("X-Forwarded-For"), "203.0.113.3")
	wantKey(t, "a Unix socket and no list", f, hop{peer: "@"}.request("X-Forwarded-For"), noKey)
}

func TestReadyTrustsHoldTheirNetworks(t *testing.T) {
	local, private := keyfuncs.Loopback(), keyfuncs.PrivateNetworks()
	for _, c := range []struct {
		peer           string
		local, private bool
	}{
		{"127.0.0.1:1", true, true},
		{"127.255.0.1:1", true, true},
		{"[::1]:1", true, true},
		{"@", true, true},
		{"/run/proxy.sock", true, true},
		{"", true, true},
		{"10.1.2.3:1", false, true},
		{"172.16.0.1:1", false, true},
		{"172.31.255.1:1", false, true},
		{"192.168.1.1:1", false, true},
		{"169.254.1.1:1", false, true},
		{"[fd00::1]:1", false, true},
		{"[fe80::1%eth0]:1", false, true},
		{"172.32.0.1:1", false, false},
		{"192.169.0.1:1", false, false},
		{"198.51.100.1:1", false, false},
		{"[2001:db8::1]:1", false, false},
		{"client.example:1", false, false},
	} {
		for name, trusts := range map[*keyfuncs.Trust]bool{&local: c.local, &private: c.private} {
			got, _ := keyfuncs.ClientIP("X-Real-IP", *name)(hop{peer: c.peer, lines: []string{"203.0.113.1"}}.request("X-Real-IP"))
			if (got == "203.0.113.1") != trusts {
				t.Errorf("a peer at %q: the key is %q; want it trusted: %v", c.peer, got, trusts)
			}
		}
	}
}

func TestClientAddressAndPrefixes(t *testing.T) {
	r := hop{peer: "127.0.0.1:1", lines: []string{"2001:db8:1:2::9%z"}}.request("X-Real-IP")
	if got, err := keyfuncs.ClientAddress("X-Real-IP", keyfuncs.Loopback())(r); got.String() != "2001:db8:1:2::9" || err != nil {
		t.Errorf("the address is %v, %v", got, err)
	}
	wantKey(t, "by /48", keyfuncs.ClientIPPrefix(24, 48, "X-Real-IP", keyfuncs.Loopback()), r, "2001:db8:1::/48")
	if got, err := keyfuncs.ClientAddress("X-Real-IP", keyfuncs.Loopback())(peer("junk")); err == nil {
		t.Errorf("junk has the address %v", got)
	}
}

func TestClientIPRefusesWhatCannotWork(t *testing.T) {
	const header = "X-Forwarded-For"
	const whom = "ClientIP needs to know whom to trust: TrustedProxies, PrivateNetworks, Loopback or TrustedHops; without a proxy use IP"
	local := keyfuncs.Loopback()
	for _, c := range []struct {
		want string
		call func()
	}{
		{whom, func() { keyfuncs.ClientIP(header) }},
		{whom, func() { keyfuncs.ClientIP(header, keyfuncs.Trust{}) }},
		{"ClientIP needs the name of the header that the proxies write", func() { keyfuncs.ClientIP("", local) }},
		{"ClientIP needs the name of the header that the proxies write", func() { keyfuncs.ClientIP("X Y", local) }},
		{"ClientIP needs one number of hops", func() { keyfuncs.ClientIP(header, keyfuncs.TrustedHops(1), keyfuncs.TrustedHops(2)) }},
		{"ClientIP needs either proxies or a number of hops, not both", func() { keyfuncs.ClientIP(header, local, keyfuncs.TrustedHops(2)) }},
		{"ClientIP needs either proxies or a number of hops, not both", func() { keyfuncs.ClientIP(header, keyfuncs.TrustedHops(2), local) }},
		{"ClientIP needs TrustedHops(1) for a header with a lone address", func() { keyfuncs.ClientIP("X-Real-IP", keyfuncs.TrustedHops(2)) }},
		{"ClientIPPrefix needs an IPv6 prefix of 1 to 128 bits", func() { keyfuncs.ClientIPPrefix(32, 0, header, local) }},
		{"TrustedHops needs a number of at least 1", func() { keyfuncs.TrustedHops(0) }},
		{"TrustedProxies needs at least one prefix", func() { keyfuncs.TrustedProxies() }},
		{`TrustedProxies needs prefixes such as 192.0.2.0/24; "proxy.example" is none`, func() { keyfuncs.TrustedProxies("proxy.example") }},
		{
			`TrustedProxies needs prefixes such as 192.0.2.0/24; "192.0.2.1/24" has bits beyond its length; write 192.0.2.0/24 or a lone address`,
			func() { keyfuncs.TrustedProxies("192.0.2.1/24") },
		},
	} {
		wantPanic(t, "keyfuncs: "+c.want, c.call)
	}
}

func TestInPrefixesTakesPrefixesWithinOthers(t *testing.T) {
	in := keyfuncs.InPrefixes(keyfuncs.PeerAddress, "192.0.2.64/26", "192.0.2.0/24", "10.0.0.0/9", "10.0.0.0/8", "10.0.0.1")
	for addr, want := range map[string]bool{
		"192.0.2.200": true, "192.0.2.70": true, "192.0.2.3": true, "10.200.0.1": true, "10.0.0.1": true, "11.0.0.1": false,
	} {
		if got := in(peer(addr)); got != want {
			t.Errorf("%q: in a prefix: %v, want %v", addr, got, want)
		}
	}
}

func TestInPrefixesTakesAddressesAsOthersGiveThem(t *testing.T) {
	for text, want := range map[string]bool{"::ffff:192.0.2.1": true, "fe80::1%eth0": true, "fe80::2%eth0": false} {
		given := func(core.Request) (netip.Addr, error) { return netip.MustParseAddr(text), nil }
		if got := keyfuncs.InPrefixes(given, "192.0.2.0/24", "fe80::1")(fake{}); got != want {
			t.Errorf("%s: in a prefix: %v, want %v", text, got, want)
		}
	}
}

func TestInPrefixesSaysWhereARequestComesFrom(t *testing.T) {
	in := keyfuncs.InPrefixes(keyfuncs.PeerAddress, "192.0.2.0/24", "192.0.2.128/25", "2001:db8::/32", "203.0.113.7")
	for addr, want := range map[string]bool{
		"192.0.2.0:1": true, "192.0.2.255:1": true, "192.0.2.200": true, "192.0.3.0:1": false, "192.0.1.255:1": false,
		"203.0.113.7:1": true, "203.0.113.8:1": false, "203.0.113.6:1": false,
		"[2001:db8:ffff::1]:1": true, "[2001:db9::1]:1": false, "[::ffff:192.0.2.1]:1": true,
		"@": false, "": false,
	} {
		if got := in(peer(addr)); got != want {
			t.Errorf("%q: in a prefix: %v, want %v", addr, got, want)
		}
	}
	wantPanic(t, "keyfuncs: InPrefixes needs at least one prefix", func() { keyfuncs.InPrefixes(keyfuncs.PeerAddress) })
	wantPanic(t, "keyfuncs: InPrefixes needs a function that gives the address, such as keyfuncs.PeerAddress",
		func() { keyfuncs.InPrefixes(nil, "192.0.2.0/24") })
	wantPanic(t, `keyfuncs: InPrefixes needs prefixes such as 192.0.2.0/24; "::ffff:192.0.2.0/120" is IPv4 mapped into IPv6; write it as IPv4`,
		func() { keyfuncs.InPrefixes(keyfuncs.PeerAddress, "::ffff:192.0.2.0/120") })
	wantPanic(t, `keyfuncs: InPrefixes needs prefixes such as 192.0.2.0/24; "fe80::1%eth0" has a zone; leave it out`,
		func() { keyfuncs.InPrefixes(keyfuncs.PeerAddress, "fe80::1%eth0") })
}
