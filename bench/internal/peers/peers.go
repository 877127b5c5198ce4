// Package peers makes limiters that answer the same question in the same
// situation, so that their speed can be compared: ours, other people's, and a
// floor that no keyed limiter can go below.
//
// # What is equal
//
// Every limiter gets the same keys in the same order and one limit. They are equal
// to the keys that it may have kept, but not the same strings, as in a server,
// where each request brings its own. To admit, it
// has a quota that no benchmark can use up; to deny, a quota of one request an
// hour, which is used up before. Where there is a middleware, it keys by the
// address of the connection as its documentation shows it, and writes the
// header fields that it writes by default.
//
// # What is not equal
//
// A limiter that can bound its keys holds as many as the situation needs; the
// others hold every key that they have seen until it expires, which no benchmark
// waits for. Algorithms are those that each limiter has: two sliding counters
// (ours, httprate, Fiber), a fixed window (ulule, go-limiter), a token bucket
// (tollbooth, x/time/rate, Echo) or GCRA (throttled). Where a choice of
// measurement had to be made, it was made in the peer's favour.
package peers

import (
	"net/http"
	"time"
)

// A Load is the situation that a limiter is made for.
type Load struct {
	// Denies asks for a quota of one request an hour in place of an ample one.
	Denies bool
	// Keys is how many keys a limiter with a capacity has room for; zero
	// leaves that to its default.
	Keys int
}

// Ample is the quota of limiters that admit. No benchmark runs so many requests,
// and every limiter takes the number.
const Ample = 1_000_000_000

// window is that of every limiter: no benchmark sees it end.
const window = time.Hour

func (l Load) quota() int64 {
	if l.Denies {
		return 1
	}
	return Ample
}

// A Decider takes one unit for a key and reports whether it was admitted.
type Decider func(key string) bool

// Denies reports whether the limiter of a name denies at all.
func Denies(limiter string) bool { return limiter != Floor && limiter != None }

// A Limiter is one that takes part.
type Limiter struct {
	// Name is its name in benchmarks and reports.
	Name string
	// Module is the path of its module, by which its version is found.
	Module string
	// Bounded says that it keeps to Load.Keys.
	Bounded bool
	// Lends says that the caller may change the key's bytes after a call.
	Lends bool
	// Decider makes a limiter without HTTP; nil where there is none to call.
	Decider func(Load) Decider
	// Middleware makes a limiter of net/http handlers; nil where there is
	// none.
	Middleware func(Load, http.Handler) http.Handler
}

// The names that reports treat apart.
const (
	Ours           = "slidegate"
	TwoLimits      = "slidegate-with-two-limits"
	WithoutHeaders = "slidegate-without-headers"
	Strict60       = "slidegate-strict-60"
	Floor          = "floor"
	None           = "no-limiter"
)

// All returns every limiter, ours first.
func All() []Limiter {
	return []Limiter{
		slidegate(), slidegateWithTwoLimits(), floor(),
		httprate(), ulule(), tollbooth(), throttled(), goLimiter(), xTimeRate(), echoStore(),
		none(),
	}
}

// none is what the surroundings of a middleware cost by themselves.
func none() Limiter {
	return Limiter{Name: None, Middleware: func(_ Load, next http.Handler) http.Handler { return next }}
}
