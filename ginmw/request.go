package ginmw

import (
	"context"

	"github.com/gin-gonic/gin"

	"github.com/slidegate/slidegate/core"
)

// A request is the neutral view of a request. One pointer wide, it becomes a
// [core.Request] without an allocation.
type request struct{ c *gin.Context }

var _ core.Request = request{}

func (q request) Context() context.Context          { return q.c.Request.Context() }
func (q request) Method() string                    { return q.c.Request.Method }
func (q request) Path() string                      { return q.c.Request.URL.Path }
func (q request) Route() string                     { return q.c.FullPath() }
func (q request) Host() string                      { return q.c.Request.Host }
func (q request) Peer() string                      { return q.c.Request.RemoteAddr }
func (q request) HeaderValues(name string) []string { return q.c.Request.Header.Values(name) }
func (q request) Native() any                       { return q.c }

// Value looks into Gin's own store first, and then into the request's context,
// which Gin does by itself only if it is told to.
func (q request) Value(key any) any {
	if value := q.c.Value(key); value != nil {
		return value
	}
	return q.c.Request.Context().Value(key)
}

func (q request) Cookie(name string) (string, bool) {
	cookie, err := q.c.Request.Cookie(name)
	if err != nil {
		return "", false
	}
	return cookie.Value, true
}
