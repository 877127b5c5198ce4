package redisstore

import (
	"fmt"
	"testing"
)

func TestCRC16(t *testing.T) {
	if got := crc16("123456789"); got != 0x31C3 {
		t.Errorf("crc16 of the check string is %#x, want 0x31C3", got)
	}
}

func TestSlotsAreThoseOfTheServer(t *testing.T) {
	for _, c := range []struct {
		phrase, key string
		want        int
	}{
		{"a plain key", "foo", 12182},
		{"another", "bar", 5061},
		{"a tag", "a{bar}b", 5061},
		{"the first of two tags", "foo{bar}{zap}", 5061},
		{"an empty tag is none", "foo{}{bar}", int(crc16("foo{}{bar}")) % hashSlots},
		{"a brace in the tag", "foo{{bar}}zap", int(crc16("{bar")) % hashSlots},
		{"a brace that is never closed", "foo{bar", int(crc16("foo{bar")) % hashSlots},
	} {
		if got := slotOf(c.key); got != c.want {
			t.Errorf("%s: %q is in slot %d, want %d", c.phrase, c.key, got, c.want)
		}
	}
}

// RL-106: the records of one client share a slot, and those of many clients
// spread.
func TestClientsSpreadOverSlots(t *testing.T) {
	slots := map[int]bool{}
	for i := range 1000 {
		key := fmt.Sprintf("192.0.2.%d", i)
		slot := slotOf(recordKey("slidegate:", "second", key))
		if other := slotOf(recordKey("slidegate:", "minute", key)); other != slot {
			t.Fatalf("RL-106: two rules of %s are in slots %d and %d", key, slot, other)
		}
		slots[slot] = true
	}
	if len(slots) < 900 {
		t.Errorf("RL-106: 1000 clients use %d slots, want them spread", len(slots))
	}
}
