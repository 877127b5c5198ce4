package keyfuncs

import "net/netip"

// A Trust says whose word about a client's address is taken, for [ClientIP].
// [TrustedProxies], [TrustedHops], [Loopback] and [PrivateNetworks] make it;
// the zero Trust trusts nobody.
type Trust struct {
	prefixes []netip.Prefix
	sockets  bool // peers without an address
	hops     int
}

// TrustedProxies trusts proxies by their addresses: prefixes such as
// 192.0.2.0/24 or 2001:db8::/32, or lone addresses. Name the proxies and not the
// networks that clients live in too: whoever has a trusted address can say
// that he is anybody. It panics on what is no prefix, on a prefix with bits
// beyond its length, and on none.
func TrustedProxies(prefixes ...string) Trust {
	require("TrustedProxies", "at least one prefix", len(prefixes) > 0)
	return Trust{prefixes: parsePrefixes("TrustedProxies", prefixes)}
}

// TrustedHops trusts the last n proxies on the way, wherever they are: the peer
// and the n − 1 before it. It is for proxies whose addresses change, and safe
// only where no request can come by a shorter way: one that does chooses its own
// key. It panics if n is below 1.
func TrustedHops(n int) Trust {
	require("TrustedHops", "a number of at least 1", n >= 1)
	return Trust{hops: n}
}

// Loopback trusts a proxy on the same machine: the addresses 127.0.0.0/8 and
// ::1, and Unix sockets.
func Loopback() Trust {
	return Trust{prefixes: parsePrefixes("Loopback", []string{"127.0.0.0/8", "::1"}), sockets: true}
}

// PrivateNetworks trusts a proxy on the same network: all that [Loopback] does,
// the private addresses 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16 (RFC 1918) and
// fc00::/7 (RFC 4193), and the link-local ones 169.254.0.0/16 and fe80::/10. It
// does not suit where clients have such addresses too; name the proxies there.
func PrivateNetworks() Trust {
	t := Loopback()
	t.prefixes = append(t.prefixes, parsePrefixes("PrivateNetworks", []string{
		"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7", "169.254.0.0/16", "fe80::/10",
	})...)
	return t
}
