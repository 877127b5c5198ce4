package core

import "context"

// A Request is what a key function and the functions of a [Rule] see of an HTTP
// request, whatever the framework. It is valid during the call that it is
// handed to: strings that come from it may be borrowed (Fiber reuses their
// memory for the next request) and must be cloned by those who keep them.
// A [Limiter] clones the keys that it keeps.
type Request interface {
	// Context returns the request's context.
	Context() context.Context
	// Method returns the HTTP method, such as GET.
	Method() string
	// Path returns the decoded path of the URL.
	Path() string
	// Route returns the pattern of the matched route, such as /users/{id},
	// and "" where none is known yet.
	Route() string
	// Host returns the host that the request was sent to, with its port if
	// the client gave one.
	Host() string
	// Peer returns the address of the connection's other end as the server
	// saw it, usually with a port: a client, or the nearest proxy.
	Peer() string
	// HeaderValues returns the values of all header lines of a name in
	// their order. It must not be changed.
	HeaderValues(name string) []string
	// Cookie returns the value of the first cookie of a name.
	Cookie(name string) (value string, ok bool)
	// Value returns what earlier middleware left under a key: in the
	// request's context or in the framework's own store.
	Value(key any) any
	// Native returns the framework's own request: *http.Request,
	// *gin.Context, echo.Context, *fiber.Ctx. Each adapter has a function
	// that returns it typed.
	Native() any
}

// A KeyFunc gives the key that a request is counted under. It returns
// [ErrNoKey] where the request carries none, and an empty key means the same.
// It is called concurrently.
type KeyFunc func(Request) (string, error)
