package verify_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/internal/model"
)

// TestLimitersAgreeWithTheDefinition drives random limiters through random
// histories beside a model that keeps every charge and sums in rational
// numbers: same verdict, same remaining, same waits, after every step. Retry
// times are tried as well, and the nanosecond before.
func TestLimitersAgreeWithTheDefinition(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := newPair(t)
		t.Repeat(map[string]func(*rapid.T){
			"request":         p.request,
			"request again":   p.request,
			"burst":           p.burst,
			"move clock":      p.moveClock,
			"move and ask":    p.moveAndAsk,
			"obey":            p.obey,
			"refund":          p.refund,
			"change of plan":  p.changePlan,
			"reset":           p.reset,
			"look everywhere": p.lookEverywhere,
		})
	})
}

// A pair is a limiter and the model, asked the same at the same instants.
type pair struct {
	clock   *clock
	drawn   [][]core.Limit
	rules   [][]core.Limit // as they stand now
	limiter *core.Limiter
	model   *model.Store
	last    request // the last one
	waits   bool    // it was denied, and nothing else has happened since
	due     int64   // when it is admitted
	admit   []admission
}

// An admission is a decision on both sides that can be refunded.
type admission struct {
	decision core.Decision
	asks     []core.Ask
}

// A request carries what the functions of the rules return.
type request struct {
	core.Request
	parts []part
}

type part struct {
	key    string
	cost   int64
	limits []core.Limit
}

func (request) Context() context.Context { return context.Background() }
func (r request) Native() any            { return r }

func partOf(r core.Request, i int) part { return r.Native().(request).parts[i] }

func ruleName(i int) string { return fmt.Sprintf("rule %d", i) }

func newPair(t *rapid.T) *pair {
	p := &pair{clock: drawClock(t), drawn: drawRules(t), model: model.New(1)}
	p.rules = slices.Clone(p.drawn)
	c := core.Config{Now: p.clock.now}
	for i, limits := range p.rules {
		c.Rules = append(c.Rules, core.Rule{
			Name:      ruleName(i),
			Limits:    limits,
			Key:       func(r core.Request) (string, error) { return partOf(r, i).key, nil },
			Cost:      func(r core.Request) (int64, error) { return partOf(r, i).cost, nil },
			LimitsFor: func(r core.Request) ([]core.Limit, error) { return partOf(r, i).limits, nil },
		})
	}
	limiter, err := core.New(c)
	if err != nil {
		t.Fatal(err)
	}
	p.limiter = limiter
	return p
}

var keys = rapid.SampledFrom([]string{"a", "a", "a", "b", string(make([]byte, 65))})

// request asks about a drawn request; some rules may be left out.
func (p *pair) request(t *rapid.T) {
	var r request
	for _, limits := range p.rules {
		quota := limits[0].Burst()
		cost := rapid.OneOf(
			rapid.SampledFrom([]int64{1, 1, 1, 1, 0, 2, 3, quota, quota / 2, quota/2 + 1, quota + 1, math.MaxInt64}),
			rapid.Int64Range(1, max(1, quota)),
		)
		r.parts = append(r.parts, part{keys.Draw(t, "key"), cost.Draw(t, "cost"), limits})
	}
	p.ask(t, r)
}

// burst repeats the last request.
func (p *pair) burst(t *rapid.T) {
	if p.last.parts == nil {
		t.Skip("nothing to repeat")
	}
	for range rapid.IntRange(1, 8).Draw(t, "times") {
		p.ask(t, p.last)
	}
}

func (p *pair) moveClock(t *rapid.T) {
	steps.Add(1)
	rule := rapid.SampledFrom(p.rules).Draw(t, "rule")
	p.clock.move(t, rapid.SampledFrom(rule).Draw(t, "limit"))
}

func (p *pair) moveAndAsk(t *rapid.T) {
	p.moveClock(t)
	p.request(t)
}

// obey waits until the last request is due: it is denied still a nanosecond
// before, and then admitted.
func (p *pair) obey(t *rapid.T) {
	if !p.waits || p.due <= p.clock.at || p.due > latest {
		t.Skip("nothing to wait for")
	}
	p.clock.at = p.due - 1
	if d := p.ask(t, p.last); d.Allowed || d.RetryAfter != 1 {
		t.Fatalf("1 ns before the retry time: allowed %v, %+v", d.Allowed, d.States())
	}
	p.clock.at++
	if d := p.ask(t, p.last); !d.Allowed {
		t.Fatalf("denied at the retry time: %+v", d.States())
	}
}

// ask has both sides decide, and compares all that they say.
func (p *pair) ask(t *rapid.T, r request) core.Decision {
	steps.Add(1)
	asks, before := p.asksFor(r), p.look(t, r)
	admitted := p.model.Decide(p.clock.now(), asks)
	d, err := p.limiter.Check(r)
	if err != nil {
		t.Fatal(err)
	}
	p.compare(t, d, admitted, asks)
	p.last, p.waits, p.due = r, d.RetryAfter > 0, p.clock.at+int64(d.RetryAfter)
	if d.Allowed {
		p.admit = append(p.admit, admission{d, asks})
		return d
	}
	for i, after := range p.look(t, r) {
		if after != before[i] {
			t.Fatalf("a denial changed %v:\n before %+v\n after  %+v", after.Limit, before[i].State, after.State)
		}
	}
	return d
}

// asksFor returns the request as the model takes it.
func (p *pair) asksFor(r request) []core.Ask {
	var asks []core.Ask
	for i, part := range r.parts {
		if part.cost > 0 {
			asks = append(asks, core.Ask{
				Rule: ruleName(i), Key: part.key, Cost: part.cost,
				Limits: part.limits, States: make([]core.State, len(part.limits)),
			})
		}
	}
	return asks
}

// look returns how the limits of a request stand in the limiter.
func (p *pair) look(t *rapid.T, r request) []core.LimitState {
	var all []core.LimitState
	for i, part := range r.parts {
		states, err := p.limiter.Peek(context.Background(), ruleName(i), part.key, part.limits...)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, states...)
	}
	return all
}

func (p *pair) compare(t *rapid.T, d core.Decision, admitted bool, asks []core.Ask) {
	if d.Allowed != admitted {
		t.Fatalf("allowed %v, by definition %v: %+v", d.Allowed, admitted, d.States())
	}
	var wait time.Duration
	never, got := false, d.States()
	for _, a := range asks {
		for i, want := range a.States {
			if got[i].State != want {
				t.Fatalf("cost %d under %v at %d:\n got  %+v\n want %+v", a.Cost, a.Limits[i], p.clock.at, got[i].State, want)
			}
			if want.Denied && !a.Limits[i].IsDryRun() {
				wait, never = max(wait, want.RetryAfter), never || want.Never
			}
		}
		got = got[len(a.States):]
	}
	if never {
		wait = 0
	}
	if d.Never != never || d.RetryAfter != wait {
		t.Fatalf("RetryAfter %v, never %v; by definition %v, %v", d.RetryAfter, d.Never, wait, never)
	}
}

// refund gives an admitted request back, sometimes twice.
func (p *pair) refund(t *rapid.T) {
	if len(p.admit) == 0 {
		t.Skip("nothing to refund")
	}
	steps.Add(1)
	p.waits = false
	i := max(0, len(p.admit)-1-rapid.IntRange(0, 3).Draw(t, "how long ago"))
	a := &p.admit[i]
	for range rapid.IntRange(1, 2).Draw(t, "times") {
		if err := p.limiter.Refund(context.Background(), &a.decision); err != nil {
			t.Fatal(err)
		}
		p.model.Refund(p.clock.now(), a.asks)
	}
	p.lookEverywhere(t)
}

// changePlan gives a rule's limits other quotas from now on, as when a customer
// buys another plan. A bucket's change of pace voids receipts.
func (p *pair) changePlan(t *rapid.T) {
	steps.Add(1)
	i := rapid.IntRange(0, len(p.rules)-1).Draw(t, "rule")
	var changed []core.Limit
	for _, l := range p.drawn[i] {
		changed = append(changed, requoted(l, quotas.Draw(t, "quota")))
		if l.Algorithm() == core.Bucket {
			p.admit = nil
		}
	}
	p.rules[i] = changed
	p.last, p.waits = request{}, false
}

func (p *pair) reset(t *rapid.T) {
	steps.Add(1)
	i, key := rapid.IntRange(0, len(p.rules)-1).Draw(t, "rule"), keys.Draw(t, "key")
	if err := p.limiter.Reset(context.Background(), ruleName(i), key); err != nil {
		t.Fatal(err)
	}
	p.model.Reset(ruleName(i), key)
	p.waits = false
}

// lookEverywhere compares the states of all keys without asking anything.
func (p *pair) lookEverywhere(t *rapid.T) {
	for i, limits := range p.rules {
		for _, key := range []string{"a", "b"} {
			a := core.Ask{Rule: ruleName(i), Key: key, Cost: 1, Limits: limits, States: make([]core.State, len(limits))}
			p.model.Peek(p.clock.now(), &a)
			states, err := p.limiter.Peek(context.Background(), ruleName(i), key, limits...)
			if err != nil {
				t.Fatal(err)
			}
			for j, want := range a.States {
				if states[j].State != want {
					t.Fatalf("%v looked at, at %d:\n got  %+v\n want %+v", limits[j], p.clock.at, states[j].State, want)
				}
			}
		}
	}
}
