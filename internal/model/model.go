// Package model is a store by definition: it keeps every charge, sums every
// estimate up in rational numbers and searches for every wait. It is slow and
// plain, and says what the real stores must answer. Tests compare them with it.
package model

import (
	"math/big"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/slidegate/slidegate/core"
)

// A Store answers like a [core.Store] whose clock the caller reads: every method
// takes the reading. [New] makes it. It is not safe for concurrent use.
type Store struct {
	tick     int64
	serial   uint64
	subjects map[subject]record
}

type subject struct{ rule, key string }

// A record is what is known of a subject.
type record struct {
	last     int64 // the instant of its last charge
	accounts []account
}

// New returns an empty store whose waits are whole ticks. Readings handed to it
// must be whole ticks as well.
func New(tick time.Duration) *Store {
	return &Store{tick: int64(tick), subjects: map[subject]record{}}
}

// Decide fills the states and receipts of the asks and reports whether the
// request is admitted, under the contract of [core.Store].
func (s *Store) Decide(now time.Time, asks []core.Ask) (admitted bool) {
	views := make([]view, len(asks))
	admitted = true
	for i := range asks {
		asks[i].Receipt = core.Receipt{}
		views[i] = s.view(now, &asks[i])
		views[i].assess(&asks[i])
		admitted = admitted && views[i].admits
	}
	for i := range asks {
		if admitted && (views[i].dry || views[i].binding) {
			s.charge(&views[i], &asks[i])
		}
		views[i].settle(&asks[i])
	}
	return admitted
}

// Peek fills the states of an ask as they stand.
func (s *Store) Peek(now time.Time, a *core.Ask) {
	v := s.view(now, a)
	v.assess(a)
	v.settle(a)
}

// Reset forgets a subject.
func (s *Store) Reset(rule, key string) { delete(s.subjects, subject{rule, key}) }

// Refund takes back what the asks' receipts stand for, and clears them.
func (s *Store) Refund(now time.Time, asks []core.Ask) {
	for i := range asks {
		r := s.subjects[subject{asks[i].Rule, asks[i].Key}]
		for j := range r.accounts {
			r.accounts[j].refund(max(now.UnixNano(), r.last), asks[i].Receipt.Serial)
		}
		asks[i].Receipt = core.Receipt{}
	}
}

// A view is a subject as an ask sees it at a reading of the clock. It is a copy:
// what comes of it is kept only by charging.
type view struct {
	record
	tick, now, at int64
	admits        bool // no binding limit denies
	binding       bool // some limit is no dry run
	dry           bool // all dry runs have room
}

// view returns the ask's limits with the charges that count for them, for which
// name, window and way of counting must be equal.
func (s *Store) view(now time.Time, a *core.Ask) view {
	known := s.subjects[subject{a.Rule, a.Key}]
	v := view{tick: s.tick, now: now.UnixNano()}
	v.last = v.now
	if known.accounts != nil {
		v.last = known.last
	}
	v.at = max(v.now, v.last)
	for _, l := range a.Limits {
		i := slices.IndexFunc(known.accounts, func(k account) bool { return k.limit.SameCounts(l) })
		if i < 0 {
			v.accounts = append(v.accounts, account{limit: l, debt: new(big.Rat), last: v.at})
			continue
		}
		v.accounts = append(v.accounts, known.accounts[i].under(l))
	}
	return v
}

func (v *view) assess(a *core.Ask) {
	v.admits, v.dry, v.binding = true, true, false
	for i := range v.accounts {
		k := &v.accounts[i]
		room := k.room(v.at)
		state := core.State{Remaining: max(0, room), Denied: a.Cost > room}
		if state.Denied {
			if state.Never = a.Cost > k.limit.Burst(); !state.Never {
				state.RetryAfter = v.wait(k, a.Cost)
			}
		}
		a.States[i] = state
		dryRun := k.limit.IsDryRun()
		v.binding = v.binding || !dryRun
		v.dry = v.dry && !(dryRun && state.Denied)
		v.admits = v.admits && (dryRun || !state.Denied)
	}
}

// charge charges every limit, the dry runs only if all of them have room.
func (s *Store) charge(v *view, a *core.Ask) {
	s.serial++
	v.last = v.at
	for i := range v.accounts {
		k := &v.accounts[i]
		k.settle(v.at)
		if v.dry || !k.limit.IsDryRun() {
			k.charge(charge{s.serial, v.at, slotOf(k.limit, v.at), a.Cost})
			a.States[i].Remaining = max(0, k.room(v.at))
		}
	}
	s.subjects[subject{a.Rule, strings.Clone(a.Key)}] = v.record
	a.Receipt = core.Receipt{At: v.at, Serial: s.serial, Dry: v.dry}
}

func (v *view) settle(a *core.Ask) {
	for i := range v.accounts {
		if k, state := &v.accounts[i], &a.States[i]; state.Remaining < k.limit.Burst() {
			state.Next = v.wait(k, state.Remaining+1)
		}
	}
}

// wait searches for the smallest whole number of ticks after which cost units
// fit. Without new charges an estimate never grows, so that bisection finds it.
func (v *view) wait(k *account, cost int64) time.Duration {
	enough := v.at - v.now + k.horizon(v.at)
	ticks := sort.Search(int(enough/v.tick)+1, func(ticks int) bool {
		return cost <= k.room(max(v.now+int64(ticks)*v.tick, v.last))
	})
	return time.Duration(int64(ticks) * v.tick)
}
