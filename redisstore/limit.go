package redisstore

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/slidegate/slidegate/core"
)

// limitText returns a limit as the scripts read it, in µs:
//
//	fingerprint dry quota width n span smooth
//
// All algorithms but the bucket keep the units charged at each position, and a
// position counts for span positions. Those of smooth, strict and fixed are
// slots, width/n µs long; those of exact are single µs. A bucket has n = 0, its
// window as width and its burst as span.
func limitText(l core.Limit) string {
	window := l.Window().Microseconds()
	width, n, span := window, int64(l.Slots()), int64(l.Slots())+1
	switch l.Algorithm() {
	case core.Fixed:
		span = 1
	case core.Exact:
		width, n, span = 1, 1, window
	case core.Bucket:
		n, span = 0, l.Burst()
	}
	return fmt.Sprintf("%s %d %d %d %d %d %d", fingerprint(l), digit(l.IsDryRun()), l.Quota(), width, n, span, digit(l.Algorithm() == core.Smooth))
}

func digit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// fingerprint stands in a record for what [core.Limit.SameCounts] compares. Two
// limits of a rule have one by chance once in 2^40.
func fingerprint(l core.Limit) string {
	slots := l.Slots()
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %d %d %s", l.Algorithm(), slots, l.Window(), l.Name()))
	return strconv.FormatUint(1<<40|binary.BigEndian.Uint64(sum[:])>>24, 36)
}

// wholeMicroseconds reports whether Redis's clock can tell a window's end.
func wholeMicroseconds(d time.Duration) bool { return d%time.Microsecond == 0 }

// A textCache keeps the texts of limits. A program has few limits; one with
// more than fit has some of their texts made anew.
type textCache struct {
	mu    sync.RWMutex
	texts map[core.Limit]string
}

const cachedTexts = 4096

func (c *textCache) of(l core.Limit) string {
	c.mu.RLock()
	text, ok := c.texts[l]
	c.mu.RUnlock()
	if ok {
		return text
	}
	text = limitText(l)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.texts == nil || len(c.texts) >= cachedTexts {
		c.texts = map[core.Limit]string{}
	}
	c.texts[l] = text
	return text
}
