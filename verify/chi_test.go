package verify_test

import (
	"context"
	"net"
	"net/http"
	"testing"

	"github.com/go-chi/chi/v5"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/internal/conformance"
	"github.com/slidegate/slidegate/nethttp"
)

// chi takes the middleware of net/http as it is, and must be served the same.
func TestChiConformance(t *testing.T) {
	conformance.Run(t, conformance.Adapter{
		Serve: func(tb testing.TB, ln net.Listener, s conformance.Setup) {
			conformance.ServeHTTP(tb, ln, chiApp(s))
		},
		New:   func(l *core.Limiter) { nethttp.New(l) },
		Limit: func(rules ...core.Rule) { nethttp.Limit(rules...) },
		NativeKey: nethttp.Key(func(r *http.Request) (string, error) {
			return r.Header.Get("X-Client"), nil
		}),
		NilFunctions: map[string]func(){
			"Key":      func() { nethttp.Key(nil) },
			"OnDenied": func() { nethttp.OnDenied(nil) },
			"OnError":  func() { nethttp.OnError(nil) },
			"RefundIf": func() { nethttp.RefundIf(nil) },
		},
		UserKey:    chiUser{},
		GroupRoute: "/api/*",
		ItemRoute:  "/api/items/{id}",
		Spellings:  []string{"/login", "/login?", "/login?next=/"}, // chi matches the path as it was sent
	})
}

type chiUser struct{}

func chiApp(s conformance.Setup) http.Handler {
	app := chi.NewRouter()
	app.Use(chiFront(s))
	app.Use(chiLimits(s.App, s)...)
	handle := func(w http.ResponseWriter, r *http.Request) {
		conformance.WriteReply(w, s.Handle(conformance.Call{
			Header:   r.Header.Get,
			Decision: func() (core.Decision, bool) { return nethttp.DecisionFrom(r.Context()) },
		}))
	}
	app.HandleFunc("/open", handle)
	app.With(chiLimits(s.Route, s)...).HandleFunc("/login", handle)
	app.Route("/api", func(api chi.Router) {
		api.Use(chiLimits(s.Group, s)...)
		api.HandleFunc("/hello", handle)
		api.With(chiLimits(s.Route, s)...).HandleFunc("/items/{id}", handle)
	})
	return app
}

func chiLimits(limiters []*core.Limiter, s conformance.Setup) []func(http.Handler) http.Handler {
	var limits []func(http.Handler) http.Handler
	for _, l := range limiters {
		limits = append(limits, nethttp.New(l, chiOptions(s)...))
	}
	return limits
}

func chiOptions(s conformance.Setup) []nethttp.Option {
	var options []nethttp.Option
	if s.OnDenied != nil {
		options = append(options, nethttp.OnDenied(func(w http.ResponseWriter, _ *http.Request, d core.Decision) {
			conformance.WriteReply(w, s.OnDenied(d, w.Header().Get))
		}))
	}
	if s.OnError != nil {
		options = append(options, nethttp.OnError(func(w http.ResponseWriter, _ *http.Request, err error) {
			conformance.WriteReply(w, s.OnError(err))
		}))
	}
	if s.ExposeDecision {
		options = append(options, nethttp.ExposeDecision())
	}
	if s.RefundIf != nil {
		options = append(options, nethttp.RefundIf(s.RefundIf))
	}
	return options
}

// chiFront is the middleware in front of all limiters.
func chiFront(s conformance.Setup) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
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
				r = r.WithContext(context.WithValue(r.Context(), chiUser{}, user))
			}
			next.ServeHTTP(w, r)
		})
	}
}
