package keyfuncs_test

import (
	"context"
	"errors"
	"net/textproto"
	"testing"

	"github.com/slidegate/slidegate/core"
)

// A fake is a request as a test says it.
type fake struct {
	method, path, route, host, peer string
	header                          map[string][]string // names as net/http spells them
	cookies                         map[string]string
	values                          map[any]any
}

var _ core.Request = fake{}

func (f fake) Context() context.Context { return context.Background() }
func (f fake) Method() string           { return f.method }
func (f fake) Path() string             { return f.path }
func (f fake) Route() string            { return f.route }
func (f fake) Host() string             { return f.host }
func (f fake) Peer() string             { return f.peer }
func (f fake) Value(key any) any        { return f.values[key] }
func (f fake) Native() any              { return nil }

func (f fake) HeaderValues(name string) []string {
	return f.header[textproto.CanonicalMIMEHeaderKey(name)]
}

func (f fake) Cookie(name string) (string, bool) {
	value, ok := f.cookies[name]
	return value, ok
}

// peer is a request from an address, and nothing else.
func peer(addr string) fake { return fake{peer: addr} }

// with is a request with lines of one header.
func with(name string, lines ...string) fake {
	return fake{header: map[string][]string{textproto.CanonicalMIMEHeaderKey(name): lines}}
}

// noKey stands for a missing key in tables.
const noKey = ""

// wantKey checks what a function makes of a request.
func wantKey(t *testing.T, phrase string, f core.KeyFunc, r core.Request, want string) {
	t.Helper()
	got, err := f(r)
	switch {
	case want == noKey && (got != "" || !errors.Is(err, core.ErrNoKey)):
		t.Errorf("%s: the key is %q, %v; want none", phrase, got, err)
	case want != noKey && (got != want || err != nil):
		t.Errorf("%s: the key is %q, %v; want %q", phrase, got, err, want)
	}
}

// wantPanic checks the text that a call panics with.
func wantPanic(t *testing.T, want string, call func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if got := recover(); got != want {
			t.Errorf("it panics with %v, want %q", got, want)
		}
	}()
	call()
}
