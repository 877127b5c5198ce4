package redisstore

import (
	"sync"
	"time"
)

const (
	// failuresToOpen is how many calls in a row must fail: moving a slot of a
	// cluster can hold a single call up for longer than the timeout.
	failuresToOpen = 5
	// firstProbe is how long a breaker stays open before it is probed, and
	// longestProbe what that grows to, by doubling, while probes fail.
	firstProbe   = 100 * time.Millisecond
	longestProbe = time.Second
)

// A breaker keeps requests from waiting for a server that does not answer.
// Closed, it lets calls through. After some failures in a row it opens: calls
// fail at once. From time to time it is half open: a request that comes then
// fails at once as well, but has the server probed, and a probe that succeeds
// closes the breaker.
type breaker struct {
	mu       sync.Mutex
	failures int // in a row
	cause    error
	open     bool
	term     int           // counts how often it opened or closed
	pause    time.Duration // between probes
	probeAt  time.Time
}

// enter reports whether a call may go through, by a nil error. A call tells its
// term when it is done. Where it may not, probe says that one is due.
func (b *breaker) enter() (term int, probe bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.open {
		return b.term, false, nil
	}
	now := time.Now()
	if probe = !now.Before(b.probeAt); probe {
		b.pause = min(2*b.pause, longestProbe)
		b.probeAt = now.Add(b.pause)
	}
	return b.term, probe, b.cause
}

// succeeded ends a row of failures.
func (b *breaker) succeeded() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failures = 0
}

// failed counts the failure of a call and reports whether it opened the
// breaker. One that was let through in an earlier term says nothing of now.
func (b *breaker) failed(term int, cause error) (opened bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open || term != b.term {
		return false
	}
	b.failures++
	if b.failures < failuresToOpen {
		return false
	}
	b.open, b.cause, b.pause = true, cause, firstProbe
	b.term++
	b.probeAt = time.Now().Add(firstProbe)
	return true
}

// close closes the breaker after a probe succeeded and reports whether it was
// open.
func (b *breaker) close() (closed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.open {
		return false
	}
	b.open, b.failures = false, 0
	b.term++
	return true
}
