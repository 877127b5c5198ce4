//go:build unix

package redistest

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// masters is how many nodes of a cluster share the slots.
const masters = 3

// A Cluster is a Redis Cluster of three masters, each with a third of the slots,
// and of replicas of the first of them.
type Cluster struct {
	Masters, Replicas []*Server

	t testing.TB
}

// StartCluster starts a cluster that ends with the test.
func StartCluster(t testing.TB, replicas int) *Cluster {
	t.Helper()
	// A busy machine must not look like a node that is gone, but where one is to
	// be replaced, nobody wants to wait.
	timeout := 15 * time.Second
	if replicas > 0 {
		timeout = 500 * time.Millisecond
	}
	c := &Cluster{t: t}
	for i := range masters + replicas {
		node := Start(t, "--cluster-enabled", "yes", "--cluster-node-timeout", strconv.FormatInt(timeout.Milliseconds(), 10),
			"--cluster-require-full-coverage", "no", "--repl-diskless-sync-delay", "0")
		if i < masters {
			c.Masters = append(c.Masters, node)
		} else {
			c.Replicas = append(c.Replicas, node)
		}
	}
	c.share()
	c.introduce()
	for _, replica := range c.Replicas {
		c.follow(replica, c.Masters[0])
	}
	return c
}

// share gives each master its slots.
func (c *Cluster) share() {
	const slots = 16384
	for i, node := range c.Masters {
		node.Do("CLUSTER", "ADDSLOTSRANGE", i*slots/masters, (i+1)*slots/masters-1)
		node.Do("CLUSTER", "SET-CONFIG-EPOCH", i+1)
	}
}

// introduce has all nodes know each other.
func (c *Cluster) introduce() {
	c.t.Helper()
	nodes := c.nodes()
	for _, node := range nodes[1:] {
		host, port, _ := net.SplitHostPort(node.Addr)
		nodes[0].Do("CLUSTER", "MEET", host, port)
	}
	for _, node := range nodes {
		known := fmt.Sprintf("cluster_known_nodes:%d\r", len(nodes))
		c.await("the cluster forms", func() bool {
			info := fmt.Sprint(node.Do("CLUSTER", "INFO"))
			return strings.Contains(info, "cluster_state:ok") && strings.Contains(info, known) &&
				strings.Contains(info, "cluster_slots_ok:16384")
		})
	}
}

func (c *Cluster) nodes() []*Server { return append(c.Masters[:masters:masters], c.Replicas...) }

func (c *Cluster) follow(replica, master *Server) {
	c.t.Helper()
	id := master.Do("CLUSTER", "MYID")
	c.await("the replica knows its master", func() bool {
		return strings.Contains(fmt.Sprint(replica.Do("CLUSTER", "NODES")), fmt.Sprint(id))
	})
	replica.Do("CLUSTER", "REPLICATE", id)
	c.await("the replica follows", func() bool {
		return strings.Contains(fmt.Sprint(replica.Do("INFO", "replication")), "master_link_status:up")
	})
}

// await polls a condition for a while.
func (c *Cluster) await(what string, holds func() bool) {
	c.t.Helper()
	for range 1000 {
		if holds() {
			return
		}
		<-time.After(10 * time.Millisecond)
	}
	c.t.Fatalf("%s: not within ten seconds", what)
}

// SlotOf returns the slot of a hash tag.
func (c *Cluster) SlotOf(tag string) int64 {
	slot, _ := c.Masters[0].Do("CLUSTER", "KEYSLOT", tag).(int64)
	return slot
}

// Move moves a slot and its keys from one master to another, as a cluster is
// resharded while it is in use.
func (c *Cluster) Move(slot int64, from, to *Server) {
	c.t.Helper()
	source, target := from.Do("CLUSTER", "MYID"), to.Do("CLUSTER", "MYID")
	to.Do("CLUSTER", "SETSLOT", slot, "IMPORTING", source)
	from.Do("CLUSTER", "SETSLOT", slot, "MIGRATING", target)
	host, port, _ := net.SplitHostPort(to.Addr)
	keys, _ := from.Do("CLUSTER", "GETKEYSINSLOT", slot, 1000).([]any)
	for _, key := range keys {
		from.Do("MIGRATE", host, port, key, 0, 5000)
	}
	to.Do("CLUSTER", "SETSLOT", slot, "NODE", target)
	from.Do("CLUSTER", "SETSLOT", slot, "NODE", target)
	c.await("all nodes hear of the move", func() bool {
		epochs := map[string]bool{}
		for _, node := range c.Masters {
			_, epoch, _ := strings.Cut(fmt.Sprint(node.Do("CLUSTER", "INFO")), "cluster_current_epoch:")
			epoch, _, _ = strings.Cut(epoch, "\r")
			epochs[epoch] = true
		}
		return len(epochs) == 1
	})
}

// Addrs returns the addresses of all nodes.
func (c *Cluster) Addrs() []string {
	var addrs []string
	for _, node := range c.nodes() {
		addrs = append(addrs, node.Addr)
	}
	return addrs
}

// EachKey calls a function with every key of every master that can be reached,
// and the milliseconds after which it expires: -1 if it never does.
func (c *Cluster) EachKey(do func(key string, ms int64)) {
	c.t.Helper()
	for _, node := range c.Masters {
		node.EachKey(do)
	}
}

// EachKey calls a function with every key, and the milliseconds after which it
// expires: -1 if it never does.
func (s *Server) EachKey(do func(key string, ms int64)) {
	s.t.Helper()
	client, ctx := s.Client(), context.Background()
	defer client.Close()
	keys := client.Scan(ctx, 0, "*", 1000).Iterator()
	for keys.Next(ctx) {
		ms, err := client.Do(ctx, "PTTL", keys.Val()).Int64()
		if err != nil {
			s.t.Fatal(err)
		}
		if ms != gone {
			do(keys.Val(), ms)
		}
	}
	if err := keys.Err(); err != nil && err != redis.Nil {
		s.t.Fatal(err)
	}
}

// gone is what PTTL says of a key that is not there.
const gone = -2
