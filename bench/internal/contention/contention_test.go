package contention_test

import (
	"math"
	"testing"

	"github.com/slidegate/slidegate/bench/internal/contention"
)

// TestRate compares the simulation with what can be worked out.
func TestRate(t *testing.T) {
	const outside, held = 60, 40
	for _, c := range []struct {
		phrase  string
		machine contention.Machine
		keys    contention.Keys
		want    float64
	}{
		{"one processor never waits", contention.Machine{Processors: 1, Shards: 1}, contention.Hot, 1.0 / (outside + held)},
		{"nor does it with many shards", contention.Machine{Processors: 1, Shards: 64}, contention.Zipf, 1.0 / (outside + held)},
		{"one hot key is limited by its lock", contention.Machine{Processors: 64, Shards: 64}, contention.Hot, 1.0 / held},
		{"and by its moving about", contention.Machine{Processors: 64, Shards: 64, Transfer: 60}, contention.Hot, 1.0 / (held + 60)},
		{"shards without end let all decide", contention.Machine{Processors: 16, Shards: 1 << 20}, contention.Uniform, 16.0 / (outside + held)},
	} {
		c.machine.Outside, c.machine.Held = outside, held
		if got := c.machine.Rate(c.keys); math.Abs(got/c.want-1) > 0.02 {
			t.Errorf("%s: %.4f decisions a nanosecond, want %.4f", c.phrase, got, c.want)
		}
	}
}

func TestMoreShardsNeverSlowDown(t *testing.T) {
	for _, keys := range []contention.Keys{contention.Zipf, contention.Uniform} {
		last := 0.0
		for _, shards := range []int{1, 4, 16, 64, 256} {
			rate := contention.Machine{Processors: 16, Shards: shards, Outside: 60, Held: 40}.Rate(keys)
			if rate < last {
				t.Errorf("keys %d: %d shards make %.4f decisions a nanosecond, fewer than a quarter of them", keys, shards, rate)
			}
			last = rate
		}
	}
}
