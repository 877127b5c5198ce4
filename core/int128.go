package core

import "math/bits"

// A uint128 is a product of two 64-bit numbers: a count times a window, or an
// instant times a number of slots, passes 64 bits where both are large.
type uint128 struct{ hi, lo uint64 }

func mul128(a, b uint64) uint128 {
	hi, lo := bits.Mul64(a, b)
	return uint128{hi, lo}
}

func (u uint128) less(v uint128) bool {
	return u.hi < v.hi || u.hi == v.hi && u.lo < v.lo
}

func (u uint128) add(v uint128) uint128 {
	lo, carry := bits.Add64(u.lo, v.lo, 0)
	hi, _ := bits.Add64(u.hi, v.hi, carry)
	return uint128{hi, lo}
}

// minus returns u − v, or 0 where v is larger.
func (u uint128) minus(v uint128) uint128 {
	if u.less(v) {
		return uint128{}
	}
	lo, borrow := bits.Sub64(u.lo, v.lo, 0)
	hi, _ := bits.Sub64(u.hi, v.hi, borrow)
	return uint128{hi, lo}
}

// div returns the quotient by d, which must fit 64 bits, and the remainder. The
// plain division is several times faster and is nearly always enough.
func (u uint128) div(d uint64) (quotient, remainder uint64) {
	if u.hi == 0 {
		return u.lo / d, u.lo % d
	}
	return bits.Div64(u.hi, u.lo, d)
}

// ceil returns the quotient by d rounded up.
func (u uint128) ceil(d uint64) uint64 {
	q, r := u.div(d)
	if r > 0 {
		q++
	}
	return q
}
