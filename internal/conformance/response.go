package conformance

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// A response is what a client got.
type response struct {
	status int
	header http.Header
	body   string
}

// The header fields as net/http spells them.
const (
	fieldLimit  = "Ratelimit"
	fieldPolicy = "Ratelimit-Policy"
	fieldRetry  = "Retry-After"
	fieldEpoch  = "X-Ratelimit-Reset"
)

// facts returns what the response tells, in the words of a [step]:
//
//	200       the status
//	r=9,99    remaining, of each limit in RateLimit
//	t=1,60    seconds, of each limit in RateLimit; - where there is none
//	none      there is no RateLimit field
//	retry=60  Retry-After
//	never     there is no Retry-After although the status is 429
//	epoch=…   X-RateLimit-Reset, in seconds after the scenarios' epoch
func (r response) facts() []string {
	facts := []string{strconv.Itoa(r.status)}
	switch text := r.header.Get(fieldLimit); {
	case text == "":
		facts = append(facts, "none")
	default:
		items, _ := parseList(text)
		facts = append(facts, "r="+params(items, "r"), "t="+params(items, "t"))
	}
	switch retry := r.header.Get(fieldRetry); {
	case retry != "":
		facts = append(facts, "retry="+retry)
	case r.status == http.StatusTooManyRequests:
		facts = append(facts, "never")
	}
	if reset, err := strconv.ParseInt(r.header.Get(fieldEpoch), 10, 64); err == nil {
		facts = append(facts, fmt.Sprintf("epoch=%d", reset-epoch))
	}
	return facts
}

// params returns the values of one parameter of all items.
func params(items []item, name string) string {
	var values []string
	for _, it := range items {
		value := "-"
		if n, ok := it.params[name]; ok {
			value = strconv.FormatInt(n, 10)
		}
		values = append(values, value)
	}
	return strings.Join(values, ",")
}

// contains reports whether a text stands anywhere in a response.
func contains(r response, text string) bool {
	return strings.Contains(r.body, text) || strings.Contains(fmt.Sprint(r.header), text)
}
