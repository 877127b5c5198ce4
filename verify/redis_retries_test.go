//go:build unix

package verify_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/redisstore"
	"github.com/slidegate/slidegate/verify/internal/redistest"
)

// TestCallsThatTheClientRepeatsChargeOnce cuts replies in the middle, upon which
// go-redis sends the call again, three times by default. The server has run it
// each time.
func TestCallsThatTheClientRepeatsChargeOnce(t *testing.T) {
	server := redistest.Start(t)
	proxy := redistest.NewProxy(t, server.Addr)
	store := redisstore.New(newClient(t, proxy.Addr), redisstore.Config{Timeout: patient})
	const quota = 100
	for i, l := range yearly(quota) {
		limiter := on(t, store, core.FailClosed, core.Rule{Name: fmt.Sprint(i), Key: byHand, Limits: []core.Limit{l}})
		allowed(t, limiter, "key")
		var decisions []core.Decision
		for range 6 {
			proxy.Cut(2)
			d := allowed(t, limiter, "key")
			if left := int64(quota - 2 - len(decisions)); !d.Allowed || d.States()[0].Remaining != left {
				t.Fatalf("%v: allowed %v, %+v; want %d remaining", l, d.Allowed, d.States()[0].State, left)
			}
			decisions = append(decisions, d)
		}
		for j := range decisions[:3] {
			proxy.Cut(2)
			if err := limiter.Refund(background, &decisions[j]); err != nil {
				t.Fatal(err)
			}
		}
		proxy.Cut(0)
		states, err := limiter.Peek(background, fmt.Sprint(i), "key")
		want := int64(quota - 1 - 6 + 3)
		if l.Algorithm() == core.Bucket {
			want-- // it has back what the charges still owed, which is a moment less
		}
		if err != nil || states[0].Remaining != want {
			t.Errorf("%v: after 7 charges and 3 refunds %+v remain, error %v; want %d", l, states, err, want)
		}
	}
	if calls := proxy.Calls(); calls < 6*9*3 {
		t.Errorf("%d calls for 54 requests whose first two replies were cut: nothing was repeated", calls)
	}
	noImmortalKeys(t, server, 0, yearly(quota)...)
}

// TestTheLastUnitIsGrantedToACallThatIsRepeated cuts the reply that says so: the
// call that comes again must not find the quota spent by itself.
func TestTheLastUnitIsGrantedToACallThatIsRepeated(t *testing.T) {
	proxy := redistest.NewProxy(t, redistest.Start(t).Addr)
	store := redisstore.New(newClient(t, proxy.Addr), redisstore.Config{Timeout: patient})
	for i, l := range yearly(1) {
		limiter := on(t, store, core.FailClosed, core.Rule{Name: fmt.Sprint(i), Key: byHand, Limits: []core.Limit{l}})
		proxy.Cut(1)
		for request, want := range []bool{true, false} {
			if d := allowed(t, limiter, "key"); d.Allowed != want {
				t.Errorf("%v, request %d: allowed %v", l, request+1, d.Allowed)
			}
		}
	}
}

// TestARefundThatIsRepeatedGivesBackOnce: another request is charged between a
// refund and its repetition, a while after the charge or at once, under one limit
// and under several, which the scripts treat apart.
func TestARefundThatIsRepeatedGivesBackOnce(t *testing.T) {
	client := newClient(t, redistest.Start(t).Addr)
	others := on(t, redisstore.New(client, redisstore.Config{Timeout: patient}), core.FailClosed, rulesOfDay(1, 2)...)
	charge := func(keys ...string) {
		if d := allowed(t, others, keys...); !d.Allowed {
			t.Fatal("another request was denied")
		}
	}
	var repeats atomic.Bool
	twice := redisstore.Func(func(ctx context.Context, command, script string, keys, args []string) (any, error) {
		all := []any{command, script, len(keys)}
		for _, text := range slices.Concat(keys, args) {
			all = append(all, text)
		}
		value, err := client.Do(ctx, all...).Result()
		if err == nil && repeats.Swap(false) {
			charge("one", "two")
			return client.Do(ctx, all...).Result()
		}
		return value, err
	})
	limiter := on(t, redisstore.New(twice, redisstore.Config{Timeout: patient}), core.FailClosed, rulesOfDay(1, 2)...)
	for _, pause := range []time.Duration{0, 300 * time.Millisecond, 1200 * time.Millisecond} {
		for _, rule := range rulesOfDay(1, 2) {
			if err := others.Reset(background, rule.Name, map[string]string{"1": "one", "2": "two"}[rule.Name]); err != nil {
				t.Fatal(err)
			}
		}
		charge("one", "two")
		d := allowed(t, limiter, "one", "two")
		time.Sleep(pause)
		repeats.Store(true)
		if err := limiter.Refund(background, &d); err != nil {
			t.Fatal(err)
		}
		for rule, key := range map[string]string{"1": "one", "2": "two"} {
			states, err := others.Peek(background, rule, key)
			if err != nil || states[0].Remaining != 98 {
				t.Errorf("rule of %s limits, %v after the charge: %+v, %v; want 98 of 100 after three charges and a refund", rule, pause, states, err)
			}
		}
	}
}

// rulesOfDay returns rules with so many limits, of which the first is 100 a day.
func rulesOfDay(counts ...int) (rules []core.Rule) {
	for _, n := range counts {
		limits := []core.Limit{core.PerDay(100).Strict(1), core.PerHour(1000)}
		rules = append(rules, core.Rule{Name: fmt.Sprint(n), Key: byHand, Limits: limits[:n]})
	}
	return rules
}

// TestForgottenScriptsLoseNothing has the server forget its scripts again and
// again while callers ask.
func TestForgottenScriptsLoseNothing(t *testing.T) {
	server := redistest.Start(t)
	for name, client := range map[string]redisstore.Client[*redis.Cmd]{
		"retrying":     newClient(t, server.Addr),
		"not retrying": server.Client(),
	} {
		t.Run(name, func(t *testing.T) {
			store := redisstore.New(client, redisstore.Config{Timeout: patient, DenyKeys: -1})
			limiter := on(t, store, core.FailClosed, core.Rule{Name: name, Key: byHand, Limits: yearly(1000)[3:4]})
			var done atomic.Bool
			flushed := make(chan int)
			go func() {
				flushes := 0
				for ; !done.Load(); flushes++ {
					server.Do("SCRIPT", "FLUSH")
					<-time.After(time.Millisecond)
				}
				flushed <- flushes
			}()
			got := admittedOf(t, limiter, 8, 200)
			done.Store(true)
			if flushes := <-flushed; got != 1000 || flushes < 3 {
				t.Errorf("%d admitted during %d flushes, want exactly 1000 during some", got, flushes)
			}
		})
	}
}
