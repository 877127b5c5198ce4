package keyfuncs_test

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/keyfuncs"
)

// FuzzJoin cuts two texts into parts and joins these: two lists have one key if
// and only if they are the same.
func FuzzJoin(f *testing.F) {
	for _, seed := range [][2]string{
		{"aa,b", "a,ab"},
		{"aab", "aab,x"},
		{"2001:db8::1,80", "2001:db8::,1:80"},
		{"a:b,c", "a,b:c"},
		{"a|b,c", "a,b|c"},
		{"a\x00b,c", "a,b\x00c"},
		{"1:a1:b", "a,b"},
		{"10:aaaaaaaaaa", "aaaaaaaaaa"},
		{"x,1:", "x1,:"},
		{"same,parts", "same,parts"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, one, other string) {
		ones, others := cut(one), cut(other)
		if len(ones) == 0 || len(others) == 0 {
			return
		}
		key, otherKey := join(t, ones), join(t, others)
		if (key == otherKey) != slices.Equal(ones, others) {
			t.Errorf("%q has the key %q and %q the key %q", ones, key, others, otherKey)
		}
	})
}

// cut returns the parts between commas that are not empty.
func cut(text string) []string {
	return slices.DeleteFunc(strings.Split(text, ","), func(part string) bool { return part == "" })
}

var addressSeeds = []string{
	"198.51.100.7:1001", "198.51.100.7", "[2001:db8::7]:1001", "2001:db8::7", "::ffff:192.0.2.1", "[fe80::1%eth0]:1",
	"@", "", "[", "[]", "[]:80", "::", "[::]:0", "1.2.3.4:", "1.2.3.4%z", "::%", "%", ":", "::ffff:1.2.3.4%z", "[::1]x", "[::1]:", "a.b:1",
}

// FuzzIP gives peers of any text a short key or none, the same for all addresses
// of a network, and the key of a key is that key.
func FuzzIP(f *testing.F) {
	for _, seed := range addressSeeds {
		f.Add(seed, uint64(0x0123456789abcdef))
	}
	f.Fuzz(func(t *testing.T, text string, host uint64) {
		key, err := keyfuncs.IP(peer(text))
		if err != nil {
			if key != "" || !errors.Is(err, core.ErrNoKey) {
				t.Fatalf("%q gives %q, %v; want a missing key", text, key, err)
			}
			return
		}
		if key == "" || len(key) > len("1111:2222:3333:4444::/64") {
			t.Fatalf("%q has the key %q", text, key)
		}
		if strings.Contains(key, "/") {
			sameNetwork(t, key, host)
			return
		}
		if again, err := keyfuncs.IP(peer(key)); again != key || err != nil {
			t.Fatalf("%q has the key %q, whose key is %q, %v", text, key, again, err)
		}
	})
}

// sameNetwork checks that a key is a /64, and that every host of it has the key.
func sameNetwork(t *testing.T, key string, host uint64) {
	t.Helper()
	network, err := netip.ParsePrefix(key)
	if err != nil || network.Bits() != 64 || network != network.Masked() || network.Addr().Is4In6() {
		t.Fatalf("the key %q is no network of 64 bits: %v", key, err)
	}
	bytes := network.Addr().As16()
	for i := range 8 {
		bytes[8+i] = byte(host >> (8 * i))
	}
	addr := netip.AddrFrom16(bytes)
	if addr.Is4In6() {
		return // which is another address
	}
	for _, text := range []string{addr.String(), addr.WithZone("eth0").String(), netip.AddrPortFrom(addr, uint16(host)).String()} {
		if again, err := keyfuncs.IP(peer(text)); again != key || err != nil {
			t.Fatalf("%s of the network %s has the key %q, %v", text, key, again, err)
		}
	}
}

// FuzzClientIP gives any header behind any peer the key of a whole address, and
// an untrusted peer its own, whatever it sends.
func FuzzClientIP(f *testing.F) {
	for _, seed := range []string{
		"203.0.113.1, 192.0.2.30", "for=203.0.113.1", `for="[2001:db8::1]:4711";proto=https, for=_x`, `for="a\",b`, ", ,", "for=;;=", "%",
	} {
		for _, addr := range addressSeeds[:8] {
			f.Add(addr, seed, "203.0.113.9")
		}
	}
	trust := keyfuncs.TrustedProxies("192.0.2.0/24", "198.51.100.0/24", "2001:db8::/32")
	trusted := keyfuncs.InPrefixes(keyfuncs.PeerAddress, "192.0.2.0/24", "198.51.100.0/24", "2001:db8::/32")
	f.Fuzz(func(t *testing.T, addr, first, second string) {
		for _, header := range []string{"X-Forwarded-For", "Forwarded", "X-Real-IP"} {
			r := with(header, first, second)
			r.peer = addr
			key, err := keyfuncs.ClientIP(header, trust)(r)
			own, ownErr := keyfuncs.IP(peer(addr))
			switch {
			case (err == nil) != (ownErr == nil):
				t.Fatalf("%s: the key is %q, %v where the peer's is %q, %v", header, key, err, own, ownErr)
			case err == nil && !trusted(r) && key != own:
				t.Fatalf("%s: the untrusted peer %q has the key %q, want %q", header, addr, key, own)
			case err == nil && !isKeyOfAddress(key):
				t.Fatalf("%s: %q is not the key of an address", header, key)
			}
		}
	})
}

func isKeyOfAddress(key string) bool {
	text, _, _ := strings.Cut(key, "/")
	again, err := keyfuncs.AddressKey(text)
	return err == nil && again == key
}
