package keyfuncs

import (
	"net/netip"
	"strings"

	"github.com/slidegate/slidegate/core"
)

// The prefixes that addresses are grouped by unless something else is said.
// Whoever has an IPv6 address has the whole /64 around it.
const (
	wholeIPv4 = 32
	groupIPv6 = 64
)

// An address is an address as requests are counted by it: without a port or a
// zone, and never IPv4 mapped into IPv6.
type address struct {
	netip.Addr
	text string // of IPv4, which has no second spelling; else empty
}

// parseAddress reads an address, with a port or without; IPv6 with a port stands
// in brackets. A zone is left out: it means nothing on another machine, and a
// client can make it up.
func parseAddress(text string) (address, bool) {
	host, ok := cutPort(text)
	if !ok {
		return address{}, false
	}
	host, zone, zoned := strings.Cut(host, "%")
	addr, err := netip.ParseAddr(host)
	switch {
	case err != nil, zoned && (zone == "" || addr.Is4()):
		return address{}, false
	case addr.Is4():
		return address{addr, host}, true
	}
	return address{Addr: addr.Unmap()}, true
}

// cutPort takes a port and brackets off an address.
func cutPort(text string) (host string, ok bool) {
	if inside, bracketed := strings.CutPrefix(text, "["); bracketed {
		host, port, closed := strings.Cut(inside, "]")
		six := strings.IndexByte(host, ':') >= 0
		return host, closed && six && (port == "" || port[0] == ':' && isPort(port[1:]))
	}
	host, port, found := strings.Cut(text, ":")
	if !found || strings.IndexByte(port, ':') >= 0 {
		return text, true // an IPv6 address without brackets has no port
	}
	return host, isPort(port)
}

// isPort accepts what RFC 7239 (section 6) has as a node's port: up to five
// digits, or a word that begins with an underscore.
func isPort(text string) bool {
	if word, hidden := strings.CutPrefix(text, "_"); hidden {
		return isWord(word)
	}
	return isNumber(text)
}

func isNumber(text string) bool {
	if len(text) < 1 || len(text) > 5 {
		return false
	}
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return true
}

func isWord(text string) bool {
	for i := range len(text) {
		c := text[i] | 0x20
		letter, digit := 'a' <= c && c <= 'z', '0' <= text[i] && text[i] <= '9'
		if !letter && !digit && strings.IndexByte("._-", text[i]) < 0 {
			return false
		}
	}
	return text != ""
}

// key returns the address's prefix of a length for its family: as an address
// where that is the whole of it.
func (a address) key(v4, v6 int) string {
	bits := v6
	if a.Is4() {
		bits = v4
	}
	switch {
	case bits < a.BitLen():
		var space [len("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128")]byte
		prefix, _ := a.Prefix(bits) // fails only for lengths that requirePrefixes refuses
		return string(prefix.AppendTo(space[:0]))
	case a.text != "":
		return a.text
	}
	return a.String()
}

// AddressKey gives the key that [IP] would for the text of an address, with a
// port or without: one key for all spellings of an address, and for all
// addresses of an IPv6 /64. A text that is no address is [core.ErrNoKey]. It is
// for key functions that have an address from elsewhere, such as a framework.
func AddressKey(text string) (string, error) {
	if host, ok := dottedQuad(text); ok {
		return host, nil // as net/http hands out most addresses
	}
	a, ok := parseAddress(text)
	if !ok {
		return "", core.ErrNoKey
	}
	return a.key(wholeIPv4, groupIPv6), nil
}

// dottedQuad cuts the port off the usual text of an IPv4 address: four numbers
// of up to 255 without leading zeros, with a port of up to five digits or
// without. Of any other text it says nothing; parseAddress does.
func dottedQuad(text string) (host string, ok bool) {
	start, number, dots := 0, 0, 0 // of the number that is being read
	for i := range len(text) {
		if digit := text[i] - '0'; digit <= 9 {
			number = number*10 + int(digit)
			continue
		}
		if !octet(text[start:i], number) {
			return "", false
		}
		if text[i] != '.' {
			return text[:i], dots == 3 && text[i] == ':' && isNumber(text[i+1:])
		}
		start, number, dots = i+1, 0, dots+1
	}
	return text, dots == 3 && octet(text[start:], number)
}

// octet reports whether digits, which mean a number, are a part of a dotted quad.
func octet(digits string, number int) bool {
	return len(digits) == 1 || len(digits) > 1 && len(digits) <= 3 && digits[0] != '0' && number <= 255
}
