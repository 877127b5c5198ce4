package keyfuncs

import (
	"net/netip"

	"github.com/slidegate/slidegate/core"
)

// IP keys by the address of the connection's other end, and by nothing that the
// client sends: 192.0.2.1, and for IPv6 the network 2001:db8:1:2::/64. Ports and
// zones are left out, and an IPv4 address that is mapped into IPv6 is that
// IPv4 address. A connection without an address, such as a Unix socket, has no
// key. Behind a proxy this is the proxy's address: use [ClientIP] there.
func IP(r core.Request) (string, error) { return AddressKey(r.Peer()) }

// IPPrefix is [IP] with other prefix lengths: 1 to 32 bits for IPv4, 1 to 128
// for IPv6. It panics on others.
func IPPrefix(v4, v6 int) core.KeyFunc {
	requirePrefixes("IPPrefix", v4, v6)
	return func(r core.Request) (string, error) {
		a, ok := parseAddress(r.Peer())
		if !ok {
			return "", core.ErrNoKey
		}
		return a.key(v4, v6), nil
	}
}

func requirePrefixes(function string, v4, v6 int) {
	require(function, "an IPv4 prefix of 1 to 32 bits", 1 <= v4 && v4 <= 32)
	require(function, "an IPv6 prefix of 1 to 128 bits", 1 <= v6 && v6 <= 128)
}

// An AddressFunc gives the whole address that a request comes from, for
// [InPrefixes]. It returns [core.ErrNoKey] where there is none.
type AddressFunc func(core.Request) (netip.Addr, error)

// PeerAddress gives the address that [IP] keys by, not grouped.
func PeerAddress(r core.Request) (netip.Addr, error) {
	a, ok := parseAddress(r.Peer())
	if !ok {
		return netip.Addr{}, core.ErrNoKey
	}
	return a.Addr, nil
}
