package core_test

import (
	"testing"
	"time"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/core/storetest"
)

// TestMemoryKeepsTheContract includes the comparison with the model: random
// histories of all algorithms, several thousand steps.
func TestMemoryKeepsTheContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Fixture {
		store, clock := &core.Memory{}, newStillClock()
		newGateOn(t, store, clock)
		return storetest.Fixture{Store: store, Advance: clock.advance, Tick: 1}
	})
}

// TestShardedMemoryKeepsTheContract is the same in shards, of which decisions on
// several keys take several, and on a clock that is set before 1970.
func TestShardedMemoryKeepsTheContract(t *testing.T) {
	if testing.Short() {
		t.Skip("the same suite again")
	}
	storetest.Run(t, func(t *testing.T) storetest.Fixture {
		store, clock := &core.Memory{MaxKeys: 4096}, newStillClock()
		clock.advance(-70 * 365 * 24 * time.Hour)
		newGateOn(t, store, clock)
		return storetest.Fixture{Store: store, Advance: clock.advance, Tick: 1}
	})
}

// newGateOn gives a store its clock, which only a limiter can.
func newGateOn(t *testing.T, store *core.Memory, clock *stillClock) gate {
	t.Helper()
	l, err := core.New(core.Config{Store: store, Now: clock.Now, Rules: []core.Rule{core.By(byNobody, core.PerSecond(1))}})
	if err != nil {
		t.Fatal(err)
	}
	return gate{l, clock, t}
}
