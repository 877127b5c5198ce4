package core

import (
	"math"
	"testing"
	"time"
)

func TestInstantsKeepTheirOrderAndTheirDays(t *testing.T) {
	date := func(year int) time.Time { return time.Date(year, 3, 1, 12, 0, 0, 5, time.UTC) }
	for _, c := range []struct {
		phrase string
		t      time.Time
		want   int64
	}{
		{"a time of today", date(2026), date(2026).UnixNano()},
		{"the zero Time is in 2001", time.Time{}, time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano()},
		{"the year 26 is 2026", date(26), date(2026).UnixNano()},
		{"1600 and on stand at the earliest", date(1601), earliestInstant + 5},
		{"1677, where nanoseconds wrap, too", date(1677), earliestInstant + 5},
		{"the year 3000 stands at the latest", date(3000), latestInstant/1e9*1e9 + 5},
		{"the last time that there is", time.Unix(math.MaxInt64, 0), latestInstant / 1e9 * 1e9},
		{"the first time that there is", time.Unix(math.MinInt64, 0), earliestInstant},
	} {
		if got := instant(c.t); got != c.want {
			t.Errorf("%s: %v, want %v", c.phrase, time.Unix(0, got).UTC(), time.Unix(0, c.want).UTC())
		}
	}
}
