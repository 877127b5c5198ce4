package conformance

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/keyfuncs"
)

func configPlays() []scenario {
	return []scenario{
		{"RL-003 negative quotas are faults when the limiter is made", negativeQuotas},
		{"RL-092 no limiter is a fault when the middleware is made", noLimiter},
		{"RL-092 no store and no key function are faults when the limiter is made", noParts},
		{"RL-092 nil functions are faults when they are handed over", nilFunctions},
	}
}

func negativeQuotas(tb testing.TB, a Adapter) {
	for _, quota := range []int64{-1, math.MinInt64} {
		text := panicOf(func() { a.Limit(core.By(keyfuncs.IP, core.PerMinute(quota))) })
		wantText(tb, fmt.Sprintf("Limit with a quota of %d", quota), text, strconv.FormatInt(quota, 10), "rule-1")
	}
}

func noLimiter(tb testing.TB, a Adapter) {
	wantText(tb, "New with a nil limiter", panicOf(func() { a.New(nil) }), "New needs a limiter", "core.New")
	wantText(tb, "Limit without rules", panicOf(func() { a.Limit() }), "no rules", "core.By")
}

func noParts(tb testing.TB, a Adapter) {
	wantText(tb, "Limit without a key function", panicOf(func() { a.Limit(core.By(nil, core.PerMinute(1))) }), "no key function")
	var memory *core.Memory
	_, err := core.New(core.Config{Rules: []core.Rule{core.By(keyfuncs.IP, core.PerMinute(1))}, Store: memory})
	if !errors.Is(err, core.ErrConfig) {
		tb.Errorf("New with a nil *Memory: %v, want an ErrConfig", err)
	}
}

func nilFunctions(tb testing.TB, a Adapter) {
	for _, name := range slices.Sorted(maps.Keys(a.NilFunctions)) {
		wantText(tb, name+"(nil)", panicOf(a.NilFunctions[name]), name+" needs a function")
	}
	for _, name := range []string{"Key", "OnDenied", "OnError", "RefundIf"} {
		if a.NilFunctions[name] == nil {
			tb.Errorf("the adapter's test does not say how to call %s(nil)", name)
		}
	}
}

// panicOf returns the text that a function panics with, or "".
func panicOf(f func()) (text string) {
	defer func() {
		if p := recover(); p != nil {
			text = fmt.Sprint(p)
		}
	}()
	f()
	return ""
}

func wantText(tb testing.TB, what, text string, words ...string) {
	tb.Helper()
	for _, word := range words {
		if !strings.Contains(text, word) {
			tb.Errorf("%s panics with %q, want a text with %q", what, text, word)
		}
	}
}
