//go:build unix

package verify_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/redisstore"
	"github.com/slidegate/slidegate/verify/internal/redistest"
)

// TestClientsFitAsTheyAre uses clients by their shape alone: what of a quota one
// of them takes is gone for all others.
func TestClientsFitAsTheyAre(t *testing.T) {
	server := redistest.Start(t)
	config := redisstore.Config{Timeout: patient}
	var universal redis.UniversalClient = newClient(t, server.Addr)
	stores := []core.Store{
		redisstore.New(newClient(t, server.Addr), config),
		redisstore.New(universal, config),
		redisstore.New(rueidisClient(t, rueidis.ClientOption{InitAddress: []string{server.Addr}}), config),
	}
	shareOneQuota(t, stores)
	noImmortalKeys(t, server, 0, core.PerHour(1))
}

func TestClusterClientsFitAsTheyAre(t *testing.T) {
	cluster := redistest.StartCluster(t, 0)
	config := redisstore.Config{Timeout: patient}
	universal := redis.NewUniversalClient(&redis.UniversalOptions{Addrs: cluster.Addrs()})
	t.Cleanup(func() { _ = universal.Close() })
	withCluster := config
	withCluster.Cluster = true
	stores := []core.Store{
		redisstore.New(newClusterClient(t, cluster), config),
		redisstore.New(universal, config),
		redisstore.New(rueidisClient(t, rueidis.ClientOption{InitAddress: cluster.Addrs()}), withCluster),
	}
	shareOneQuota(t, stores)
	noImmortalKeys(t, cluster, 0, core.PerHour(1))
}

// shareOneQuota asks under two keys, which in a cluster may lie on different
// nodes. Peeks, resets and refunds of one client are seen by the others.
func shareOneQuota(t *testing.T, stores []core.Store) {
	t.Helper()
	var limiters []*core.Limiter
	for _, store := range stores {
		limiters = append(limiters, on(t, store, core.FailClosed,
			core.Rule{Name: "user", Key: byHand, Limits: []core.Limit{core.PerHour(int64(len(stores))).Exact().Named("u")}},
			core.Rule{Name: "address", Key: byHand, Limits: []core.Limit{core.PerHour(100).Exact().Named("a")}},
		))
	}
	for i, limiter := range limiters {
		d, err := limiter.Allow(background, "ada", "192.0.2.1")
		if want := int64(len(stores) - 1 - i); err != nil || !d.Allowed || d.States()[0].Remaining != want {
			t.Fatalf("client %d: allowed %v with %+v, error %v; want %d remaining", i, d.Allowed, d.States(), err, want)
		}
	}
	for i, limiter := range limiters {
		if d, err := limiter.Allow(background, "ada", "192.0.2.1"); err != nil || d.Allowed {
			t.Errorf("client %d beyond the quota: allowed %v, error %v", i, d.Allowed, err)
		}
		states, err := limiter.Peek(background, "address", "192.0.2.1")
		if want := int64(100 - len(stores)); err != nil || states[0].Remaining != want {
			t.Errorf("client %d: %+v, error %v; want %d remaining of the address, to which denied requests cost nothing", i, states, err, want)
		}
	}
	if err := limiters[0].Reset(background, "user", "ada"); err != nil {
		t.Fatal(err)
	}
	<-time.After(time.Second) // for so long a refusal may be remembered elsewhere
	d, err := limiters[len(limiters)-1].Allow(background, "ada", "192.0.2.1")
	if err != nil || !d.Allowed {
		t.Fatalf("after a reset by another client: allowed %v, error %v", d.Allowed, err)
	}
	if err := limiters[len(limiters)-1].Refund(background, &d); err != nil {
		t.Error(err)
	}
	if states, err := limiters[0].Peek(background, "user", "ada"); err != nil || states[0].Remaining != int64(len(stores)) {
		t.Errorf("after a refund by another client: %+v, error %v", states, err)
	}
}

// rueidisClient adapts a client whose shape is another, as the documentation of
// [redisstore.Func] says.
func rueidisClient(t *testing.T, option rueidis.ClientOption) redisstore.Func {
	option.DisableCache = true
	client, err := rueidis.NewClient(option)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return func(ctx context.Context, command, script string, keys, args []string) (any, error) {
		b := client.B().Arbitrary(command, script, strconv.Itoa(len(keys)))
		return client.Do(ctx, b.Keys(keys...).Args(args...).Build()).ToAny()
	}
}
