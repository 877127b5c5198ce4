package core

import (
	"strconv"
	"time"
)

// A HeaderFormat is a format of the RateLimit header fields. They went through
// several drafts of the IETF's HTTPAPI group, and clients read different ones.
type HeaderFormat uint8

const (
	// HeadersDraft11 is draft-ietf-httpapi-ratelimit-headers-08 to -11, as a
	// List of RFC 9651 each:
	//
	//	RateLimit-Policy: "second";q=10;w=1, "minute";q=100;w=60
	//	RateLimit: "second";r=9;t=1, "minute";r=99;t=60
	HeadersDraft11 HeaderFormat = iota
	// HeadersDraft7 is draft -07, of the tightest limit only:
	//
	//	RateLimit-Policy: 10;w=1, 100;w=60
	//	RateLimit: limit=10, remaining=9, reset=1
	HeadersDraft7
	// HeadersDraft6 is drafts -03 to -06, of the tightest limit only:
	//
	//	RateLimit-Policy: 10;w=1, 100;w=60
	//	RateLimit-Limit: 10
	//	RateLimit-Remaining: 9
	//	RateLimit-Reset: 1
	HeadersDraft6
	// HeadersNone is no RateLimit field at all; denials have Retry-After still.
	HeadersNone
)

// ExposedHeaders lists every header field that a decision may set, as
// Access-Control-Expose-Headers takes it, so that scripts of other origins may
// read them.
const ExposedHeaders = "RateLimit, RateLimit-Policy, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, " +
	"X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After"

// The names as net/http spells them, which sets such names without rewriting
// them first. Field names are case-insensitive.
const (
	headerRateLimit       = "Ratelimit"
	headerPolicy          = "Ratelimit-Policy"
	headerLimit           = "Ratelimit-Limit"
	headerRemaining       = "Ratelimit-Remaining"
	headerReset           = "Ratelimit-Reset"
	headerLegacyLimit     = "X-Ratelimit-Limit"
	headerLegacyRemaining = "X-Ratelimit-Remaining"
	headerLegacyReset     = "X-Ratelimit-Reset"
	headerRetryAfter      = "Retry-After"
	headerCacheControl    = "Cache-Control"
)

// A Header is the header of a response that is not sent yet. http.Header is
// one. Names are case-insensitive.
type Header interface {
	// Get returns the first value of a name, or "".
	Get(name string) string
	// Set replaces all values of a name.
	Set(name, value string)
}

// SetHeaders sets the header fields of the decision: the RateLimit fields in
// the limiter's format and, on a denial, Retry-After and Cache-Control. A
// decision that counted nothing sets none. Fields that another limiter has set
// already are merged with where they are lists, and else kept where they are
// tighter.
func (d *Decision) SetHeaders(h Header) {
	if d.limiter == nil || d.setUsual(h) {
		return
	}
	d.limiter.markInstead(h)
	if d.counted() {
		d.setBudget(h)
	}
	if d.Allowed {
		return
	}
	h.Set(headerCacheControl, "no-store")
	if d.Never {
		return
	}
	if wait := d.retrySeconds(); wait > d.waitOf(h.Get(headerRetryAfter)) {
		h.Set(headerRetryAfter, strconv.FormatInt(wait, 10))
	}
}

// counted reports whether any limit that may show was asked.
func (d *Decision) counted() bool {
	for range d.shown {
		return true
	}
	return false
}

func (d *Decision) setBudget(h Header) {
	switch d.limiter.headers {
	case HeadersDraft11:
		d.setList(h)
	case HeadersDraft7, HeadersDraft6:
		d.setSingle(h)
	}
	if d.limiter.legacy {
		d.setLegacy(h)
	}
}

// shown yields the limits that headers speak of: all but the dry runs. States
// go by value, so that a decision can stay on the stack.
func (d *Decision) shown(yield func(State, *gauge) bool) {
	states := d.states()
	asks := d.asks()
	for i := range asks {
		gauges := asks[i].plan.gauges
		for j := range gauges {
			if !gauges[j].limit.dryRun && !yield(states[j], &gauges[j]) {
				return
			}
		}
		states = states[len(gauges):]
	}
}

// retrySeconds returns the wait in whole seconds, rounded up, at least 1.
func (d *Decision) retrySeconds() int64 { return max(1, wholeSeconds(int64(d.RetryAfter))) }

// waitOf returns how many seconds a Retry-After asks to wait, given in either
// form of RFC 9110, section 10.2.3, and 0 if it is none.
func (d *Decision) waitOf(retryAfter string) int64 {
	if retryAfter == "" {
		return 0
	}
	if seconds, err := strconv.ParseInt(retryAfter, 10, 64); err == nil {
		return seconds
	}
	const httpDate = "Mon, 02 Jan 2006 15:04:05 GMT"
	date, err := time.Parse(httpDate, retryAfter)
	if err != nil {
		return 0
	}
	return wholeSeconds(date.UnixNano() - d.now)
}

// wholeSeconds rounds nanoseconds up.
func wholeSeconds(ns int64) int64 {
	seconds := ns / int64(time.Second)
	if ns%int64(time.Second) > 0 {
		seconds++
	}
	return seconds
}

// resetSeconds returns the seconds that a client is told to reckon with. Where
// nothing remains it is the true wait for the next unit, so that the last
// admitted response and the denial after it say the same. Else it is until one
// more unit is free, and at least as long as the remaining ones would take at
// the quota's pace, within the window: remaining/reset promises no faster pace
// than quota/window.
func (g *gauge) resetSeconds(s State) int64 {
	w := g.windowSeconds()
	switch {
	case s.Denied && !s.Never:
		return max(1, wholeSeconds(int64(s.RetryAfter)))
	case s.Remaining >= g.quota: // more than a window's quota is a bucket's burst
		return w
	case s.Remaining == 0:
		return max(1, wholeSeconds(int64(s.Next)))
	}
	pace := int64(mul128(uint64(s.Remaining), uint64(w)).ceil(uint64(g.quota)))
	return min(w, max(pace, wholeSeconds(int64(s.Next))))
}

// windowSeconds returns the window in whole seconds, rounded up.
func (g *gauge) windowSeconds() int64 { return wholeSeconds(int64(g.window)) }
