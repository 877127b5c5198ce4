package keyfuncs

import (
	"net/netip"
	"net/textproto"

	"github.com/slidegate/slidegate/core"
)

// ClientIP keys by the client's address behind proxies, as [IP] does by the
// peer's: one key for all spellings of an address and for an IPv6 /64. The
// header is the one that the proxies write, and only that is read:
//
//   - X-Forwarded-For, and names that end in Forwarded-For: a list.
//   - Forwarded: the list of RFC 7239, of which for= counts.
//   - any other, such as CF-Connecting-IP or X-Real-IP: a lone address.
//
// Trust is either proxies ([TrustedProxies], [Loopback], [PrivateNetworks],
// together if there are several) or a number of [TrustedHops].
//
//	keyfuncs.ClientIP("X-Forwarded-For", keyfuncs.PrivateNetworks())
//	keyfuncs.ClientIP("Forwarded", keyfuncs.TrustedProxies("192.0.2.0/24"))
//	keyfuncs.ClientIP("X-Real-IP", keyfuncs.Loopback())
//
// The walk begins at the peer. While the address in hand is trusted, the one that
// it vouches for is taken from the list: its last element, then the one
// before, over all lines of the header. The first address that is not trusted
// is the client's; whatever stands further left, the client may have made up. An
// element that is no address (unknown, a hidden name, junk, nothing) ends the
// walk with the last trusted address as the key, as does the list's end. An
// untrusted peer's header is never read.
//
// It panics without a header or trust, and on both ways of trust together.
func ClientIP(header string, trust ...Trust) core.KeyFunc {
	return newClient("ClientIP", header, trust).keyFunc(wholeIPv4, groupIPv6)
}

// ClientIPPrefix is [ClientIP] with other prefix lengths: 1 to 32 bits for IPv4,
// 1 to 128 for IPv6. It panics on others.
func ClientIPPrefix(v4, v6 int, header string, trust ...Trust) core.KeyFunc {
	requirePrefixes("ClientIPPrefix", v4, v6)
	return newClient("ClientIPPrefix", header, trust).keyFunc(v4, v6)
}

// ClientAddress gives the address that [ClientIP] keys by, not grouped.
func ClientAddress(header string, trust ...Trust) AddressFunc {
	c := newClient("ClientAddress", header, trust)
	return func(r core.Request) (netip.Addr, error) {
		a, err := c.address(r)
		return a.Addr, err
	}
}

// A client finds the client's address.
type client struct {
	header  string // as net/http spells it
	form    form
	proxies prefixSet
	sockets bool
	hops    int // in place of proxies if not 0
}

func newClient(function, header string, trust []Trust) *client {
	require(function, "the name of the header that the proxies write", isToken(header))
	c := &client{header: textproto.CanonicalMIMEHeaderKey(header), form: formOf(header)}
	var prefixes []netip.Prefix
	for _, t := range trust {
		require(function, "one number of hops", c.hops == 0 || t.hops == 0)
		c.hops = max(c.hops, t.hops)
		c.sockets = c.sockets || t.sockets
		prefixes = append(prefixes, t.prefixes...)
	}
	const whom = "to know whom to trust: TrustedProxies, PrivateNetworks, Loopback or TrustedHops; without a proxy use IP"
	require(function, whom, len(prefixes) > 0 || c.hops > 0)
	require(function, "either proxies or a number of hops, not both", len(prefixes) == 0 || c.hops == 0)
	require(function, "TrustedHops(1) for a header with a lone address", c.hops <= 1 || c.form != lone)
	c.proxies = newPrefixSet(prefixes)
	return c
}

func (c *client) keyFunc(v4, v6 int) core.KeyFunc {
	return func(r core.Request) (string, error) {
		a, err := c.address(r)
		if err != nil {
			return "", err
		}
		return a.key(v4, v6), nil
	}
}

// address walks from the peer to the client.
func (c *client) address(r core.Request) (address, error) {
	core.Advise(r, core.SG102, c.proxies.everything)
	peer := r.Peer()
	at, known := parseAddress(peer)
	trusted := c.trusts(at, 0)
	if !known {
		trusted = c.hops > 0 || c.sockets && isSocket(peer)
	}
	e := elements{form: c.form}
	if trusted {
		e.lines = r.HeaderValues(c.header)
	}
	for hop := 1; trusted; hop++ {
		next, ok := e.previous()
		if !ok {
			break
		}
		at, known = next, true
		trusted = c.form != lone && c.trusts(at, hop)
	}
	if !known {
		return address{}, core.ErrNoKey
	}
	return at, nil
}

// trusts reports whether an address so many hops away is a trusted proxy's.
func (c *client) trusts(a address, hop int) bool {
	if c.hops > 0 {
		return hop < c.hops
	}
	return c.proxies.contains(a.Addr)
}

// isSocket reports whether a peer is at a Unix socket: without a name, or with an
// abstract one, or with a path.
func isSocket(peer string) bool {
	return peer == "" || peer[0] == '@' || peer[0] == '/'
}
