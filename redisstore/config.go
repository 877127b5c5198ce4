package redisstore

import (
	"errors"
	"strings"
	"time"
)

// Defaults of a [Config].
const (
	// DefaultPrefix begins every Redis key of a store that names no prefix.
	DefaultPrefix = "slidegate:"
	// DefaultTimeout is how long a request is held for Redis at most.
	DefaultTimeout = 50 * time.Millisecond
	// DefaultDenyKeys is how many refused keys are remembered.
	DefaultDenyKeys = 4096
)

// A Config is how a [Store] uses Redis. The zero Config is what [New] uses where
// none is given. Faults in it are found by [Store.Check], and so by [core.New].
type Config struct {
	// Prefix begins every Redis key; empty means [DefaultPrefix]. Stores of one
	// prefix on one Redis share the counts of rules of one name. A prefix with
	// a hash tag, such as "{limits}:", puts all keys into one slot of a
	// cluster, so that every decision is one step there, on one node.
	Prefix string
	// Timeout is how long a request is held for Redis at most, from 1 ms to
	// 10 s, whatever the client does; zero means [DefaultTimeout].
	Timeout time.Duration
	// Instances is how many processes share the counts; zero means that it is
	// not known. While Redis is unavailable and a rule says [core.Degrade],
	// each process then holds keys to its part of the quota, rounded up.
	Instances int
	// Cluster says that the client belongs to a Redis Cluster, where one call
	// can only touch keys of one slot. A cluster client of go-redis is known
	// as one without it, and a CROSSSLOT reply tells as well; set it for other
	// clients, some of which panic instead (rueidis does).
	Cluster bool
	// ObeysDeadlines says that the client returns once the deadline of its
	// context has passed, even while the server hangs. It is then called
	// directly, which takes about half the time of handing each call over to
	// a goroutine, and held to it: a call that overruns by another Timeout
	// ends that for a minute. A client of go-redis with ContextTimeoutEnabled
	// is known without it; rueidis obeys too.
	ObeysDeadlines bool
	// DenyKeys is how many refused keys are remembered, so that refusing them
	// again needs no call; zero means [DefaultDenyKeys], below zero none.
	DenyKeys int
	// Now replaces the clock of the Redis server: in tests, and on servers
	// whose scripts may not call TIME. The clocks of all instances must then
	// agree. Keys live an hour longer than needed, which makes up for clocks
	// that differ from the server's.
	Now func() time.Time
}

// withDefaults returns the configuration with nothing left open.
func (c Config) withDefaults() Config {
	if c.Prefix == "" {
		c.Prefix = DefaultPrefix
	}
	if c.Timeout == 0 {
		c.Timeout = DefaultTimeout
	}
	if c.DenyKeys == 0 {
		c.DenyKeys = DefaultDenyKeys
	}
	return c
}

func (c *Config) fault() error {
	var errs []error
	if c.Timeout < time.Millisecond || c.Timeout > 10*time.Second {
		errs = append(errs, fault("Config.Timeout %v must be from 1ms to 10s, or 0 for %v", c.Timeout, DefaultTimeout))
	}
	if c.Instances < 0 {
		errs = append(errs, fault("Config.Instances %d must be at least 1, or 0 if it is not known", c.Instances))
	}
	if !validPrefix(c.Prefix) {
		errs = append(errs, fault("Config.Prefix %q may have one pair of braces, with a hash tag between them, and no other", c.Prefix))
	}
	return errors.Join(errs...)
}

// validPrefix reports whether the braces of a prefix are none, or a hash tag: a
// lone one would swallow the tags of the keys.
func validPrefix(prefix string) bool {
	before, rest, open := strings.Cut(prefix, "{")
	tag, after, closed := strings.Cut(rest, "}")
	if !open {
		return !strings.Contains(prefix, "}")
	}
	return closed && tag != "" && !strings.ContainsAny(before+tag+after, "{}")
}
