package conformance

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"testing"

	"github.com/slidegate/slidegate/core"
)

// A Mux serves setups with a ServeMux of net/http, for adapters whose
// middleware takes and gives an http.Handler.
type Mux struct {
	// Limit returns the adapter's middleware for a limiter, with the options
	// of a setup.
	Limit func(*core.Limiter, Setup) func(http.Handler) http.Handler
	// DecisionFrom is the adapter's function of this name.
	DecisionFrom func(context.Context) (core.Decision, bool)
}

type muxUser struct{}

// MuxUserKey is [Adapter].UserKey where a [Mux] serves.
func MuxUserKey() any { return muxUser{} }

// Serve is [Adapter].Serve.
func (m Mux) Serve(tb testing.TB, ln net.Listener, s Setup) { ServeHTTP(tb, ln, m.handler(s)) }

// ServeHTTP serves an http.Handler on a listener until the test ends.
func ServeHTTP(tb testing.TB, ln net.Listener, h http.Handler) {
	server := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: patience,
		ErrorLog:          log.New(io.Discard, "", 0), // some handlers panic on purpose
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(ln)
	}()
	tb.Cleanup(func() {
		_ = server.Close()
		<-done
	})
}

func (m Mux) handler(s Setup) http.Handler {
	handle := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		WriteReply(w, s.Handle(Call{
			Header:   r.Header.Get,
			Decision: func() (core.Decision, bool) { return m.DecisionFrom(r.Context()) },
		}))
	})
	api, app := http.NewServeMux(), http.NewServeMux()
	api.Handle("/api/hello", handle)
	api.Handle("/api/items/{id}", m.below(s.Route, s, handle))
	app.Handle("/api/", m.below(s.Group, s, api))
	app.Handle("/login", m.below(s.Route, s, handle))
	app.Handle("/open", handle)
	return m.front(s, m.below(s.App, s, app))
}

func (m Mux) below(limiters []*core.Limiter, s Setup, next http.Handler) http.Handler {
	for _, l := range slices.Backward(limiters) {
		next = m.Limit(l, s)(next)
	}
	return next
}

// front is the middleware in front of all limiters.
func (m Mux) front(s Setup, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, field := range s.Preset {
			w.Header().Add(field[0], field[1])
		}
		if s.Authenticate != nil {
			user, ok := s.Authenticate(r.Header.Get)
			if !ok {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			r = r.WithContext(context.WithValue(r.Context(), muxUser{}, user))
		}
		next.ServeHTTP(w, r)
	})
}

// WriteReply writes a reply to the writer of net/http, and of frameworks whose
// writer is one.
func WriteReply(w http.ResponseWriter, r Reply) {
	if r.Fails {
		http.Error(w, http.StatusText(r.Status), r.Status)
		return
	}
	for _, field := range r.Header {
		w.Header().Set(field[0], field[1])
	}
	w.WriteHeader(max(r.Status, http.StatusOK))
	_, _ = io.WriteString(w, r.Body)
	if r.Stream != nil {
		r.Stream(func(text string) error {
			if _, err := io.WriteString(w, text); err != nil {
				return err
			}
			return http.NewResponseController(w).Flush()
		})
	}
}
