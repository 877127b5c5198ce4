package redisstore

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/slidegate/slidegate/core"
)

// A Store is a [core.SharedStore] in Redis. [New] makes it, the zero Store is not
// valid. It never connects or closes anything: the client is the user's.
type Store struct {
	config  Config
	fault   error // of the configuration
	limits  limitCache
	calls   atomic.Uint64 // counted up from a random number
	cluster atomic.Bool   // keys of different slots need calls of their own
	guard   guard
	refused refusals
	claims  core.Claims
}

// New returns a store that counts with a client of the user's. It does not call
// the client: whether Redis is there shows with the first decision. At most one
// Config is taken; faults in it are returned by [Store.Check].
func New[R Reply](client Client[R], config ...Config) *Store {
	s := &Store{}
	if len(config) > 0 {
		s.config = config[0]
	}
	s.config = s.config.withDefaults()
	s.fault = s.config.fault()
	switch {
	case len(config) > 1:
		s.fault = fault("New takes one Config; it was given %d", len(config))
	case isNil(client):
		s.fault = fault("New was given a nil client; make one first, such as redis.NewClient(…)")
	}
	known := knownOf(client)
	s.cluster.Store(known.cluster || s.config.Cluster)
	s.calls.Store(rand.Uint64())
	s.guard.init(evaluateWith(client), &s.config, known)
	s.refused.init(s.config.DenyKeys, s.config.Now)
	return s
}

// Check returns what is wrong with the configuration, and refuses windows that
// are not whole microseconds, of which Redis's clock knows no parts.
func (s *Store) Check(limits []core.Limit) error {
	if s.fault != nil {
		return s.fault
	}
	for _, l := range limits {
		if !wholeMicroseconds(l.Window()) {
			return fault("limit %v: the window must be whole microseconds, Redis's clock has no finer ones; take %v", l, l.Window().Truncate(time.Microsecond))
		}
	}
	return nil
}

// Timeout returns [Config].Timeout, for the doctor.
func (s *Store) Timeout() time.Duration { return s.config.Timeout }

// Claim notes the limits of a rule for the doctor, see [core.Claims].
func (s *Store) Claim(rule string, limits []core.Limit) (before []core.Limit) {
	return s.claims.Claim(rule, limits)
}

// Instances returns [Config].Instances, for the limiter to divide by.
func (s *Store) Instances() int { return s.config.Instances }

// Watch has a function called with the reason when Redis becomes unavailable,
// and with nil when it is available again. In a cluster that is when the first
// part of the slots fails and when the last one is back.
func (s *Store) Watch(f func(err error)) { s.guard.watch(f) }

// Stats returns the figures.
func (s *Store) Stats() Stats {
	return Stats{Calls: s.guard.total.Load(), Refused: s.refused.answers.Load(), Down: s.guard.isDown()}
}

// Stats are the figures of a [Store] since it was made.
type Stats struct {
	// Calls is how often the client was called.
	Calls uint64
	// Refused is how many requests were refused without a call.
	Refused uint64
	// Down says that Redis, or a part of a cluster, is unavailable.
	Down bool
}

// Decide implements [core.Store]. It takes [Config].Timeout at most.
func (s *Store) Decide(ctx context.Context, asks []core.Ask) (time.Time, error) {
	r := s.request(asks)
	if s.fault != nil {
		return time.Time{}, s.fault
	}
	if now, refused := s.refused.answer(&r); refused {
		return now, nil
	}
	line, err := s.refused.wait(ctx, &r)
	if err != nil {
		return time.Time{}, err
	}
	if line != nil {
		defer line.leave()
		if now, refused := s.refused.answer(&r); refused {
			return now, nil
		}
	}
	began := s.refused.begin(&r)
	now, err := s.decide(ctx, &r)
	if err == nil {
		s.refused.learn(&r, began, now)
	}
	return now, err
}

// Peek implements [core.Store].
func (s *Store) Peek(ctx context.Context, a *core.Ask) (time.Time, error) {
	r := s.request([]core.Ask{*a})
	if s.fault != nil {
		return time.Time{}, s.fault
	}
	return s.peek(ctx, &r)
}

// Reset implements [core.Store].
func (s *Store) Reset(ctx context.Context, rule, key string) error {
	r := s.request([]core.Ask{{Rule: rule, Key: key}})
	if s.fault != nil {
		return s.fault
	}
	defer s.refused.forget(r.keys)
	_, err := s.run(ctx, &r, resetScript, nil)
	return err
}

// Refund implements [core.Store].
func (s *Store) Refund(ctx context.Context, asks []core.Ask) error {
	r := s.request(slices.DeleteFunc(slices.Clone(asks), isUncharged))
	for i := range asks {
		asks[i].Receipt = core.Receipt{}
	}
	if s.fault != nil || len(r.asks) == 0 {
		return s.fault
	}
	defer s.refused.forget(r.keys)
	return s.refund(ctx, &r)
}

func isUncharged(a core.Ask) bool { return a.Receipt == core.Receipt{} }

// charge has the keys of a request, which share a slot, decided and charged.
func (s *Store) charge(ctx context.Context, r *request) (time.Time, error) {
	return s.ask(ctx, r, s.number())
}

// peek has them looked at.
func (s *Store) peek(ctx context.Context, r *request) (time.Time, error) {
	return s.ask(ctx, r, noNumber)
}

func (s *Store) ask(ctx context.Context, r *request, number string) (time.Time, error) {
	value, err := s.run(ctx, r, decideScript, s.decideArgs(r, number))
	if err != nil {
		return time.Time{}, err
	}
	return readDecision(value, r.asks)
}

// run runs a script for the keys of a request.
func (s *Store) run(ctx context.Context, r *request, script *script, args []any) (any, error) {
	slot := 0
	if s.cluster.Load() {
		slot = slotOf(r.keys[0])
	}
	return s.guard.call(ctx, r.deadline, slot, call{script, r.keys, args})
}
