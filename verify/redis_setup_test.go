//go:build unix

package verify_test

import (
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/redisstore"
	"github.com/slidegate/slidegate/verify/internal/redistest"
)

// permissions are those that a store needs, as its documentation says.
var permissions = []string{"+eval", "+evalsha", "+get", "+set", "+del", "+time", "+pttl", "+pexpire"}

// as returns a client of a user with some permissions under the default prefix.
func as(t *testing.T, server *redistest.Server, user string, permissions []string) *redis.Client {
	t.Helper()
	rules := []any{"ACL", "SETUSER", user, "on", ">secret", "~slidegate:*"}
	for _, p := range permissions {
		rules = append(rules, p)
	}
	server.Do(rules...)
	client := redis.NewClient(&redis.Options{Addr: server.Addr, Username: user, Password: "secret"})
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// everyCall has a store do all that it can do, on all kinds of limits.
func everyCall(s *redisstore.Store) error {
	ask := func(limits ...core.Limit) core.Ask {
		return core.Ask{Rule: "rule", Key: "key", Cost: 8, Limits: limits, States: make([]core.State, len(limits))}
	}
	hour := core.PerHour(60)
	limits := []core.Limit{hour.Named("a"), hour.Strict(7).Named("b"), hour.Exact().Named("c"), hour.Bucket(10).Named("d")}
	charged := []core.Ask{ask(limits...)}
	_, decide := s.Decide(background, charged)
	peeked := ask(limits...)
	_, peek := s.Peek(background, &peeked)
	errs := []error{decide, peek, s.Refund(background, charged), s.Reset(background, "rule", "key")}
	// A bucket that was slowed down is kept for longer by a denial.
	for _, l := range []core.Limit{hour.Bucket(10), core.PerHour(6).Bucket(10)} {
		_, err := s.Decide(background, []core.Ask{ask(l.Named("d"))})
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// TestEachMissingPermissionSurfaces takes the permissions away one by one: none
// of them may look like an outage, under which limits are not shared.
func TestEachMissingPermissionSurfaces(t *testing.T) {
	server := redistest.Start(t)
	for i, missing := range permissions {
		rest := append(append([]string{}, permissions[:i]...), permissions[i+1:]...)
		client := as(t, server, "without"+missing[1:], rest)
		err := everyCall(redisstore.New(client, redisstore.Config{Timeout: patient}))
		if !errors.Is(err, core.ErrConfig) || errors.Is(err, redisstore.ErrUnavailable) {
			t.Errorf("without %s: %v, want a fault of the configuration", missing, err)
		}
	}
}

func TestForeignKeysAreLeftAlone(t *testing.T) {
	server := redistest.Start(t)
	client := newClient(t, server.Addr)
	for name, write := range map[string]func(key string) error{
		"short": func(key string) error { return client.Set(background, key, "17", time.Hour).Err() },
		"long": func(key string) error {
			return client.Set(background, key, "a session of somebody else, which is rather long and none of our records", time.Hour).Err()
		},
		"list": func(key string) error { return client.LPush(background, key, "a", "b").Err() },
	} {
		key := "slidegate:1:rule:{" + name + "}"
		if err := write(key); err != nil {
			t.Fatal(err)
		}
		before := client.Dump(background, key).Val()
		for _, l := range []core.Limit{core.PerMinute(5), core.PerMinute(5).Exact(), core.PerMinute(5).Bucket(2)} {
			s := redisstore.New(client, redisstore.Config{Timeout: patient})
			a := []core.Ask{{Rule: "rule", Key: name, Cost: 1, Limits: []core.Limit{l.Named("m")}, States: make([]core.State, 1), Receipt: core.Receipt{At: 1, Serial: 3}}}
			refund := s.Refund(background, a)
			_, err := s.Decide(background, a)
			if !errors.Is(err, core.ErrConfig) {
				t.Errorf("%s: %v, want a fault of the configuration", name, err)
			}
			if client.Dump(background, key).Val() != before {
				t.Fatalf("%s: the key was written over (a refund before: %v)", name, refund)
			}
		}
	}
}
