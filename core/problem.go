package core

import (
	"errors"
	"fmt"
	"strconv"
)

// ContentTypeProblem is the media type of the bodies that this package makes:
// Problem Details of RFC 9457.
const ContentTypeProblem = "application/problem+json"

// StatusDenied is the status of a denial: 429 Too Many Requests (RFC 6585,
// section 4).
const StatusDenied = 429

// Problem types that are registered for rate limits.
const (
	typeQuotaExceeded   = "https://iana.org/assignments/http-problem-types#quota-exceeded"
	typeReducedCapacity = "https://iana.org/assignments/http-problem-types#temporary-reduced-capacity"
	typeBlank           = "about:blank"
)

// Problem returns the body of a denied response: a problem of the type
// quota-exceeded that names the violated policies.
func (d *Decision) Problem() []byte {
	detail := "The request can never be admitted: it costs more than the quota holds."
	if !d.Never {
		detail = "Try again in " + plural(d.retrySeconds(), "second") + "."
	}
	b := appendProblem(nil, typeQuotaExceeded, "Quota exceeded", StatusDenied, detail)
	b = append(b[:len(b)-1], `,"violated-policies":[`...)
	more := false
	for s, g := range d.shown {
		if s.Denied {
			b = append(appendComma(b, more), appendQuoted(nil, g.limit.name)...)
			more = true
		}
	}
	return append(b, "]}"...)
}

// StatusOf returns the status for a request that [Limiter.Check] refused with
// an error: 400 for a missing key, 503 for a store that failed or a request that
// ended, and 500 for a function of a rule that failed.
func StatusOf(err error) int {
	switch {
	case errors.Is(err, ErrNoKey):
		return 400
	case errors.Is(err, ErrKey), errors.Is(err, ErrCost), errors.Is(err, ErrLimits):
		return 500
	default:
		return 503
	}
}

// ErrorProblem returns the body of a response to a request that was refused
// with an error. It tells the client what it can mend, and nothing of causes
// within the server.
func ErrorProblem(err error) []byte {
	switch status := StatusOf(err); status {
	case 400:
		detail := "The request carries nothing to count it under."
		var rule *RuleError
		if errors.As(err, &rule) {
			detail = fmt.Sprintf("The request carries no key for the rule %q.", rule.Rule)
		}
		return appendProblem(nil, typeBlank, "Bad Request", status, detail)
	case 503:
		return appendProblem(nil, typeReducedCapacity, "Temporarily reduced capacity", status,
			"Requests cannot be counted at the moment. Try again later.")
	default:
		return appendProblem(nil, typeBlank, "Internal Server Error", status, "The limits of the request could not be determined.")
	}
}

// appendProblem appends a JSON object. The texts are printable ASCII.
func appendProblem(b []byte, kind, title string, status int, detail string) []byte {
	b = appendQuoted(append(b, `{"type":`...), kind)
	b = appendQuoted(append(b, `,"title":`...), title)
	b = strconv.AppendInt(append(b, `,"status":`...), int64(status), 10)
	b = appendQuoted(append(b, `,"detail":`...), detail)
	return append(b, '}')
}

func plural(n int64, unit string) string {
	if n == 1 {
		return "1 " + unit
	}
	return strconv.FormatInt(n, 10) + " " + unit + "s"
}
