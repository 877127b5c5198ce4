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

// latestInstant is in the year 2134: an instant and the longest wait add up to
// less than 63 bits.
const latestInstant = 1<<63 - 1 - int64(MaxRefill) - int64(MaxWindow)*2

func newClock(now func() time.Time) clock {
	base := time.Now()
	return clock{base: base, unix: base.UnixNano(), now: now}
}

func (c *clock) read() int64 {
	if c.now != nil {
		return min(c.now().UnixNano(), latestInstant)
	}
	return c.unix + int64(time.Since(c.base))
}

// toDuration adds what the key's time is ahead of the clock to a wait.
func toDuration(wait, ahead int64) time.Duration { return time.Duration(wait + ahead) }
