package core

import (
	"slices"
	"strconv"
	"strings"
)

// setSingle sets the fields of drafts 6 and 7, which speak of one limit, and
// the policies beside it.
func (d *Decision) setSingle(h Header) {
	h.Set(headerPolicy, d.appendQuotas(h.Get(headerPolicy)))
	s, g := d.tightest()
	if d.limiter.headers == HeadersDraft7 {
		if remaining, ok := d.rival(fieldOf(h.Get(headerRateLimit), "remaining=")); ok && remaining < s.Remaining {
			return
		}
		b := strconv.AppendInt([]byte("limit="), g.quota, 10)
		b = strconv.AppendInt(append(b, ", remaining="...), s.Remaining, 10)
		b = strconv.AppendInt(append(b, ", reset="...), g.resetSeconds(s), 10)
		h.Set(headerRateLimit, string(b))
		return
	}
	d.setThree(h, headerLimit, headerRemaining, headerReset, g.resetSeconds(s))
}

// setLegacy sets the X- fields that GitHub made usual: the reset is an instant,
// in whole seconds since the Unix epoch, rounded up.
func (d *Decision) setLegacy(h Header) {
	s, g := d.tightest()
	wait := int64(s.RetryAfter)
	if !s.Denied || s.Never {
		wait = g.resetSeconds(s) * 1e9
	}
	d.setThree(h, headerLegacyLimit, headerLegacyRemaining, headerLegacyReset, wholeSeconds(d.now+wait))
}

// setThree sets quota, remaining and reset of the tightest limit, unless those
// of a limiter further out are tighter.
func (d *Decision) setThree(h Header, limit, remaining, reset string, at int64) {
	s, g := d.tightest()
	if other, ok := d.rival(h.Get(remaining)); ok && other < s.Remaining {
		return
	}
	h.Set(limit, strconv.FormatInt(g.quota, 10))
	h.Set(remaining, strconv.FormatInt(s.Remaining, 10))
	h.Set(reset, strconv.FormatInt(at, 10))
}

// rival reads the remaining units that another limiter has announced. A denial
// has none: its own numbers always show.
func (d *Decision) rival(remaining string) (int64, bool) {
	if remaining == "" || !d.Allowed {
		return 0, false
	}
	n, err := strconv.ParseInt(remaining, 10, 64)
	return n, err == nil
}

// tightest returns the limit that single-valued fields speak of: the one with
// the least remaining, and of these the one with the longest window; on a
// denial the one that denied with the longest wait.
func (d *Decision) tightest() (State, *gauge) {
	var least State
	var of *gauge
	for s, g := range d.shown {
		if of == nil || d.tighter(s, g, least, of) {
			least, of = s, g
		}
	}
	return least, of
}

func (d *Decision) tighter(s State, g *gauge, than State, of *gauge) bool {
	switch {
	case s.Denied != than.Denied:
		return s.Denied
	case s.Never != than.Never:
		return s.Never
	case s.Denied && s.RetryAfter != than.RetryAfter:
		return s.RetryAfter > than.RetryAfter
	case s.Remaining != than.Remaining:
		return s.Remaining < than.Remaining
	}
	return g.window > of.window
}

// appendQuotas returns the policies as drafts 6 and 7 list them, after those of
// limiters further out. They are told apart by their quota only: of two with
// one quota the tighter stands.
func (d *Decision) appendQuotas(policies string) string {
	var items []string
	if policies != "" {
		items = strings.Split(policies, ", ")
	}
	for s, g := range d.shown {
		stands := true
		for s2, g2 := range d.shown {
			stands = stands && (g2 == g || g2.quota != g.quota || !d.tighter(s2, g2, s, g))
		}
		prefix := strconv.FormatInt(g.quota, 10) + paramWindow
		same := func(item string) bool { return strings.HasPrefix(item, prefix) }
		if stands && !slices.ContainsFunc(items, same) {
			items = append(items, prefix+strconv.FormatInt(g.windowSeconds(), 10))
		}
	}
	return strings.Join(items, ", ")
}

// fieldOf returns the value of a name in a list of name=value.
func fieldOf(list, name string) string {
	_, rest, _ := strings.Cut(list, name)
	value, _, _ := strings.Cut(rest, ",")
	return value
}
