package core

import (
	"slices"
	"strconv"
	"strings"
)

// setSingle sets the fields of drafts 6 and 7, which speak of one limit, and
// the policies beside it.
func (d *Decision) setSingle(h Header) {
	s, g := d.tightest()
	draft7, announced := d.limiter.headers == HeadersDraft7, h.Get(headerRemaining)
	if draft7 {
		announced = fieldOf(h.Get(headerRateLimit), "remaining=")
	}
	shows := d.outdoes(announced, s)
	h.Set(headerPolicy, d.appendQuotas(h.Get(headerPolicy), shows))
	switch {
	case draft7 && shows:
		b := strconv.AppendInt([]byte("limit="), g.quota, 10)
		b = strconv.AppendInt(append(b, ", remaining="...), s.Remaining, 10)
		b = strconv.AppendInt(append(b, ", reset="...), g.resetSeconds(s), 10)
		h.Set(headerRateLimit, string(b))
	case shows:
		setThree(h, headerLimit, g.quota, headerRemaining, s.Remaining, headerReset, g.resetSeconds(s))
	}
}

// setLegacy sets the X- fields that GitHub made usual: the reset is an instant,
// in whole seconds since the Unix epoch, rounded up.
func (d *Decision) setLegacy(h Header) {
	s, g := d.tightest()
	if !d.outdoes(h.Get(headerLegacyRemaining), s) {
		return
	}
	wait := g.resetSeconds(s) * 1e9
	switch {
	case s.Denied && !s.Never:
		wait = int64(s.RetryAfter)
	case s.Remaining == 0 && s.Next > 0:
		wait = int64(s.Next)
	}
	setThree(h, headerLegacyLimit, g.quota, headerLegacyRemaining, s.Remaining, headerLegacyReset, wholeSeconds(d.now+wait))
}

func setThree(h Header, limit string, quota int64, remaining string, units int64, reset string, at int64) {
	h.Set(limit, strconv.FormatInt(quota, 10))
	h.Set(remaining, strconv.FormatInt(units, 10))
	h.Set(reset, strconv.FormatInt(at, 10))
}

// outdoes reports whether fields that hold one limit are to speak of this state,
// given the remaining units that another limiter has announced there. Those of a
// denial always are.
func (d *Decision) outdoes(announced string, s State) bool {
	n, err := strconv.ParseInt(announced, 10, 64)
	return !d.Allowed || err != nil || s.Remaining <= n
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
// one quota the tighter stands, and over another limiter's the one that shows.
func (d *Decision) appendQuotas(policies string, shows bool) string {
	var items []string
	if policies != "" {
		items = strings.Split(policies, ", ")
	}
	_, tightest := d.tightest()
	for s, g := range d.shown {
		stands := true
		for s2, g2 := range d.shown {
			stands = stands && (g2 == g || g2.quota != g.quota || !d.tighter(s2, g2, s, g))
		}
		prefix := strconv.FormatInt(g.quota, 10) + paramWindow
		item := prefix + strconv.FormatInt(g.windowSeconds(), 10)
		same := slices.IndexFunc(items, func(item string) bool { return strings.HasPrefix(item, prefix) })
		switch {
		case same < 0 && stands:
			items = append(items, item)
		case same >= 0 && shows && g == tightest:
			items[same] = item
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
