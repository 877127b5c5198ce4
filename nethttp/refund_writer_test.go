package nethttp_test

import (
	"bufio"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/keyfuncs"
	"github.com/slidegate/slidegate/nethttp"
)

// A stubbornWriter says that it can be hijacked and cannot.
type stubbornWriter struct{ *httptest.ResponseRecorder }

func (stubbornWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return nil, nil, errors.New("not over this protocol")
}

func TestAHijackThatFailsIsNotTheStatus(t *testing.T) {
	told := 0
	limiter := core.MustNew(core.Config{Rules: []core.Rule{core.By(keyfuncs.IP, core.PerMinute(5))}})
	limit := nethttp.New(limiter, nethttp.RefundIf(func(status int) bool {
		told = status
		return false
	}))
	limit(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if _, _, err := w.(http.Hijacker).Hijack(); err != nil {
			http.Error(w, "no upgrade", http.StatusInternalServerError)
		}
	})).ServeHTTP(stubbornWriter{httptest.NewRecorder()}, httptest.NewRequest(http.MethodGet, "/", nil))
	if told != http.StatusInternalServerError {
		t.Errorf("RefundIf was told %d, want 500", told)
	}
}
