package core

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
)

// ContentTypeProblem is the media type of [Problem.JSON].
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

// A Problem is what a response says about a request that was not let through:
// Problem Details of RFC 9457. It tells the client what it can mend, and nothing
// of causes within the server.
type Problem struct {
	// Status is the status of the response.
	Status int
	// Type is the URI of the problem's type.
	Type string
	// Title is the type in words.
	Title string
	// Detail is a sentence about this occurrence.
	Detail string
	// Violated are the names of the policies that denied the request.
	Violated []string
}

// What a denial says, but for its wait and its policies.
const (
	titleDenied = "Quota exceeded"
	detailNever = "The request can never be admitted: it costs more than the quota holds."
	deniedStart = `{"type":"` + typeQuotaExceeded + `","title":"` + titleDenied + `","status":429,"detail":"`
)

// Problem returns what a denied response says: a problem of the type
// quota-exceeded that names the violated policies, as the header does if
// [Decision.SetHeaders] was called before.
func (d *Decision) Problem() Problem {
	p := Problem{Status: StatusDenied, Type: typeQuotaExceeded, Title: titleDenied, Detail: string(d.appendDetail(nil))}
	i := 0
	for s, g := range d.shown {
		if s.Denied {
			p.Violated = append(p.Violated, d.policyName(i, g))
		}
		i++
	}
	return p
}

// problems are buffers for bodies that are written at once.
var problems = sync.Pool{New: func() any { return &[]byte{} }}

// WriteProblem writes what JSON returns of [Decision.Problem] in one call of
// Write. The writer may not keep it.
func (d *Decision) WriteProblem(w io.Writer) error {
	buffer := problems.Get().(*[]byte)
	*buffer = d.appendProblem((*buffer)[:0])
	_, err := w.Write(*buffer)
	problems.Put(buffer)
	return err
}

func (d *Decision) appendProblem(b []byte) []byte {
	b = append(d.appendDetail(append(b, deniedStart...)), '"')
	i, violated := 0, 0
	for s, g := range d.shown {
		if s.Denied {
			b = appendViolated(b, d.label(i, g), violated)
			violated++
		}
		i++
	}
	if violated > 0 {
		b = append(b, ']')
	}
	return append(b, '}')
}

func (d *Decision) appendDetail(b []byte) []byte {
	if d.Never {
		return append(b, detailNever...)
	}
	wait := d.retrySeconds()
	b = strconv.AppendInt(append(b, "Try again in "...), wait, 10)
	if wait == 1 {
		return append(b, " second."...)
	}
	return append(b, " seconds."...)
}

// appendViolated appends a policy, already quoted, to the list of those violated.
func appendViolated(b []byte, quoted string, before int) []byte {
	if before == 0 {
		b = append(b, `,"violated-policies":[`...)
	}
	return append(appendComma(b, before > 0), quoted...)
}

// ProblemOf returns what the response says to a request that [Limiter.Check]
// refused with an error: status 400 for a missing key, 503 for a store that
// failed or a request that ended meanwhile, and 500 for a function of a rule
// that failed.
func ProblemOf(err error) Problem {
	switch {
	case errors.Is(err, ErrNoKey):
		p := Problem{Status: 400, Type: typeBlank, Title: "Bad Request", Detail: "The request carries nothing to count it under."}
		var rule *RuleError
		if errors.As(err, &rule) {
			p.Detail = fmt.Sprintf("The request carries no key for the rule %q.", rule.Rule)
		}
		return p
	case errors.Is(err, ErrKey), errors.Is(err, ErrCost), errors.Is(err, ErrLimits), errors.Is(err, ErrConfig), errors.Is(err, ErrDoctor):
		return Problem{
			Status: 500, Type: typeBlank, Title: "Internal Server Error",
			Detail: "The limits of the request could not be determined.",
		}
	default:
		return Problem{
			Status: 503, Type: typeReducedCapacity, Title: "Temporarily reduced capacity",
			Detail: "Requests cannot be counted at the moment. Try again later.",
		}
	}
}

// JSON returns the problem as a JSON object. Its texts must be printable ASCII,
// as those of this package and the names of rules and limits are.
func (p Problem) JSON() []byte {
	b := appendQuoted([]byte(`{"type":`), p.Type)
	b = appendQuoted(append(b, `,"title":`...), p.Title)
	b = strconv.AppendInt(append(b, `,"status":`...), int64(p.Status), 10)
	b = appendQuoted(append(b, `,"detail":`...), p.Detail)
	for i, name := range p.Violated {
		b = appendViolated(b, string(appendQuoted(nil, name)), i)
	}
	if len(p.Violated) > 0 {
		b = append(b, ']')
	}
	return append(b, '}')
}
