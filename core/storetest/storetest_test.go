package storetest_test

import (
	"sync"
	"testing"
	"time"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/core/storetest"
)

// memory is a Memory whose clock the suite sets.
func memory(t testing.TB) storetest.Fixture {
	store, now := &core.Memory{}, time.Date(2026, 7, 4, 12, 34, 56, 789, time.UTC)
	var mu sync.Mutex
	config := core.Config{
		Store: store,
		Rules: []core.Rule{core.By(func(core.Request) (string, error) { return "", nil }, core.PerSecond(1))},
		Now: func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			return now
		},
	}
	if _, err := core.New(config); err != nil {
		t.Fatal(err)
	}
	advance := func(d time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(d)
	}
	return storetest.Fixture{Store: store, Advance: advance, Tick: 1}
}

func TestMemoryKeepsTheContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Fixture { return memory(t) })
}
