// Package soak floods a limiter by all processors at once for as long as one
// likes, and looks at what is left of it: goroutines, and a heap that grows.
package soak

import (
	"context"
	"encoding/binary"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/slidegate/slidegate/core"
)

// A Plan is what to do.
type Plan struct {
	// For is how long to flood, or longer on a machine that is too busy to take
	// all readings meanwhile.
	For time.Duration
	// MaxKeys is the capacity of the memory store.
	MaxKeys int
	// Tell, if set, is told each reading.
	Tell func(Reading)
}

// readings are taken in every soak, the first when the map has been full for
// a while and the sketches have forgotten for the first time.
const readings = 20

// warmUp is how many of the readings are not counted.
const warmUp = 5

// A Reading is how things stand during a soak.
type Reading struct {
	// After is the time since the beginning.
	After time.Duration
	// Decisions is how many were made, and Denied how many of them were
	// denials.
	Decisions, Denied uint64
	// Heap is the bytes that a collection leaves.
	Heap uint64
	// Memory is what the store says of itself.
	Memory core.MemoryStats
}

// A Result is how a soak ended.
type Result struct {
	Readings []Reading
	// Goroutines is how many there are more than before.
	Goroutines int
}

// limits have windows that end many times in a soak, of every algorithm whose
// state a key is small.
func (p Plan) limits() []core.Limit {
	window := max(p.For/20, 10*time.Millisecond).Truncate(time.Millisecond)
	return []core.Limit{
		core.Per(10, window/2).Exact(),
		core.Per(16, window),
		core.Per(24, 2*window).Strict(10),
		core.Per(30, 3*window).Bucket(6),
	}
}

// Run floods. It returns before the time when the context is done.
func Run(ctx context.Context, p Plan) Result {
	before := runtime.NumGoroutine()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	memory := &core.Memory{MaxKeys: p.MaxKeys}
	f := &flood{memory: memory, limiter: core.MustNew(core.Config{
		Rules: []core.Rule{core.By(func(core.Request) (string, error) { return "", core.ErrNoKey }, p.limits()...)},
		Store: memory,
	})}
	var floods sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		floods.Go(func() { f.run(ctx) })
	}
	result := Result{Readings: f.watch(ctx, p)}
	cancel()
	floods.Wait()
	result.Goroutines = left(before)
	return result
}

// A flood is the traffic of a soak.
type flood struct {
	limiter           *core.Limiter
	memory            *core.Memory
	keys              atomic.Uint64
	pause             sync.RWMutex // held for reading by who floods, for writing by who takes a reading
	decisions, denied atomic.Uint64
}

const (
	batch   = 256 // requests of each kind between two looks at the end
	hotKeys = 16
)

// run makes requests until the context is done: half with a new key, half with
// one of a few that are soon denied, and now and then everything else that can be
// done to a key, of some that were forgotten.
func (f *flood) run(ctx context.Context) {
	for ctx.Err() == nil {
		f.pause.RLock()
		last := f.keys.Add(batch)
		for n := last - batch; n < last; n++ {
			f.request(ctx, keyOf(n))
			f.request(ctx, keyOf(n%hotKeys))
		}
		f.meddle(ctx, keyOf(last/2))
		f.pause.RUnlock()
	}
}

func keyOf(n uint64) string {
	return string(binary.BigEndian.AppendUint64([]byte("client "), n))
}

func (f *flood) request(ctx context.Context, key string) {
	d, err := f.limiter.Allow(ctx, key)
	if err != nil {
		panic(err) // the memory store cannot fail
	}
	f.decisions.Add(1)
	if !d.Allowed {
		f.denied.Add(1)
	}
}

// meddle reads, refunds and resets a key.
func (f *flood) meddle(ctx context.Context, key string) {
	const rule = "rule-1"
	_, peek := f.limiter.Peek(ctx, rule, key)
	d, allow := f.limiter.AllowN(ctx, 2, key)
	for _, err := range []error{peek, allow, f.limiter.Refund(ctx, &d), f.limiter.Reset(ctx, rule, key)} {
		if err != nil {
			panic(err)
		}
	}
}

// watch takes readings at even intervals, until it has all or the context is
// done.
func (f *flood) watch(ctx context.Context, p Plan) (taken []Reading) {
	begun := time.Now()
	ticker := time.NewTicker(max(p.For/readings, time.Millisecond))
	defer ticker.Stop()
	for len(taken) < readings {
		select {
		case <-ctx.Done():
			return taken
		case <-ticker.C:
		}
		r := f.read(time.Since(begun))
		taken = append(taken, r)
		if p.Tell != nil {
			p.Tell(r)
		}
	}
	return taken
}

// read takes a reading while nobody floods: what is made during a collection is
// not collected.
func (f *flood) read(after time.Duration) Reading {
	f.pause.Lock()
	defer f.pause.Unlock()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return Reading{
		After: after, Decisions: f.decisions.Load(), Denied: f.denied.Load(),
		Heap: m.HeapAlloc, Memory: f.memory.Stats(),
	}
}

// slack is by how much the median heap may differ between the halves of a soak,
// in percent. Keys that began with units from the sketches take more than
// others, and how many do depends on how fast the machine lets the flood be; what
// is never given back would make many times the heap of so many requests.
const slack = 25

// Faults returns what is wrong, a sentence each.
func (r *Result) Faults() (faults []string) {
	if r.Goroutines > 0 {
		faults = append(faults, fmt.Sprintf("%d goroutines are left", r.Goroutines))
	}
	if len(r.Readings) < warmUp+4 {
		return append(faults, fmt.Sprintf("it ended after %d readings, too few to tell growth", len(r.Readings)))
	}
	counted := r.Readings[warmUp:]
	early, late := medianHeap(counted[:len(counted)/2]), medianHeap(counted[len(counted)/2:])
	if late > early+early*slack/100 {
		faults = append(faults, fmt.Sprintf("the heap has grown from %d to %d bytes", early, late))
	}
	if last := counted[len(counted)-1]; last.Memory.LiveEvictions == 0 || last.Denied == 0 {
		faults = append(faults, "it was no flood: nothing was forgotten, or nothing denied")
	}
	return faults
}

func medianHeap(readings []Reading) uint64 {
	var heaps []uint64
	for _, r := range readings {
		heaps = append(heaps, r.Heap)
	}
	slices.Sort(heaps)
	return heaps[len(heaps)/2]
}

// String returns a line of figures.
func (r Reading) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%8s  %12d decisions, %5.1f %% denied", r.After.Round(time.Second/10), r.Decisions, 100*float64(r.Denied)/float64(max(1, r.Decisions)))
	fmt.Fprintf(&b, "  %6.1f MB heap, %d keys", float64(r.Heap)/1e6, r.Memory.Keys)
	fmt.Fprintf(&b, ", %d live evictions, %d newcomers charged", r.Memory.LiveEvictions, r.Memory.ChargedNewcomers)
	return b.String()
}

// left returns how many goroutines there are more than before. One that is done
// is counted until it has been scheduled a last time, so it gets a second for
// that.
func left(before int) int {
	for patience := time.Now().Add(time.Second); time.Now().Before(patience); runtime.Gosched() {
		if runtime.NumGoroutine() <= before {
			return 0
		}
	}
	return runtime.NumGoroutine() - before
}
