package keyfuncs_test

import (
	"strings"
	"testing"

	"github.com/slidegate/slidegate/keyfuncs"
)

func TestIPKeysByThePeer(t *testing.T) {
	for _, c := range []struct{ phrase, peer, want string }{
		{"RL-069 a port", "198.51.100.7:1001", "198.51.100.7"},
		{"RL-069 another port", "198.51.100.7:1002", "198.51.100.7"},
		{"RL-069 no port", "198.51.100.7", "198.51.100.7"},
		{"RL-069 IPv6 with a port", "[2001:db8::7]:1001", "2001:db8::/64"},
		{"RL-069 IPv6 without a port", "2001:db8::7", "2001:db8::/64"},
		{"IPv6 in brackets", "[2001:db8::7]", "2001:db8::/64"},

		{"RL-071 a host of a network", "2001:db8:1:2::1", "2001:db8:1:2::/64"},
		{"RL-071 another host of it", "[2001:db8:1:2:8000:0:0:4]:1", "2001:db8:1:2::/64"},
		{"RL-071 the network beside it", "2001:db8:1:3::1", "2001:db8:1:3::/64"},

		{"RL-073 mapped, with dots", "::ffff:192.0.2.1", "192.0.2.1"},
		{"RL-073 mapped, in hexadecimal", "::ffff:c000:201", "192.0.2.1"},
		{"RL-073 mapped, written out", "0:0:0:0:0:ffff:c000:0201", "192.0.2.1"},
		{"RL-073 mapped, with a port", "[::ffff:192.0.2.1]:80", "192.0.2.1"},
		{"RL-073 dots do not make it IPv4", "2001:db8:1:2::192.0.2.9", "2001:db8:1:2::/64"},
		{"RL-073 the same in hexadecimal", "2001:db8:1:2::c000:209", "2001:db8:1:2::/64"},
		{"RL-073 an address behind NAT64", "64:ff9b::192.0.2.9", "64:ff9b::/64"},

		{"RL-075 a zone", "[fe80::1%eth0]:1234", "fe80::/64"},
		{"RL-075 another zone", "[fe80::1%eth1]:1234", "fe80::/64"},
		{"RL-075 a zone of 4000 letters", "::1%" + strings.Repeat("A", 4000), "::/64"},
		{"RL-075 mapped, with a zone", "::ffff:198.51.100.7%z", "198.51.100.7"},

		{"the loopback", "127.0.0.1:5", "127.0.0.1"},
		{"the IPv6 loopback", "[::1]:5", "::/64"},
		{"capital letters", "2001:DB8:AB::7", "2001:db8:ab::/64"},

		{"the largest number of digits in a port", "198.51.100.7:65535", "198.51.100.7"},
		{"a hidden port of RFC 7239", "198.51.100.7:_ab-1.c", "198.51.100.7"},

		{"a port of six digits", "198.51.100.7:123456", noKey},
		{"an empty port", "198.51.100.7:", noKey},
		{"an empty port after brackets", "[2001:db8::7]:", noKey},
		{"a port of letters", "198.51.100.7:http", noKey},
		{"a hidden port without a name", "198.51.100.7:_", noKey},
		{"a hidden port with a space", "198.51.100.7:_a b", noKey},
		{"text after brackets", "[2001:db8::7]80", noKey},
		{"nothing", "", noKey},
		{"a Unix socket without a name", "@", noKey},
		{"a Unix socket", "/run/app.sock", noKey},
		{"a pipe", "pipe", noKey},
		{"a host name", "client.example:80", noKey},
		{"a port alone", ":80", noKey},
		{"an octet too large", "256.0.0.1:80", noKey},
		{"an octet with a leading zero", "198.051.100.7", noKey},
		{"three octets", "198.51.100", noKey},
		{"a colon too many", "198.51.100.7:1:2", noKey},
		{"IPv4 in brackets", "[198.51.100.7]:80", noKey},
		{"an open bracket", "[2001:db8::7", noKey},
		{"IPv4 with a zone", "198.51.100.7%eth0", noKey},
		{"an empty zone", "fe80::1%", noKey},
		{"a space", " 198.51.100.7", noKey},
		{"a list", "198.51.100.7, 198.51.100.8", noKey},
		{"a null byte", "198.51.100.7\x00", noKey},
	} {
		wantKey(t, c.phrase, keyfuncs.IP, peer(c.peer), c.want)
	}
}

func TestIPReadsNothingThatTheClientSends(t *testing.T) {
	r := with("X-Forwarded-For", "203.0.113.1")
	r.header["Forwarded"], r.header["X-Real-Ip"] = []string{"for=203.0.113.1"}, []string{"203.0.113.1"}
	wantKey(t, "no peer", keyfuncs.IP, r, noKey)
	r.peer = "198.51.100.9:40001"
	wantKey(t, "a peer", keyfuncs.IP, r, "198.51.100.9")
}

func TestIPPrefixGroups(t *testing.T) {
	for _, c := range []struct {
		phrase string
		v4, v6 int
		peer   string
		want   string
	}{
		{"IPv4 by /24", 24, 64, "198.51.100.7:1", "198.51.100.0/24"},
		{"the /24 beside it", 24, 64, "198.51.101.7:1", "198.51.101.0/24"},
		{"mapped IPv4 by /24", 24, 64, "::ffff:198.51.100.7", "198.51.100.0/24"},
		{"IPv4 by /1", 1, 64, "198.51.100.7", "128.0.0.0/1"},
		{"RL-071 IPv6 by /48", 32, 48, "2001:db8:1:2::1", "2001:db8:1::/48"},
		{"RL-071 IPv6 by /56", 32, 56, "2001:db8:1:2ff::1", "2001:db8:1:200::/56"},
		{"RL-071 whole IPv6 addresses", 32, 128, "[2001:db8:1:2::1]:5", "2001:db8:1:2::1"},
		{"RL-075 whole IPv6 addresses have no zone", 32, 128, "fe80::1%eth0", "fe80::1"},
		{"mapped IPv4 as a whole", 32, 128, "::ffff:198.51.100.7", "198.51.100.7"},
		{"IPv6 by /1", 32, 1, "2001:db8::1", "::/1"},
		{"no address", 24, 48, "@", noKey},
	} {
		wantKey(t, c.phrase, keyfuncs.IPPrefix(c.v4, c.v6), peer(c.peer), c.want)
	}
}

func TestIPPrefixRefusesLengthsThatAreNone(t *testing.T) {
	const four = "keyfuncs: IPPrefix needs an IPv4 prefix of 1 to 32 bits"
	const six = "keyfuncs: IPPrefix needs an IPv6 prefix of 1 to 128 bits"
	for _, c := range []struct {
		v4, v6 int
		want   string
	}{{0, 64, four}, {33, 64, four}, {-1, 64, four}, {32, 0, six}, {32, 129, six}, {32, -8, six}} {
		wantPanic(t, c.want, func() { keyfuncs.IPPrefix(c.v4, c.v6) })
	}
}

func TestAddressKeyIsWhatIPKeysBy(t *testing.T) {
	for text, want := range map[string]string{
		"[2001:db8::7]:1": "2001:db8::/64", "198.51.100.7": "198.51.100.7", "::ffff:198.51.100.7": "198.51.100.7",
	} {
		if got, err := keyfuncs.AddressKey(text); got != want || err != nil {
			t.Errorf("%s: the key is %q, %v; want %q", text, got, err, want)
		}
		wantKey(t, text, keyfuncs.IP, peer(text), want)
	}
	if got, err := keyfuncs.AddressKey("client.example"); err == nil {
		t.Errorf("a host name has the key %q", got)
	}
}

func TestPeerAddressIsTheWholeAddress(t *testing.T) {
	for text, want := range map[string]string{
		"[2001:db8::7]:1": "2001:db8::7", "[fe80::1%eth0]:1": "fe80::1", "::ffff:198.51.100.7": "198.51.100.7",
	} {
		if got, err := keyfuncs.PeerAddress(peer(text)); got.String() != want || err != nil {
			t.Errorf("%s: the address is %v, %v; want %s", text, got, err, want)
		}
	}
	if got, err := keyfuncs.PeerAddress(peer("@")); err == nil || got.IsValid() {
		t.Errorf("a Unix socket has the address %v", got)
	}
}
