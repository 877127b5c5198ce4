package model

import (
	"math/big"
	"slices"

	"github.com/slidegate/slidegate/core"
)

// An account is one limit of a subject and all that was charged to it.
type account struct {
	limit   core.Limit
	charges []charge
	debt    *big.Rat // of a bucket: the units that it owed at the last charge
	last    int64    // the subject's last charge
}

type charge struct {
	serial   uint64
	at, slot int64
	cost     int64
}

// slotOf returns the number of the slot that an instant lies in, counted from
// the Unix epoch; a limit without slots has none.
func slotOf(l core.Limit, at int64) int64 {
	if l.Slots() == 0 {
		return 0
	}
	slot, _ := position(l, at)
	return slot
}

// position returns the slot of an instant, and the part of it that has passed.
func position(l core.Limit, at int64) (slot int64, passed *big.Rat) {
	product := new(big.Int).Mul(big.NewInt(at), big.NewInt(int64(l.Slots())))
	window := big.NewInt(int64(l.Window()))
	// A DivMod of math/big leaves no negative rest: the quotient is the floor.
	whole, rest := new(big.Int).DivMod(product, window, new(big.Int))
	return whole.Int64(), new(big.Rat).SetFrac(rest, window)
}

// under returns a copy of the account under a limit of the same counts, which
// may have another quota. Since its last charge a bucket then pays its debt off
// at that pace; a debt beyond the longest refill is cut to that, and what was
// charged at another pace cannot be refunded.
func (k account) under(l core.Limit) account {
	moved := k
	moved.limit, moved.charges = l, slices.Clip(k.charges)
	if l.Algorithm() == core.Bucket && l.Quota() != k.limit.Quota() {
		moved.charges = nil
		if longest := moved.paid(int64(core.MaxRefill)); l.Quota() > 0 && k.debt.Cmp(longest) > 0 {
			moved.debt = longest
		}
	}
	return moved
}

// room returns the units that fit: the quota, or the burst, less the estimate,
// rounded down.
func (k *account) room(at int64) int64 {
	room := new(big.Rat).SetInt64(k.limit.Burst())
	room.Sub(room, k.estimate(at))
	return floor(room)
}

// estimate returns the units that count at an instant.
func (k *account) estimate(at int64) *big.Rat {
	switch k.limit.Algorithm() {
	case core.Bucket:
		return k.owed(at)
	case core.Exact:
		return k.logged(at)
	}
	slot, passed := position(k.limit, at)
	share := new(big.Rat) // of the oldest slot
	switch k.limit.Algorithm() {
	case core.Smooth:
		share.Sub(big.NewRat(1, 1), passed)
	case core.Strict:
		share.SetInt64(1)
	}
	var inside, oldest int64
	for _, c := range k.charges {
		switch age := slot - c.slot; {
		case age < int64(k.limit.Slots()):
			inside += c.cost
		case age == int64(k.limit.Slots()):
			oldest += c.cost
		}
	}
	share.Mul(share, new(big.Rat).SetInt64(oldest))
	return share.Add(share, new(big.Rat).SetInt64(inside))
}

// logged returns the units charged in the window that ends at an instant.
func (k *account) logged(at int64) *big.Rat {
	var units int64
	for _, c := range k.charges {
		if at-c.at < int64(k.limit.Window()) {
			units += c.cost
		}
	}
	return new(big.Rat).SetInt64(units)
}

// owed returns what a bucket owes at an instant: quota units a window are paid
// off of what it owed at the last charge.
func (k *account) owed(at int64) *big.Rat {
	return atLeastZero(new(big.Rat).Sub(k.debt, k.paid(at-k.last)))
}

// settle makes an instant that of the last charge.
func (k *account) settle(at int64) { k.debt, k.last = k.owed(at), at }

// paid returns the units that a bucket pays off in a time.
func (k *account) paid(ns int64) *big.Rat {
	pace := big.NewRat(k.limit.Quota(), int64(k.limit.Window()))
	return pace.Mul(pace, new(big.Rat).SetInt64(ns))
}

// horizon returns a time after which nothing counts any more.
func (k *account) horizon(at int64) int64 {
	if k.limit.Algorithm() != core.Bucket {
		return 2 * int64(k.limit.Window())
	}
	time := k.owed(at)
	time.Quo(time, k.paid(1))
	return floor(time) + 1
}

// charge adds a charge to an account that was settled at its instant.
func (k *account) charge(c charge) {
	k.debt.Add(k.debt, new(big.Rat).SetInt64(c.cost))
	if k.limit.Algorithm() != core.Bucket {
		// Two windows on no algorithm counts a charge.
		left := func(old charge) bool { return c.at-old.at >= 2*int64(k.limit.Window()) }
		k.charges = slices.DeleteFunc(slices.Clone(k.charges), left)
	}
	k.charges = append(k.charges, c)
}

// refund strikes a charge. A bucket has what that still owes given back, counted
// as if nothing had been owed before it.
func (k *account) refund(at int64, serial uint64) {
	i := slices.IndexFunc(k.charges, func(c charge) bool { return c.serial == serial })
	if i < 0 {
		return
	}
	c := k.charges[i]
	k.charges = slices.Delete(slices.Clone(k.charges), i, i+1)
	rest := new(big.Rat).SetInt64(c.cost)
	rest = atLeastZero(rest.Sub(rest, k.paid(at-c.at)))
	k.debt = atLeastZero(rest.Sub(k.owed(at), rest))
	if k.debt.Sign() > 0 { // as it was at the last charge
		k.debt.Add(k.debt, k.paid(at-k.last))
	}
}

func atLeastZero(r *big.Rat) *big.Rat {
	if r.Sign() < 0 {
		return new(big.Rat)
	}
	return r
}

func floor(r *big.Rat) int64 {
	return new(big.Int).Div(r.Num(), r.Denom()).Int64()
}
