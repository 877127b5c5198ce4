package nethttp

import (
	"context"
	"net/http"
	"strings"

	"github.com/slidegate/slidegate/core"
)

// A request is the neutral view of a request. One pointer wide, it becomes a
// [core.Request] without an allocation.
type request struct{ r *http.Request }

var _ core.Request = request{}

func (q request) Context() context.Context          { return q.r.Context() }
func (q request) Method() string                    { return q.r.Method }
func (q request) Path() string                      { return q.r.URL.Path }
func (q request) Host() string                      { return q.r.Host }
func (q request) Peer() string                      { return q.r.RemoteAddr }
func (q request) HeaderValues(name string) []string { return q.r.Header.Values(name) }
func (q request) Value(key any) any                 { return q.r.Context().Value(key) }
func (q request) Native() any                       { return q.r }

// Route returns the pattern without its method: the routers of the other
// adapters do not name it either.
func (q request) Route() string {
	if _, pattern, ok := strings.Cut(q.r.Pattern, " "); ok {
		return strings.TrimLeft(pattern, " \t")
	}
	return q.r.Pattern
}

func (q request) Cookie(name string) (string, bool) {
	cookie, err := q.r.Cookie(name)
	if err != nil {
		return "", false
	}
	return cookie.Value, true
}
