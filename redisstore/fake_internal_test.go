package redisstore

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/slidegate/slidegate/core"
)

// A fakeServer stands for Redis. It knows fixed limits, one a key, and keeps
// them for what the scripts are told; it fails as a test says.
type fakeServer struct {
	cluster bool                                        // keys of a call must share a slot
	hook    func(ctx context.Context, c fakeCall) error // before a call; an error is the reply

	mu     sync.Mutex
	counts map[string]int64
	window map[string]int64
	calls  []fakeCall
}

// A fakeCall is what a server was asked.
type fakeCall struct {
	script string // decide, peek, refund, reset or probe
	keys   []string
	args   []string
}

func (f *fakeServer) client() Func {
	return func(ctx context.Context, _, script string, keys, args []string) (any, error) {
		c := fakeCall{f.name(script, args), keys, args}
		f.mu.Lock()
		f.calls = append(f.calls, c)
		hook := f.hook
		f.mu.Unlock()
		if hook != nil {
			if err := hook(ctx, c); err != nil {
				return nil, err
			}
		}
		return f.reply(c)
	}
}

func (f *fakeServer) name(sha string, args []string) string {
	switch {
	case sha == decideScript.sha && args[0] == noNumber:
		return "peek"
	case sha == decideScript.sha:
		return "decide"
	case sha == refundScript.sha:
		return "refund"
	case sha == resetScript.sha:
		return "reset"
	}
	return "probe"
}

// does has the server do something else before a call from now on.
func (f *fakeServer) does(hook func(context.Context, fakeCall) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hook = hook
}

// count returns how many calls of a script there were.
func (f *fakeServer) count(script string) (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.calls {
		if c.script == script {
			n++
		}
	}
	return n
}

func (f *fakeServer) reply(c fakeCall) (any, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.counts == nil {
		f.counts, f.window = map[string]int64{}, map[string]int64{}
	}
	for _, key := range c.keys {
		if f.cluster && slotOf(key) != slotOf(c.keys[0]) {
			return nil, errors.New("CROSSSLOT Keys in request don't hash to the same slot")
		}
	}
	switch c.script {
	case "decide", "peek":
		return f.decide(c), nil
	case "refund":
		for i, key := range c.keys {
			f.counts[key] -= int64(numberAt(c.args[1+i], 0))
		}
	case "reset":
		delete(f.counts, c.keys[0])
	}
	return int64(1), nil
}

// units returns what is charged to the record of a subject.
func (f *fakeServer) units(rule, key string) int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.counts[recordKey(DefaultPrefix, rule, key)]
}

// numberAt returns the n-th number of a packed argument.
func numberAt(s string, n int) float64 {
	return math.Float64frombits(binary.LittleEndian.Uint64([]byte(s[8*n:])))
}

func (f *fakeServer) decide(c fakeCall) any {
	now := time.Now().UnixMicro()
	admitted, left, wait, costs := true, []int64{}, []int64{}, []int64{}
	quotas := []int64{}
	for i, key := range c.keys {
		_, plan, _ := strings.Cut(c.args[1+i], "\x00")
		cost, quota, width := int64(numberAt(plan, 0)), int64(numberAt(plan, 3)), int64(numberAt(plan, 4))
		if f.window[key] != now/width {
			f.counts[key], f.window[key] = 0, now/width
		}
		room := max(0, quota-f.counts[key])
		admitted = admitted && cost <= room
		left, wait, costs, quotas = append(left, room), append(wait, width-now%width), append(costs, cost), append(quotas, quota)
	}
	reply := []any{now}
	for i, key := range c.keys {
		denied := costs[i] > left[i]
		if admitted && c.script == "decide" {
			f.counts[key] += costs[i]
			left[i] -= costs[i]
			reply = append(reply, int64(2*7+1))
		} else {
			reply = append(reply, int64(0))
		}
		next := wait[i]
		if left[i] == quotas[i] {
			next = 0
		}
		switch {
		case denied && costs[i] > quotas[i]:
			reply = append(reply, -1-left[i], next, int64(0))
		case denied:
			reply = append(reply, -1-left[i], next, wait[i])
		default:
			reply = append(reply, left[i], next)
		}
	}
	return reply
}

// askFor returns a lone ask under a fixed limit.
func askFor(key string, cost, quota int64, window time.Duration) []core.Ask {
	return []core.Ask{{
		Rule: "rule", Key: key, Cost: cost, Limits: []core.Limit{core.Per(quota, window).Fixed().Named("limit")}, States: make([]core.State, 1),
	}}
}

// decideOn has a store decide and returns whether the request was admitted.
func decideOn(t testing.TB, s *Store, asks []core.Ask) bool {
	t.Helper()
	if _, err := s.Decide(context.Background(), asks); err != nil {
		t.Fatal(err)
	}
	return admits(asks)
}

// block is a hook for servers that hang until a channel is closed, whatever the
// context says.
func block(until <-chan struct{}) func(context.Context, fakeCall) error {
	return func(context.Context, fakeCall) error {
		<-until
		return nil
	}
}

// refuse is a hook for servers that are not there.
func refuse(context.Context, fakeCall) error {
	return fmt.Errorf("dial tcp 127.0.0.1:6379: connect: connection refused")
}

// goroutine returns the name of the goroutine that calls it.
func goroutine() string {
	name, _, _ := strings.Cut(string(debug.Stack()), "[")
	return name
}
