package core

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"
)

// Advise tells the doctor what a key function knows to be wrong with the set-up:
// if this is one of the limiter's first requests and wrong returns true, the
// finding is told, once. On later requests it costs a comparison.
func Advise(r Request, f Finding, wrong func() bool) {
	if e, ok := r.(*examined); ok && e.doctor.looksFor(f) && wrong() {
		e.find(f, "")
	}
}

// MountedTwice tells the doctor that the limiter is met a second time on the way
// of a request. [Limiter.Again] does so by itself; it is for adapters that mark
// requests in another way.
func (l *Limiter) MountedTwice() {
	if l.doctor.left.Load() <= 0 {
		return
	}
	if err := l.doctor.find(context.Background(), SG107, "", ""); err != nil {
		l.doctor.pending.Store(&err)
	}
}

// An examined is a request that the doctor looks at: it notes what the functions
// of a rule ask for. Its methods that the doctor calls may be called on nil, for
// a request that it does not look at.
type examined struct {
	Request
	doctor *doctor
	rule   string // whose key function runs
	// asked says that the function looked at what tells clients apart, and
	// askedHeader that this was a header that proxies write addresses to.
	asked, askedHeader bool
	err                error // what a strict doctor found
}

// examinedPool saves an allocation a request.
var examinedPool = sync.Pool{New: func() any { return new(examined) }}

// examine returns the request as the doctor wants it to be asked.
func (l *Limiter) examine(r Request) *examined {
	e := examinedPool.Get().(*examined)
	*e = examined{Request: r, doctor: l.doctor}
	l.doctor.left.Add(-1)
	e.timeouts(l.store)
	return e
}

// timeouts compares what the store may take with what the server allows, where
// both tell.
func (e *examined) timeouts(s Store) {
	store, tells := s.(interface{ Timeout() time.Duration })
	server, tellsToo := e.Request.(interface{ ServerTimeout() time.Duration })
	if !tells || !tellsToo || !e.doctor.looksFor(SG110) {
		return
	}
	if takes, allows := store.Timeout(), server.ServerTimeout(); allows > 0 && takes >= allows {
		e.find(SG110, fmt.Sprintf("the store's timeout is %v, the server's %v", takes, allows))
	}
}

func (e *examined) find(f Finding, about string) {
	if err := e.doctor.find(e.Request.Context(), f, e.rule, about); err != nil && e.err == nil {
		e.err = err
	}
}

// found returns what a strict doctor found, on this request or after the one
// before.
func (e *examined) found() error {
	if e == nil {
		return nil
	}
	if err := e.doctor.pending.Swap(nil); err != nil && e.err == nil {
		e.err = *err
	}
	return e.err
}

// postpone leaves what a strict doctor found to the next request, where this one is
// not limited.
func (e *examined) postpone() {
	if e != nil && e.err != nil {
		e.doctor.pending.Store(&e.err)
	}
}

// decided looks at the decision and ends the examination.
func (e *examined) decided(d *Decision) error {
	if e == nil {
		return nil
	}
	states := d.states()
	for i := range d.asks() {
		p := d.asks()[i].plan
		for j, limit := range p.limits {
			if states[j].Never && limit.quota > 0 && !limit.dryRun && !d.Degraded { // else by a part of the quota
				e.rule = p.rule
				e.find(SG106, fmt.Sprintf("the limit %v", limit))
			}
		}
		states = states[len(p.limits):]
	}
	if e.err != nil {
		return e.err
	}
	*e = examined{}
	examinedPool.Put(e)
	return nil
}

// Context is part of [Request].
func (e *examined) Context() context.Context {
	e.asked = true
	return e.Request.Context()
}

// Peer is part of [Request].
func (e *examined) Peer() string {
	e.asked = true
	return e.Request.Peer()
}

// HeaderValues is part of [Request].
func (e *examined) HeaderValues(name string) []string {
	e.asked, e.askedHeader = true, e.askedHeader || namesAddress(name)
	return e.Request.HeaderValues(name)
}

// Cookie is part of [Request].
func (e *examined) Cookie(name string) (string, bool) {
	e.asked = true
	return e.Request.Cookie(name)
}

// Value is part of [Request].
func (e *examined) Value(key any) any {
	e.asked = true
	return e.Request.Value(key)
}

// Native is part of [Request].
func (e *examined) Native() any {
	e.asked = true
	return e.Request.Native()
}

// namesAddress reports whether a header is one that proxies write addresses to.
func namesAddress(header string) bool {
	name := strings.ToLower(header)
	return strings.Contains(name, "forwarded") || strings.HasSuffix(name, "ip") || strings.HasSuffix(name, "address")
}
