package core

import (
	"fmt"
	"unsafe"
)

// A HeaderMap is the header of a response as net/http keeps it; http.Header
// converts to it.
type HeaderMap map[string][]string

// Get returns the first value of a name in its canonical spelling, or "".
func (h HeaderMap) Get(name string) string {
	if values := h[name]; len(values) > 0 {
		return values[0]
	}
	return ""
}

// Set replaces all values of a name in its canonical spelling.
func (h HeaderMap) Set(name, value string) { h[name] = []string{value} }

// Again reports whether the limiter has met this response before: one that is
// mounted twice on the way of a request counts it once. An adapter asks before
// Check, and calls [Decision.SetHeaders] after it. The limiter knows its own
// value of RateLimit-Policy by its place in memory; where that does not tell, it
// leaves a mark.
func (l *Limiter) Again(h HeaderMap) bool {
	if len(h) > 0 && l.met(h) {
		l.MountedTwice()
		return true
	}
	if l.policies == "" {
		h[l.mark] = nil
	}
	return false
}

func (l *Limiter) met(h HeaderMap) bool {
	if l.policies != "" && same(h.Get(headerPolicy), l.policies) {
		return true
	}
	_, marked := h[l.mark]
	return marked
}

// same reports whether two strings are one.
func same(a, b string) bool { return len(a) == len(b) && unsafe.StringData(a) == unsafe.StringData(b) }

// newMark returns the mark of a limiter: an entry of a header without values
// under a name that no field can have; net/http sends neither.
func (l *Limiter) newMark() string {
	if l.policies == "" {
		return fmt.Sprintf("\x00slidegate %p", l)
	}
	return markOf(l.policies)
}

// markOf returns the mark of the limiter that says this of its policies.
func markOf(policies string) string {
	return fmt.Sprintf("\x00slidegate %p", unsafe.StringData(policies))
}

// markInstead leaves marks where RateLimit-Policy will not tell: it may become what
// is neither this limiter's own value nor that of one before it.
func (l *Limiter) markInstead(h Header) {
	m, ok := h.(HeaderMap)
	if !ok {
		return
	}
	if replaced := m.Get(headerPolicy); replaced != "" {
		m[markOf(replaced)] = nil
	}
	if l.policies != "" {
		m[l.mark] = nil
	}
}
