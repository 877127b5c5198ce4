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

// setUsual sets the fields of a usual response, and reports false, having set
// nothing, for any other.
func (d *Decision) setUsual(h Header) bool {
	if d.limiter.policies == "" || d.Degraded || int(d.asked) != len(d.limiter.rules) || d.merges(h) {
		return false
	}
	if d.more != nil {
		d.more.names = nil // of another header, where they were taken
	}
	m, ok := h.(HeaderMap)
	switch {
	case !ok:
		d.setEach(h)
	case d.Allowed:
		d.setAllowed(m)
	default:
		d.setDenied(m)
	}
	return true
}

// merges reports whether there are fields that those of the decision must go
// together with.
func (d *Decision) merges(h Header) bool {
	if m, ok := h.(HeaderMap); ok && len(m) == 0 {
		return false
	}
	return h.Get(headerPolicy) != "" || h.Get(headerRateLimit) != "" || !d.Allowed && h.Get(headerRetryAfter) != ""
}

func (d *Decision) setEach(h Header) {
	h.Set(headerPolicy, d.limiter.policies)
	h.Set(headerRateLimit, string(d.appendStates(make([]byte, 0, usualText))))
	if d.Allowed {
		return
	}
	h.Set(headerCacheControl, "no-store")
	if !d.Never {
		h.Set(headerRetryAfter, strconv.FormatInt(d.retrySeconds(), 10))
	}
}

// usualText is the length up to which the text of the fields lies beside their
// values.
const usualText = 64

func (d *Decision) setAllowed(h HeaderMap) {
	f := &struct {
		values [2]string
		text   [usualText]byte
	}{}
	f.values[0], f.values[1] = d.limiter.policies, finished(d.appendStates(f.text[:0]))
	h[headerPolicy], h[headerRateLimit] = f.values[0:1:1], f.values[1:2:2]
}

func (d *Decision) setDenied(h HeaderMap) {
	f := &struct {
		values [4]string
		text   [usualText]byte
	}{}
	b := d.appendStates(f.text[:0])
	split := len(b)
	if !d.Never {
		b = strconv.AppendInt(b, d.retrySeconds(), 10)
	}
	text := finished(b)
	f.values[0], f.values[1], f.values[2], f.values[3] = d.limiter.policies, text[:split], "no-store", text[split:]
	h[headerPolicy], h[headerRateLimit], h[headerCacheControl] = f.values[0:1:1], f.values[1:2:2], f.values[2:3:3]
	if !d.Never {
		h[headerRetryAfter] = f.values[3:4:4]
	}
}

// finished returns text that nobody writes to any more as a string.
func finished(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

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
