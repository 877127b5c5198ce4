package fibermw

import (
	"context"
	"net"
	"reflect"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/utils"

	"github.com/slidegate/slidegate/core"
)

// A request is the neutral view of a request. One pointer wide, it becomes a
// [core.Request] without an allocation. Its strings are lent: they lie in
// buffers that Fiber uses again for the next request.
type request struct{ c *fiber.Ctx }

var _ core.Request = request{}

func (q request) Context() context.Context { return q.c.UserContext() }
func (q request) Method() string           { return q.c.Method() }
func (q request) Path() string             { return utils.UnsafeString(q.c.Request().URI().Path()) }
func (q request) Host() string             { return utils.UnsafeString(q.c.Request().URI().Host()) }
func (q request) Native() any              { return q.c }

// Route returns the pattern of the route, and nothing in Use and groups, where
// Fiber knows only their prefix. That a route is one of these is told by nothing
// but a field of Fiber's own.
func (q request) Route() string {
	route := q.c.Route()
	if use := reflect.ValueOf(route).Elem().FieldByName("use"); use.IsValid() && use.Bool() {
		return ""
	}
	return route.Path
}

// Peer returns the address without its port, which nobody keys by, and nothing
// for a Unix socket.
func (q request) Peer() string {
	if addr, ok := q.c.Context().RemoteAddr().(*net.TCPAddr); ok {
		return addr.IP.String()
	}
	return ""
}

func (q request) HeaderValues(name string) []string {
	lines := q.c.Request().Header.PeekAll(name)
	values := make([]string, len(lines))
	for i, line := range lines {
		values[i] = utils.UnsafeString(line)
	}
	return values
}

func (q request) Cookie(name string) (string, bool) {
	value := q.c.Request().Header.Cookie(name)
	return utils.UnsafeString(value), value != nil
}

// Value looks into Fiber's own store first, and then into the user's context.
func (q request) Value(key any) any {
	if value := q.c.Locals(key); value != nil {
		return value
	}
	return q.c.UserContext().Value(key)
}

// A header is the header of the response. It takes names as the core spells them,
// which is fasthttp's way, too.
type header struct{ c *fiber.Ctx }

// Get goes through the few fields that there are, where Peek would spell the name
// anew first.
func (h header) Get(name string) (first string) {
	//lint:ignore SA1019 All, its successor, is newer than what Fiber asks for
	h.c.Response().Header.VisitAll(func(field, value []byte) {
		if first == "" && string(field) == name {
			first = utils.UnsafeString(value)
		}
	})
	return first
}

func (h header) Set(name, value string) {
	h.c.Response().Header.SetCanonical(utils.UnsafeBytes(name), utils.UnsafeBytes(value))
}
