package core

import (
	"fmt"
	"time"
)

// unreachable tells of the first limit of a rule that can never deny, because
// another one denies whatever it would, or returns "". Where that depends on how
// requests fall it says nothing.
func unreachable(limits []Limit) string {
	for i, l := range limits {
		for j, other := range limits {
			if i != j && !l.dryRun && !other.dryRun && other.quota > 0 && other.covers(l) {
				return fmt.Sprintf("%v beside %v", l, other)
			}
		}
	}
	return ""
}

// covers reports whether a limit denies every request that another one, which is
// charged the same, would deny.
func (l Limit) covers(other Limit) bool {
	alike := l.algorithm == other.algorithm && l.window == other.window
	switch {
	case alike && (l.algorithm == Bucket || l.grain == other.grain):
		return l.quota <= other.quota && l.Burst() <= other.Burst()
	case other.algorithm == Bucket:
		// What is admitted at once must fit its burst, and what is admitted
		// in the long run its pace.
		most := l.mostInWindow()
		return most <= other.Burst() && l.slowerThan(other, most)
	}
	return l.admitsAtMost(other.quota, other.view())
}

// view returns the longest time that a request counts, in full or in part.
func (l Limit) view() time.Duration {
	if l.algorithm == Smooth || l.algorithm == Strict {
		return l.window + ceilDiv(l.window, time.Duration(l.grain))
	}
	return l.window
}

// mostInWindow bounds what is admitted in any window of the limit; of a bucket,
// beside what it admits at its pace.
func (l Limit) mostInWindow() int64 {
	if l.algorithm == Smooth || l.algorithm == Fixed {
		return 2 * l.quota
	}
	return l.Burst()
}

// slowerThan reports whether so many units a window, or a bucket's own quota, are
// no more than the other's quota in its window.
func (l Limit) slowerThan(other Limit, units int64) bool {
	if l.algorithm == Bucket {
		units = l.quota
	}
	pace := mul128(uint64(units), uint64(other.window))
	return !mul128(uint64(other.quota), uint64(l.window)).less(pace)
}

// admitsAtMost reports whether no more than so many units are ever admitted in a
// time of a length. It may say no where that is so.
func (l Limit) admitsAtMost(units int64, length time.Duration) bool {
	beyond := units - l.Burst()
	inside := length <= l.window
	switch {
	case beyond < 0:
		return false
	case l.algorithm == Bucket, l.algorithm == Smooth && l.grain == 1 && inside:
		// A burst, and the quota by the share of the window: of two counters,
		// what has left the view of the one before.
		more := mul128(uint64(l.quota), uint64(length))
		return more.less(mul128(uint64(beyond)+1, uint64(l.window)))
	case l.algorithm == Smooth && length <= l.window-ceilDiv(l.window, time.Duration(l.grain)):
		return true
	}
	windows := uint64(ceilDiv(length, l.window))
	most := mul128(windows, uint64(l.mostInWindow()))
	return !mul128(uint64(units), 1).less(most)
}

func ceilDiv(a, b time.Duration) time.Duration { return (a-1)/b + 1 }
