package conformance

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/slidegate/slidegate/core"
)

func refundPlays() []scenario {
	return []scenario{
		{"RL-123 a refunded request leaves the whole quota, memory", func(tb testing.TB, a Adapter) { refundsInTurn(tb, a, false) }},
		{"RL-123 a refunded request leaves the whole quota, another store", func(tb testing.TB, a Adapter) { refundsInTurn(tb, a, true) }},
		{"RL-123 a refund cancels no other request's count, memory", func(tb testing.TB, a Adapter) { refundsAtOnce(tb, a, false) }},
		{"RL-123 a refund cancels no other request's count, another store", func(tb testing.TB, a Adapter) { refundsAtOnce(tb, a, true) }},
		{"RefundIf is told the status that was sent", refundStatuses},
		{"RefundIf is told 500 where the handler panics", refundPanic},
		{"a denied request is not refunded", refundDenied},
	}
}

// An otherStore is a memory that a limiter takes for any other store.
type otherStore struct{ memory *core.Memory }

var _ core.Store = otherStore{}

func (o otherStore) Check(limits []core.Limit) error { return o.memory.Check(limits) }
func (o otherStore) Decide(ctx context.Context, asks []core.Ask) (time.Time, error) {
	return o.memory.Decide(ctx, asks)
}

func (o otherStore) Peek(ctx context.Context, ask *core.Ask) (time.Time, error) {
	return o.memory.Peek(ctx, ask)
}

func (o otherStore) Reset(ctx context.Context, rule, key string) error {
	return o.memory.Reset(ctx, rule, key)
}

func (o otherStore) Refund(ctx context.Context, asks []core.Ask) error {
	return o.memory.Refund(ctx, asks)
}

// refunding serves a limit of three a minute that only failures count for: the
// client's name begins with the status to answer with.
func (s *stage) refunding(a Adapter, other bool) *core.Limiter {
	c := core.Config{Rules: []core.Rule{core.By(func(core.Request) (string, error) { return "k", nil }, core.PerMinute(3))}}
	if other {
		c.Store = otherStore{s.memory()}
	}
	l := s.limiter(c)
	s.serve(a, Setup{
		Group: []*core.Limiter{l}, Handle: statusOfClient,
		RefundIf: func(status int) bool { return status < 400 },
	})
	return l
}

func (s *stage) wantRemaining(l *core.Limiter, key string, want int64) {
	s.tb.Helper()
	states, err := l.Peek(context.Background(), "rule-1", key)
	if err != nil || states[0].Remaining != want {
		s.tb.Errorf("%+v, %v; want %d remaining", states, err, want)
	}
}

func refundsInTurn(tb testing.TB, a Adapter, other bool) {
	s := newStage(tb)
	l := s.refunding(a, other)
	for range 10 {
		s.expect(request{client: "200"}, "200 r=2")
		s.wantRemaining(l, "k", 3)
	}
}

func refundsAtOnce(tb testing.TB, a Adapter, other bool) {
	s := newStage(tb)
	l := s.refunding(a, other)
	got := s.statuses(50, func(i int) request { return request{client: strconv.Itoa(200 + i%2*200)} })
	if got[400] > 3 || got[200]+got[400]+got[429] != 50 {
		tb.Errorf("statuses %v, want at most 3 failures served", got)
	}
	s.wantRemaining(l, "k", int64(3-got[400]))
}

func refundStatuses(tb testing.TB, a Adapter) {
	told := make(chan int, 1)
	s := newStage(tb)
	s.serve(a, Setup{
		App: []*core.Limiter{s.limited(core.PerMinute(100))},
		Handle: func(c Call) Reply {
			r := statusOfClient(c)
			r.Fails = c.Header("X-Fails") != ""
			return r
		},
		RefundIf: func(status int) bool {
			told <- status
			return false
		},
	})
	for _, q := range []request{
		{client: "200"},
		{client: "201"},
		{client: "302"},
		{client: "404"},
		{client: "500"},
		{client: "403", header: [][2]string{{"X-Fails", "yes"}}},
		{client: "503", header: [][2]string{{"X-Fails", "yes"}}},
		{path: "/nowhere"},
	} {
		r := s.send(q)
		if got := within(tb, told); got != r.status {
			tb.Errorf("%v: RefundIf is told %d, the client %d", q, got, r.status)
		}
	}
}

// within receives what a server is about to send.
func within[T any](tb testing.TB, c <-chan T) (v T) {
	tb.Helper()
	select {
	case v = <-c:
	case <-time.After(patienceOf(tb)):
		tb.Fatal("nothing came")
	}
	return v
}

func refundPanic(tb testing.TB, a Adapter) {
	told := make(chan int, 1)
	s := newStage(tb)
	l := s.limited(core.PerMinute(2))
	s.serve(a, Setup{Group: []*core.Limiter{l}, Handle: panicky, RefundIf: func(status int) bool {
		told <- status
		return status >= 500
	}})
	for range 3 {
		s.post(request{client: "panic"})
		if got := within(tb, told); got != 500 {
			tb.Errorf("RefundIf is told %d of a panic, want 500", got)
		}
	}
	s.expect(request{client: "panic2"}, "200 r=1")
	if got := within(tb, told); got != 200 {
		tb.Errorf("RefundIf is told %d, want 200", got)
	}
	s.wantRemaining(l, "panic", 2)
}

func refundDenied(tb testing.TB, a Adapter) {
	s := newStage(tb)
	l := s.limited(core.PerMinute(2))
	s.serve(a, Setup{Group: []*core.Limiter{l}, RefundIf: func(status int) bool { return status == 429 || status == 400 }})
	for _, want := range []string{"200 r=1", "200 r=0", "429", "429"} {
		s.expect(request{}, want)
	}
	s.expect(request{client: "-"}, "400")
	s.wantRemaining(l, "a", 0)
}
