package core_test

import (
	"context"
	"sync"
	"time"

	"github.com/slidegate/slidegate/core"
)

// A scripted store counts in a Memory until it is told to fail.
type scripted struct {
	core.Memory
	unfit error // what Check returns

	mu    sync.Mutex
	fails error // what every other call returns
	calls int
}

func (s *scripted) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fails = err
}

func (s *scripted) call() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	return s.fails
}

func (s *scripted) Check(limits []core.Limit) error {
	if s.unfit != nil {
		return s.unfit
	}
	return s.Memory.Check(limits)
}

func (s *scripted) Decide(ctx context.Context, asks []core.Ask) (time.Time, error) {
	if err := s.call(); err != nil {
		return time.Time{}, err
	}
	return s.Memory.Decide(ctx, asks)
}

func (s *scripted) Peek(ctx context.Context, a *core.Ask) (time.Time, error) {
	if err := s.call(); err != nil {
		return time.Time{}, err
	}
	return s.Memory.Peek(ctx, a)
}

func (s *scripted) Reset(ctx context.Context, rule, key string) error {
	if err := s.call(); err != nil {
		return err
	}
	return s.Memory.Reset(ctx, rule, key)
}

func (s *scripted) Refund(ctx context.Context, asks []core.Ask) error {
	if err := s.call(); err != nil {
		return err
	}
	return s.Memory.Refund(ctx, asks)
}
