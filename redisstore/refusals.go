package redisstore

import (
	"context"
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/slidegate/slidegate/core"
)

// refusals are the deny cache: how asks stood that were refused, or will be
// because the last unit was just taken. A request is refused by them if all its
// asks stand as remembered and one of them denies. They never admit anything.
//
// While a key is exhausted its callers take turns: one asks Redis, and the
// others look at what it learned.
type refusals struct {
	most    int // entries; below one, none are kept
	now     func() time.Time
	seed    maphash.Seed
	undone  [64]atomic.Uint64 // refunds and resets, by a hash of their keys
	size    atomic.Int64      // of entries
	answers atomic.Uint64

	mu      sync.Mutex
	entries map[string]*refusal // by the keys of records
}

// longestRefusal bounds how long it may go unseen that another process refunded,
// reset, or raised a limit.
const longestRefusal = time.Second

// A refusal is how an ask stood.
type refusal struct {
	cost   int64
	limits []core.Limit
	states []core.State
	denies bool
	server time.Time // the server's clock
	heard  time.Time // ours, when the answer had come
	from   time.Time // ours, before the call
	until  time.Time // from then on, as long as nothing changes by itself
	line   *line     // of one that denies
}

// A line is where the callers of an exhausted key wait.
type line struct {
	turn chan struct{} // holds one
	gone chan struct{} // closed when the key may have room again
}

func newLine() *line { return &line{turn: make(chan struct{}, 1), gone: make(chan struct{})} }

func (l *line) leave() { <-l.turn }

func (c *refusals) init(most int, now func() time.Time) {
	c.most, c.now, c.seed, c.entries = most, now, maphash.MakeSeed(), map[string]*refusal{}
	if now == nil {
		c.now = time.Now
	}
}

// about reports whether an entry is about an ask. A higher cost has another
// wait, and a lower one may be admitted.
func (e *refusal) about(a *core.Ask) bool {
	return e != nil && e.cost == a.Cost && slices.Equal(e.limits, a.Limits)
}

// holds reports whether an entry is believed at an instant. A clock that was set
// back may show another window.
func (e *refusal) holds(now time.Time) bool {
	return !now.Before(e.from) && now.Before(e.until)
}

// answer refuses a request if it can, by filling its states.
func (c *refusals) answer(r *request) (server time.Time, refused bool) {
	if c.size.Load() == 0 {
		return time.Time{}, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	for i := range r.asks {
		e := c.entries[r.keys[i]]
		if !e.about(&r.asks[i]) || !e.holds(now) {
			return time.Time{}, false
		}
		refused = refused || e.denies
	}
	if !refused {
		return time.Time{}, false
	}
	c.answers.Add(1)
	for i := range r.asks {
		e := c.entries[r.keys[i]]
		passed := now.Sub(e.heard).Truncate(time.Microsecond)
		server = e.server.Add(passed)
		fillLater(r.asks[i].States, e.states, passed)
		r.asks[i].Receipt = core.Receipt{}
	}
	return server, true
}

// fillLater fills states with what others are after a time in which nothing
// changed but the waits.
func fillLater(states, from []core.State, passed time.Duration) {
	for i, s := range from {
		if s.RetryAfter > 0 {
			s.RetryAfter -= passed
		}
		if s.Next > 0 {
			s.Next -= passed
		}
		states[i] = s
	}
}

// wait takes the request's turn if a key of it is exhausted, and returns the
// line to leave, or nil if there is none or the turn does not come in time: half
// of it is left for a call of the request's own, since a turn that comes late
// says nothing of Redis.
func (c *refusals) wait(ctx context.Context, r *request) (*line, error) {
	l := c.lineOf(r)
	if l == nil {
		return nil, nil
	}
	select {
	case l.turn <- struct{}{}:
		return l, nil
	default:
	}
	timer := time.NewTimer(time.Until(r.deadline) / 2)
	defer timer.Stop()
	select {
	case l.turn <- struct{}{}:
		return l, nil
	case <-l.gone:
		return nil, nil
	case <-ctx.Done():
		return nil, ended(ctx)
	case <-timer.C:
		return nil, nil
	}
}

func (c *refusals) lineOf(r *request) *line {
	if c.size.Load() == 0 {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range r.asks {
		if e := c.entries[r.keys[i]]; e.about(&r.asks[i]) && e.denies {
			return e.line
		}
	}
	return nil
}

// A beginning is when a call began, and what had been undone by then.
type beginning struct {
	at     time.Time
	undone uint64
}

func (c *refusals) begin(r *request) beginning {
	if c.most < 1 {
		return beginning{}
	}
	return beginning{c.now(), c.undoneOf(r.keys)}
}

func (c *refusals) undoneOf(keys []string) (sum uint64) {
	for _, key := range keys {
		sum += c.undoings(key).Load()
	}
	return sum
}

// ownOf returns what of undoneOf is the request's own: what it refunded itself
// before it looked how its keys stand.
func (c *refusals) ownOf(r *request) (sum uint64) {
	for _, refunded := range r.refunded {
		for _, key := range r.keys {
			if c.undoings(refunded) == c.undoings(key) {
				sum++
			}
		}
	}
	return sum
}

func (c *refusals) undoings(key string) *atomic.Uint64 {
	return &c.undone[maphash.String(c.seed, key)%uint64(len(c.undone))]
}

// learn remembers how a request stands that was refused or took the last unit,
// and forgets what was known of the keys of any other. A reply from before a
// refund or reset says nothing.
func (c *refusals) learn(r *request, began beginning, server time.Time) {
	asks, refused := repeated(r.asks)
	if c.most < 1 || !refused && c.size.Load() == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !refused || began.undone+c.ownOf(r) != c.undoneOf(r.keys) {
		c.drop(r.keys)
		return
	}
	now := c.now()
	for i, a := range asks {
		c.put(r.keys[i], &refusal{
			cost: a.Cost, limits: slices.Clone(a.Limits), states: a.States, denies: !admits(asks[i : i+1]),
			server: server, heard: now, from: began.at, until: began.at.Add(constancy(a.States)),
		})
	}
}

// repeated returns the asks as they would be answered at once if they came
// again, and whether they would then be refused, for a time that is known.
func repeated(asks []core.Ask) (again []core.Ask, refused bool) {
	if admits(asks) && !slices.ContainsFunc(asks, isExhausted) {
		return nil, false
	}
	again = slices.Clone(asks)
	for i := range again {
		a := &again[i]
		a.States = slices.Clone(a.States)
		for j := range a.States {
			s := &a.States[j]
			switch {
			case s.Never && !a.Limits[j].IsDryRun():
				return nil, false
			case s.Denied, s.Remaining >= a.Cost:
			case s.Remaining+1 == a.Cost && s.Next > 0:
				s.Denied, s.RetryAfter = true, s.Next
			default:
				return nil, false
			}
		}
	}
	return again, true
}

// isExhausted reports whether an ask would be refused if it came again.
func isExhausted(a core.Ask) bool {
	for i, s := range a.States {
		if s.Remaining < a.Cost && !a.Limits[i].IsDryRun() {
			return true
		}
	}
	return false
}

// admits reports whether no limit but dry runs denies.
func admits(asks []core.Ask) bool {
	for i := range asks {
		for j, s := range asks[i].States {
			if s.Denied && !asks[i].Limits[j].IsDryRun() {
				return false
			}
		}
	}
	return true
}

// constancy returns how long states stay as they are, but for the waits, if
// nothing is charged or refunded, and at most for how long that is believed.
func constancy(states []core.State) time.Duration {
	hold := longestRefusal
	for _, s := range states {
		if s.RetryAfter > 0 {
			hold = min(hold, s.RetryAfter)
		}
		if s.Next > 0 {
			hold = min(hold, s.Next)
		}
	}
	return hold
}

// put keeps an entry. Who waits in the line of the one before goes on waiting.
func (c *refusals) put(key string, e *refusal) {
	old := c.entries[key]
	if old == nil && len(c.entries) >= c.most {
		c.makeRoom()
	}
	switch {
	case old != nil && old.denies && e.denies:
		e.line = old.line
	case e.denies:
		e.line = newLine()
	}
	if old != nil && e.line != old.line {
		old.end()
	}
	c.entries[key] = e
	c.size.Store(int64(len(c.entries)))
}

// end lets all who wait in an entry's line go on.
func (e *refusal) end() {
	if e.line != nil {
		close(e.line.gone)
	}
}

// makeRoom forgets one of a few entries: one that is over, or any.
func (c *refusals) makeRoom() {
	now, victim, tries := c.now(), "", 0
	for key, e := range c.entries {
		victim = key
		if tries++; tries == 8 || !e.holds(now) {
			break
		}
	}
	c.drop([]string{victim})
}

func (c *refusals) drop(keys []string) {
	for _, key := range keys {
		if e := c.entries[key]; e != nil {
			e.end()
			delete(c.entries, key)
		}
	}
	c.size.Store(int64(len(c.entries)))
}

// forget ends what is known of keys that were refunded or reset.
func (c *refusals) forget(keys []string) {
	for _, key := range keys {
		c.undoings(key).Add(1)
	}
	if c.size.Load() == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(keys)
}
