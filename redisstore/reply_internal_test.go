package redisstore

import (
	"errors"
	"testing"
	"time"

	"github.com/slidegate/slidegate/core"
)

func twoStates() []core.Ask {
	return []core.Ask{{States: make([]core.State, 2), Receipt: core.Receipt{Serial: 99}}}
}

func TestRepliesAreRead(t *testing.T) {
	for _, c := range []struct {
		phrase  string
		reply   []any
		receipt core.Receipt
		states  [2]core.State
	}{
		{"admitted", []any{int64(1000), int64(15), int64(4), int64(20), int64(9), int64(0)},
			core.Receipt{At: 1000, Serial: 7, Dry: true}, [2]core.State{{Remaining: 4, Next: 20 * time.Microsecond}, {Remaining: 9}}},
		{"admitted while the clock is behind", []any{int64(1000), int64(-14), int64(1500), int64(4), int64(20), int64(9), int64(0)},
			core.Receipt{At: 1500, Serial: 7}, [2]core.State{{Remaining: 4, Next: 20 * time.Microsecond}, {Remaining: 9}}},
		{"denied by the second", []any{int64(1000), int64(0), int64(4), int64(20), int64(-1), int64(30), int64(40)},
			core.Receipt{}, [2]core.State{{Remaining: 4, Next: 20 * time.Microsecond}, {Denied: true, Next: 30 * time.Microsecond, RetryAfter: 40 * time.Microsecond}}},
		{"denied for good with 3 left", []any{int64(1000), int64(0), int64(-4), int64(20), int64(0), int64(9), int64(0)},
			core.Receipt{}, [2]core.State{{Remaining: 3, Denied: true, Never: true, Next: 20 * time.Microsecond}, {Remaining: 9}}},
	} {
		asks := twoStates()
		now, err := readDecision(c.reply, asks)
		if err != nil || !now.Equal(time.UnixMicro(1000)) || asks[0].Receipt != c.receipt || [2]core.State(asks[0].States) != c.states {
			t.Errorf("%s: %v, %v, %+v", c.phrase, now, err, asks[0])
		}
	}
}

func TestRepliesOfAnotherShapeAreFaults(t *testing.T) {
	whole := []any{int64(1000), int64(15), int64(4), int64(20), int64(9), int64(0)}
	for phrase, reply := range map[string]any{
		"nil":                nil,
		"a string":           "OK",
		"integers as int":    []int64{1000, 15, 4, 20, 9, 0},
		"an empty array":     []any{},
		"one too few":        whole[:5],
		"one too many":       append(whole[:6:6], int64(0)),
		"a string among":     []any{int64(1000), "15", int64(4), int64(20), int64(9), int64(0)},
		"a nil among":        []any{int64(1000), int64(15), nil, int64(20), int64(9), int64(0)},
		"a denial cut short": []any{int64(1000), int64(0), int64(-1), int64(20)},
	} {
		if _, err := readDecision(reply, twoStates()); !errors.Is(err, core.ErrConfig) {
			t.Errorf("%s: %v, want a fault", phrase, err)
		}
	}
}

// FuzzReplies reads arrays of any numbers: whatever a proxy between may send.
func FuzzReplies(f *testing.F) {
	f.Add([]byte{1, 0, 2, 3, 4, 5})
	f.Add([]byte{9, 255, 1, 254, 3, 7, 255, 0, 1})
	f.Fuzz(func(t *testing.T, numbers []byte) {
		var reply []any
		for _, n := range numbers {
			reply = append(reply, int64(int8(n)))
		}
		asks := twoStates()
		if _, err := readDecision(reply, asks); err != nil {
			return
		}
		for _, s := range asks[0].States {
			if s.Remaining < 0 || s.Never && s.RetryAfter != 0 {
				t.Errorf("%v is read as %+v", reply, s)
			}
		}
	})
}
