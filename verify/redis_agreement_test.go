//go:build unix

package verify_test

import (
	"math"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"pgregory.net/rapid"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/internal/model"
	"github.com/slidegate/slidegate/redisstore"
	"github.com/slidegate/slidegate/verify/internal/redistest"
)

// TestMemoryRedisAndTheDefinitionAgree has a limiter in memory, one in Redis and
// the model live through the same random histories: the same verdicts, remaining
// units and waits, but for waits in memory being finer than Redis's clock.
func TestMemoryRedisAndTheDefinitionAgree(t *testing.T) {
	server := redistest.Start(t)
	client := newClient(t, server.Addr)
	rapid.Check(t, func(t *rapid.T) {
		h := newThree(t, client)
		t.Repeat(map[string]func(*rapid.T){
			"request":        h.request,
			"request again":  h.request,
			"burst":          h.burst,
			"move and ask":   h.moveAndAsk,
			"obey":           h.obey,
			"refund":         h.refund,
			"change of plan": h.changePlan,
			"reset":          h.reset,
		})
	})
	noImmortalKeys(t, server, otherClock, longestLived)
}

// three are the limiters and the model, asked the same at the same instants.
type three struct {
	clock         *clock
	rules         [][]core.Limit // as they stand now
	memory, redis *core.Limiter
	model         *model.Store
	last          request
	due           int64 // when the last request is admitted, if it was denied and nothing happened since
	admitted      []admissions
}

// admissions are what each of the three admitted, and can be refunded.
type admissions struct {
	memory, redis core.Decision
	model         []core.Ask
}

func newThree(t *rapid.T, client *redis.Client) *three {
	start := rapid.Int64Range(1_600_000_000_000_000, 1_900_000_000_000_000).Draw(t, "start")
	h := &three{clock: &clock{at: start * 1000}, model: model.New(time.Microsecond)}
	c := core.Config{Doctor: silent}
	for i, limits := range drawRules(t) {
		for j := range limits {
			limits[j] = inMicroseconds(limits[j])
		}
		h.rules = append(h.rules, limits)
		c.Rules = append(c.Rules, core.Rule{
			Name:      ruleName(i),
			Limits:    limits,
			Key:       func(r core.Request) (string, error) { return partOf(r, i).key, nil },
			Cost:      func(r core.Request) (int64, error) { return partOf(r, i).cost, nil },
			LimitsFor: func(r core.Request) ([]core.Limit, error) { return partOf(r, i).limits, nil },
		})
	}
	inMemory, inRedis := c, c
	inMemory.Now = h.clock.now
	inRedis.Store = redisstore.New(client, redisstore.Config{Prefix: freshPrefix(), Timeout: patient, Now: h.clock.now})
	h.memory, h.redis = core.MustNew(inMemory), core.MustNew(inRedis)
	return h
}

// inMicroseconds returns the limit with a window that Redis's clock can tell.
func inMicroseconds(l core.Limit) core.Limit {
	to := core.Per(l.Quota(), l.Window().Truncate(time.Microsecond)).Named(l.Name())
	switch l.Algorithm() {
	case core.Smooth:
		to = to.Smooth(l.Slots())
	case core.Strict:
		to = to.Strict(l.Slots())
	case core.Exact:
		to = to.Exact()
	case core.Fixed:
		to = to.Fixed()
	case core.Bucket:
		to = to.Bucket(max(1, l.Burst()))
	}
	if l.IsDryRun() {
		to = to.DryRun()
	}
	return to
}

func (h *three) request(t *rapid.T) {
	var r request
	for _, limits := range h.rules {
		quota := limits[0].Burst()
		cost := rapid.OneOf(
			rapid.SampledFrom([]int64{1, 1, 1, 0, 2, 3, quota, quota/2 + 1, quota + 1, math.MaxInt64}),
			rapid.Int64Range(1, max(1, quota)),
		)
		r.parts = append(r.parts, part{keys.Draw(t, "key"), cost.Draw(t, "cost"), limits})
	}
	h.ask(t, r)
}

func (h *three) burst(t *rapid.T) {
	if h.last.parts == nil {
		t.Skip("nothing to repeat")
	}
	for range rapid.IntRange(1, 8).Draw(t, "times") {
		h.ask(t, h.last)
	}
}

func (h *three) moveAndAsk(t *rapid.T) {
	rule := rapid.SampledFrom(h.rules).Draw(t, "rule")
	h.clock.move(t, rapid.SampledFrom(rule).Draw(t, "limit"))
	h.clock.at -= h.clock.at % 1000
	h.request(t)
}

// obey waits until the last request is due, and tries the tick before as well.
func (h *three) obey(t *rapid.T) {
	if h.due <= h.clock.at || h.due > latest {
		t.Skip("nothing to wait for")
	}
	h.clock.at = h.due - 1000
	if h.ask(t, h.last) {
		t.Fatal("admitted 1 µs before the retry time")
	}
	h.clock.at += 1000
	if !h.ask(t, h.last) {
		t.Fatal("denied at the retry time")
	}
}

// ask has all three decide, and compares what they say.
func (h *three) ask(t *rapid.T, r request) (admitted bool) {
	steps.Add(1)
	var asks []core.Ask
	for i, part := range r.parts {
		if part.cost > 0 {
			asks = append(asks, core.Ask{
				Rule: ruleName(i), Key: part.key, Cost: part.cost,
				Limits: part.limits, States: make([]core.State, len(part.limits)),
			})
		}
	}
	admitted = h.model.Decide(h.clock.now(), asks)
	var want []core.State
	for _, a := range asks {
		want = append(want, a.States...)
	}
	inMemory, err := h.memory.Check(r)
	if err != nil {
		t.Fatal(err)
	}
	inRedis, err := h.redis.Check(r)
	if err != nil {
		t.Fatal(err)
	}
	h.compare(t, "memory", inMemory, admitted, want)
	h.compare(t, "Redis", inRedis, admitted, want)
	h.last, h.due = r, h.clock.at+int64(inRedis.RetryAfter)
	if admitted {
		h.admitted = append(h.admitted, admissions{inMemory, inRedis, asks})
	}
	return admitted
}

func (h *three) compare(t *rapid.T, who string, d core.Decision, admitted bool, want []core.State) {
	if d.Allowed != admitted {
		t.Fatalf("%s: allowed %v, by definition %v: %+v", who, d.Allowed, admitted, d.States())
	}
	for i, got := range d.States() {
		got.RetryAfter, got.Next = roundedUp(got.RetryAfter), roundedUp(got.Next)
		if got.State != want[i] {
			t.Fatalf("%s: %v at %d:\n got  %+v\n want %+v", who, got.Limit, h.clock.at, got.State, want[i])
		}
	}
}

// roundedUp returns a wait in whole ticks of Redis.
func roundedUp(d time.Duration) time.Duration {
	return (d + time.Microsecond - 1).Truncate(time.Microsecond)
}

func (h *three) refund(t *rapid.T) {
	if len(h.admitted) == 0 {
		t.Skip("nothing to refund")
	}
	steps.Add(1)
	h.due = 0
	a := &h.admitted[max(0, len(h.admitted)-1-rapid.IntRange(0, 3).Draw(t, "how long ago"))]
	for range rapid.IntRange(1, 2).Draw(t, "times") {
		if err := h.memory.Refund(background, &a.memory); err != nil {
			t.Fatal(err)
		}
		if err := h.redis.Refund(background, &a.redis); err != nil {
			t.Fatal(err)
		}
		h.model.Refund(h.clock.now(), a.model)
	}
}

// changePlan gives a rule other quotas. A bucket's change of pace voids receipts.
func (h *three) changePlan(t *rapid.T) {
	steps.Add(1)
	i := rapid.IntRange(0, len(h.rules)-1).Draw(t, "rule")
	var changed []core.Limit
	for _, l := range h.rules[i] {
		changed = append(changed, requoted(l, quotas.Draw(t, "quota")))
		if l.Algorithm() == core.Bucket {
			h.admitted = nil
		}
	}
	h.rules[i], h.last, h.due = changed, request{}, 0
}

func (h *three) reset(t *rapid.T) {
	steps.Add(1)
	i, key := rapid.IntRange(0, len(h.rules)-1).Draw(t, "rule"), keys.Draw(t, "key")
	for _, limiter := range []*core.Limiter{h.memory, h.redis} {
		if err := limiter.Reset(background, ruleName(i), key); err != nil {
			t.Fatal(err)
		}
	}
	h.model.Reset(ruleName(i), key)
	h.due = 0
}
