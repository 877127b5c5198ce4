package echov5mw

import (
	"context"

	"github.com/labstack/echo/v5"

	"github.com/slidegate/slidegate/core"
)

// A request is the neutral view of a request. One pointer wide, it becomes a
// [core.Request] without an allocation.
type request struct{ c *echo.Context }

var _ core.Request = request{}

func (q request) Context() context.Context          { return q.c.Request().Context() }
func (q request) Method() string                    { return q.c.Request().Method }
func (q request) Path() string                      { return q.c.Request().URL.Path }
func (q request) Route() string                     { return q.c.Path() }
func (q request) Host() string                      { return q.c.Request().Host }
func (q request) Peer() string                      { return q.c.Request().RemoteAddr }
func (q request) HeaderValues(name string) []string { return q.c.Request().Header.Values(name) }
func (q request) Native() any                       { return q.c }

// Value looks into Echo's own store first, whose keys are strings, and then into
// the request's context.
func (q request) Value(key any) any {
	if name, ok := key.(string); ok {
		if value := q.c.Get(name); value != nil {
			return value
		}
	}
	return q.c.Request().Context().Value(key)
}

func (q request) Cookie(name string) (string, bool) {
	cookie, err := q.c.Cookie(name)
	if err != nil {
		return "", false
	}
	return cookie.Value, true
}
