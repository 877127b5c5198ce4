package verify_test

import (
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/realclientip/realclientip-go"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/keyfuncs"
)

// An arrival is a request as a key function sees it: from a trusted peer, with
// lines of one header.
type arrival struct {
	core.Request
	lines []string
}

const trustedPeer = "192.0.2.10"

func (arrival) Peer() string                   { return trustedPeer + ":4711" }
func (a arrival) HeaderValues(string) []string { return a.lines }

// ours returns the client's address as keyfuncs finds it.
func ours(t *testing.T, header string, trust keyfuncs.Trust, lines ...string) netip.Addr {
	t.Helper()
	addr, err := keyfuncs.ClientAddress(header, trust)(arrival{lines: lines})
	if err != nil {
		t.Fatalf("%s %q: %v; there is always the peer", header, lines, err)
	}
	return addr
}

// theirs returns the client's address as a strategy of realclientip-go finds it,
// without what keyfuncs leaves out on purpose: the zone, and that it was mapped
// into IPv6. The zero Addr stands for none.
func theirs(t *testing.T, strategy realclientip.Strategy, header string, lines ...string) netip.Addr {
	t.Helper()
	text := strategy.ClientIP(http.Header{header: lines}, trustedPeer+":4711")
	if text == "" {
		return netip.Addr{}
	}
	host, _, _ := strings.Cut(text, "%")
	addr, err := netip.ParseAddr(host)
	if err != nil {
		t.Fatalf("%s %q: realclientip-go gives %q", header, lines, text)
	}
	return addr.Unmap()
}

// A difference is one in how a single address is read, with whether it applies to a
// text in which we found an address, or only the peer's.
type difference struct {
	why     string
	sample  string // of such a text
	applies func(text string, our netip.Addr) bool
}

func where(pattern string) func(string, netip.Addr) bool {
	matches := matches(pattern)
	return func(text string, _ netip.Addr) bool { return matches(text) }
}

func matches(pattern string) func(string) bool {
	return regexp.MustCompile(`(?s)` + pattern).MatchString
}

// addressDifferences are all there are. Where they read more, an address that
// no proxy writes would be a client's; where we do, an address is rightly found.
var addressDifferences = []difference{
	{"they take any text for a port, and none", "198.51.100.7:http", func(text string, _ netip.Addr) bool {
		_, port, found := strings.Cut(text[strings.LastIndexByte(text, ']')+1:], ":")
		return found && !matches(`^([0-9]{1,5}|_[0-9A-Za-z._-]+)$`)(port)
	}},
	{"they take brackets around IPv4", "[198.51.100.7]", where(`^\[[^:]*\]`)},
	{"they take a zone on IPv4, which has none", "198.51.100.7%a", where(`^\[?[0-9.]+%`)},
	{"they take an empty zone", "fe80::1%", where(`%($|\])`)},
	{"they take brackets in a zone", "[fe80::1%]80]", where(`%.*[\[\]].*\]`)},
	{"they do not take an address with two percent signs, whose zone we leave out unread", "fe80::1%a%b", where(`%.*%`)},
	{"they do not take the unspecified addresses; no proxy writes them, and if one did they would be the client that it saw", "0.0.0.0",
		func(_ string, our netip.Addr) bool { return our.IsUnspecified() }},
	{"they do not take spaces around a lone address, which are no part of a field's value (RFC 9110, section 5.5)", " 198.51.100.7",
		where(`^[ \t]|[ \t]$`)},
}

// FuzzAddressesAgree: a lone address is read alike, but for the differences above.
func FuzzAddressesAgree(f *testing.F) {
	for _, text := range addressTexts {
		f.Add(text)
	}
	strategy := realclientip.Must(realclientip.NewSingleIPHeaderStrategy("X-Real-IP"))
	f.Fuzz(func(t *testing.T, text string) {
		our, their := ours(t, "X-Real-IP", keyfuncs.TrustedProxies(trustedPeer), text), theirs(t, strategy, "X-Real-Ip", text)
		if !alike(our, their) && !slices.ContainsFunc(addressDifferences, func(d difference) bool { return d.applies(text, our) }) {
			t.Fatalf("%q is %v to us and %v to them", text, our, their)
		}
	})
}

func TestAddressesAreReadDifferentlyWhereItIsSaid(t *testing.T) {
	strategy := realclientip.Must(realclientip.NewSingleIPHeaderStrategy("X-Real-IP"))
	for _, d := range addressDifferences {
		our, their := ours(t, "X-Real-IP", keyfuncs.TrustedProxies(trustedPeer), d.sample), theirs(t, strategy, "X-Real-Ip", d.sample)
		if alike(our, their) || !d.applies(d.sample, our) {
			t.Errorf("%s: %q is %v to us and %v to them", d.why, d.sample, our, their)
		}
	}
	// Of several lines they take the last; we take none, since only one can be the proxy's.
	lines := []string{"198.51.100.7", "198.51.100.8"}
	our, their := ours(t, "X-Real-IP", keyfuncs.TrustedProxies(trustedPeer), lines...), theirs(t, strategy, "X-Real-Ip", lines...)
	if our.String() != trustedPeer || their.String() != "198.51.100.8" {
		t.Errorf("of two lines we take %v and they %v", our, their)
	}
}

// alike reports whether both found the same, or they nothing and we only the peer.
func alike(our, their netip.Addr) bool {
	return our == their || !their.IsValid() && our.String() == trustedPeer
}

var addressTexts = []string{
	"198.51.100.7", "198.51.100.7:4711", "2001:db8::7", "[2001:db8::7]", "[2001:db8::7]:4711", "::ffff:198.51.100.7",
	"fe80::1%eth0", "[fe80::1%eth0]:80", "::1%" + strings.Repeat("A", 4000), "2001:db8:1:2::192.0.2.9", "64:ff9b::192.0.2.9",
	"198.051.100.007", "unknown", "_hidden", "", ":", "[]", "[", "junk.example", "1.2.3.4:80:90", "::1:80", "0x7f.1", "127.1",
	// what is read differently
	"198.51.100.7:http", "198.51.100.7:", "198.51.100.7:_obfuscated", "[198.51.100.7]", "[198.51.100.7]:80", "198.51.100.7%a",
	"fe80::1%", "[fe80::1%]:80", "[fe80::1%]80]", "fe80::1%a%b", "0.0.0.0", "::", "[::]:80", "::ffff:0.0.0.0", " 198.51.100.7", "198.51.100.7\t",
}

// FuzzListsAgree: a list of elements that are read alike gives the same client, by
// trusted ranges and by a number of hops. Three things are meant differently:
//
//   - Where they find nobody, we keep the last address that a trusted hop vouched
//     for: the peer's, or that of the last element before the walk ended. Nobody
//     is no key, and would be one bucket for all or a bypass.
//   - Where hops are counted, they look at one place of the list. We walk there,
//     and end where a hop on the way has no address: what it wrote in place of one
//     is no more to be relied on than what stands further left.
//   - Their list begins with the first element, ours with the peer. So their count
//     of trusted proxies is our number of hops.
func FuzzListsAgree(f *testing.F) {
	for _, line := range []string{
		"203.0.113.5, 2001:db8:ffff::10, 192.0.2.30", "junk.example, 203.0.113.50, 192.0.2.30", "198.51.100.1, 203.0.113.50", "",
		"192.0.2.40, 192.0.2.30", "192.0.2.40,,192.0.2.30", "203.0.113.5:80 ,\t[2001:db8:ffff::10]:80", "198.51.100.7, 0.0.0.0",
		"for=203.0.113.5;proto=https, For=\"[2001:db8:ffff::10]:4711\"", "for=unknown, for=_hidden", "for=192.0.2.40;for=1.2.3.4",
		`for="192.0.2.40", by=192.0.2.30;for=192.0.2.30`, `for=198.51.100.7, for="a,b"`, `for="x`, `proto="a;b";for=192.0.2.40`,
	} {
		f.Add(line, "192.0.2.30", uint8(2))
		f.Add(line, `for="192.0.2.30"`, uint8(3))
		f.Add("203.0.113.1, 192.0.2.7", line, uint8(1))
	}
	ranges := []string{"192.0.2.0/24", "2001:db8:ffff::/48"}
	nets, err := realclientip.AddressesAndRangesToIPNets(ranges...)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, first, second string, hops uint8) {
		count := 1 + int(hops%8)
		lines := []string{first, second}
		for _, header := range []string{"X-Forwarded-For", "Forwarded"} {
			elements, comparable := elementsReadAlike(t, header, lines)
			if !comparable {
				continue
			}
			byRange := realclientip.Must(realclientip.NewRightmostTrustedRangeStrategy(header, nets))
			byCount := realclientip.Must(realclientip.NewRightmostTrustedCountStrategy(header, count))
			walks := func(our, their netip.Addr, hops int) {
				want := their
				missing := func(a netip.Addr) bool { return !a.IsValid() }
				onTheWay := elements[max(0, len(elements)-hops):]
				if !their.IsValid() || slices.ContainsFunc(onTheWay, missing) {
					want = lastVouchedFor(elements, ranges, hops)
				}
				if our != want {
					t.Fatalf("%s %q, %d hops: %v to us, %v to them; want %v", header, lines, hops, our, their, want)
				}
			}
			walks(ours(t, header, keyfuncs.TrustedProxies(ranges...), lines...), theirs(t, byRange, header, lines...), 0)
			walks(ours(t, header, keyfuncs.TrustedHops(count), lines...), theirs(t, byCount, header, lines...), count)
		}
	})
}

// elementsReadAlike returns the addresses of all elements, zero where there is none,
// and whether both libraries read them alike, each by itself. They do not where:
//
//   - an element has one of the differences of addresses;
//   - a line of Forwarded has a quoted string with a comma, a semicolon, an equals
//     sign or a backslash in it: they split at these, in quotes or not;
//   - an element of Forwarded is not what RFC 7239 allows, such as one with for
//     twice or a parameter without a value: they look for the first for=, we end
//     the walk, since no proxy that is trusted writes such a thing.
func elementsReadAlike(t *testing.T, header string, lines []string) (elements []netip.Addr, comparable bool) {
	t.Helper()
	strategy := realclientip.Must(realclientip.NewRightmostTrustedCountStrategy(header, 1))
	for _, line := range lines {
		if header == "Forwarded" && quotesSeparators(line) {
			return nil, false
		}
		for _, element := range strings.Split(line, ",") {
			// A space of another kind than those of HTTP is theirs to take off.
			if strings.TrimSpace(element) != strings.Trim(element, " \t") {
				return nil, false
			}
			our, their := ours(t, header, keyfuncs.TrustedHops(1), element), theirs(t, strategy, header, element)
			if !alike(our, their) {
				explain(t, header, element, our, their)
				return nil, false
			}
			elements = append(elements, their)
		}
	}
	return elements, true
}

var quotesSeparators = matches(`"[^"]*[,;=\\][^"]*`)

// explain fails the test if an element is read differently for no reason that is
// known.
func explain(t *testing.T, header, element string, our, their netip.Addr) {
	t.Helper()
	text := strings.Trim(element, " \t")
	if header == "Forwarded" {
		if !wellFormed(text) {
			return
		}
		_, text, _ = cutFor(text)
	}
	if !slices.ContainsFunc(addressDifferences, func(d difference) bool { return d.applies(text, our) }) {
		t.Fatalf("%s: %q is %v to us and %v to them", header, element, our, their)
	}
}

// wellFormed reports whether an element is pairs of a token and a token or quoted
// string, with for once. Where they are lenient so are we: about spaces around
// semicolons, and about values that should be in quotes.
func wellFormed(element string) bool {
	pair := regexp.MustCompile(`^[!#$%&'*+.^_` + "`" + `|~0-9A-Za-z-]+=("[^"]*"|[^" \t]+)$`)
	fors := 0
	for _, text := range strings.Split(element, ";") {
		text = strings.Trim(text, " \t")
		if text != "" && !pair.MatchString(text) {
			return false
		}
		if strings.HasPrefix(strings.ToLower(text), "for=") {
			fors++
		}
	}
	return fors <= 1
}

// cutFor returns the value of for in a well-formed element.
func cutFor(element string) (name, value string, found bool) {
	for _, text := range strings.Split(element, ";") {
		name, value, _ := strings.Cut(strings.Trim(text, " \t"), "=")
		if strings.EqualFold(name, "for") {
			return name, strings.Trim(value, `"`), true
		}
	}
	return "", "", false
}

// lastVouchedFor walks the elements by definition: hops of them from the peer on, or
// as long as they are in the ranges if hops is 0.
func lastVouchedFor(elements []netip.Addr, ranges []string, hops int) netip.Addr {
	at := netip.MustParseAddr(trustedPeer)
	for i, element := range slices.Backward(elements) {
		trusted := len(elements)-1-i < hops
		if hops == 0 {
			trusted = slices.ContainsFunc(ranges, func(r string) bool { return netip.MustParsePrefix(r).Contains(at) })
		}
		if !trusted || !element.IsValid() {
			break
		}
		at = element
	}
	return at
}
