package verify_test

import (
	"math"
	"math/big"
	"time"

	"pgregory.net/rapid"

	"github.com/slidegate/slidegate/core"
)

// A clock is moved by hand, in nanoseconds since the Unix epoch, and not back
// before its floor.
type clock struct{ at, floor int64 }

func (c *clock) now() time.Time { return time.Unix(0, c.at) }

// latest bounds the drawn instants; it is in the year 2096.
const latest = 4_000_000_000_000_000_000

// drawClock starts near the epoch, before it, or in our time.
func drawClock(t *rapid.T) *clock {
	at := rapid.OneOf(
		rapid.Int64Range(-1_000_000_000, 1_000_000_000),
		rapid.Int64Range(1_600_000_000_000_000_000, 1_900_000_000_000_000_000),
		rapid.Just(int64(1_800_000_000_000_000_000)),
	)
	return &clock{at: at.Draw(t, "start"), floor: math.MinInt64}
}

// move moves on by a step that means something to one of the limits: within an
// instant, a slot or a window, to the edge of a slot, over idle windows, or
// a little back.
func (c *clock) move(t *rapid.T, l core.Limit) {
	window, n := int64(l.Window()), max(1, int64(l.Slots()))
	switch rapid.IntRange(0, 7).Draw(t, "step") {
	case 0:
		c.forward(rapid.Int64Range(1, 1000).Draw(t, "ns"))
	case 1:
		c.forward(rapid.Int64Range(0, window/n).Draw(t, "ns"))
	case 2, 3:
		c.forward(rapid.Int64Range(0, window).Draw(t, "ns"))
	case 4, 5:
		slot := slotAt(c.at, l) + rapid.SampledFrom([]int64{1, 1, 2, n, n + 1}).Draw(t, "slots")
		c.forward(slotStart(slot, l) - c.at + rapid.Int64Range(-1, 1).Draw(t, "ns"))
	case 6:
		c.forward(rapid.Int64Range(window, min(5*window, latest)).Draw(t, "ns"))
	case 7:
		back := rapid.OneOf(rapid.Int64Range(0, 1000), rapid.Int64Range(0, window/4)).Draw(t, "ns")
		c.at = max(c.floor, c.at-back)
	}
}

// forward moves on unless that passes the latest instant.
func (c *clock) forward(ns int64) {
	if ns > 0 && c.at+ns < latest {
		c.at += ns
	}
}

// slotAt returns the number of the slot that an instant lies in: floor(at·n/W).
func slotAt(at int64, l core.Limit) int64 {
	product := new(big.Int).Mul(big.NewInt(at), big.NewInt(max(1, int64(l.Slots()))))
	return product.Div(product, big.NewInt(int64(l.Window()))).Int64()
}

// slotStart returns the first nanosecond of a slot: ceil(slot·W/n).
func slotStart(slot int64, l core.Limit) int64 {
	n := max(1, int64(l.Slots()))
	product := new(big.Int).Mul(big.NewInt(slot), big.NewInt(int64(l.Window())))
	product.Add(product, big.NewInt(n-1))
	return product.Div(product, big.NewInt(n)).Int64()
}
