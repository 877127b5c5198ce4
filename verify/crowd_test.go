package verify_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/slidegate/slidegate/core"
)

// frozen is a clock that stands still, so that no quota comes back meanwhile.
func frozen() time.Time { return time.Unix(1_800_000_000, 0) }

// crowd runs a function in 64 goroutines that are released together.
func crowd(do func(worker int)) {
	var gate, done sync.WaitGroup
	gate.Add(1)
	for worker := range 64 {
		done.Go(func() {
			gate.Wait()
			do(worker)
		})
	}
	gate.Done()
	done.Wait()
}

// TestCrowdOnOneKeyGetsExactlyTheQuota sends 64 goroutines with twice the quota
// between them.
func TestCrowdOnOneKeyGetsExactlyTheQuota(t *testing.T) {
	const quota = 1000
	for _, limit := range everyAlgorithm(quota) {
		t.Run(limit.String(), func(t *testing.T) {
			limiter := core.MustNew(core.Config{Now: frozen, Rules: []core.Rule{core.By(byHand, limit)}})
			var admitted atomic.Int64
			crowd(func(int) {
				for range 2 * quota / 64 {
					if d, err := limiter.Allow(context.Background(), "key"); err != nil {
						t.Error(err)
					} else if d.Allowed {
						admitted.Add(1)
					}
				}
			})
			if got := admitted.Load(); got != quota {
				t.Errorf("admitted %d, want %d", got, quota)
			}
		})
	}
}

func everyAlgorithm(quota int64) []core.Limit {
	l := core.PerHour(quota)
	return []core.Limit{l, l.Smooth(7), l.Strict(7), l.Exact(), l.Fixed(), l.Bucket(quota)}
}

// byHand is the key function of rules that are only asked through Allow.
func byHand(core.Request) (string, error) { return "", core.ErrNoKey }

// TestRulesInAnyOrderNeitherDeadlockNorMiscount has limiters that list the same
// rules in different orders share one store, over overlapping keys: a deadlock
// would hang the test, and each key's total must be what was admitted under it.
func TestRulesInAnyOrderNeitherDeadlockNorMiscount(t *testing.T) {
	const rules, keys, quota = 4, 8, 120
	store := &core.Memory{} // more than 4,096 keys: several shards
	limiters, orders := permuted(t, store, rules, quota)
	var totals [rules][keys]atomic.Int64
	crowd(func(worker int) {
		r := rand.New(rand.NewPCG(uint64(worker), 7))
		for range 400 {
			which := r.IntN(len(limiters))
			asked, drawn := make([]string, rules), [rules]int{}
			for place, rule := range orders[which] {
				drawn[rule] = r.IntN(keys)
				asked[place] = strconv.Itoa(drawn[rule])
			}
			d, err := limiters[which].Allow(context.Background(), asked...)
			if err != nil {
				t.Error(err)
			}
			if d.Allowed {
				for rule, key := range drawn {
					totals[rule][key].Add(1)
				}
			}
		}
	})
	for rule := range rules {
		for key := range keys {
			states, err := limiters[0].Peek(context.Background(), ruleName(rule), strconv.Itoa(key))
			if err != nil {
				t.Fatal(err)
			}
			if got, want := quota-states[0].Remaining, totals[rule][key].Load(); got != want || want > quota {
				t.Errorf("rule %d, key %d: %d units counted, %d requests admitted of at most %d", rule, key, got, want, quota)
			}
		}
	}
}

// permuted returns limiters over one store, and the order of each one's rules.
func permuted(t *testing.T, store *core.Memory, rules int, quota int64) ([]*core.Limiter, [][]int) {
	var limiters []*core.Limiter
	var orders [][]int
	for i := range 6 {
		order := rand.New(rand.NewPCG(uint64(i), 3)).Perm(rules)
		c := core.Config{Store: store}
		if i == 0 {
			c.Now = frozen
		}
		for _, rule := range order {
			limit := core.PerHour(quota).Named(fmt.Sprintf("limit %d", rule))
			c.Rules = append(c.Rules, core.Rule{Name: ruleName(rule), Key: byHand, Limits: []core.Limit{limit}})
		}
		limiter, err := core.New(c)
		if err != nil {
			t.Fatal(err)
		}
		limiters, orders = append(limiters, limiter), append(orders, order)
	}
	return limiters, orders
}

// TestLimitersLeaveNoGoroutine makes, uses and drops 1,000 limiters (RL-078).
func TestLimitersLeaveNoGoroutine(t *testing.T) {
	before := goleak.IgnoreCurrent()
	for range 1000 {
		limiter := core.MustNew(core.Config{Rules: []core.Rule{core.By(byHand, core.PerSecond(10), core.PerMinute(100))}})
		if _, err := limiter.Allow(context.Background(), "key"); err != nil {
			t.Fatal(err)
		}
	}
	goleak.VerifyNone(t, before)
}
