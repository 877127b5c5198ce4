package core

import (
	"fmt"
	"slices"
	"strconv"
	"time"
)

// The parameters of the list form, which an unpublished draft renames.
const (
	paramQuota     = ";q="
	paramWindow    = ";w="
	paramRemaining = ";r="
	paramReset     = ";t="
)

// setList sets RateLimit-Policy and RateLimit as canonical Lists (RFC 9651,
// section 4.1.1): the first with all limits, the second on a denial with those
// that denied, and no other limiter's. Both are cut from one string, which saves
// an allocation.
func (d *Decision) setList(h Header) {
	policies, limits := h.Get(headerPolicy), ""
	if d.Allowed {
		limits = h.Get(headerRateLimit)
	}
	if names := d.freeNames(policies); names != nil {
		d.needMore().names = names
	}
	var space [320]byte
	b, i := append(space[:0], policies...), 0
	for _, g := range d.shown {
		b = appendComma(b, len(b) > 0)
		b = append(append(b, d.label(i, g)...), g.terms...)
		i++
	}
	split := len(b)
	b, i = append(b, limits...), 0
	for s, g := range d.shown {
		if d.Allowed || s.Denied {
			b = appendComma(b, len(b) > split)
			b = g.appendState(append(b, d.label(i, g)...), s)
		}
		i++
	}
	text := string(b)
	h.Set(headerPolicy, text[:split])
	h.Set(headerRateLimit, text[split:])
}

func appendComma(b []byte, more bool) []byte {
	if more {
		return append(b, ", "...)
	}
	return b
}

// listTerms returns what the list form says of a limit itself, after its name.
func (g *gauge) listTerms() string {
	b := strconv.AppendInt([]byte(paramQuota), g.quota, 10)
	if g.window >= uint64(time.Second) {
		b = strconv.AppendInt(append(b, paramWindow...), g.windowSeconds(), 10)
	}
	return string(b)
}

// appendState appends what the list form says of a limit's state.
func (g *gauge) appendState(b []byte, s State) []byte {
	b = strconv.AppendInt(append(b, paramRemaining...), s.Remaining, 10)
	if s.Never {
		return b
	}
	return strconv.AppendInt(append(b, paramReset...), g.resetSeconds(s), 10)
}

// policyName returns what the header calls the shown limit of an index.
func (d *Decision) policyName(i int, g *gauge) string {
	if d.more == nil || d.more.names == nil {
		return g.limit.name
	}
	return d.more.names[i]
}

// label returns that name as a String of the list form.
func (d *Decision) label(i int, g *gauge) string {
	if d.more == nil || d.more.names == nil {
		return g.label
	}
	return string(appendQuoted(nil, d.more.names[i]))
}

// freeNames returns the names of the shown limits, numbered where another
// limiter's policy, or one from LimitsFor of another rule, has the name
// already; nil means that all keep their own.
func (d *Decision) freeNames(policies string) []string {
	if policies == "" && !d.limiter.varies {
		return nil
	}
	taken := policyNames(policies)
	kept := len(taken)
	for _, g := range d.shown {
		name := g.limit.name
		for n := 2; slices.Contains(taken, name); n++ {
			name = fmt.Sprintf("%s-%d", g.limit.name, n)
		}
		taken = append(taken, name)
	}
	return taken[kept:]
}

// policyNames returns the Strings that are the items of a List. It trusts the
// text to be one; of anything else it may return too few.
func policyNames(list string) []string {
	var names []string
	for i, item := 0, true; i < len(list); {
		switch {
		case list[i] == '"':
			name, rest, err := cutName(list[i:])
			if err != nil {
				return names
			}
			if item {
				names = append(names, name)
			}
			i, item = len(list)-len(rest), false
		case list[i] == ',':
			i, item = i+1, true
		default:
			item = item && list[i] == ' '
			i++
		}
	}
	return names
}
