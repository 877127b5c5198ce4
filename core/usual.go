package core

import (
	"strconv"
	"unsafe"
)

// The usual response has no RateLimit field before the only limiter sets them,
// as lists, after it asked all its rules. What it says of policies is always the
// same text then, and the rest takes one allocation.

// policiesOf returns what RateLimit-Policy says where all rules are asked, or ""
// where that varies or is not to be said as a list.
func (l *Limiter) policiesOf() string {
	if l.headers != HeadersDraft11 || l.legacy || l.varies {
		return ""
	}
	var b []byte
	for _, r := range l.rules {
		for i := range r.plan.gauges {
			if g := &r.plan.gauges[i]; !g.limit.dryRun {
				b = append(append(appendComma(b, len(b) > 0), g.label...), g.terms...)
			}
		}
	}
	return string(b)
}

// fields are the values of a response's header fields, and their text if it is
// not long.
type fields struct {
	values [4]string
	text   [64]byte
}

// setUsual sets the fields of a usual response, and reports false, having set
// nothing, for any other.
func (d *Decision) setUsual(h Header) bool {
	m, ok := h.(HeaderMap)
	if !ok || d.limiter.policies == "" || d.Degraded || int(d.asked) != len(d.limiter.rules) {
		return false
	}
	if len(m) > 0 && !m.free(d.Allowed) {
		return false
	}
	f := &fields{}
	b := d.appendStates(f.text[:0])
	split := len(b)
	if !d.Allowed && !d.Never {
		b = strconv.AppendInt(b, d.retrySeconds(), 10)
	}
	text := unsafe.String(unsafe.SliceData(b), len(b)) // nobody writes to it any more
	f.values = [4]string{d.limiter.policies, text[:split], text[split:], "no-store"}
	m[headerPolicy], m[headerRateLimit] = f.values[0:1:1], f.values[1:2:2]
	if d.Allowed {
		return true
	}
	m[headerCacheControl] = f.values[3:4:4]
	if !d.Never {
		m[headerRetryAfter] = f.values[2:3:3]
	}
	return true
}

// free reports whether none of the fields is set that a decision would have to
// merge with.
func (h HeaderMap) free(allowed bool) bool {
	_, policy := h[headerPolicy]
	_, limit := h[headerRateLimit]
	if policy || limit || allowed {
		return !policy && !limit
	}
	_, wait := h[headerRetryAfter]
	return !wait
}

// appendStates appends the states as RateLimit lists them: all, or on a denial
// those of the limits that denied.
func (d *Decision) appendStates(b []byte) []byte {
	states, asks := d.states(), d.asks()
	for i := range asks {
		gauges := asks[i].plan.gauges
		for j := range gauges {
			if g, s := &gauges[j], &states[j]; !g.limit.dryRun && (d.Allowed || s.Denied) {
				b = appendComma(b, len(b) > 0)
				b = g.appendState(append(b, g.label...), *s)
			}
		}
		states = states[len(gauges):]
	}
	return b
}
