package core

import "time"

// A clock reads nanoseconds since the Unix epoch. In process it is monotonic on
// a wall-clock base that is fixed when it is made, so that a step of the wall
// clock changes no count.
type clock struct {
	base time.Time
	unix int64
	now  func() time.Time // replaces the monotonic clock if set
}

// The instants that a clock may read; one outside of them stands at the nearest.
// They are in the years 1949 and 2142: the time from the first to the last and
// the longest wait add up to less than 63 bits, however a clock jumps.
const (
	earliestInstant = -2 * int64(MaxWindow)
	latestInstant   = 1<<63 - 1 - int64(MaxRefill) - 2*int64(MaxWindow)
)

func newClock(now func() time.Time) clock {
	base := time.Now()
	return clock{base: base, unix: base.UnixNano(), now: now}
}

func (c *clock) read() int64 {
	if c.now != nil {
		return max(earliestInstant, min(c.now().UnixNano(), latestInstant))
	}
	return c.unix + int64(time.Since(c.base))
}

// toDuration adds what the key's time is ahead of the clock to a wait.
func toDuration(wait, ahead int64) time.Duration { return time.Duration(wait + ahead) }
