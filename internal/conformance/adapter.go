// Package conformance has the scenarios that every adapter must pass. They run
// over real connections on the loopback address, on a clock that the suite
// moves, and one set of golden files holds the bytes that all adapters answer
// with.
//
// An adapter's test describes the adapter and calls [Run]. To serve a [Setup] is
// the only thing that it has to write in its framework's words.
package conformance

import (
	"net"
	"testing"

	"github.com/slidegate/slidegate/core"
)

// An Adapter is an adapter under test.
type Adapter struct {
	// Serve serves a setup on a listener, and stops in a cleanup. Addresses
	// of clients are those of the listener's connections.
	Serve func(tb testing.TB, ln net.Listener, s Setup)
	// New and Limit call the adapter's functions of these names, without
	// options, and do nothing with what they return.
	New   func(*core.Limiter)
	Limit func(...core.Rule)
	// NativeKey is made by the adapter's Key from a function that returns the
	// request header X-Client as the framework's own request has it.
	NativeKey core.KeyFunc
	// NilFunctions call, each, what takes a function and must refuse nil when
	// it is called: Key, OnDenied, OnError.
	NilFunctions map[string]func()
	// UserKey is the key under which Serve leaves the user for the framework's
	// handlers, see [Setup].Authenticate.
	UserKey any
	// AppRoute, GroupRoute and ItemRoute are what limiters of each level see as
	// the route of /api/items/42: its pattern as the framework writes it, or
	// "" where it is not known yet.
	AppRoute, GroupRoute, ItemRoute string
	// Spellings are request targets, at least three, that the router hands to
	// the handler of /login without redirecting.
	Spellings []string
}

// A Setup is an application to serve. It has four routes, each for GET, HEAD and
// POST and with the same handler:
//
//	/open            below the application's limiters
//	/api/hello       below those and the group's
//	/api/items/{id}  below those, the group's and the route's
//	/login           below the application's and the route's
//
// A handler that panics must not end the process: where the server does not see
// to that, the framework's recovery goes around everything.
type Setup struct {
	// App, Group and Route are the limiters of each level, the outermost
	// first. Each is mounted by the adapter's New with the options below.
	App, Group, Route []*core.Limiter
	// OnDenied and OnError, if set, become the adapter's options. What they
	// return is written in the framework's way and without stopping its chain
	// of handlers, which is the adapter's to do. The first is also given the
	// header of the response as it stands when it is called.
	OnDenied func(d core.Decision, header func(name string) string) Reply
	OnError  func(err error) Reply
	// ExposeDecision asks for the adapter's option of that name.
	ExposeDecision bool
	// RefundIf, if set, becomes the adapter's option of that name.
	RefundIf func(status int) bool
	// Preset are fields that middleware in front of all limiters sets in the
	// header of the response.
	Preset [][2]string
	// Authenticate, if set, is called by middleware in front of all limiters
	// with the request's header. The user that it returns is left where the
	// framework keeps such things, under [Adapter].UserKey; without a user the
	// answer is 401.
	Authenticate func(header func(name string) string) (user string, ok bool)
	// Handle is the handler of all routes.
	Handle func(Call) Reply
}

// A Call is one run of the handler.
type Call struct {
	// Header returns the first value of a field of the request.
	Header func(name string) string
	// Decision is what the adapter's DecisionFrom returns.
	Decision func() (core.Decision, bool)
}

// A Reply is a response. A zero Status means 200.
type Reply struct {
	Status int
	Header [][2]string
	Body   string
	// Fails says to answer with Status by the framework's own error path, such
	// as a returned error, where it has one. The rest of the reply is nothing.
	Fails bool
	// Stream, if set, is called in place of writing a body, with a function
	// that sends a piece of it to the client at once.
	Stream func(send func(string) error)
}
