package core

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// ErrDoctor is a finding of a strict [Doctor]: the set-up of the limiter or of
// what is around it is wrong, or likely to be.
var ErrDoctor = errors.New("slidegate: the doctor found a fault")

// A Doctor says what becomes of the doctor's findings. Every limiter is examined:
// its configuration when it is made, and its first 1,000 requests, after which
// a request costs one atomic load for it. Each [Finding] is told once a limiter.
// The zero value tells them to the default logger.
type Doctor struct {
	// Strict makes errors of the findings in place of log records, for tests and
	// trial runs: errors of [New], and of [Limiter.Check] for the request that
	// gave rise to one, which is then charged nothing (status 500). They wrap
	// [ErrDoctor].
	Strict bool
	// Off are findings that are not looked for.
	Off []Finding
	// Logger is told the findings at the level of a warning; nil means
	// slog.Default() at that time. A record has the attributes code, rule where
	// there is one, about, remedy and see. There are no keys in it.
	Logger *slog.Logger
}

// A Finding is something that the doctor looks for, by the code under which
// docs/doctor.md explains it.
type Finding string

// What the doctor looks for.
const (
	// SG101: forwarded header fields arrive from a peer whose word is not taken,
	// so that all clients of a proxy may share its key.
	SG101 Finding = "SG101"
	// SG102: the trusted range is everything, so that any client can choose its
	// key.
	SG102 Finding = "SG102"
	// SG103: the first 1,000 requests share one key although they come from
	// different clients.
	SG103 Finding = "SG103"
	// SG104: a key contains the port of a connection, so that each connection has
	// a quota of its own.
	SG104 Finding = "SG104"
	// SG105: a limit can never deny, because another limit of its rule always
	// denies first.
	SG105 Finding = "SG105"
	// SG106: the cost of a request is above a quota, so that it can never be
	// admitted.
	SG106 Finding = "SG106"
	// SG107: one limiter is twice on the way of a request; the second is without
	// effect.
	SG107 Finding = "SG107"
	// SG108: a limiter that keeps its own counts is made while a request is
	// served, so that each request starts afresh.
	SG108 Finding = "SG108"
	// SG109: two limiters count different limits under one name of a rule in one
	// store.
	SG109 Finding = "SG109"
	// SG110: the store may take longer than the server gives a response.
	SG110 Finding = "SG110"
)

// A diagnosis is a finding in words.
type diagnosis struct{ cause, remedy string }

// diagnoses are the words for each finding.
var diagnoses = map[Finding]diagnosis{
	SG101: {
		cause:  "forwarded header fields arrive from a peer that is not trusted, and its address is the key",
		remedy: "if the peer is your proxy, key by keyfuncs.ClientIP and trust it; else let clients reach the server only through the proxy",
	},
	SG102: {
		cause:  "the trusted range is everything: any client can choose its own key",
		remedy: "trust the addresses of your proxies only",
	},
	SG103: {
		cause:  "the first 1,000 requests of different clients share one key",
		remedy: "check the key function; behind a proxy use keyfuncs.ClientIP, and for one limit for all keyfuncs.Global",
	},
	SG104: {
		cause:  "a key contains a port: each connection has a quota of its own",
		remedy: "key by keyfuncs.IP or keyfuncs.AddressKey, which leave ports out",
	},
	SG105: {
		cause:  "a limit can never deny: another limit of the rule always denies first",
		remedy: "remove the limit, or correct its quota or window",
	},
	SG106: {
		cause:  "a request costs more than a quota holds: it can never be admitted",
		remedy: "raise the quota, or bound the cost",
	},
	SG107: {
		cause:  "one limiter is twice on the way of a request: it counts only once",
		remedy: "mount it in one place, or make two limiters",
	},
	SG108: {
		cause:  "a limiter is made while a request is served: its counts begin at zero",
		remedy: "make it once, where the router is built",
	},
	SG109: {
		cause:  "two limiters count different limits under one rule's name in one store",
		remedy: "name their rules apart, or use one limiter",
	},
	SG110: {
		cause:  "the store may take longer than the server gives a response",
		remedy: "make the store's timeout shorter than the server's WriteTimeout",
	},
}

// A findingError is a finding of a strict doctor.
type findingError struct {
	finding     Finding
	rule, about string
}

// Error tells the finding in a sentence, and what to do.
func (e *findingError) Error() string {
	d := diagnoses[e.finding]
	text := "slidegate: " + string(e.finding) + ": "
	if e.rule != "" {
		text += fmt.Sprintf("rule %q: ", e.rule)
	}
	text += d.cause
	if e.about != "" {
		text += " (" + e.about + ")"
	}
	return text + "; " + d.remedy + "; see " + section(e.finding)
}

// Unwrap returns [ErrDoctor].
func (e *findingError) Unwrap() error { return ErrDoctor }

// section returns where a finding is explained.
func section(f Finding) string {
	return "https://github.com/slidegate/slidegate/blob/main/docs/doctor.md#" + strings.ToLower(string(f))
}

// examinedRequests is how many requests of a limiter are looked at.
const examinedRequests = 1000

// A doctor examines one limiter.
type doctor struct {
	config  Doctor
	left    atomic.Int64          // requests to look at
	pending atomic.Pointer[error] // found between requests, by a strict one
	seed    maphash.Seed

	mu    sync.Mutex
	told  []Finding           // and what is not looked for
	rules map[string]*history // by the rule's name
}

func newDoctor(c Doctor) (*doctor, error) {
	d := &doctor{config: c, seed: maphash.MakeSeed(), told: slices.Clone(c.Off), rules: map[string]*history{}}
	d.left.Store(examinedRequests)
	var errs []error
	for _, f := range c.Off {
		if _, known := diagnoses[f]; !known {
			errs = append(errs, fault("Config.Doctor.Off: %q is no finding; they are SG101 to SG110", string(f)))
		}
	}
	return d, errors.Join(errs...)
}

// find tells a finding unless it was told before. It returns an error if the
// doctor is strict.
func (d *doctor) find(ctx context.Context, f Finding, rule, about string) error {
	if !d.first(f) {
		return nil
	}
	if d.config.Strict {
		return &findingError{f, rule, about}
	}
	words := diagnoses[f]
	attrs := []slog.Attr{slog.String("code", string(f))}
	if rule != "" {
		attrs = append(attrs, slog.String("rule", rule))
	}
	if about != "" {
		attrs = append(attrs, slog.String("about", about))
	}
	attrs = append(attrs, slog.String("remedy", words.remedy), slog.String("see", section(f)))
	logger := d.config.Logger
	if logger == nil {
		logger = slog.Default()
	}
	logger.LogAttrs(ctx, slog.LevelWarn, "slidegate: "+words.cause, attrs...)
	return nil
}

// first reports whether a finding is looked for and not told yet, and notes that
// it is told now.
func (d *doctor) first(f Finding) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if slices.Contains(d.told, f) {
		return false
	}
	d.told = append(d.told, f)
	return true
}

// looksFor reports whether a finding is looked for and not told yet.
func (d *doctor) looksFor(f Finding) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !slices.Contains(d.told, f)
}
