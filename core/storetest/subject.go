package storetest

import (
	"strings"
	"unsafe"

	"github.com/slidegate/slidegate/core"
)

func subjectsAreApart(p *probe) {
	p.begin(second)
	l := core.PerMinute(2)
	subjects := [][2]string{{"a", "bc"}, {"ab", "c"}, {"abc", ""}, {"a", "b"}, {"b", "a"}, {"A", "bc"}, {"a:b", "c"}, {"a", "b:c"}, {"1", "1"}, {"11", ""}}
	for i, s := range subjects {
		a := []core.Ask{askOf(s[0], s[1], 2, l)}
		p.wantRemaining("before its first request", a, 2)
		p.mustCharge(a)
		if p.decide(a) {
			p.Errorf("rule %q, key %q (number %d): admitted beyond its quota", s[0], s[1], i)
		}
	}
}

// keysAreBytes charges keys that are alike, odd or long, each with a number of
// units of its own, and looks for that number afterwards.
func keysAreBytes(p *probe) {
	p.begin(second)
	keys := []string{
		"", " ", "\x00", "\x00\x00", "a", "a\x00", "a ", "A", "ä", "a\u0308", "\xff\xfe", "\n", "\r\n", "'", `"`, `\`, "%", "%s", "*", "?",
		"{", "}", "{}", "{a}", "{a}b", "a{b}", "{{a}}", "}{", ":", "a:b", "a::b", "/", "../a", "192.0.2.1", "[2001:db8::1]:443",
	}
	for _, length := range []int{31, 32, 63, 64, 65, 66, 127, 128, 255, 256, 1000, 10_000} {
		long := strings.Repeat("k", length-1)
		keys = append(keys, long+"a", long+"b", "b"+long, long+"\x00")
	}
	l := core.PerMinute(1000)
	for i, key := range keys {
		p.mustCharge([]core.Ask{askOf("rule", key, int64(i+1), l)})
	}
	for i, key := range keys {
		if got, want := p.peek(askOf("rule", key, 1, l))[0].Remaining, int64(1000-1-i); got != want {
			p.Errorf("key number %d, of %d bytes, beginning %.20q: %d remaining, want %d: it shares a count", i, len(key), key, got, want)
		}
	}
}

// keysAreCloned writes over the bytes of a key after the call, as a framework
// does that reads every request into one buffer.
func keysAreCloned(p *probe) {
	for _, length := range []int{8, 64, 65, 300} {
		p.begin(second)
		buffer := []byte(strings.Repeat("x", length))
		borrowed := []core.Ask{askOf("rule", unsafe.String(unsafe.SliceData(buffer), length), 2, core.PerMinute(3))}
		p.mustCharge(borrowed)
		for i := range buffer {
			buffer[i] = 'y'
		}
		first := []core.Ask{askOf("rule", strings.Repeat("x", length), 1, core.PerMinute(3))}
		second := []core.Ask{askOf("rule", strings.Repeat("y", length), 1, core.PerMinute(3))}
		p.wantRemaining("under the key that was charged", first, 1)
		p.wantRemaining("under the bytes that were written over it", second, 3)
	}
}

func resetForgetsOne(p *probe) {
	p.begin(second)
	limits := kinds(5)
	asks := []core.Ask{askOf("rule", "key", 3, limits...), askOf("rule", "other", 3, limits...), askOf("other", "key", 3, limits...)}
	p.mustCharge(asks)
	p.reset("rule", "key")
	p.wantRemaining("after a reset of the first", asks, 5, 2, 2)
	for i, s := range p.peek(asks[0]) {
		if s.Remaining != 5 {
			p.Errorf("%v: %d remaining after the reset, want 5", limits[i], s.Remaining)
		}
	}
	p.reset("rule", "key")
	p.reset("rule", "never seen")
	p.reset("never seen", "key")
	p.mustCharge(asks[:1])
	p.wantRemaining("after resets of what is not there, and a charge", asks, 2, 2, 2)
}
