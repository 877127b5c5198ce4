package keyfuncs

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// walk returns all that the lines of a header list, from the right, up to the
// first element that names no address.
func walk(f form, lines ...string) []netip.Addr {
	var all []netip.Addr
	e := elements{form: f, lines: lines}
	for {
		a, ok := e.previous()
		if !ok {
			return all
		}
		all = append(all, a.Addr)
	}
}

// spellings returns an address as headers may write it.
func spellings(addr netip.Addr, port uint16) []string {
	suffix := ":" + strconv.Itoa(int(port))
	if addr.Is4() {
		mapped := netip.AddrFrom16(addr.As16())
		return []string{addr.String(), addr.String() + suffix, addr.String() + ":_x", mapped.String(), "[" + mapped.StringExpanded() + "]" + suffix}
	}
	return []string{
		addr.String(), "[" + addr.String() + "]", "[" + addr.StringExpanded() + "]" + suffix,
		strings.ToUpper(addr.StringExpanded()), addr.String() + "%zone",
	}
}

// addrOf makes an address of any 17 bytes or fewer.
func addrOf(bytes []byte) netip.Addr {
	var sixteen [16]byte
	copy(sixteen[:], bytes)
	if len(bytes) <= 4 {
		return netip.AddrFrom4([4]byte(sixteen[:4]))
	}
	return netip.AddrFrom16(sixteen).Unmap()
}

// FuzzAddress: every spelling of an address is that address, and whatever else is
// read is an address without a zone, never mapped, that reads as itself.
func FuzzAddress(f *testing.F) {
	for _, text := range []string{
		"198.51.100.7", "198.51.100.7:80", "[2001:db8::1]:80", "2001:db8::1", "::ffff:1.2.3.4%z", "[::1", "[::]", "1.2.3.4:_x",
		"::1%", "1.2.3.4%z", "", ":", "[]", "1.2.3.4:123456", "[1.2.3.4]", "fe80::1%25eth0",
	} {
		f.Add(text, []byte{198, 51, 100, 7}, uint16(80))
		f.Add(text, []byte("\x20\x01\x0d\xb8 sixteen byte"), uint16(0))
	}
	f.Fuzz(func(t *testing.T, text string, bytes []byte, port uint16) {
		addr := addrOf(bytes)
		for _, spelling := range spellings(addr, port) {
			if a, ok := parseAddress(spelling); !ok || a.Addr != addr {
				t.Fatalf("%s reads as %v, %v; want %v", spelling, a.Addr, ok, addr)
			}
			quick(t, spelling)
		}
		quick(t, text)
		a, ok := parseAddress(text)
		if !ok {
			return
		}
		if !a.IsValid() || a.Zone() != "" || a.Is4In6() || a.text != "" && a.text != a.String() {
			t.Fatalf("%q reads as %v with the text %q", text, a.Addr, a.text)
		}
		if again, ok := parseAddress(a.String()); !ok || again.Addr != a.Addr {
			t.Fatalf("%q reads as %v, which reads as %v", text, a.Addr, again.Addr)
		}
	})
}

// quick checks the quick way of reading an address against the thorough one: what
// it reads is the same key, and it reads every IPv4 address that is written the
// usual way.
func quick(t *testing.T, text string) {
	t.Helper()
	host, took := dottedQuad(text)
	a, ok := parseAddress(text)
	if took && (!ok || a.key(wholeIPv4, groupIPv6) != host) {
		t.Fatalf("%q has the key %q at once, and %v, %v at length", text, host, a, ok)
	}
	port := strings.TrimPrefix(text, a.text)
	if usual := ok && a.text != "" && strings.HasPrefix(text, a.text) && !strings.Contains(port, "_") && !strings.Contains(port, "%"); usual != took {
		t.Fatalf("%q is taken at once: %t, want %t", text, took, usual)
	}
}

// FuzzForwardedFor: a list is read as if it were split at its commas, the last
// line and element first.
func FuzzForwardedFor(f *testing.F) {
	for _, line := range []string{"203.0.113.1, 198.51.100.7", "", ",", "junk, 1.2.3.4:80 ,\t[::1]", `"1.2.3.4"`, "::1%a,b"} {
		f.Add(line, "192.0.2.1")
	}
	f.Fuzz(func(t *testing.T, first, second string) {
		var want []netip.Addr
		for _, element := range slices.Backward(strings.Split(first+","+second, ",")) {
			a, ok := parseAddress(strings.Trim(element, " \t"))
			if !ok {
				break
			}
			want = append(want, a.Addr)
		}
		for _, lines := range [][]string{{first, second}, {first + "," + second}} {
			if got := walk(list, lines...); !slices.Equal(got, want) {
				t.Fatalf("%q reads as %v, want %v", lines, got, want)
			}
		}
	})
}

// FuzzForwarded: what proxies add is read as they meant it, whatever a client wrote
// in front of it, and whatever else the proxies quote in it.
func FuzzForwarded(f *testing.F) {
	for _, front := range []string{
		"", "for=192.0.2.66", `for="`, `for="a\`, `x="`, `",`, `for="[::1]:80";by="x"`, "for=;;,=", `";for=1.2.3.4;a="`, `\"`,
	} {
		f.Add(front, "value", []byte{198, 51, 100, 7}, []byte("\x20\x01\x0d\xb8 sixteen byte"), uint16(4711))
		f.Add(front, `", for=192.0.2.66;x="`, []byte{10, 0, 0, 1}, []byte{}, uint16(0))
	}
	f.Fuzz(func(t *testing.T, front, value string, one, other []byte, port uint16) {
		want := []netip.Addr{addrOf(other), addrOf(one)}
		for i, text := range spellings(want[1], port) {
			first := forwardedElement(text, value, i)
			second := forwardedElement(spellings(want[0], port)[i], value, i+1)
			for _, lines := range [][]string{{front + ", " + first + ", " + second}, {front, first, second}, {front + "," + first, second}} {
				if got := walk(forwarded, lines...); len(got) < 2 || !slices.Equal(got[:2], want) {
					t.Fatalf("%q reads as %v, want %v first", lines, got, want)
				}
			}
		}
		walk(forwarded, front, value) // must end, and not panic
	})
}

// forwardedElement writes an element in one of several ways that RFC 7239 allows.
func forwardedElement(node, value string, way int) string {
	quote := func(text string) string {
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
	}
	switch way % 4 {
	case 0:
		return "for=" + quote(node)
	case 1:
		return "proto=https;FOR=" + quote(node) + ";host=" + quote(value)
	case 2:
		return "ext=" + quote(value) + "; For=" + quote(node)
	}
	return ";for=" + quote(node) + " ;by=_hidden;"
}
