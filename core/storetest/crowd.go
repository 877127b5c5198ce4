package storetest

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/slidegate/slidegate/core"
)

const crowd = 64 // goroutines

// together runs a function in a crowd of goroutines that start at once, and
// fails if they do not end.
func (p *probe) together(what string, run func(i int) error) {
	p.Helper()
	var group sync.WaitGroup
	errs := make(chan error, crowd)
	start, ended := make(chan struct{}), make(chan struct{})
	for i := range crowd {
		group.Go(func() {
			<-start
			if err := run(i); err != nil {
				errs <- err
			}
		})
	}
	close(start)
	go func() {
		group.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		p.Fatalf("%s: not done after a minute", what)
	}
	close(errs)
	for err := range errs {
		p.Fatalf("%s: %v", what, err)
	}
}

func crowdOnOneKey(p *probe) {
	for _, l := range kinds(1000) {
		p.begin(second)
		var admitted atomic.Int64
		p.together("a crowd on one key", func(int) error {
			for range 32 {
				a := ask(1, l)
				if _, err := p.Store.Decide(background, a); err != nil {
					return err
				}
				if admits(a) {
					admitted.Add(1)
				}
			}
			return nil
		})
		if got := admitted.Load(); got != 1000 {
			p.Errorf("%v: %d of %d concurrent requests admitted, want exactly 1000", l, got, crowd*32)
		}
		p.wantRemaining("after the crowd", ask(1, l), 0)
	}
}

// crowdOnSharedSubjects has requests ask for some of four subjects in a random
// order. What is left in each must be its quota less what was admitted.
func crowdOnSharedSubjects(p *probe) {
	p.begin(second)
	quotas := []int64{1000, 300, 100_000, 700}
	one := func(i int) core.Ask { return askOf(fmt.Sprint("rule ", i), "key", 1, core.PerMinute(quotas[i])) }
	var charged [4]atomic.Int64
	p.together("asks in random orders", func(i int) error {
		r := rand.New(rand.NewPCG(uint64(i), 4))
		for range 64 {
			order := r.Perm(len(quotas))[:1+r.IntN(len(quotas))]
			var asks []core.Ask
			for _, n := range order {
				asks = append(asks, one(n))
			}
			if _, err := p.Store.Decide(background, asks); err != nil {
				return err
			}
			for _, n := range order {
				if admits(asks) {
					charged[n].Add(1)
				}
			}
		}
		return nil
	})
	for i, quota := range quotas {
		p.wantRemaining("after the crowd", []core.Ask{one(i)}, quota-charged[i].Load())
	}
}

func crowdOfRefunds(p *probe) {
	for _, l := range kinds(1000) {
		p.begin(second)
		p.together("charges and refunds", func(i int) error {
			kept, taken := ask(2, l), ask(3, l)
			for _, asks := range [][]core.Ask{kept, taken} {
				if _, err := p.Store.Decide(background, asks); err != nil || !admits(asks) {
					return fmt.Errorf("a charge for which there is room: %v, %+v", err, asks[0].States)
				}
			}
			return p.Store.Refund(background, taken)
		})
		p.wantRemaining("after a crowd that kept 2 units each", ask(1, l), 1000-2*crowd)
	}
}
