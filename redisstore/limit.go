package redisstore

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"sync"
	"time"

	"github.com/slidegate/slidegate/core"
)

// A packedLimit is a limit as the scripts read it, and for how long a charge to
// it can matter.
type packedLimit struct {
	bytes string
	keep  time.Duration
}

// packLimit writes a limit as the scripts read it, six numbers of which those
// of time are in µs:
//
//	fingerprint flags quota width n span
//
// flags are 1 for smooth and 2 for a dry run. All algorithms but the bucket keep
// the units charged at each position, and a position counts for span positions.
// Those of smooth, strict and fixed are slots, width/n long; those of exact are
// single µs. A bucket has its window as width, n = 0 and its burst as span.
func packLimit(l core.Limit) packedLimit {
	window := l.Window().Microseconds()
	flags, width, n, span := int64(0), window, int64(l.Slots()), int64(l.Slots())+1
	switch l.Algorithm() {
	case core.Smooth:
		flags = 1
	case core.Fixed:
		span = 1
	case core.Exact:
		width, n, span = 1, 1, window
	case core.Bucket:
		n, span = 0, l.Burst()
	}
	if l.IsDryRun() {
		flags += 2
	}
	var b []byte
	for _, n := range []int64{fingerprint(l), flags, l.Quota(), width, n, span} {
		b = appendNumber(b, n)
	}
	return packedLimit{string(b), keep(l)}
}

// keep returns for how long a charge can matter: until its slot has left the
// window, or until a bucket is full. Where a bucket pays nothing off there is no
// such time; two windows it is then.
func keep(l core.Limit) time.Duration {
	window := l.Window()
	if l.Algorithm() == core.Bucket && l.Quota() > 0 {
		hi, lo := bits.Mul64(uint64(l.Burst()), uint64(window))
		filled, _ := bits.Div64(hi, lo, uint64(l.Quota()))
		return time.Duration(filled) + time.Millisecond
	}
	switch l.Algorithm() {
	case core.Smooth, core.Strict:
		window += window / time.Duration(l.Slots())
	case core.Bucket:
		window *= 2
	}
	return window + time.Millisecond
}

// appendNumber appends a number as the scripts unpack it. It must be exact in
// a float64, which all numbers of limits, costs and instants are.
func appendNumber(b []byte, n int64) []byte {
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(float64(n)))
}

// fingerprint stands in a record for what [core.Limit.SameCounts] compares. Two
// limits of a rule have one by chance once in 2^52.
func fingerprint(l core.Limit) int64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %d %d %s", l.Algorithm(), l.Slots(), l.Window(), l.Name()))
	return int64(binary.LittleEndian.Uint64(sum[:]) >> 12)
}

// wholeMicroseconds reports whether Redis's clock can tell a window's end.
func wholeMicroseconds(d time.Duration) bool { return d%time.Microsecond == 0 }

// A limitCache keeps packed limits. A program has few limits; one with
// more than fit has some of them written anew.
type limitCache struct {
	mu     sync.RWMutex
	limits map[core.Limit]packedLimit
}

const cachedLimits = 4096

func (c *limitCache) of(l core.Limit) packedLimit {
	c.mu.RLock()
	packed, ok := c.limits[l]
	c.mu.RUnlock()
	if ok {
		return packed
	}
	packed = packLimit(l)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.limits == nil || len(c.limits) >= cachedLimits {
		c.limits = map[core.Limit]packedLimit{}
	}
	c.limits[l] = packed
	return packed
}
