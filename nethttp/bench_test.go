package nethttp_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/keyfuncs"
	"github.com/slidegate/slidegate/nethttp"
)

// A bin is a writer that keeps nothing, so that a benchmark sees the limiter's
// cost alone.
type bin struct{ header http.Header }

func (b *bin) Header() http.Header         { return b.header }
func (b *bin) WriteHeader(int)             {}
func (b *bin) Write(p []byte) (int, error) { return len(p), nil }

// again empties the header, as a new response has it.
func (b *bin) again() *bin {
	clear(b.header)
	return b
}

func newBin() *bin { return &bin{http.Header{}} }

// app is a mux with one route below a limiter, or without one.
func app(l *core.Limiter) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /users/{id}", func(http.ResponseWriter, *http.Request) {})
	if l == nil {
		return mux
	}
	return nethttp.New(l)(mux)
}

func BenchmarkServe(b *testing.B) {
	plenty := int64(core.MaxQuota)
	second, minute := core.PerSecond(plenty), core.PerMinute(plenty)
	byPeer := func(c core.Config, limits ...core.Limit) *core.Limiter {
		c.Rules = []core.Rule{core.By(keyfuncs.IP, limits...)}
		return core.MustNew(c)
	}
	for _, c := range []struct {
		name    string
		limiter *core.Limiter
	}{
		{"limits=0/result=served", nil},
		{"limits=1/result=allowed", byPeer(core.Config{}, minute)},
		{"limits=2/result=allowed", byPeer(core.Config{}, second, minute)},
		{"limits=1/headers=none/result=allowed", byPeer(core.Config{Headers: core.HeadersNone}, minute)},
		{"limits=1/headers=draft6/result=allowed", byPeer(core.Config{Headers: core.HeadersDraft6}, minute)},
		{"limits=1/result=denied", byPeer(core.Config{}, core.PerMinute(0))},
	} {
		b.Run(c.name, func(b *testing.B) {
			h, w, r := app(c.limiter), newBin(), httptest.NewRequest("GET", "/users/42", nil)
			b.ReportAllocs()
			for b.Loop() {
				h.ServeHTTP(w.again(), r)
			}
		})
	}
}

func TestAnAllowedRequestCostsOneAllocationBesideItsKey(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector allocates")
	}
	for _, c := range []struct {
		phrase string
		limits []core.Limit
		peer   string
		most   float64
	}{
		{"one limit, IPv4", []core.Limit{core.PerMinute(1_000_000)}, "198.51.100.7:1001", 1},
		{"two limits, IPv4", []core.Limit{core.PerMinute(1_000_000), core.PerHour(1_000_000)}, "198.51.100.7:1001", 1},
		{"one limit, IPv6", []core.Limit{core.PerMinute(1_000_000)}, "[2001:db8::7]:1001", 2},
	} {
		h, w, r := nethttp.New(limiter(c.limits...))(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})), newBin(), httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = c.peer
		for range 1100 { // the first thousand are examined by the doctor, at a cost
			h.ServeHTTP(w.again(), r)
		}
		if got := testing.AllocsPerRun(200, func() { h.ServeHTTP(w.again(), r) }); got > c.most {
			t.Errorf("%s: %v allocations a request, want at most %v", c.phrase, got, c.most)
		}
	}
}
