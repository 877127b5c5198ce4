package redispeers

import (
	"context"
	"time"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/redisstore"
)

// An Attack is many callers who ask for one key, at a steady rate.
type Attack struct {
	// Limit is that of the key.
	Limit core.Limit
	// Callers is how many there are, and PerSecond how many requests they
	// make together, if they are answered that fast.
	Callers, PerSecond int
	// Lasts is for how long.
	Lasts time.Duration
}

// Attacked is what an attack came to.
type Attacked struct {
	// Requests is how many were made, Admitted how many of them were admitted,
	// and Calls how many calls of scripts Redis had.
	Requests, Admitted, Calls int64
}

// Run attacks our limiter with the go-redis client on a server, with or without
// the deny cache.
func (a Attack) Run(ctx context.Context, s *Server, cached bool) (found Attacked, err error) {
	config := redisstore.Config{Timeout: patience}
	if !cached {
		config.DenyKeys = -1
	}
	if err := s.Clear(ctx); err != nil {
		return found, err
	}
	store, end, err := goRedis(s.Addr, config)
	if err != nil {
		return found, err
	}
	defer end()
	allow, err := deciderOf(store, []core.Limit{a.Limit})
	if err != nil {
		return found, err
	}
	before, err := s.ScriptCalls(ctx)
	if err != nil {
		return found, err
	}
	if err := a.strike(ctx, &Peer{Name: Ours, Allow: allow}, &found); err != nil {
		return found, err
	}
	after, err := s.ScriptCalls(ctx)
	found.Calls = after - before
	return found, err
}

// strike makes the requests.
func (a Attack) strike(ctx context.Context, p *Peer, found *Attacked) (err error) {
	pause := time.Duration(a.Callers) * time.Second / time.Duration(a.PerSecond)
	each := int64(a.Lasts / pause)
	begun := time.Now()
	found.Requests = each * int64(a.Callers)
	found.Admitted, err = p.together(a.Callers, func(caller int) (admitted int64, err error) {
		next := begun.Add(pause * time.Duration(caller) / time.Duration(a.Callers))
		for range each {
			time.Sleep(time.Until(next))
			next = next.Add(pause)
			allowed, err := p.Allow(ctx, clientKey(0))
			if err != nil {
				return admitted, err
			}
			if allowed {
				admitted++
			}
		}
		return admitted, nil
	})
	return err
}
