package core

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// toBig returns the number as one of math/big.
func (u uint128) toBig() *big.Int {
	b := new(big.Int).SetUint64(u.hi)
	return b.Lsh(b, 64).Add(b, new(big.Int).SetUint64(u.lo))
}

// numbers are small ones, large ones and those at the edges of words.
func numbers(r *rand.Rand) uint64 {
	edges := []uint64{0, 1, 2, 1000, 1<<32 - 1, 1 << 32, 1<<53 + 1, 1<<63 - 1, 1 << 63, math.MaxUint64 - 1, math.MaxUint64}
	switch r.IntN(3) {
	case 0:
		return edges[r.IntN(len(edges))]
	case 1:
		return r.Uint64() >> r.IntN(64)
	}
	return r.Uint64()
}

func TestUint128IsWhatMathBigSays(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 6))
	for range 20_000 {
		a, b, c, d := numbers(r), numbers(r), numbers(r), max(1, numbers(r))
		u, v := mul128(a, b), mul128(c, d)
		if want := new(big.Int).Mul(new(big.Int).SetUint64(a), new(big.Int).SetUint64(b)); u.toBig().Cmp(want) != 0 {
			t.Fatalf("%d × %d = %v, want %v", a, b, u.toBig(), want)
		}
		if got, want := u.less(v), u.toBig().Cmp(v.toBig()) < 0; got != want {
			t.Fatalf("%v < %v: %t", u.toBig(), v.toBig(), got)
		}
		difference := new(big.Int).Sub(u.toBig(), v.toBig())
		if difference.Sign() < 0 {
			difference.SetInt64(0)
		}
		if got := u.minus(v); got.toBig().Cmp(difference) != 0 {
			t.Fatalf("%v − %v = %v", u.toBig(), v.toBig(), got.toBig())
		}
		sum := new(big.Int).Add(u.toBig(), v.toBig())
		if got := u.add(v); sum.BitLen() <= 128 && got.toBig().Cmp(sum) != 0 {
			t.Fatalf("%v + %v = %v", u.toBig(), v.toBig(), got.toBig())
		}
		quotient, rest := new(big.Int).DivMod(u.toBig(), new(big.Int).SetUint64(d), new(big.Int))
		if !quotient.IsUint64() || quotient.Uint64() == math.MaxUint64 {
			continue
		}
		if q, m := u.div(d); q != quotient.Uint64() || m != rest.Uint64() {
			t.Fatalf("%v / %d = %d, rest %d", u.toBig(), d, q, m)
		}
		if rest.Sign() > 0 {
			quotient.Add(quotient, big.NewInt(1))
		}
		if got := u.ceil(d); got != quotient.Uint64() {
			t.Fatalf("%v / %d rounded up = %d", u.toBig(), d, got)
		}
	}
}

func TestMomentsFollowEachOther(t *testing.T) {
	for _, c := range []struct {
		phrase string
		at     int64
		slots  int64
		window uint64
		slot   int64
		into   uint64
	}{
		{"the epoch", 0, 1, 60, 0, 0},
		{"within a window", 90, 1, 60, 1, 30},
		{"the last instant of a slot", 59, 1, 60, 0, 59},
		{"slots that are not whole", 4, 3, 10, 1, 2}, // slots begin at 0, 3⅓, 6⅔
		{"the first instant within one", 7, 3, 10, 2, 1},
		{"before the epoch", -1, 1, 60, -1, 59},
		{"a whole window before it", -60, 1, 60, -1, 0},
		{"slots before it", -4, 3, 10, -2, 8},
	} {
		if got := momentAt(c.at, c.slots, c.window); got != (moment{c.at, c.slot, c.into}) {
			t.Errorf("%s: %+v, want slot %d and %d into it", c.phrase, got, c.slot, c.into)
		}
	}
	r := rand.New(rand.NewPCG(1, 7))
	for range 20_000 {
		at, slots, window := int64(numbers(r)), 1+r.Int64N(MaxSlots), uint64(MinWindow)+uint64(r.Int64N(int64(MaxWindow-MinWindow)))
		product := new(big.Int).Mul(big.NewInt(at), big.NewInt(slots))
		slot, into := product.DivMod(product, new(big.Int).SetUint64(window), new(big.Int))
		if got := momentAt(at, slots, window); got != (moment{at, slot.Int64(), into.Uint64()}) {
			t.Fatalf("%d in %d slots of %d: %+v, want slot %v and %v into it", at, slots, window, got, slot, into)
		}
	}
	for at := int64(-100); at < 100; at++ {
		now, next := momentAt(at, 7, 30), momentAt(at+1, 7, 30)
		if (next.slot-now.slot)*30+int64(next.into)-int64(now.into) != 7 {
			t.Errorf("from %d to %d: %+v, %+v: an instant is 7 seventh parts of a slot", at, at+1, now, next)
		}
	}
}
