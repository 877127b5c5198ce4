package redisstore

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/slidegate/slidegate/core"
)

// In a cluster a call can only touch keys of one slot, so that a request whose
// keys lie in several is decided by a call for each slot, one after the other:
// first the one that is the likeliest to deny, which then spares the others.
// If one denies after all, what the calls before it charged is refunded by its
// receipts. Another process can see such a charge for about a round trip, and
// be denied by it; nobody is ever admitted beyond a limit.

// A part is those asks of a request whose keys share a slot.
type part struct {
	request
	indexes []int // of the asks in the whole request
}

// parts divides a request by slots, in the order of the first key of each.
func (r *request) parts() []part {
	var parts []part
	var slots []int
	for i, key := range r.keys {
		slot := slotOf(key)
		at := slices.Index(slots, slot)
		if at < 0 {
			at = len(slots)
			slots = append(slots, slot)
			parts = append(parts, part{request: request{deadline: r.deadline}})
		}
		p := &parts[at]
		p.asks, p.keys, p.indexes = append(p.asks, r.asks[i]), append(p.keys, key), append(p.indexes, i)
	}
	return parts
}

// decide decides on a request, in one call if its keys share a slot or the
// server has none. That it has shows with the first call that spans two: it is
// refused before anything is done.
func (s *Store) decide(ctx context.Context, r *request) (time.Time, error) {
	if !s.cluster.Load() || len(r.keys) == 1 {
		now, err := s.charge(ctx, r)
		if !isCrossSlot(err) {
			return now, err
		}
		s.cluster.Store(true)
	}
	parts := r.parts()
	if len(parts) == 1 {
		return s.charge(ctx, r)
	}
	s.likeliestDenialFirst(parts)
	return s.decideParts(ctx, r, parts)
}

func (s *Store) decideParts(ctx context.Context, r *request, parts []part) (now time.Time, err error) {
	for i := range parts {
		p := &parts[i]
		then, err := s.charge(ctx, &p.request)
		if err != nil {
			s.compensate(r, parts[:i])
			return time.Time{}, err
		}
		now = latest(now, then)
		if !admits(p.asks) {
			return now, s.denied(ctx, r, parts, i)
		}
	}
	for _, p := range parts {
		for i, ask := range p.asks {
			r.asks[p.indexes[i]].Receipt = ask.Receipt
		}
	}
	return now, nil
}

func latest(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// likeliestDenialFirst orders parts: those with a key that is exhausted, then by
// their slowest limit.
func (s *Store) likeliestDenialFirst(parts []part) {
	pace := func(p part) float64 {
		if s.refused.lineOf(&p.request) != nil {
			return -1
		}
		least := math.Inf(1)
		for _, a := range p.asks {
			for _, l := range a.Limits {
				least = min(least, float64(l.Quota())/l.Window().Seconds())
			}
		}
		return least
	}
	slices.SortStableFunc(parts, func(a, b part) int {
		switch x, y := pace(a), pace(b); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
}

// denied ends a decision that the part of an index has denied: the parts before
// it are refunded, and all others looked at, for their states to be as they
// stand. Each part is seen to by itself; the request waits for all of them, but
// not beyond its deadline. What is charged is refunded in any case.
func (s *Store) denied(ctx context.Context, r *request, parts []part, by int) error {
	seen := make(chan error, len(parts))
	looks := make([]part, len(parts))
	for i := range parts {
		if i == by {
			continue
		}
		looks[i] = parts[i].copy()
		go func() {
			var err error
			if i < by {
				err = s.takeBack(&parts[i])
			}
			if err == nil {
				_, err = s.peek(context.WithoutCancel(ctx), &looks[i].request)
			}
			seen <- err
		}()
	}
	err := s.await(ctx, r, seen, len(parts)-1)
	if err != nil {
		return err
	}
	for i := range parts {
		for j := range looks[i].asks {
			copy(parts[i].asks[j].States, looks[i].asks[j].States)
		}
	}
	for i := range parts[:by] {
		r.refunded = append(r.refunded, parts[i].keys...)
	}
	for i := range r.asks {
		r.asks[i].Receipt = core.Receipt{}
	}
	return nil
}

// copy returns the part with states of its own, which may be filled when the
// request is no longer there.
func (p *part) copy() part {
	c := *p
	c.asks = slices.Clone(p.asks)
	for i := range c.asks {
		c.asks[i].States = slices.Clone(p.asks[i].States)
	}
	return c
}

// compensate refunds parts of a request that could not be decided. It waits for
// that until the request's deadline, and no longer.
func (s *Store) compensate(r *request, charged []part) {
	done := make(chan error, len(charged))
	for i := range charged {
		go func() { done <- s.takeBack(&charged[i]) }()
	}
	// Where it fails the charge stays until it leaves the window.
	_ = s.await(context.Background(), r, done, len(charged))
}

// takeBack refunds a part, whatever became of the request.
func (s *Store) takeBack(p *part) error {
	r := p.request
	r.deadline = time.Now().Add(s.config.Timeout)
	defer s.refused.forget(r.keys)
	return s.refundSlot(context.Background(), &r)
}

// await waits for so many ends, for the request's, or for its deadline.
func (s *Store) await(ctx context.Context, r *request, ends <-chan error, count int) error {
	timer := time.NewTimer(time.Until(r.deadline))
	defer timer.Stop()
	var errs []error
	for range count {
		select {
		case err := <-ends:
			errs = append(errs, err)
		case <-ctx.Done():
			return ended(ctx)
		case <-timer.C:
			return unavailable(errSilent)
		}
	}
	return errors.Join(errs...)
}

// refund refunds a request, slot by slot in a cluster.
func (s *Store) refund(ctx context.Context, r *request) error {
	if !s.cluster.Load() {
		return s.refundSlot(ctx, r)
	}
	var errs []error
	for _, p := range r.parts() {
		errs = append(errs, s.refundSlot(ctx, &p.request))
	}
	return errors.Join(errs...)
}

func (s *Store) refundSlot(ctx context.Context, r *request) error {
	_, err := s.run(ctx, r, refundScript, s.refundArgs(r))
	return err
}
