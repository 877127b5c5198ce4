package redispeers

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
)

// A Footprint is what a server keeps for a key of a limiter.
type Footprint struct {
	// Records is how many Redis keys that is.
	Records int
	// Usage is what MEMORY USAGE says of them, in bytes.
	Usage float64
	// Growth is what the server has allocated more, in bytes, with its tables.
	Growth float64
}

// filling is how many callers fill a server.
const filling = 64

// lasting is a limit whose counts live longer than any measurement, also over a
// 3,600th of its window, in every algorithm.
var lasting = Load{Quota: 10, Window: 3600 * 24 * time.Hour}

// Footprint clears a server, has a limiter decide once for each of so many keys
// of 15 bytes, and returns what they take.
func (l Limiter) Footprint(ctx context.Context, s *Server, keys int) (f Footprint, err error) {
	if err := s.Clear(ctx); err != nil {
		return f, err
	}
	p, err := l.Start(s.Addr, lasting)
	if err != nil {
		return f, err
	}
	defer p.Close()
	if err := p.fill(ctx, filling); err != nil { // what connections take is no key's
		return f, err
	}
	if err := s.Clear(ctx); err != nil {
		return f, err
	}
	before, err := s.usedMemory(ctx)
	if err != nil {
		return f, err
	}
	if err := p.fill(ctx, keys); err != nil {
		return f, err
	}
	after, err := s.usedMemory(ctx)
	if err != nil {
		return f, err
	}
	records, usage, err := s.usage(ctx)
	if err == nil && (records == 0 || records%keys != 0) {
		err = fmt.Errorf("%s: %d Redis keys for %d keys: some have expired", l.Name, records, keys)
	}
	return Footprint{records / keys, float64(usage) / float64(keys), float64(after-before) / float64(keys)}, err
}

// fill decides once under each of so many keys.
func (p *Peer) fill(ctx context.Context, keys int) error {
	_, err := p.together(filling, func(caller int) (int64, error) {
		for n := caller; n < keys; n += filling {
			if err := p.admit(ctx, clientKey(n)); err != nil {
				return 0, err
			}
		}
		return 0, nil
	})
	return err
}

// usage counts all keys of a server, and adds up MEMORY USAGE over them. A scan
// may return a key twice.
func (s *Server) usage(ctx context.Context) (records int, sum int64, err error) {
	seen := map[string]bool{}
	for cursor := uint64(0); ; {
		var keys []string
		keys, cursor, err = s.client.Scan(ctx, cursor, "", 1000).Result()
		if err != nil {
			return 0, 0, err
		}
		keys = slices.DeleteFunc(keys, func(key string) bool {
			again := seen[key]
			seen[key] = true
			return again
		})
		page, err := s.usageOf(ctx, keys)
		sum += page
		if err != nil || cursor == 0 {
			return len(seen), sum, err
		}
	}
}

func (s *Server) usageOf(ctx context.Context, keys []string) (sum int64, err error) {
	sizes, err := s.client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for _, key := range keys {
			pipe.MemoryUsage(ctx, key, 0) // all elements of a key, not a sample
		}
		return nil
	})
	for _, size := range sizes {
		sum += size.(*redis.IntCmd).Val()
	}
	return sum, err
}
