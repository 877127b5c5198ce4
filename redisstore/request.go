package redisstore

import (
	"strconv"
	"time"

	"github.com/slidegate/slidegate/core"
)

// A request is asks on their way to Redis, with the keys of their records.
type request struct {
	asks     []core.Ask
	keys     []string
	deadline time.Time
	refunded []string // keys that were charged and refunded for a denial
}

func (s *Store) request(asks []core.Ask) request {
	r := request{asks: asks, keys: make([]string, len(asks)), deadline: time.Now().Add(s.config.Timeout)}
	for i := range asks {
		r.keys[i] = recordKey(s.config.Prefix, asks[i].Rule, asks[i].Key)
	}
	return r
}

// mostUnits stands for all costs that no limit admits.
const mostUnits = core.MaxQuota + 1

// decideArgs returns what the decide script reads.
func (s *Store) decideArgs(r *request, number string) []any {
	return s.args(r, number, func(b []byte, a *core.Ask) []byte {
		keep := shortestKept
		for _, l := range a.Limits {
			keep = max(keep, s.limits.of(l).keep)
		}
		if s.config.Now != nil {
			keep += clocksDiffer
		}
		b = append(strconv.AppendInt(b, keep.Milliseconds(), 10), 0)
		b = appendNumber(b, min(a.Cost, mostUnits))
		for _, l := range a.Limits {
			b = append(b, s.limits.of(l).bytes...)
		}
		return b
	})
}

const (
	// shortestKept is how long a record is kept at least: as long as it may
	// have to tell a call that comes a second time.
	shortestKept = 525 * time.Millisecond
	// clocksDiffer is how much longer it is kept where its time is not the
	// server's.
	clocksDiffer = time.Hour
)

// refundArgs returns what the refund script reads: of the limits those that were
// charged.
func (s *Store) refundArgs(r *request) []any {
	return s.args(r, s.number(), func(b []byte, a *core.Ask) []byte {
		b = appendNumber(b, min(a.Cost, mostUnits))
		b = appendNumber(b, a.Receipt.At)
		b = appendNumber(b, int64(a.Receipt.Serial))
		for _, l := range a.Limits {
			if a.Receipt.Dry || !l.IsDryRun() {
				b = append(b, s.limits.of(l).bytes...)
			}
		}
		return b
	})
}

// args returns the number of a call, what is to be written for each ask, and the
// time if it is not the server's.
func (s *Store) args(r *request, number string, write func([]byte, *core.Ask) []byte) []any {
	args := make([]any, 0, len(r.asks)+2)
	args = append(args, number)
	for i := range r.asks {
		args = append(args, string(write(make([]byte, 0, 160), &r.asks[i])))
	}
	if s.config.Now != nil {
		args = append(args, strconv.FormatInt(s.config.Now().UnixMicro(), 10))
	}
	return args
}

// number returns a new number for a call, which no other has: they are counted
// up from a random one, and scattered over the odd ones of 52 bits. A script that
// comes a second time, because the client sends again what may have been lost,
// is known by it.
func (s *Store) number() string {
	n := (2*s.calls.Add(1) + 1) * 0x9e3779b97f4a7c15
	return string(appendNumber(nil, int64(n&(1<<52-1))))
}

// noNumber is that of a call that charges nothing.
const noNumber = ""
