package redisstore

import (
	"time"

	"github.com/slidegate/slidegate/core"
)

// readDecision fills the asks from the reply of the decide script, whose head
// says what it holds, and returns the time. After an error nothing of the asks
// may be used.
func readDecision(value any, asks []core.Ask) (now time.Time, err error) {
	array, ok := value.([]any)
	if !ok {
		return time.Time{}, fault("the client returned %T for the reply of a script; an array must be []any", value)
	}
	r := reply{rest: array}
	at := r.integer()
	for i := range asks {
		asks[i].Receipt = r.receipt(at)
		for j := range asks[i].States {
			asks[i].States[j] = r.state()
		}
	}
	if r.broken || len(r.rest) > 0 {
		return time.Time{}, fault("the client returned something else than the script: integers must be int64")
	}
	return time.UnixMicro(at), nil
}

// A reply is read element by element.
type reply struct {
	rest   []any
	broken bool // an element was missing, or another was expected
}

func (r *reply) integer() int64 {
	if len(r.rest) == 0 {
		r.broken = true
		return 0
	}
	n, ok := r.rest[0].(int64)
	r.rest, r.broken = r.rest[1:], r.broken || !ok
	return n
}

func (r *reply) receipt(now int64) core.Receipt {
	receipt, at := r.integer(), now
	if receipt < 0 {
		receipt, at = -receipt, r.integer()
	}
	if receipt == 0 {
		return core.Receipt{}
	}
	return core.Receipt{At: at, Serial: uint64(receipt / 2), Dry: receipt%2 == 1}
}

func (r *reply) state() core.State {
	s := core.State{Remaining: r.integer(), Next: micros(r.integer())}
	if s.Remaining < 0 {
		s.Remaining, s.Denied, s.RetryAfter = -1-s.Remaining, true, micros(r.integer())
		s.Never = s.RetryAfter == 0
	}
	return s
}

func micros(n int64) time.Duration { return time.Duration(n) * time.Microsecond }
