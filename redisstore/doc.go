// Package redisstore keeps the counters of limits in Redis (or Valkey), for
// several instances of a program that share their quotas:
//
//	limiter, err := core.New(core.Config{
//		Rules: []core.Rule{core.By(keyfuncs.IP, core.PerMinute(100))},
//		Store: redisstore.New(rdb),
//	})
//
// The client is the user's own, taken by its shape: every client of go-redis v9
// fits as it is, and [Func] adapts others. This package imports none.
//
// # What it promises
//
// Everything that the memory store promises, on the clock of the Redis server in
// microseconds: all algorithms, exact counts and waits, refunds. One script run
// decides on a request: all its limits are checked and then all charged, or none.
// All limits of a rule lie in one record of the subject, which expires when
// its counts have ceased to matter: after W + W/n for slots, W for exact and
// fixed, and the time that a bucket takes to fill; half a second at least.
//
// A client library may send a script again when it has lost the reply, as go-redis
// does three times by default. The script knows a call that comes a second time by
// its number, and neither charges nor refunds twice; setting MaxRetries is not
// needed for that.
//
// # Redis Cluster
//
// A subject's record has the request's key as its hash tag, so that rules that
// share a key function share a slot and are decided as one step. Where the rules of
// a request have keys in several slots, each slot is decided by a call of its own,
// the likeliest denial first; if a later one denies, what was charged before is
// refunded by its receipt. Nobody is admitted beyond a limit. For about a round
// trip another request can see such a charge, and be denied by it; if the refund
// fails, the charge stays until it leaves the window. A key's time stays at the
// instant of such a charge. A prefix with a hash tag (see [Config]) avoids all this
// at the price of one node for everything.
//
// # When Redis is slow or gone
//
// No request is held for longer than [Config].Timeout, 50 ms by default, whatever
// the client does: unless the client is known to obey deadlines, it is called in
// a goroutine that can be left behind, of which there are at most 1,024. After
// five failures in a row a circuit breaker opens (in a cluster, one for each
// 32nd of the slots) and requests do not wait at all. A request that comes while it
// is open, and at least 100 ms after that, growing to 1 s, has Redis probed in the
// background; the first probe that succeeds closes it. So counting in Redis goes
// on at most a second after Redis is back, with the next request.
//
// Meanwhile each rule does what its [core.Failure] says. Degrade goes on from what
// this process has admitted itself, by its part of the quota if
// [Config].Instances says how many processes there are. Without that number, N
// processes admit at most N times the quota. A store can be made and used before
// its Redis is there.
//
// Timeouts, broken connections, and replies such as LOADING, OOM, READONLY,
// CLUSTERDOWN, MISCONF, NOREPLICAS or TRYAGAIN are outages, and wrap
// [ErrUnavailable]. WRONGTYPE, NOPERM, NOAUTH, a script that is refused, or
// a client that returns something else than the script are faults of the
// configuration: they wrap [core.ErrConfig], refuse the request under every
// policy, and open no breaker. A request that ends while it waits is neither; what
// it charged stands.
//
// What Redis loses is lost: without persistence, every count at a crash, and with
// replicas those of the last moment at a failover. Each key then gets at most one
// quota anew. A maxmemory-policy that evicts keys does the same.
//
// # The deny cache
//
// Refusals, and nothing else, are answered from memory while they cannot have
// ended: until the wait is over, counted from before the call, and for a second
// at most, within which refunds, resets and raised limits of other processes are
// seen. Only a request of the same keys, limits and cost is answered so. While
// a key is exhausted, one caller at a time asks Redis for it. See [Config].DenyKeys.
//
// # What it needs
//
// Redis 6 or later, or Valkey. Under ACLs, for the default prefix:
//
//	~slidegate:* +eval +evalsha +get +set +del +time +pttl +pexpire
//
// A client of a cluster needs what it finds the nodes by besides: +cluster|slots,
// and go-redis would like +command.
//
// Emulations of Redis must have the struct library of its scripts, which
// miniredis lacks; unit tests do better with a [core.Memory].
package redisstore
