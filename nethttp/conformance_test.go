package nethttp_test

import (
	"net/http"
	"testing"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/internal/conformance"
	"github.com/slidegate/slidegate/nethttp"
)

func TestConformance(t *testing.T) {
	conformance.Run(t, adapter())
}

func adapter() conformance.Adapter {
	mux := conformance.Mux{Limit: limit, DecisionFrom: nethttp.DecisionFrom}
	return conformance.Adapter{
		Serve: mux.Serve,
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
		UserKey:    conformance.MuxUserKey(),
		GroupRoute: "/api/", // the pattern that the group's mux is mounted under
		ItemRoute:  "/api/items/{id}",
		Spellings:  []string{"/login", "/%6cogin", "/login?next=/"},
	}
}

// limit mounts a limiter with the options of a setup.
func limit(l *core.Limiter, s conformance.Setup) func(http.Handler) http.Handler {
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
	return nethttp.New(l, options...)
}
