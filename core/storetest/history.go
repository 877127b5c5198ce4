package storetest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/internal/model"
)

const (
	histories = 80
	steps     = 100 // of each history
)

// randomHistories has the store and the model live through the same requests,
// refunds, resets, peeks and changes of quotas. Every number must agree.
func randomHistories(p *probe) {
	for seed := range uint64(histories) {
		h := newHistory(p, seed)
		for range steps {
			if fault := h.step(); fault != "" {
				p.Fatalf("history of seed %d: %s; this is what happened:\n%s", seed, fault, strings.Join(h.log, "\n"))
			}
		}
	}
}

// A history is a store and the model in step.
type history struct {
	*probe
	*rand.Rand
	model   *model.Store
	rules   [][]core.Limit
	longest time.Duration   // of the windows
	largest int64           // of the bursts
	waits   []time.Duration // that were announced last
	taken   []exchange      // that a refund may still come for
	log     []string
}

// An exchange is the same asks to both.
type exchange struct{ store, model []core.Ask }

func newHistory(p *probe, seed uint64) *history {
	p.begin(second)
	h := &history{probe: p, Rand: rand.New(rand.NewPCG(seed, 5)), model: model.New(p.Tick)}
	windows := []time.Duration{ms, 7 * ms, 50 * ms, second, 61 * second, 15 * time.Minute, time.Hour, 24 * time.Hour, core.MaxWindow}
	base := windows[h.IntN(len(windows))]
	for range 1 + h.IntN(3) {
		var limits []core.Limit
		for i := range 1 + h.IntN(3) {
			limits = append(limits, h.limit(base).Named(fmt.Sprint("limit-", i+1)))
		}
		h.rules = append(h.rules, limits)
	}
	return h
}

// limit returns a valid limit with a window of one to three times the base.
func (h *history) limit(base time.Duration) core.Limit {
	window := min(core.MaxWindow, base*time.Duration(1+h.IntN(3)))
	h.longest = max(h.longest, window)
	for {
		l := h.counted(core.Per(h.quota(), window))
		if h.IntN(8) == 0 {
			l = l.DryRun()
		}
		if l.Validate() == nil {
			return l
		}
	}
}

func (h *history) counted(l core.Limit) core.Limit {
	slots := 1 + h.IntN(12)
	if h.IntN(10) == 0 {
		slots = core.MaxSlots
	}
	switch h.IntN(6) {
	case 0:
		return l
	case 1:
		return l.Smooth(slots)
	case 2:
		return l.Strict(slots)
	case 3:
		return l.Exact()
	case 4:
		return l.Fixed()
	}
	return l.Bucket(h.burst(l.Quota()))
}

func (h *history) burst(quota int64) int64 {
	burst := min(core.MaxQuota, 1+h.Int64N(3*quota+1))
	h.largest = max(h.largest, burst)
	return burst
}

func (h *history) quota() int64 {
	quotas := []int64{1, 2, 3, 4, 5, 6, 7, 10, 33, 100, 1000, core.MaxExactQuota, core.MaxQuota / 3, core.MaxQuota}
	if h.IntN(20) == 0 {
		return 0
	}
	return quotas[h.IntN(len(quotas))]
}

// step moves the clock and does one thing, and says where the two differ.
func (h *history) step() (fault string) {
	h.move()
	switch h.IntN(12) {
	case 0:
		return h.peekBoth()
	case 1:
		h.refundOne()
	case 2:
		if h.IntN(4) == 0 {
			h.resetBoth()
		}
	case 3:
		h.changeQuota()
	}
	return h.decideBoth()
}

// move moves the clock: mostly to instants at which something ends, or one tick
// before.
func (h *history) move() {
	d := h.stride()
	if h.clock.Add(d).Year() > 2120 {
		d = 0 // the counts of ten years need not go on for ever
	}
	if d < 0 && h.OneWay {
		d = -d
	}
	if d != 0 {
		h.note("%v passes", d)
		h.advance(d)
	}
}

func (h *history) stride() time.Duration {
	part := time.Duration(h.Int64N(int64(h.longest))) / h.Tick * h.Tick
	switch h.IntN(10) {
	case 0, 1, 2:
		return 0
	case 3, 4:
		if len(h.waits) > 0 {
			return h.waits[h.IntN(len(h.waits))] - h.Tick*time.Duration(h.IntN(2))
		}
	case 5: // to a multiple of the longest window
		return h.longest - time.Duration(h.clock.UnixNano()%int64(h.longest))/h.Tick*h.Tick
	case 6:
		return h.longest * time.Duration(1+h.IntN(3))
	case 7:
		return -part / 10 / h.Tick * h.Tick
	case 8:
		return part
	}
	return part / 20 / h.Tick * h.Tick
}

// asks returns the same asks for both, of some of the rules.
func (h *history) asks() exchange {
	var e exchange
	for _, rule := range h.Perm(len(h.rules))[:1+h.IntN(len(h.rules))] {
		limits := h.rules[rule]
		name, key, cost := fmt.Sprint("rule-", rule+1), string(rune('a'+h.IntN(2))), h.cost(limits)
		e.store = append(e.store, askOf(name, key, cost, limits...))
		e.model = append(e.model, askOf(name, key, cost, limits...))
	}
	return e
}

func (h *history) cost(limits []core.Limit) int64 {
	burst := limits[h.IntN(len(limits))].Burst()
	switch h.IntN(10) {
	case 0:
		return max(1, burst)
	case 1:
		return burst + 1
	case 2, 3, 4:
		return 1 + h.Int64N(max(1, burst))
	case 5:
		return 1 + h.Int64N(max(1, burst/3))
	case 6:
		if h.IntN(5) == 0 {
			return math.MaxInt64
		}
	}
	return 1
}

func (h *history) decideBoth() (fault string) {
	e := h.asks()
	admitted := h.decide(e.store)
	want := h.model.Decide(h.clock, e.model)
	h.note("asked at %v: %s admitted: %t", h.clock.Sub(h.zero), texts(e.store), admitted)
	if admitted != want {
		return fmt.Sprintf("admitted: %t, by the model: %t, states %s", admitted, want, texts(e.model))
	}
	h.waits = h.waits[:0]
	for i, a := range e.store {
		if !slices.Equal(a.States, e.model[i].States) {
			return fmt.Sprintf("states %s, by the model %s", texts(e.store), texts(e.model))
		}
		for _, s := range a.States {
			h.remember(s.RetryAfter, s.Next)
		}
	}
	if admitted {
		h.taken = append(h.taken, e)
	}
	return ""
}

func (h *history) remember(waits ...time.Duration) {
	for _, w := range waits {
		if w > 0 {
			h.waits = append(h.waits, w)
		}
	}
}

func (h *history) peekBoth() (fault string) {
	e := h.asks()
	got := h.peek(e.store[0])
	h.model.Peek(h.clock, &e.model[0])
	if !slices.Equal(got, e.model[0].States) {
		return fmt.Sprintf("a peek at %s says %+v", texts(e.model[:1]), got)
	}
	return ""
}

// refundOne takes one of the last charges back, sometimes for the second time.
func (h *history) refundOne() {
	if len(h.taken) == 0 {
		return
	}
	i := max(0, len(h.taken)-1-h.IntN(8))
	e := h.taken[i]
	h.note("refund of what was asked as %s", texts(e.store))
	h.refund(e.store)
	h.model.Refund(h.clock, e.model)
	if h.IntN(4) > 0 {
		h.taken = slices.Delete(h.taken, i, i+1)
	}
}

func (h *history) resetBoth() {
	rule, key := fmt.Sprint("rule-", 1+h.IntN(len(h.rules))), string(rune('a'+h.IntN(2)))
	h.note("reset of %s, %s", rule, key)
	h.reset(rule, key)
	h.model.Reset(rule, key)
}

// changeQuota gives a limit another quota, and a bucket another burst. Where a
// bucket's debt could then take more than the longest refill, a store may cut
// it; what a refund gives back across such a change is the store's choice too.
func (h *history) changeQuota() {
	limits := h.rules[h.IntN(len(h.rules))]
	i, quota := h.IntN(len(limits)), h.quota()
	changed, deepest := recounted(limits[i], quota, h.burst(quota)), recounted(limits[i], quota, h.largest)
	if changed.Validate() != nil || deepest.Validate() != nil {
		return
	}
	h.note("%v becomes %v", limits[i], changed)
	limits[i] = changed
	if changed.Algorithm() == core.Bucket {
		h.taken = nil
	}
}

// recounted returns the limit with another quota and, for a bucket, burst.
func recounted(l core.Limit, quota, burst int64) core.Limit {
	changed := core.Per(quota, l.Window()).Named(l.Name())
	switch l.Algorithm() {
	case core.Smooth:
		changed = changed.Smooth(l.Slots())
	case core.Strict:
		changed = changed.Strict(l.Slots())
	case core.Exact:
		changed = changed.Exact()
	case core.Fixed:
		changed = changed.Fixed()
	case core.Bucket:
		changed = changed.Bucket(burst)
	}
	if l.IsDryRun() {
		changed = changed.DryRun()
	}
	return changed
}

func (h *history) note(format string, args ...any) {
	h.log = append(h.log, fmt.Sprintf(format, args...))
}

func texts(asks []core.Ask) string {
	var b strings.Builder
	for _, a := range asks {
		fmt.Fprintf(&b, "[%s %q cost %d", a.Rule, a.Key, a.Cost)
		for i, l := range a.Limits {
			fmt.Fprintf(&b, "; %v %+v", l, a.States[i])
		}
		b.WriteString("] ")
	}
	return b.String()
}
