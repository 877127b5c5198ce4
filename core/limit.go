package core

import (
	"errors"
	"fmt"
	"time"
)

// Bounds of a [Limit], checked by [Limit.Validate] and by [New].
const (
	// MaxQuota is the largest quota, cost and burst: fifteen digits, the most
	// that an Integer of RFC 9651 (Structured Field Values, section 3.3.1) has.
	MaxQuota = 999_999_999_999_999
	// MinWindow is the shortest window.
	MinWindow = time.Millisecond
	// MaxWindow is the longest window: ten years with their leap days.
	MaxWindow = 3653 * 24 * time.Hour
	// MaxSlots is the largest number of slots in a window.
	MaxSlots = 1000
	// MaxExactQuota is the largest quota of an exact limit, which may keep a
	// stamp for every unit of it.
	MaxExactQuota = 10_000
	// MaxRefill is the longest time that an empty bucket may take to fill.
	MaxRefill = 10 * MaxWindow
)

// An Algorithm says how a [Limit] counts the requests of its window.
type Algorithm uint8

// The algorithms. The documentation of the package compares what they promise.
const (
	// Smooth counts the oldest slot by the share of it that is still in view.
	Smooth Algorithm = iota
	// Strict counts the oldest slot in full.
	Strict
	// Exact keeps the time of every unit.
	Exact
	// Fixed starts afresh at every multiple of the window.
	Fixed
	// Bucket is a token bucket: a burst at once, then evenly.
	Bucket
)

// String returns the word that [ParseLimit] reads: smooth, strict, exact,
// fixed or bucket.
func (a Algorithm) String() string {
	if int(a) < len(algorithmWords) {
		return algorithmWords[a]
	}
	return fmt.Sprintf("Algorithm(%d)", uint8(a))
}

var algorithmWords = [...]string{Smooth: "smooth", Strict: "strict", Exact: "exact", Fixed: "fixed", Bucket: "bucket"}

// A Limit is a quota of units in any window of a length, and how to count it:
// 100 per minute. It is a comparable value; its methods give changed copies.
// The zero Limit is not valid.
type Limit struct {
	name      string
	quota     int64
	window    time.Duration
	grain     int64 // slots of smooth and strict, burst of bucket, else 0
	algorithm Algorithm
	dryRun    bool
}

// Per returns the limit of quota units in a window, counted by two counters
// (see [Limit.Smooth]). A quota of 0 denies everything, on purpose.
func Per(quota int64, window time.Duration) Limit {
	return Limit{quota: quota, window: window, algorithm: Smooth, grain: 1}
}

// PerSecond returns the limit of quota units a second.
func PerSecond(quota int64) Limit { return Per(quota, time.Second) }

// PerMinute returns the limit of quota units a minute.
func PerMinute(quota int64) Limit { return Per(quota, time.Minute) }

// PerHour returns the limit of quota units an hour.
func PerHour(quota int64) Limit { return Per(quota, time.Hour) }

// PerDay returns the limit of quota units in 24 hours.
func PerDay(quota int64) Limit { return Per(quota, 24*time.Hour) }

// Named returns the limit with a name, by which headers, problem bodies and
// metrics call it. A limit without one is called by its window.
func (l Limit) Named(name string) Limit {
	l.name = name
	return l
}

// Smooth returns the limit counted in n slots of which the oldest counts by the
// share of it that is still inside the window: n + 1 counts a key. It is the
// default with n = 1, the well-known two counters.
//
// At most the quota is admitted in any window of W·(1 − 1/n). A window of W can
// reach almost twice the quota under an attack that is timed for it; steady
// traffic is held within a few per cent of an exact log.
func (l Limit) Smooth(n int) Limit { return l.counted(Smooth, int64(n)) }

// Strict returns the limit counted in n slots of which the oldest counts in
// full: n + 1 counts a key. Never more than the quota is admitted in any
// window. A client may be held back up to W/n longer than by an exact log, so
// that a saturated one sustains quota·n/(n+1): strict(1) halves it, strict(60)
// costs under 2 %.
func (l Limit) Strict(n int) Limit { return l.counted(Strict, int64(n)) }

// Exact returns the limit counted by a log with the time of every unit, in a ring
// that doubles, so that a key takes 16 to 32 bytes for each unit that is in its
// window: never more than the quota in any window, and never a needless denial.
// Its quota is at most [MaxExactQuota].
func (l Limit) Exact() Limit { return l.counted(Exact, 0) }

// Fixed returns the limit counted afresh from every multiple of the window
// since the Unix epoch, in UTC. A client can spend twice the quota around such
// a boundary. It serves quotas by calendar day or hour, and comparison.
func (l Limit) Fixed() Limit { return l.counted(Fixed, 0) }

// Bucket returns the limit counted by a token bucket: up to burst units at
// once, then evenly quota a window; at most quota + burst in any window. It is
// for traffic that is rightly bursty, such as a page with six resources.
func (l Limit) Bucket(burst int64) Limit { return l.counted(Bucket, burst) }

func (l Limit) counted(a Algorithm, grain int64) Limit {
	l.algorithm, l.grain = a, grain
	return l
}

// DryRun returns the limit evaluated and reported but never denying. It is left
// out of the response's headers.
func (l Limit) DryRun() Limit {
	l.dryRun = true
	return l
}

// Name returns the name, "" where none was given. In what a [Store] and a
// [Decision] are handed every limit has one.
func (l Limit) Name() string { return l.name }

// Quota returns the units that a window holds.
func (l Limit) Quota() int64 { return l.quota }

// Window returns the length of the window.
func (l Limit) Window() time.Duration { return l.window }

// Algorithm returns how the limit counts.
func (l Limit) Algorithm() Algorithm { return l.algorithm }

// Slots returns the number of slots of a window: n for smooth and strict, 1 for
// fixed, and 0 for exact and bucket, which have none.
func (l Limit) Slots() int {
	switch l.algorithm {
	case Smooth, Strict:
		return int(l.grain)
	case Fixed:
		return 1
	default:
		return 0
	}
}

// Burst returns the units that a key may take at one instant: the burst of a
// bucket, the quota of every other limit.
func (l Limit) Burst() int64 {
	if l.algorithm == Bucket && l.quota > 0 {
		return l.grain
	}
	return l.quota
}

// IsDryRun reports whether the limit only watches.
func (l Limit) IsDryRun() bool { return l.dryRun }

// SameCounts reports whether the counts kept for one limit mean the same to the
// other: name, window and way of counting are equal, quota and burst may
// differ. Where it holds, a change of a key's limits keeps its counts.
func (l Limit) SameCounts(other Limit) bool {
	l.quota, l.dryRun = other.quota, other.dryRun
	if l.algorithm == Bucket {
		l.grain = other.grain
	}
	return l == other
}

// Validate returns what is wrong with the limit, all faults at once, each
// wrapping [ErrConfig], or nil.
func (l Limit) Validate() error {
	var errs []error
	for _, text := range l.faults() {
		errs = append(errs, fault("limit %v: %s", l, text))
	}
	return errors.Join(errs...)
}

// faults returns a sentence for each thing that is wrong.
func (l Limit) faults() []string {
	var texts []string
	wrong := func(format string, args ...any) { texts = append(texts, fmt.Sprintf(format, args...)) }
	if !printable(l.name) {
		wrong("the name %q must be printable ASCII", l.name)
	}
	if l.quota < 0 || l.quota > MaxQuota {
		wrong("the quota %d must be from 0 (always denied) to %d", l.quota, int64(MaxQuota))
	}
	if l.window < MinWindow || l.window > MaxWindow {
		wrong("the window %v must be from %v to %v (ten years)", l.window, MinWindow, MaxWindow)
	}
	switch l.algorithm {
	case Smooth, Strict:
		if l.grain < 1 || l.grain > MaxSlots {
			wrong("%v(%d): the number of slots must be from 1 to %d", l.algorithm, l.grain, MaxSlots)
		}
	case Exact:
		if l.quota > MaxExactQuota {
			wrong("the quota %d of an exact limit must be at most %d; Strict(60) holds larger ones with 61 counts", l.quota, MaxExactQuota)
		}
	case Bucket:
		if l.grain < 1 || l.grain > MaxQuota {
			wrong("the burst %d of a bucket must be from 1 to %d", l.grain, int64(MaxQuota))
		} else if l.refillsTooSlowly() {
			wrong("a burst of %d at %d per %v takes over a hundred years to fill; lower the burst", l.grain, l.quota, l.window)
		}
	}
	return texts
}

// refillsTooSlowly reports whether burst·window/quota passes [MaxRefill], which
// keeps a bucket's instants within 64 bits.
func (l Limit) refillsTooSlowly() bool {
	if l.quota < 1 || l.window < 1 {
		return false
	}
	longest := mul128(uint64(MaxRefill), uint64(l.quota))
	return longest.less(mul128(uint64(l.grain), uint64(l.window)))
}

// printable reports whether s is printable ASCII, which a String of RFC 9651
// (section 3.3.3) can carry.
func printable(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return true
}
