package core

import (
	"sync"
	"time"
)

// A clock reads nanoseconds since the Unix epoch. In process it is monotonic on
// a wall-clock base that is fixed when it is made, so that a step of the wall
// clock changes no count.
type clock struct {
	base time.Time
	unix int64
	now  func() time.Time // replaces the monotonic clock if set
}

// The instants that a clock may read, in the years 1949 and 2142: the time from
// the first to the last and the longest wait add up to less than 63 bits, however
// a clock jumps.
const (
	earliestInstant = -2 * int64(MaxWindow)
	latestInstant   = 1<<63 - 1 - int64(MaxRefill) - 2*int64(MaxWindow)
)

// instant returns a time as nanoseconds. One outside of those years stands at the
// nearest, except that the first centuries, where the zero Time lies and the
// clocks of many tests begin, run on 2,000 years later.
func instant(t time.Time) int64 {
	const (
		day1600 = -135_140 // 1600-01-01, in days since the Unix epoch
		later   = 5 * 146_097
		perDay  = 24 * 60 * 60
	)
	seconds := t.Unix()
	if seconds < day1600*perDay && seconds > -later*perDay {
		seconds += later * perDay
	}
	seconds = max(earliestInstant/int64(time.Second), min(seconds, latestInstant/int64(time.Second)))
	return seconds*int64(time.Second) + int64(t.Nanosecond())
}

func newClock(now func() time.Time) clock {
	base := time.Now()
	return clock{base: base, unix: base.UnixNano(), now: now}
}

func (c *clock) read() int64 {
	if c.now != nil {
		return instant(c.now())
	}
	return c.monotonic()
}

func (c *clock) monotonic() int64 { return c.unix + int64(time.Since(c.base)) }

// replaced reads a clock that replaces the monotonic one while a lock is held,
// which it gives back if the clock does not return.
func (c *clock) replaced(lock *sync.Mutex) int64 {
	returned := false
	defer func() {
		if !returned {
			lock.Unlock()
		}
	}()
	now := instant(c.now())
	returned = true
	return now
}

// toDuration adds what the key's time is ahead of the clock to a wait.
func toDuration(wait, ahead int64) time.Duration { return time.Duration(wait + ahead) }
