package core

import "math/bits"

// A moment is an instant as one limit sees it: the slot that it lies in and how
// far. Slots are W/n long, which need not be whole nanoseconds, so positions
// are counted in n-ths of one: a slot is W of those.
type moment struct {
	at   int64  // nanoseconds since the Unix epoch
	slot int64  // floor(at·n/W)
	into uint64 // at·n − slot·W, below W
}

// momentAt divides at·n by the window. Slots of a key's past must stay ordered
// for clocks set before 1970 too, hence the floor.
func momentAt(at int64, slots int64, window uint64) moment {
	if at >= 0 && slots == 1 {
		q := uint64(at) / window
		return moment{at, int64(q), uint64(at) - q*window}
	}
	if at >= 0 {
		q, r := mul128(uint64(at), uint64(slots)).div(window)
		return moment{at, int64(q), r}
	}
	q, r := bits.Div64(bitsOf(mul128(-uint64(at), uint64(slots)), window))
	if r == 0 {
		return moment{at, -int64(q), 0}
	}
	return moment{at, -int64(q) - 1, window - r}
}

func bitsOf(u uint128, d uint64) (hi, lo, divisor uint64) { return u.hi, u.lo, d }
