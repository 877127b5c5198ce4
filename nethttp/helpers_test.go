package nethttp_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/keyfuncs"
	"github.com/slidegate/slidegate/nethttp"
)

// standing is a clock that stands still at a multiple of every window in use.
func standing() time.Time { return time.Unix(1_799_971_200, 0) }

// limiter limits by peer on a clock that stands still, and keeps quiet what the
// doctor finds of set-ups that are odd on purpose.
func limiter(limits ...core.Limit) *core.Limiter {
	return core.MustNew(core.Config{
		Rules: []core.Rule{core.By(keyfuncs.IP, limits...)}, Now: standing,
		Doctor: core.Doctor{Logger: slog.New(slog.DiscardHandler)},
	})
}

// counter counts how often it is called.
type counter int

func (c *counter) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	*c++
	w.WriteHeader(http.StatusOK)
}

func get(h http.Handler, target string) *httptest.ResponseRecorder {
	return serve(h, httptest.NewRequest("GET", target, nil))
}

func serve(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func wantStatus(t *testing.T, w *httptest.ResponseRecorder, want int) {
	t.Helper()
	if w.Code != want {
		t.Errorf("status %d with %q, want %d", w.Code, w.Body, want)
	}
}

func wantField(t *testing.T, h http.Header, name, want string) {
	t.Helper()
	if got := strings.Join(h.Values(name), " | "); got != want {
		t.Errorf("%s is %q, want %q", name, got, want)
	}
}

// panicText returns what a function panics with, or "".
func panicText(f func()) (text string) {
	defer func() { text, _ = recover().(string) }()
	f()
	return ""
}

// variants are ways to mount a limiter that must not change what a handler can
// do.
var variants = map[string]func(http.Handler) http.Handler{
	"no limiter": func(h http.Handler) http.Handler { return h },
	"a limiter":  func(h http.Handler) http.Handler { return nethttp.New(limiter(core.PerMinute(100)))(h) },
	"a limiter with RefundIf": func(h http.Handler) http.Handler {
		return nethttp.New(limiter(core.PerMinute(100)), nethttp.RefundIf(func(int) bool { return false }))(h)
	},
	"two limiters with RefundIf": func(h http.Handler) http.Handler {
		refund := nethttp.RefundIf(func(int) bool { return true })
		return nethttp.New(limiter(core.PerMinute(100)), refund)(nethttp.New(limiter(core.PerHour(100)), refund)(h))
	},
}
