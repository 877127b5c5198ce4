package storetest

import (
	"time"

	"github.com/slidegate/slidegate/core"
)

// A step is what happens at an instant of a worked example.
type step struct {
	at       time.Duration
	before   int64 // remaining as the step begins: the quota less the estimate, rounded down
	requests int
	admitted int
	after    int64         // remaining as it ends
	wait     time.Duration // that the last, denied, request is told; 0 where it was admitted
}

const (
	second = time.Second
	ms     = time.Millisecond
)

// The numbers below were worked out by hand from the definitions.
var worked = []struct {
	phrase string
	limit  core.Limit
	steps  []step
}{
	{"five places for 30 s, each taken for just that long", core.Per(5, 30*second).Exact(), []step{
		{at: 0, before: 5, requests: 1, admitted: 1, after: 4},
		{at: 5 * second, before: 4, requests: 2, admitted: 2, after: 2},
		{at: 15 * second, before: 2, requests: 2, admitted: 2, after: 0},
		{at: 25 * second, before: 0, requests: 1, admitted: 0, after: 0, wait: 5 * second},
		{at: 35 * second, before: 3, requests: 1, admitted: 1, after: 2},
		{at: 40 * second, before: 2, requests: 3, admitted: 2, after: 0, wait: 5 * second},
	}},
	{"five places by two counters: the last window was full", core.Per(5, 30*second), []step{
		{at: 0, before: 5, requests: 5, admitted: 5, after: 0},
		{at: 35 * second, before: 0, requests: 1, admitted: 0, after: 0, wait: 1 * second},
		{at: 40 * second, before: 1, requests: 2, admitted: 1, after: 0, wait: 2 * second},
	}},
	{"five at 10 s weigh 4.5 at 33 s and 4 at 36 s", core.Per(5, 30*second), []step{
		{at: 10 * second, before: 5, requests: 5, admitted: 5, after: 0},
		{at: 33 * second, before: 0, requests: 1, admitted: 0, after: 0, wait: 3 * second},
		{at: 35_999 * ms, before: 0, requests: 1, admitted: 0, after: 0, wait: 1 * ms},
		{at: 36 * second, before: 1, requests: 1, admitted: 1, after: 0},
	}},
	{"five in the first second of the last window weigh as much as any five", core.Per(5, 30*second), []step{
		{at: 500 * ms, before: 5, requests: 5, admitted: 5, after: 0},
		{at: 33 * second, before: 0, requests: 1, admitted: 0, after: 0, wait: 3 * second},
	}},
	{"the log has forgotten those five", core.Per(5, 30*second).Exact(), []step{
		{at: 500 * ms, before: 5, requests: 5, admitted: 5, after: 0},
		{at: 33 * second, before: 5, requests: 1, admitted: 1, after: 4},
	}},
	{"an hourly log lets arrivals go after 60 minutes", core.PerHour(100).Exact(), []step{
		{at: 91 * time.Minute, before: 100, requests: 10, admitted: 10, after: 90},
		{at: 105 * time.Minute, before: 90, requests: 30, admitted: 30, after: 60},
		{at: 130 * time.Minute, before: 60, requests: 40, admitted: 40, after: 20},
		{at: 148 * time.Minute, before: 20, requests: 15, admitted: 15, after: 5},
		{at: 150 * time.Minute, before: 5, after: 5},
		{at: 150*time.Minute + 30*second, before: 5, after: 5},
		{at: 151 * time.Minute, before: 15, after: 15},
		{at: 165 * time.Minute, before: 45, after: 45},
		{at: 166 * time.Minute, before: 45, after: 45},
	}},
	{"an hour of 60 slots lets each minute go while the next one passes", core.PerHour(100).Smooth(60), []step{
		{at: 91 * time.Minute, before: 100, requests: 10, admitted: 10, after: 90},
		{at: 105 * time.Minute, before: 90, requests: 30, admitted: 30, after: 60},
		{at: 130 * time.Minute, before: 60, requests: 40, admitted: 40, after: 20},
		{at: 148 * time.Minute, before: 20, requests: 15, admitted: 15, after: 5},
		{at: 150 * time.Minute, before: 5, after: 5},
		{at: 150*time.Minute + 30*second, before: 5, after: 5},
		{at: 151 * time.Minute, before: 5, after: 5},
		{at: 165 * time.Minute, before: 15, after: 15},
		{at: 166 * time.Minute, before: 45, after: 45},
	}},
	{"ten slots of 1 s: ten count in full, the oldest by half", core.Per(100, 10*second).Smooth(10), []step{
		{at: 7_250 * ms, before: 100, requests: 2, admitted: 2, after: 98},
		{at: 8_250 * ms, before: 98, requests: 2, admitted: 2, after: 96},
		{at: 9_250 * ms, before: 96, requests: 2, admitted: 2, after: 94},
		{at: 10_250 * ms, before: 94, requests: 2, admitted: 2, after: 92},
		{at: 11_250 * ms, before: 92, requests: 2, admitted: 2, after: 90},
		{at: 12_250 * ms, before: 90, requests: 2, admitted: 2, after: 88},
		{at: 13_250 * ms, before: 88, requests: 2, admitted: 2, after: 86},
		{at: 14_250 * ms, before: 86, requests: 2, admitted: 2, after: 84},
		{at: 15_250 * ms, before: 84, requests: 2, admitted: 2, after: 82},
		{at: 16_250 * ms, before: 82, requests: 2, admitted: 2, after: 80},
		{at: 17_250 * ms, before: 80, requests: 2, admitted: 2, after: 78},
		{at: 17_500 * ms, before: 79, after: 79},
	}},
	{"strict(1) counts the whole last window", core.Per(5, 30*second).Strict(1), []step{
		{at: 10 * second, before: 5, requests: 5, admitted: 5, after: 0},
		{at: 33 * second, before: 0, requests: 1, admitted: 0, after: 0, wait: 27 * second},
		{at: 59 * second, before: 0, requests: 1, admitted: 0, after: 0, wait: 1 * second},
		{at: 60 * second, before: 5, requests: 1, admitted: 1, after: 4},
		{at: 61 * second, before: 4, requests: 6, admitted: 4, after: 0, wait: 59 * second},
	}},
	{"strict(10) lets five go with their slot of 3 s", core.Per(5, 30*second).Strict(10), []step{
		{at: 500 * ms, before: 5, requests: 6, admitted: 5, after: 0, wait: 32_500 * ms},
		{at: 30_400 * ms, before: 0, requests: 1, admitted: 0, after: 0, wait: 2_600 * ms},
		{at: 32_900 * ms, before: 0, requests: 1, admitted: 0, after: 0, wait: 100 * ms},
		{at: 33 * second, before: 5, requests: 5, admitted: 5, after: 0},
	}},
	{"a bucket that pays a unit off in a third of a second", core.PerSecond(3).Bucket(6), []step{
		{at: 0, before: 6, requests: 8, admitted: 6, after: 0, wait: 333_333_334},
		{at: 200 * ms, before: 0, requests: 1, admitted: 0, after: 0, wait: 133_333_334},
		{at: 400 * ms, before: 1, requests: 1, admitted: 1, after: 0},
		{at: 400 * ms, before: 0, requests: 1, admitted: 0, after: 0, wait: 266_666_667},
		{at: 1 * second, before: 2, requests: 3, admitted: 2, after: 0, wait: 333_333_334},
		{at: 10 * second, before: 6, requests: 7, admitted: 6, after: 0, wait: 333_333_334},
	}},
	{"a bucket of one spaces requests evenly", core.PerMinute(100).Bucket(1), []step{
		{at: 0, before: 1, requests: 2, admitted: 1, after: 0, wait: 600 * ms},
		{at: 599 * ms, before: 0, requests: 1, admitted: 0, after: 0, wait: 1 * ms},
		{at: 600 * ms, before: 1, requests: 1, admitted: 1, after: 0},
		{at: 600 * ms, before: 0, requests: 1, admitted: 0, after: 0, wait: 600 * ms},
		{at: 1_200 * ms, before: 1, requests: 2, admitted: 1, after: 0, wait: 600 * ms},
	}},
	{"a fixed window begins at its multiples", core.PerMinute(3).Fixed(), []step{
		{at: 59 * second, before: 3, requests: 4, admitted: 3, after: 0, wait: 1 * second},
		{at: 60 * second, before: 3, requests: 4, admitted: 3, after: 0, wait: 60 * second},
		{at: 119 * second, before: 0, requests: 1, admitted: 0, after: 0, wait: 1 * second},
	}},
}

func workedExamples(p *probe) {
	for _, w := range worked {
		p.begin(max(w.limit.Window(), 10*second))
		for _, s := range w.steps {
			p.step(w.phrase, w.limit, s)
		}
	}
}

func (p *probe) step(phrase string, l core.Limit, s step) {
	p.to(s.at)
	if got := p.remaining(l); got != s.before {
		p.Errorf("%s: at %v %d remaining, want %d", phrase, s.at, got, s.before)
	}
	admitted, last := 0, core.State{Remaining: s.after}
	for range s.requests {
		a := ask(1, l)
		if p.decide(a) {
			admitted++
		}
		last = a[0].States[0]
	}
	if admitted != s.admitted || last.Remaining != s.after {
		p.Errorf("%s: at %v %d of %d admitted and %d remaining, want %d and %d",
			phrase, s.at, admitted, s.requests, last.Remaining, s.admitted, s.after)
	}
	if want := p.roundUp(s.wait); last.RetryAfter != want {
		p.Errorf("%s: at %v RetryAfter %v, want %v", phrase, s.at, last.RetryAfter, want)
	}
}

// boundaryBursts sends 100 requests within the last half of a minute's last
// second before a boundary, and 100 within the first second after it.
func boundaryBursts(p *probe) {
	for _, c := range []struct {
		limit core.Limit
		want  int
	}{
		{core.PerMinute(100).Fixed(), 200},
		{core.PerMinute(100), 101},
		{core.PerMinute(100).Smooth(10), 100},
		{core.PerMinute(100).Strict(60), 100},
		{core.PerMinute(100).Exact(), 100},
	} {
		p.begin(time.Minute)
		got := 0
		for i := range time.Duration(100) {
			p.to(59*second + i*second/200)
			got += p.spend(1, c.limit)
		}
		for i := range time.Duration(100) {
			p.to(60*second + i*second/100 + second/200)
			got += p.spend(1, c.limit)
		}
		if got != c.want {
			p.Errorf("%v: %d of 200 requests around a boundary admitted, want %d", c.limit, got, c.want)
		}
	}
}

// A charge is a cost at an instant.
type charge struct {
	at   time.Duration
	cost int64
}

var workedOut = []struct {
	phrase  string
	limit   core.Limit
	under   int64 // the quota while it was charged, if another
	charges []charge
	at      time.Duration
	cost    int64
	wait    time.Duration
}{
	{phrase: "a log waits for its oldest charge to leave", limit: core.PerMinute(3).Exact(),
		charges: []charge{{0, 1}, {10 * second, 1}, {20 * second, 1}}, at: 30 * second, cost: 1, wait: 30 * second},
	{phrase: "for a cost of 2 it waits for the second oldest", limit: core.PerMinute(3).Exact(),
		charges: []charge{{0, 1}, {10 * second, 1}, {20 * second, 1}}, at: 30 * second, cost: 2, wait: 40 * second},
	{phrase: "two counters wait for the last window's share to shrink", limit: core.PerMinute(10), under: 15,
		charges: []charge{{30 * second, 10}, {60 * second, 5}}, at: 75 * second, cost: 1, wait: 21 * second},
	{phrase: "and past the window's end for their own", limit: core.PerMinute(10),
		charges: []charge{{0, 10}}, at: 50 * second, cost: 1, wait: 16 * second},
	{phrase: "longer than a window once the quota was lowered", limit: core.PerMinute(10), under: 30,
		charges: []charge{{0, 20}, {60 * second, 10}}, at: 60 * second, cost: 1, wait: 66 * second},
	{phrase: "a cost of 3 waits for three tenths", limit: core.PerMinute(10),
		charges: []charge{{0, 10}}, at: 50 * second, cost: 3, wait: 28 * second},
	{phrase: "ten slots wait for a fifth of the oldest", limit: core.PerMinute(10).Smooth(10),
		charges: []charge{{0, 5}, {30 * second, 5}}, at: 40 * second, cost: 1, wait: 21_200 * ms},
	{phrase: "sixty slots wait for a fifth of a smaller one", limit: core.PerMinute(10).Smooth(60),
		charges: []charge{{0, 5}, {30 * second, 5}}, at: 40 * second, cost: 1, wait: 20_200 * ms},
}

func workedWaits(p *probe) {
	for _, c := range workedOut {
		p.begin(time.Minute)
		charged := c.limit
		if c.under > 0 {
			charged = core.Per(c.under, c.limit.Window())
		}
		for _, ch := range c.charges {
			p.to(ch.at)
			p.mustCharge(ask(ch.cost, charged))
		}
		p.to(c.at)
		a := ask(c.cost, c.limit)
		if p.decide(a) || a[0].States[0].Remaining != 0 || a[0].States[0].RetryAfter != c.wait {
			p.Errorf("%s: %v: %+v, want a denial with 0 remaining and a wait of %v", c.phrase, c.limit, a[0].States[0], c.wait)
			continue
		}
		p.holds(c.phrase, a)
	}
}

// holds checks that the asks, just denied, are admitted after the longest of
// their waits, and not one tick sooner.
func (p *probe) holds(phrase string, asks []core.Ask) {
	p.Helper()
	var wait time.Duration
	for _, a := range asks {
		for _, s := range a.States {
			wait = max(wait, s.RetryAfter)
		}
	}
	p.advance(wait - p.Tick)
	if p.decide(asks) {
		p.Errorf("%s: admitted one tick before its wait of %v was over", phrase, wait)
	}
	p.advance(p.Tick)
	if !p.decide(asks) {
		p.Errorf("%s: denied after its wait of %v: %+v", phrase, wait, asks)
	}
}
