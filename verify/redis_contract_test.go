//go:build unix

package verify_test

import (
	"testing"
	"time"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/core/storetest"
	"github.com/slidegate/slidegate/redisstore"
	"github.com/slidegate/slidegate/verify/internal/redistest"
)

func TestRedisKeepsTheContractOfStores(t *testing.T) {
	server := redistest.Start(t)
	client := newClient(t, server.Addr)
	t.Run("on a server", func(t *testing.T) {
		contract(t, false, func(c redisstore.Config) core.Store { return redisstore.New(client, c) })
	})
	t.Run("with no refusals remembered", func(t *testing.T) {
		if testing.Short() {
			t.Skip("a short run tries the usual configuration")
		}
		contract(t, false, func(c redisstore.Config) core.Store {
			c.DenyKeys = -1
			return redisstore.New(client, c)
		})
	})
	noImmortalKeys(t, server, otherClock, longestLived)
}

func TestRedisKeepsTheContractOfStoresOnACluster(t *testing.T) {
	cluster := redistest.StartCluster(t, 0)
	client := newClusterClient(t, cluster)
	// What a denied request was charged in one slot, and has back, leaves the
	// instant of that charge: a clock that steps back then shows it.
	contract(t, true, func(c redisstore.Config) core.Store { return redisstore.New(client, c) })
	noImmortalKeys(t, cluster, otherClock, longestLived)
}

// contract tries the stores that a function makes, each with counts and a clock
// of its own, which oneWay keeps from stepping back.
func contract(t *testing.T, oneWay bool, store func(redisstore.Config) core.Store) {
	storetest.Run(t, func(*testing.T) storetest.Fixture {
		clock := newHandClock()
		s := store(redisstore.Config{Prefix: freshPrefix(), Timeout: patient, Now: clock.now})
		return storetest.Fixture{Store: s, Advance: clock.advance, Tick: time.Microsecond, OneWay: oneWay}
	})
}

// longestLived is a limit whose charges matter for as long as any can: a century.
var longestLived = core.Per(1, core.MaxWindow).Bucket(10)
