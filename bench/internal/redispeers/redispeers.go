// Package redispeers makes limiters that share their counts through one Redis
// server, ours and other people's, and measures them: decisions a second, what
// an attack costs the server, and the server's memory.
//
// # What is equal
//
// Every limiter has a client of its own to the same server, of the same
// options, and gets keys that are drawn alike. Each has a quota that
// no measurement can use up, and takes one unit a decision.
//
// # What is not equal
//
// Algorithms are those that each limiter has: two sliding counters (ours), GCRA
// (redis_rate, throttled) or a fixed window (ulule), which is one INCR and so
// the least work. Three limits are one decision of ours, all or nothing, and
// three calls of redis_rate, one after another. Prefixes are the defaults;
// throttled has none.
//
// No limiter may hide a failure: ours refuses requests with an error while it
// cannot count in Redis, and waits for it longer than by default, so that no
// decision is measured that Redis did not make.
package redispeers

import (
	"context"
	"time"
)

// A Decider takes one unit for a key and reports whether it was admitted.
type Decider func(ctx context.Context, key string) (bool, error)

// A Peer is a limiter at work on a server.
type Peer struct {
	// Name is that of its [Limiter].
	Name string
	// Allow decides. It is safe for concurrent use.
	Allow Decider

	close func()
}

// Close closes the connections to the server.
func (p *Peer) Close() { p.close() }

// A Limiter is one that takes part.
type Limiter struct {
	// Name is its name in benchmarks and reports.
	Name string
	// Module is the path of its module, by which its version is found.
	Module string
	// Limits is how many limits a decision asks.
	Limits int

	start starter
}

// A starter makes the decider of a limiter for a server and a load, and the
// function that closes its connections.
type starter func(addr string, load Load) (Decider, func(), error)

// A Load is the limit that a limiter has.
type Load struct {
	Quota  int64
	Window time.Duration
}

// Ample is a limit that no measurement uses up for any of its keys, of a size
// that a service may have.
var Ample = Load{Quota: 1_000_000, Window: time.Hour}

// three returns the limits of those that have three: over a 3,600th of the
// window too, and over a 60th. Their quotas are the same, but 10,000 and 100,000
// at most: what a second of any measurement asks of a key is far less.
func (l Load) three() [3]Load {
	return [3]Load{{min(l.Quota, 10_000), l.Window / 3600}, {min(l.Quota, 100_000), l.Window / 60}, l}
}

// Start connects the limiter to the server at an address.
func (l Limiter) Start(addr string, load Load) (*Peer, error) {
	allow, end, err := l.start(addr, load)
	if err != nil {
		return nil, err
	}
	return &Peer{Name: l.Name, Allow: allow, close: end}, nil
}

// The names of the limiters.
const (
	Ours          = "slidegate with go-redis"
	OursByDefault = "slidegate with go-redis as it comes"
	OursRueidis   = "slidegate with rueidis"
	RedisRate     = "redis_rate"
	Ulule         = "ulule"
	Throttled     = "throttled"

	OursThree        = "slidegate with go-redis (three limits)"
	OursThreeRueidis = "slidegate with rueidis (three limits)"
	RedisRateThree   = "redis_rate (three calls)"
)

// All returns every limiter, ours first.
func All() []Limiter {
	return []Limiter{
		{Ours, ourModule, 1, ours(goRedis, oneLimit)},
		{OursByDefault, ourModule, 1, ours(goRedisAsItComes, oneLimit)},
		{OursRueidis, ourModule, 1, ours(rueidisClient, oneLimit)},
		{RedisRate, "github.com/go-redis/redis_rate/v10", 1, redisRate},
		{Ulule, "github.com/ulule/limiter/v3", 1, ulule},
		{Throttled, "github.com/throttled/throttled/v2", 1, throttled},
		{OursThree, ourModule, 3, ours(goRedis, threeLimits)},
		{OursThreeRueidis, ourModule, 3, ours(rueidisClient, threeLimits)},
		{RedisRateThree, "github.com/go-redis/redis_rate/v10", 3, redisRateThree},
	}
}

// Modules are those of the clients.
func Modules() []string { return []string{"github.com/redis/go-redis/v9", "github.com/redis/rueidis"} }
