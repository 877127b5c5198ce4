package keyfuncs

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/slidegate/slidegate/core"
)

// InPrefixes reports whether the address that a request comes from lies in one of
// some prefixes, such as 192.0.2.0/24, 2001:db8::/32, or a lone address. It
// serves as [core.Config].Skip and as a rule's When; address is [PeerAddress]
// or [ClientAddress]. A request without an address lies in none. It panics on
// what is no prefix, on a prefix with bits beyond its length, and on none.
func InPrefixes(address AddressFunc, prefixes ...string) func(core.Request) bool {
	require("InPrefixes", "a function that gives the address, such as keyfuncs.PeerAddress", address != nil)
	require("InPrefixes", "at least one prefix", len(prefixes) > 0)
	set := newPrefixSet(parsePrefixes("InPrefixes", prefixes))
	return func(r core.Request) bool {
		addr, err := address(r)
		return err == nil && set.contains(addr.WithZone("").Unmap())
	}
}

// parsePrefixes panics on what is no prefix.
func parsePrefixes(function string, texts []string) []netip.Prefix {
	prefixes := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		prefix, problem := parsePrefix(text)
		require(function, fmt.Sprintf("prefixes such as 192.0.2.0/24; %q %s", text, problem), problem == "")
		prefixes[i] = prefix
	}
	return prefixes
}

func parsePrefix(text string) (p netip.Prefix, problem string) {
	p, err := netip.ParsePrefix(text)
	addr, notAddr := netip.ParseAddr(text)
	if notAddr == nil {
		p, err = netip.PrefixFrom(addr, addr.BitLen()), nil // which drops the zone
	}
	switch {
	case err != nil:
		return p, "is none"
	case addr.Zone() != "":
		return p, "has a zone; leave it out"
	case p.Addr().Is4In6():
		return p, "is IPv4 mapped into IPv6; write it as IPv4"
	case p != p.Masked():
		return p, fmt.Sprintf("has bits beyond its length; write %v or a lone address", p.Masked())
	}
	return p, ""
}

// A prefixSet holds prefixes, none of which lies in another, in ascending order.
type prefixSet []netip.Prefix

func newPrefixSet(prefixes []netip.Prefix) prefixSet {
	var set prefixSet
	for _, p := range slices.SortedFunc(slices.Values(prefixes), widestFirst) {
		if last := len(set) - 1; last < 0 || !set[last].Overlaps(p) {
			set = append(set, p)
		}
	}
	return set
}

// widestFirst orders by address, and a prefix before those that lie in it.
func widestFirst(a, b netip.Prefix) int {
	if order := a.Addr().Compare(b.Addr()); order != 0 {
		return order
	}
	return a.Bits() - b.Bits()
}

// contains looks at the only prefix that can hold the address: the last one that
// does not begin after it.
func (s prefixSet) contains(addr netip.Addr) bool {
	after, found := slices.BinarySearchFunc(s, addr, func(p netip.Prefix, a netip.Addr) int { return p.Addr().Compare(a) })
	if found {
		return true
	}
	return after > 0 && s[after-1].Contains(addr)
}

// widest are the prefix lengths from which on a set is taken to hold everything:
// half of all IPv4 addresses, and all of IPv6 that is given out (2000::/3).
const (
	widestIPv4 = 1
	widestIPv6 = 3
)

// everything reports whether the set holds so much that anybody's address may lie
// in it.
func (s prefixSet) everything() bool {
	return slices.ContainsFunc(s, func(p netip.Prefix) bool {
		if p.Addr().Is4() {
			return p.Bits() <= widestIPv4
		}
		return p.Bits() <= widestIPv6
	})
}
