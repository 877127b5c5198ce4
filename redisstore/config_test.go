package redisstore_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/redisstore"
)

// silent is a client that is never to be called.
var silent = redisstore.Func(func(context.Context, string, string, []string, []string) (any, error) {
	panic("called")
})

func TestCheckFindsFaultsOfTheConfiguration(t *testing.T) {
	for _, c := range []struct {
		phrase string
		config redisstore.Config
		want   []string // parts of the text, none if it is valid
	}{
		{"the zero Config", redisstore.Config{}, nil},
		{"everything set", redisstore.Config{Prefix: "app:", Timeout: time.Millisecond, Instances: 9, Cluster: true, DenyKeys: -1, ObeysDeadlines: true, Now: time.Now}, nil},
		{"a hash tag in the prefix", redisstore.Config{Prefix: "app:{limits}:"}, nil},
		{"a negative timeout", redisstore.Config{Timeout: -1}, []string{"Config.Timeout -1ns", "1ms to 10s"}},
		{"a timeout that is too short", redisstore.Config{Timeout: 999 * time.Microsecond}, []string{"Config.Timeout 999µs"}},
		{"a timeout that is too long", redisstore.Config{Timeout: 11 * time.Second}, []string{"Config.Timeout 11s"}},
		{"a negative number of instances", redisstore.Config{Instances: -3}, []string{"Config.Instances -3"}},
		{"a brace that is not closed", redisstore.Config{Prefix: "app{"}, []string{"Config.Prefix", `"app{"`}},
		{"one that is not opened", redisstore.Config{Prefix: "app}"}, []string{"Config.Prefix"}},
		{"an empty hash tag", redisstore.Config{Prefix: "{}"}, []string{"Config.Prefix"}},
		{"two hash tags", redisstore.Config{Prefix: "{a}{b}"}, []string{"Config.Prefix"}},
		{"two faults", redisstore.Config{Timeout: -1, Prefix: "}"}, []string{"Config.Timeout", "Config.Prefix"}},
	} {
		err := redisstore.New(silent, c.config).Check(nil)
		if (err == nil) != (c.want == nil) || err != nil && !errors.Is(err, core.ErrConfig) {
			t.Errorf("%s: %v", c.phrase, err)
			continue
		}
		for _, part := range c.want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %q does not name %s", c.phrase, err, part)
			}
		}
	}
}

func TestFaultsReachWhoeverMakesTheLimiter(t *testing.T) {
	_, err := core.New(core.Config{
		Rules: []core.Rule{core.By(func(core.Request) (string, error) { return "", nil }, core.PerMinute(1))},
		Store: redisstore.New(silent, redisstore.Config{Instances: -3}),
	})
	if !errors.Is(err, core.ErrConfig) || !strings.Contains(err.Error(), "Config.Instances") {
		t.Errorf("core.New: %v, want the store's fault", err)
	}
}

func TestFaultyStoreDecidesNothing(t *testing.T) {
	s := redisstore.New(silent, redisstore.Config{Instances: -3})
	ctx := context.Background()
	a := core.Ask{Rule: "r", Key: "k", Cost: 1, Limits: []core.Limit{core.PerMinute(1).Named("m")}, States: make([]core.State, 1), Receipt: core.Receipt{Serial: 1}}
	_, decide := s.Decide(ctx, []core.Ask{a})
	_, peek := s.Peek(ctx, &a)
	for call, err := range map[string]error{"Decide": decide, "Peek": peek, "Reset": s.Reset(ctx, "r", "k"), "Refund": s.Refund(ctx, []core.Ask{a})} {
		if !errors.Is(err, core.ErrConfig) {
			t.Errorf("%s: %v, want the fault", call, err)
		}
	}
}

func TestMoreThanOneConfigIsAFault(t *testing.T) {
	if err := redisstore.New(silent, redisstore.Config{}, redisstore.Config{}).Check(nil); !errors.Is(err, core.ErrConfig) {
		t.Errorf("%v, want a fault", err)
	}
}

func TestCheckRefusesWindowsThatRedisCannotTime(t *testing.T) {
	s := redisstore.New(silent)
	for _, l := range []core.Limit{
		core.PerSecond(1), core.Per(1, core.MinWindow).Smooth(1000), core.Per(1, core.MaxWindow).Exact(), core.Per(1, time.Millisecond+time.Microsecond).Bucket(1),
		core.Per(core.MaxQuota, core.MaxWindow).Strict(1000), core.PerMinute(0),
	} {
		if err := s.Check([]core.Limit{l}); err != nil {
			t.Errorf("%v: %v, want it accepted", l, err)
		}
	}
	odd := core.Per(1, time.Second+500*time.Nanosecond)
	err := s.Check([]core.Limit{core.PerSecond(1), odd})
	if !errors.Is(err, core.ErrConfig) || !strings.Contains(err.Error(), odd.String()) || !strings.Contains(err.Error(), "take 1s") {
		t.Errorf("%v: %v, want a fault that names it and what to take", odd, err)
	}
}
