package core

import "fmt"

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

// setBoth sets two fields with one allocation for both.
func setBoth(h Header, name1, value1, name2, value2 string) {
	m, ok := h.(HeaderMap)
	if !ok {
		h.Set(name1, value1)
		h.Set(name2, value2)
		return
	}
	values := []string{value1, value2}
	m[name1], m[name2] = values[:1:1], values[1:]
}

// Again reports whether the limiter has seen this response before, and marks it
// as seen: a limiter that is mounted twice on the way of a request counts it
// once. The mark is an entry without values under a name that no field can
// have; net/http sends neither, and an entry costs no allocation.
func (l *Limiter) Again(h HeaderMap) bool {
	_, again := h[l.mark]
	if again {
		l.MountedTwice()
		return true
	}
	h[l.mark] = nil
	return false
}

// newMark makes a name that no other limiter has.
func newMark(l *Limiter) string { return fmt.Sprintf("\x00slidegate %p", l) }
