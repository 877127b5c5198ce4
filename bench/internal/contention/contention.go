// Package contention simulates how decisions wait for each other's locks on
// machines with more processors than one has at hand.
//
// Every processor makes one decision after another: some work of its own, then
// the part under the lock of the key's shard. A lock that another processor had
// last costs the time in which its cache line, and that of the entry, move over.
package contention

import (
	"math"
	"math/rand/v2"
)

// A Machine is what is simulated. Times are nanoseconds.
type Machine struct {
	// Processors decide all the time.
	Processors int
	// Shards is how many locks there are.
	Shards int
	// Outside is the mean time of a decision outside of the lock, Held the
	// time under it.
	Outside, Held float64
	// Transfer is added under a lock that another processor had last.
	Transfer float64
}

// Keys says how often keys are asked for.
type Keys int

// The traffics that are simulated.
const (
	// Hot is one key for all requests.
	Hot Keys = iota
	// Zipf is Zipf's law with exponent 1.1 over 100,000 keys.
	Zipf
	// Uniform is so many keys that none stands out.
	Uniform
)

// decisions is how many are simulated; the first tenth is not counted.
const decisions = 100_000

// Rate returns the decisions that the machine makes in a nanosecond.
func (m Machine) Rate(keys Keys) float64 {
	random := rand.New(rand.NewPCG(1, 2))
	shardOf := m.draw(keys, random)
	ready := make([]float64, m.Processors) // when each wants its next lock
	free := make([]float64, m.Shards)      // when each lock is free
	holder := make([]int, m.Shards)        // who had it last
	for p := range ready {
		ready[p] = random.Float64() * m.Outside
	}
	var begun float64
	for n := range decisions {
		p := earliest(ready)
		s := shardOf()
		end := max(ready[p], free[s]) + m.Held
		if holder[s] != p {
			end += m.Transfer
		}
		free[s], holder[s] = end, p
		ready[p] = end + random.ExpFloat64()*m.Outside
		if n == decisions/10 {
			begun = end
		}
	}
	return decisions * 0.9 / (ready[earliest(ready)] - begun)
}

// draw returns a function that draws the shard of the next request.
func (m Machine) draw(keys Keys, random *rand.Rand) func() int {
	switch keys {
	case Hot:
		return func() int { return 0 }
	case Zipf:
		zipf := rand.NewZipf(random, 1.1, 1, 99_999)
		return func() int { return int(zipf.Uint64()*scatter>>32) % m.Shards }
	}
	return func() int { return random.IntN(m.Shards) }
}

// scatter stands for the hash that spreads keys over shards.
const scatter = 0x9e3779b97f4a7c15

// earliest returns the index of the least element.
func earliest(at []float64) (first int) {
	least := math.Inf(1)
	for i, t := range at {
		if t < least {
			first, least = i, t
		}
	}
	return first
}
