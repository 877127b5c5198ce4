//go:build unix

package verify_test

import (
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/redisstore"
	"github.com/slidegate/slidegate/verify/internal/redistest"
)

// documented are the permissions that docs/redis.md asks for.
const documented = "~slidegate:* +eval +evalsha +get +set +del +time +pttl +pexpire"

// TestTheDocumentedPermissionsSuffice does all that a store can with a user that
// may do that and nothing else.
func TestTheDocumentedPermissionsSuffice(t *testing.T) {
	server := redistest.Start(t)
	var args []any
	for _, word := range strings.Fields("ACL SETUSER limiter on >secret " + documented) {
		args = append(args, word)
	}
	server.Do(args...)
	client := redis.NewClient(&redis.Options{Addr: server.Addr, Username: "limiter", Password: "secret"})
	t.Cleanup(func() { _ = client.Close() })
	store := redisstore.New(client, redisstore.Config{Timeout: patient})

	for _, l := range yearly(9) {
		limiter := on(t, store, core.FailClosed, core.Rule{Name: l.String(), Key: byHand, Limits: []core.Limit{l}})
		d := allowed(t, limiter, "key")
		if err := limiter.Refund(background, &d); err != nil {
			t.Errorf("refund: %v", err)
		}
		if got := admittedOf(t, limiter, 1, 10); got != 9 {
			t.Errorf("%v: %d admitted, want 9", l, got)
		}
		slower := requoted(l.Named("365d"), 2)
		changed := on(t, store, core.FailClosed, core.Rule{Name: l.String(), Key: byHand, Limits: []core.Limit{slower}})
		if allowed(t, changed, "key").Allowed {
			t.Errorf("%v: admitted after the quota was lowered to 2", l)
		}
		if _, err := changed.Peek(background, l.String(), "key"); err != nil {
			t.Errorf("peek: %v", err)
		}
		if err := changed.Reset(background, l.String(), "key"); err != nil {
			t.Errorf("reset: %v", err)
		}
	}
}
