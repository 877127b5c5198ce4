package interop_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/keyfuncs"
)

// instant is when everything in this file happens.
var instant = time.Unix(1_800_000_000, 0)

func standing() time.Time { return instant }

// A reading is what ratelimit-header-parser makes of a response, the reset in
// milliseconds since the Unix epoch.
type reading struct {
	Limit     int64 `json:"limit"`
	Remaining int64 `json:"remaining"`
	Reset     int64 `json:"reset"`
}

// The formats before draft 8 say the same to a parser that tells them apart by
// itself: of a bucket of three, refilled by one every 20 seconds, and of a wider
// limit beside it nothing.
func TestRateLimitHeaderParserReadsTheOlderFormats(t *testing.T) {
	after := func(remaining int64, wait time.Duration) reading {
		return reading{Limit: 3, Remaining: remaining, Reset: instant.Add(wait).UnixMilli()}
	}
	want := []reading{
		after(2, 40*time.Second), // three a minute is the pace of two in 40 seconds
		after(1, 20*time.Second),
		after(0, 20*time.Second),
		after(0, 20*time.Second), // denied
	}
	var names, urls []string
	for _, format := range []struct {
		name   string
		config core.Config
	}{
		{"legacy", core.Config{Headers: core.HeadersNone, LegacyHeaders: true}},
		{"draft 6", core.Config{Headers: core.HeadersDraft6}},
		{"draft 7", core.Config{Headers: core.HeadersDraft7}},
		{"draft 7 and legacy", core.Config{Headers: core.HeadersDraft7, LegacyHeaders: true}},
	} {
		for _, a := range adapters() {
			format.config.Rules = []core.Rule{core.By(keyfuncs.IP, core.PerMinute(3).Bucket(3), core.PerHour(100))}
			names = append(names, format.name+" by "+a.name)
			urls = append(urls, a.open(t, site{limiters: limitersOf(format.config)}))
		}
	}
	args := append([]string{strconv.FormatInt(instant.UnixMilli(), 10), strconv.Itoa(len(want))}, urls...)
	var got [][]reading
	runScript(t, &got, "ratelimit-header-parser.mjs", args...)
	if len(got) != len(urls) {
		t.Fatalf("readings of %d servers, want %d", len(got), len(urls))
	}
	for i, name := range names {
		if !slices.Equal(got[i], want) {
			t.Errorf("%s: the parser reads %v, want %v", name, got[i], want)
		}
	}
}

// limitersOf makes limiters whose time stands still.
func limitersOf(configs ...core.Config) []*core.Limiter {
	var limiters []*core.Limiter
	for _, c := range configs {
		c.Now = standing
		limiters = append(limiters, core.MustNew(c))
	}
	return limiters
}
