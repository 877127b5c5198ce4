package core

// The state of a bucket limit is that of the generic cell rate algorithm (ATM
// Forum TM 4.0, virtual scheduling): the instant at which the bucket will be
// full again, words[0] in nanoseconds and words[1] in units of 1/quota ns after
// it, so that nothing is rounded.
//
// What a key owes until then is counted in quota·ns: a unit owes W of those,
// and every nanosecond pays off quota of them. Under a quota of 0 nothing is
// paid off and no such instant exists: there the words are the debt itself,
// which stands until the quota is lifted.

func (g *gauge) owed(words []int64, at int64) uint128 {
	if g.quota == 0 {
		return uint128{uint64(words[0]), uint64(words[1])}
	}
	if words[0] < at {
		return uint128{}
	}
	return mul128(uint64(words[0]-at), uint64(g.quota)).add(uint128{lo: uint64(words[1])})
}

func (g *gauge) owe(words []int64, at int64, debt uint128) {
	if g.quota == 0 {
		words[0], words[1] = int64(debt.hi), int64(debt.lo)
		return
	}
	ns, rest := debt.div(uint64(g.quota))
	words[0], words[1] = at+int64(ns), int64(rest)
}

func (g *gauge) bucketRoom(words []int64, m moment) int64 {
	return g.burst - int64(g.owed(words, m.at).ceil(g.window))
}

func (g *gauge) bucketWait(words []int64, m moment, cost int64) int64 {
	allowed := mul128(uint64(g.burst-cost), g.window)
	return int64(g.owed(words, m.at).minus(allowed).ceil(uint64(g.quota)))
}

func (g *gauge) bucketCharge(words []int64, m moment, cost int64) {
	g.owe(words, m.at, g.owed(words, m.at).add(mul128(uint64(cost), g.window)))
}

// bucketRefund gives back what the charge still owes, counted as if the bucket
// had been full before it: units are paid off in the order of their charges, so
// no charge is paid off sooner than that, and giving back more could let a
// later request through twice.
func (g *gauge) bucketRefund(words []int64, now, charged int64, cost int64) {
	paid := mul128(uint64(now-charged), uint64(g.quota))
	rest := mul128(uint64(cost), g.window).minus(paid)
	debt := g.owed(words, now).minus(rest)
	if debt == (uint128{}) {
		now = charged // nothing was owed at the last charge either, see adoptDebt
	}
	g.owe(words, now, debt)
}

// adoptDebt carries what a key owed at its last charge over from a limit of
// another quota: a unit owes the same in both, and since then it is paid off at
// the pace of the limit that is asked now. Whether and when that is asked before
// the next charge then makes no difference, so that a wait that it announces is
// exact though a denial keeps nothing. A debt that would take longer than
// [MaxRefill] is cut to that.
func (g *gauge) adoptDebt(words []int64, old *gauge, oldWords []int64, last int64) {
	debt := old.owed(oldWords, last)
	if longest := mul128(uint64(MaxRefill), uint64(g.quota)); g.quota > 0 && longest.less(debt) {
		debt = longest
	}
	g.owe(words, last, debt)
}
