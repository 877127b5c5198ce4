package conformance

import (
	"math"
	"sync/atomic"
	"time"
)

// epoch is the instant 0 of all scenarios in Unix seconds: a multiple of a day
// and of every window that they use.
const epoch = 1_799_971_200

var origin = time.Unix(epoch, 0)

// A clock stands still until it is set.
type clock struct{ nanoseconds atomic.Int64 }

func (c *clock) now() time.Time {
	return time.Unix(epoch, c.nanoseconds.Load())
}

// set moves the clock to seconds after the epoch, forth or back.
func (c *clock) set(seconds float64) {
	c.nanoseconds.Store(int64(math.Round(seconds * 1e9)))
}
