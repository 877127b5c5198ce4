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
	args := make([]any, 1, 1+2*len(r.asks))
	args[0] = number
	for i := range r.asks {
		a := &r.asks[i]
		args = append(args, numbers(int64(len(a.Limits)), min(a.Cost, mostUnits)))
		for _, l := range a.Limits {
			args = append(args, s.texts.of(l))
		}
	}
	return args
}

// refundArgs returns what the refund script reads: of the limits those that were
// charged.
func (s *Store) refundArgs(r *request, number string) []any {
	args := []any{number}
	for i := range r.asks {
		a := &r.asks[i]
		at := len(args)
		args = append(args, nil)
		for _, l := range a.Limits {
			if a.Receipt.Dry || !l.IsDryRun() {
				args = append(args, s.texts.of(l))
			}
		}
		args[at] = numbers(int64(len(args)-at-1), a.Cost, a.Receipt.At, int64(a.Receipt.Serial))
	}
	return args
}

// numbers writes numbers with a space between them.
func numbers(list ...int64) string {
	b := make([]byte, 0, 48)
	for i, n := range list {
		if i > 0 {
			b = append(b, ' ')
		}
		b = strconv.AppendInt(b, n, 10)
	}
	return string(b)
}

// Numbers of calls have fifteen digits, all of them.
const (
	firstNumber = 100_000_000_000_000
	allNumbers  = 900_000_000_000_000
)

// number returns a new number for a call, which tells it from all others: it is
// counted up from a random one. A script that comes a second time, because the
// client sends again what may have been lost, is known by it.
func (s *Store) number() int64 {
	return firstNumber + int64(s.calls.Add(1)%allNumbers)
}

// stamped writes a number as the scripts read it, with the time if it is not the
// server's.
func (s *Store) stamped(number int64) string {
	if s.config.Now == nil {
		return strconv.FormatInt(number, 10)
	}
	return numbers(number, s.config.Now().UnixMicro())
}
