package core

import (
	"context"
	"strconv"
	"testing"
	"time"
)

// TestWhatIsInheritedIsShed: an entry that began with units from the sketches is
// like any other once they count no more.
func TestWhatIsInheritedIsShed(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	for _, limit := range []Limit{PerMinute(5), PerMinute(5).Strict(60), PerMinute(5).Exact(), PerMinute(5).Bucket(5)} {
		memory := &Memory{MaxKeys: 1}
		l := MustNew(Config{
			Store: memory, Now: func() time.Time { return now },
			Rules: []Rule{{Name: "r", Key: func(Request) (string, error) { return "", ErrNoKey }, Limits: []Limit{limit}}},
		})
		take := func(key string) *entry {
			if d, err := l.Allow(context.Background(), key); err != nil || !d.Allowed {
				t.Fatalf("%v: %s: %t, %v", limit, key, d.Allowed, err)
			}
			return memory.shards[0].entries.oldest()
		}
		first := take("a")
		fresh := first.extra == nil
		if second := take("b"); second != first {
			t.Errorf("%v: a new entry does not take the place of the one that left", limit)
		}
		if e := take("a"); e.extra == nil || e.extra.inherited == nil || e.plainly(e.plan) {
			t.Fatalf("%v: a key that was forgotten inherits nothing: %+v", limit, e.extra)
		}
		now = now.Add(10 * time.Minute)
		if e := take("a"); (e.extra == nil) != fresh || e.extra != nil && e.extra.inherited != nil || e.plainly(e.plan) != limit.plain() {
			t.Errorf("%v: ten minutes later it still inherits %+v", limit, e.extra)
		}
	}
}

// TestResetGivesThePlaceBack: who resets keys again and again takes no more memory.
func TestResetGivesThePlaceBack(t *testing.T) {
	memory := &Memory{MaxKeys: 1000}
	l := MustNew(Config{
		Store: memory,
		Rules: []Rule{{Name: "r", Key: func(Request) (string, error) { return "", ErrNoKey }, Limits: []Limit{PerMinute(5)}}},
	})
	for n := range 1000 {
		key := strconv.Itoa(n)
		if _, err := l.Allow(t.Context(), key); err != nil {
			t.Fatal(err)
		}
		if err := l.Reset(t.Context(), "r", key); err != nil {
			t.Fatal(err)
		}
	}
	if taken := memory.shards[0].entries.taken; taken > 1 {
		t.Errorf("one key at a time took %d places", taken)
	}
}
