package redisstore

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
)

func TestRecordKeys(t *testing.T) {
	for _, c := range []struct{ phrase, rule, key, want string }{
		{"an address", "rule-1", "192.0.2.1", "p:1:rule-1:{192.0.2.1}"},
		{"IPv6", "rule-1", "2001:db8::/64", "p:1:rule-1:{2001:db8::/64}"},
		{"no key", "r", "", "p:1:r:{-}"},
		{"the sign of no key", "r", "-", "p:1:r:{%2D}"},
		{"a key that begins with it", "r", "-a", "p:1:r:{%2Da}"},
		{"the sign of a hash", "r", "#a#", "p:1:r:{%23a#}"},
		{"braces", "r", "}{a}", "p:1:r:{%7D%7Ba%7D}"},
		{"a space, a zero byte, a percent sign", "r", "a \x00%", "p:1:r:{a%20%00%25}"},
		{"bytes that are no text", "r", "\xff\xfe", "p:1:r:{%FF%FE}"},
		{"a rule's name with braces", "{a} b", "k", "p:1:%7Ba%7D%20b:{k}"},
		{"64 bytes", "r", strings.Repeat("k", 64), "p:1:r:{" + strings.Repeat("k", 64) + "}"},
		{"65 bytes", "r", strings.Repeat("k", 65), "p:1:r:{#" + sha256Of(strings.Repeat("k", 65)) + "}"},
	} {
		if got := recordKey("p:", c.rule, c.key); got != c.want {
			t.Errorf("%s: %q, want %q", c.phrase, got, c.want)
		}
	}
}

func sha256Of(s string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(s))) }

func TestProbesShareTheSlotOfTheRecordAndNoRecord(t *testing.T) {
	for _, prefix := range []string{"slidegate:", "{all}:"} {
		record := recordKey(prefix, "%probe", "key")
		probe := probeKey(prefix, record)
		if probe == record || slotOf(probe) != slotOf(record) {
			t.Errorf("%q and %q: want another key of one slot", probe, record)
		}
	}
}

// FuzzRecordKeys holds that two subjects never share a record, and that all
// rules of one key share a slot.
func FuzzRecordKeys(f *testing.F) {
	long := strings.Repeat("k", 65)
	for _, s := range [][4]string{
		{"rule", "a", "rule", "b"}, {"a", ":b", "a:", "b"}, {"r", "", "r", "-"}, {"r", "#", "r", "%23"},
		{"r", "}", "r", "%7D"}, {"r:{x", "y}", "r", "x:{y"}, {"r", long, "r", long + "x"},
	} {
		f.Add(s[0], s[1], s[2], s[3])
	}
	f.Fuzz(func(t *testing.T, rule1, key1, rule2, key2 string) {
		a, b := recordKey("p:", rule1, key1), recordKey("p:", rule2, key2)
		if (a == b) != (rule1 == rule2 && key1 == key2) {
			t.Errorf("(%q, %q) and (%q, %q) are kept as %q and %q", rule1, key1, rule2, key2, a, b)
		}
		if other := recordKey("p:", rule2, key1); slotOf(a) != slotOf(other) {
			t.Errorf("%q and %q do not share a slot", a, other)
		}
		if strings.Count(a, "{") != 1 || strings.Count(a, "}") != 1 || !strings.HasSuffix(a, "}") {
			t.Errorf("%q: want one hash tag, at the end", a)
		}
	})
}
