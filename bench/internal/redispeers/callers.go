package redispeers

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// distinct is how many keys the decisions are spread over.
const distinct = 10_000

// clientKey returns a key of 15 bytes.
func clientKey(n int) string { return fmt.Sprintf("client-%08d", n) }

// errRefused reports that a limiter ran out of what cannot be used up.
var errRefused = errors.New("refused, although its quota is ample")

// Throughput returns the decisions a second that a number of callers get from
// a limiter in a time, each under a key drawn for it, one after another. It is an
// error if any is refused.
func (p *Peer) Throughput(ctx context.Context, callers int, lasts time.Duration) (float64, error) {
	begun := time.Now()
	decided, err := p.together(callers, func(int) (n int64, err error) {
		for ; time.Since(begun) < lasts; n++ {
			if err := p.admit(ctx, clientKey(rand.IntN(distinct))); err != nil {
				return n, err
			}
		}
		return n, nil
	})
	return float64(decided) / time.Since(begun).Seconds(), err
}

// admit takes a unit, which must be there.
func (p *Peer) admit(ctx context.Context, key string) error {
	allowed, err := p.Allow(ctx, key)
	if err == nil && !allowed {
		err = errRefused
	}
	return err
}

// together runs callers at the same time and adds up what they return.
func (p *Peer) together(callers int, do func(caller int) (int64, error)) (sum int64, err error) {
	var mu sync.Mutex
	var all sync.WaitGroup
	for caller := range callers {
		all.Go(func() {
			n, failed := do(caller)
			mu.Lock()
			defer mu.Unlock()
			sum += n
			if failed != nil && err == nil {
				err = fmt.Errorf("%s: %w", p.Name, failed)
			}
		})
	}
	all.Wait()
	return sum, err
}
