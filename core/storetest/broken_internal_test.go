package storetest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/slidegate/slidegate/core"
)

// A recorder keeps what a check complains of.
type recorder struct{ complaints []string }

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.complaints = append(r.complaints, fmt.Sprintf(format, args...))
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

// complaints runs a check on stores of a kind. A panic is a complaint too.
func complaints(c check, fresh func() Fixture) []string {
	r, done := &recorder{}, make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if v := recover(); v != nil {
				r.Errorf("panic: %v", v)
			}
		}()
		c.check(&probe{tester: r, fresh: fresh})
	}()
	<-done
	return r.complaints
}

// A broken is a store that does some things its own way.
type broken struct {
	core.Store
	check  func([]core.Limit) error
	decide func(context.Context, []core.Ask) (time.Time, error)
	peek   func(context.Context, *core.Ask) (time.Time, error)
	reset  func(context.Context, string, string) error
	refund func(context.Context, []core.Ask) error
}

func (b *broken) Check(limits []core.Limit) error {
	if b.check != nil {
		return b.check(limits)
	}
	return b.Store.Check(limits)
}

func (b *broken) Decide(ctx context.Context, asks []core.Ask) (time.Time, error) {
	if b.decide != nil {
		return b.decide(ctx, asks)
	}
	return b.Store.Decide(ctx, asks)
}

func (b *broken) Peek(ctx context.Context, a *core.Ask) (time.Time, error) {
	if b.peek != nil {
		return b.peek(ctx, a)
	}
	return b.Store.Peek(ctx, a)
}

func (b *broken) Reset(ctx context.Context, rule, key string) error {
	if b.reset != nil {
		return b.reset(ctx, rule, key)
	}
	return b.Store.Reset(ctx, rule, key)
}

func (b *broken) Refund(ctx context.Context, asks []core.Ask) error {
	if b.refund != nil {
		return b.refund(ctx, asks)
	}
	return b.Store.Refund(ctx, asks)
}

// rewrite hands asks on in another form.
func (b *broken) rewrite(change func(core.Ask) core.Ask) {
	b.decide = func(ctx context.Context, asks []core.Ask) (time.Time, error) {
		others := rewritten(asks, change)
		now, err := b.Store.Decide(ctx, others)
		for i := range asks {
			asks[i].Receipt = others[i].Receipt
		}
		return now, err
	}
	b.peek = func(ctx context.Context, a *core.Ask) (time.Time, error) {
		other := change(*a)
		return b.Store.Peek(ctx, &other)
	}
	b.refund = func(ctx context.Context, asks []core.Ask) error {
		others := rewritten(asks, change)
		for i := range asks {
			asks[i].Receipt = core.Receipt{}
		}
		return b.Store.Refund(ctx, others)
	}
	b.reset = func(ctx context.Context, rule, key string) error {
		a := change(core.Ask{Rule: rule, Key: key})
		return b.Store.Reset(ctx, a.Rule, a.Key)
	}
}

func rewritten(asks []core.Ask, change func(core.Ask) core.Ask) []core.Ask {
	others := make([]core.Ask, len(asks))
	for i, a := range asks {
		others[i] = change(a)
	}
	return others
}

// relimit hands limits on in another form.
func (b *broken) relimit(change func(core.Limit) core.Limit) {
	b.rewrite(func(a core.Ask) core.Ask {
		limits := make([]core.Limit, len(a.Limits))
		for i, l := range a.Limits {
			limits[i] = change(l)
		}
		a.Limits = limits
		return a
	})
}

// restate changes what every answer says of a limit.
func (b *broken) restate(change func(a *core.Ask, s *core.State)) {
	each := func(a *core.Ask) {
		for i := range a.States {
			change(a, &a.States[i])
		}
	}
	b.decide = func(ctx context.Context, asks []core.Ask) (time.Time, error) {
		now, err := b.Store.Decide(ctx, asks)
		for i := range asks {
			each(&asks[i])
		}
		return now, err
	}
	b.peek = func(ctx context.Context, a *core.Ask) (time.Time, error) {
		now, err := b.Store.Peek(ctx, a)
		each(a)
		return now, err
	}
}

// afterDenial has something happen after each denial.
func (b *broken) afterDenial(do func(asks []core.Ask)) {
	b.decide = func(ctx context.Context, asks []core.Ask) (time.Time, error) {
		now, err := b.Store.Decide(ctx, asks)
		if !admits(asks) {
			do(asks)
		}
		return now, err
	}
}

// force charges asks that there may be no room for.
func (b *broken) force(asks []core.Ask) {
	roomy := rewritten(asks, func(a core.Ask) core.Ask {
		limits := make([]core.Limit, len(a.Limits))
		for i, l := range a.Limits {
			quota := int64(core.MaxExactQuota)
			if l.Algorithm() == core.Bucket {
				quota = l.Quota() // which is its pace
			}
			limits[i] = recounted(l, quota, core.MaxExactQuota)
		}
		return core.Ask{Rule: a.Rule, Key: a.Key, Cost: a.Cost, Limits: limits, States: make([]core.State, len(limits))}
	})
	if _, err := b.Store.Decide(background, roomy); err != nil {
		panic(err)
	}
}

// latest remembers the last receipt of every subject, under a lock.
type latest struct {
	mu       sync.Mutex
	receipts map[[2]string]core.Receipt
}

func (b *broken) rememberLatest(refund func(l *latest, a *core.Ask)) {
	l := &latest{receipts: map[[2]string]core.Receipt{}}
	b.decide = func(ctx context.Context, asks []core.Ask) (time.Time, error) {
		now, err := b.Store.Decide(ctx, asks)
		l.mu.Lock()
		defer l.mu.Unlock()
		for _, a := range asks {
			if a.Receipt != (core.Receipt{}) {
				l.receipts[[2]string{a.Rule, a.Key}] = a.Receipt
			}
		}
		return now, err
	}
	b.refund = func(ctx context.Context, asks []core.Ask) error {
		for i := range asks {
			refund(l, &asks[i])
		}
		return b.Store.Refund(ctx, asks)
	}
}

// brokenStores are faults that stores have had, or could have, and the promises
// whose checks must notice.
var brokenStores = []struct {
	fault    string
	make     func(b *broken)
	promises []string
}{
	{"counts strict limits as smooth ones", func(b *broken) {
		b.relimit(func(l core.Limit) core.Limit {
			if l.Algorithm() == core.Strict {
				return l.Smooth(l.Slots())
			}
			return l
		})
	}, []string{"every algorithm counts"}},
	{"counts a request one tick too long", func(b *broken) {
		b.relimit(func(l core.Limit) core.Limit {
			if l.Algorithm() != core.Exact {
				return l
			}
			longer := core.Per(l.Quota(), l.Window()+1).Named(l.Name()).Exact()
			if l.IsDryRun() {
				return longer.DryRun()
			}
			return longer
		})
	}, []string{"a request counts for less than a window", "random histories"}},
	{"counts smooth limits as fixed ones", func(b *broken) {
		b.relimit(func(l core.Limit) core.Limit {
			if l.Algorithm() == core.Smooth {
				return l.Fixed()
			}
			return l
		})
	}, []string{"a burst around a boundary", "RetryAfter is the worked-out wait"}},
	{"refuses what it could count", func(b *broken) {
		b.check = func([]core.Limit) error { return errors.New("no") }
	}, []string{"valid limits pass", "the largest and smallest"}},
	{"charges the first ask only", func(b *broken) {
		b.decide = func(ctx context.Context, asks []core.Ask) (time.Time, error) {
			now, err := b.Store.Decide(ctx, asks)
			if admits(asks) && len(asks) > 1 {
				return now, errors.Join(err, b.Store.Refund(ctx, asks[1:]))
			}
			return now, err
		}
	}, []string{"an admitted request is charged to every"}},
	{"decides ask by ask", func(b *broken) {
		b.decide = func(ctx context.Context, asks []core.Ask) (now time.Time, err error) {
			for i := range asks {
				now, err = b.Store.Decide(ctx, asks[i:i+1])
			}
			return now, err
		}
	}, []string{"a denied request is charged to none", "asks in any order"}},
	{"charges denied requests", func(b *broken) { b.afterDenial(b.force) },
		[]string{"knocking while denied", "a denied request is charged to none"}},
	{"says one more is left than is", func(b *broken) {
		b.restate(func(_ *core.Ask, s *core.State) {
			if s.Next > 0 && s.Remaining > 0 {
				s.Remaining++
			}
		})
	}, []string{"Remaining is how many"}},
	{"charges for a look", func(b *broken) {
		b.peek = func(ctx context.Context, a *core.Ask) (time.Time, error) { return b.Store.Decide(ctx, []core.Ask{*a}) }
	}, []string{"Peek charges nothing"}},
	{"has dry runs deny", func(b *broken) {
		b.relimit(func(l core.Limit) core.Limit {
			if l.IsDryRun() {
				return core.Per(l.Quota(), l.Window()).Named(l.Name())
			}
			return l
		})
	}, []string{"a dry run reports"}},
	{"charges every dry run that has room", func(b *broken) {
		b.decide = func(ctx context.Context, asks []core.Ask) (time.Time, error) {
			now, err := b.Store.Decide(ctx, asks)
			for _, a := range asks {
				if a.States[len(a.States)-1].Denied && admits(asks) {
					b.force([]core.Ask{a})
				}
			}
			return now, err
		}
	}, []string{"dry runs are charged only together"}},
	{"charges and says that the context was done", func(b *broken) {
		b.decide = func(ctx context.Context, asks []core.Ask) (time.Time, error) {
			now, err := b.Store.Decide(ctx, asks)
			return now, errors.Join(err, ctx.Err())
		}
	}, []string{"a call whose context is done"}},
	{"says to wait one tick longer", func(b *broken) {
		b.restate(func(_ *core.Ask, s *core.State) {
			if s.RetryAfter > 0 {
				s.RetryAfter++
			}
		})
	}, []string{"RetryAfter is the worked-out wait", "RetryAfter is enough", "random histories"}},
	{"says to wait one tick less", func(b *broken) {
		b.restate(func(_ *core.Ask, s *core.State) {
			if s.RetryAfter > 1 {
				s.RetryAfter--
			}
		})
	}, []string{"RetryAfter is the worked-out wait", "RetryAfter is enough", "random histories"}},
	{"says the longest wait of all limits", func(b *broken) {
		b.decide = func(ctx context.Context, asks []core.Ask) (time.Time, error) {
			now, err := b.Store.Decide(ctx, asks)
			var wait time.Duration
			for _, do := range []func(*core.State){
				func(s *core.State) { wait = max(wait, s.RetryAfter) },
				func(s *core.State) { s.RetryAfter = min(wait, s.RetryAfter<<40) },
			} {
				for _, a := range asks {
					for i := range a.States {
						do(&a.States[i])
					}
				}
			}
			return now, err
		}
	}, []string{"of several limits"}},
	{"says that more is free when all is", func(b *broken) {
		b.restate(func(_ *core.Ask, s *core.State) { s.Next *= 2 })
	}, []string{"Next is when"}},
	{"has everyone wait who cannot be helped", func(b *broken) {
		b.restate(func(a *core.Ask, s *core.State) {
			if s.Never {
				s.Never, s.RetryAfter = false, a.Limits[0].Window()
			}
		})
	}, []string{"what can never be admitted"}},
	{"refunds nothing", func(b *broken) {
		b.refund = func(_ context.Context, asks []core.Ask) error {
			for i := range asks {
				asks[i].Receipt = core.Receipt{}
			}
			return nil
		}
	}, []string{"a refund gives back", "concurrent refunds", "random histories"}},
	{"keeps the receipts of refunds", func(b *broken) {
		b.refund = func(ctx context.Context, asks []core.Ask) error {
			return b.Store.Refund(ctx, append([]core.Ask(nil), asks...))
		}
	}, []string{"a second refund"}},
	{"refunds to whoever has the key now", func(b *broken) {
		b.rememberLatest(func(l *latest, a *core.Ask) {
			if a.Receipt != (core.Receipt{}) {
				a.Receipt.Serial = l.receipts[[2]string{a.Rule, a.Key}].Serial
			}
		})
	}, []string{"a refund takes nothing", "a refund after a change"}},
	{"refunds the last charge where there is no receipt", func(b *broken) {
		b.rememberLatest(func(l *latest, a *core.Ask) {
			if a.Receipt == (core.Receipt{}) {
				a.Receipt = l.receipts[[2]string{a.Rule, a.Key}]
			}
		})
	}, []string{"a refund of what was not charged"}},
	{"gives a bucket back what it has paid off", func(b *broken) {
		b.refund = func(ctx context.Context, asks []core.Ask) error {
			now, err := b.Store.Peek(ctx, &asks[0])
			asks[0].Receipt.At = now.UnixNano()
			return errors.Join(err, b.Store.Refund(ctx, asks))
		}
	}, []string{"a bucket has refunded"}},
	{"counts by key alone", func(b *broken) {
		b.rewrite(func(a core.Ask) core.Ask { a.Rule = ""; return a })
	}, []string{"rule and key together"}},
	{"runs rule and key together", func(b *broken) {
		b.rewrite(func(a core.Ask) core.Ask { a.Rule, a.Key = "", a.Rule+a.Key; return a })
	}, []string{"rule and key together"}},
	{"cuts keys at 64 bytes", func(b *broken) {
		b.rewrite(func(a core.Ask) core.Ask { a.Key = a.Key[:min(64, len(a.Key))]; return a })
	}, []string{"keys are any bytes"}},
	{"counts a key of braces by what is inside", func(b *broken) {
		b.rewrite(func(a core.Ask) core.Ask { a.Key = strings.Trim(a.Key, "{}"); return a })
	}, []string{"keys are any bytes"}},
	{"keeps the caller's string", func(b *broken) {
		numbers := map[string]string{}
		b.rewrite(func(a core.Ask) core.Ask {
			if numbers[a.Key] == "" {
				numbers[a.Key] = fmt.Sprint(len(numbers) + 1)
			}
			a.Key = numbers[a.Key]
			return a
		})
	}, []string{"a key may be borrowed"}},
	{"resets nothing", func(b *broken) {
		b.reset = func(context.Context, string, string) error { return nil }
	}, []string{"Reset forgets one subject", "random histories"}},
	{"starts afresh under another quota", func(b *broken) {
		b.relimit(func(l core.Limit) core.Limit { return l.Named(fmt.Sprint(l.Name(), l.Quota())) })
	}, []string{"counts outlive", "random histories"}},
	{"keeps counts that mean something else", func(b *broken) {
		b.relimit(func(l core.Limit) core.Limit { return l.Smooth(1) })
	}, []string{"a limit counted in another way"}},
	{"forgets a subject that it denies", func(b *broken) {
		b.afterDenial(func(asks []core.Ask) {
			for _, a := range asks {
				if err := b.Store.Reset(background, a.Rule, a.Key); err != nil {
					panic(err)
				}
			}
		})
	}, []string{"a denied request changes no limits", "a denied request is charged to none"}},
	{"counts in single precision", func(b *broken) {
		b.relimit(func(l core.Limit) core.Limit {
			if l.Algorithm() != core.Smooth {
				return l
			}
			return recounted(l, min(core.MaxQuota, int64(float32(l.Quota()))-1), 1)
		})
	}, []string{"the largest and smallest"}},
	{"takes a cost for 32 bits", func(b *broken) {
		b.rewrite(func(a core.Ask) core.Ask { a.Cost = max(1, int64(int32(a.Cost))); return a })
	}, []string{"a cost of any size"}},
	{"keeps requests ten windows long", func(b *broken) {
		b.relimit(func(l core.Limit) core.Limit {
			longer := core.Per(l.Quota(), 10*l.Window()).Named(l.Name()).Exact()
			if l.IsDryRun() {
				return longer.DryRun()
			}
			return longer
		})
	}, []string{"after a silence", "a request counts for less than a window"}},
	{"starts afresh when the clock steps back", func(b *broken) {
		var last time.Time
		b.decide = func(ctx context.Context, asks []core.Ask) (time.Time, error) {
			now, err := b.Store.Peek(ctx, &asks[0])
			if now.Before(last) {
				err = errors.Join(err, b.Store.Reset(ctx, asks[0].Rule, asks[0].Key))
			}
			last = now
			now, err2 := b.Store.Decide(ctx, asks)
			return now, errors.Join(err, err2)
		}
	}, []string{"a clock that steps back", "random histories"}},
	{"looks first and charges later", func(b *broken) {
		b.decide = func(ctx context.Context, asks []core.Ask) (now time.Time, err error) {
			for i := range asks {
				now, err = b.Store.Peek(ctx, &asks[i])
			}
			for range 50 {
				runtime.Gosched() // others look meanwhile
			}
			if admits(asks) {
				b.force(asks)
			}
			return now, err
		}
	}, []string{"a crowd on one key"}},
}

// named returns the check whose promise begins with some words.
func named(t *testing.T, words string) check {
	for _, c := range checks {
		if strings.HasPrefix(c.promise, words) {
			return c
		}
	}
	t.Fatalf("no check promises %q", words)
	return check{}
}

// settable returns a Memory, wrapped by a fault, whose clock the suite sets.
func settable(wrap func(*broken)) func() Fixture {
	return func() Fixture {
		store, now := &core.Memory{}, time.Date(2026, 7, 4, 12, 34, 56, 0, time.UTC)
		core.MustNew(core.Config{
			Store: store,
			Now:   func() time.Time { return now },
			Rules: []core.Rule{core.By(func(core.Request) (string, error) { return "", nil }, core.PerSecond(1))},
		})
		b := &broken{Store: store}
		wrap(b)
		return Fixture{Store: b, Advance: func(d time.Duration) { now = now.Add(d) }, Tick: 1}
	}
}

func TestBrokenStoresAreNoticed(t *testing.T) {
	noticed := map[string]bool{}
	for _, s := range brokenStores {
		t.Run(s.fault, func(t *testing.T) {
			for _, words := range s.promises {
				c := named(t, words)
				noticed[c.promise] = true
				if len(complaints(c, settable(s.make))) == 0 {
					t.Errorf("a store that %s passed the check %q", s.fault, c.promise)
				}
			}
		})
	}
	for _, c := range checks {
		if !noticed[c.promise] {
			t.Errorf("no broken store fails the check %q", c.promise)
		}
	}
}

func TestHonestStoreHasNoComplaints(t *testing.T) {
	for _, c := range checks {
		if got := complaints(c, settable(func(*broken) {})); got != nil {
			t.Errorf("%s: %q", c.promise, got)
		}
	}
}
