package keyfuncs

import (
	"net/netip"
	"strings"

	"github.com/slidegate/slidegate/core"
)

// The prefixes that [IP] groups addresses by. Whoever has an IPv6 address has
// the whole /64 around it.
const (
	wholeIPv4 = 32
	groupIPv6 = 64
)

// IP keys by the address of the connection's other end, and by nothing that the
// client sends: 192.0.2.1, and for IPv6 the network 2001:db8:1:2::/64. Ports and
// zones are left out, and an IPv4 address that is mapped into IPv6 is that
// IPv4 address. A connection without an address, such as a Unix socket, has no
// key. Behind a proxy this is the proxy's address.
func IP(r core.Request) (string, error) {
	return addressKey(r.Peer(), wholeIPv4, groupIPv6)
}

// IPPrefix is [IP] with other prefix lengths: 1 to 32 bits for IPv4, 1 to 128
// for IPv6. It panics on others.
func IPPrefix(v4, v6 int) core.KeyFunc {
	require("IPPrefix", "an IPv4 prefix of 1 to 32 bits", 1 <= v4 && v4 <= 32)
	require("IPPrefix", "an IPv6 prefix of 1 to 128 bits", 1 <= v6 && v6 <= 128)
	return func(r core.Request) (string, error) {
		return addressKey(r.Peer(), v4, v6)
	}
}

func addressKey(peer string, v4, v6 int) (string, error) {
	host := hostOf(peer)
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return "", core.ErrNoKey
	}
	if addr.Is4() && v4 == wholeIPv4 {
		return host, nil // only the canonical text parses
	}
	addr = addr.WithZone("").Unmap()
	bits := v6
	if addr.Is4() {
		bits = v4
	}
	if bits == addr.BitLen() {
		return addr.String(), nil
	}
	prefix, err := addr.Prefix(bits)
	if err != nil {
		return "", err
	}
	return prefix.String(), nil
}

// hostOf takes the port and brackets off an address. Some servers and tests give
// an address without a port.
func hostOf(peer string) string {
	if strings.HasPrefix(peer, "[") {
		host, _, _ := strings.Cut(peer[1:], "]")
		return host
	}
	host, _, found := strings.Cut(peer, ":")
	if found && strings.IndexByte(peer[len(host)+1:], ':') >= 0 {
		return peer // an IPv6 address without brackets has no port
	}
	return host
}
