package echomw_test

import (
	"bytes"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/echomw"
)

// served serves requests by the key function and returns the keys, and what the
// doctor logged.
func served(t *testing.T, extract echo.IPExtractor, requests ...*http.Request) (keys []string, log string) {
	t.Helper()
	var b bytes.Buffer
	byClient := echomw.RealIP()
	l := core.MustNew(core.Config{
		Rules: []core.Rule{core.By(func(r core.Request) (string, error) {
			key, err := byClient(r)
			keys = append(keys, key)
			return key, err
		}, core.PerMinute(100))},
		Doctor: core.Doctor{Logger: slog.New(slog.NewTextHandler(&b, nil))},
	})
	e := echo.New()
	e.IPExtractor = extract
	e.Use(echomw.New(l))
	e.GET("/", func(c echo.Context) error { return c.NoContent(http.StatusNoContent) })
	for _, q := range requests {
		e.ServeHTTP(httptest.NewRecorder(), q)
	}
	return keys, b.String()
}

func request(peer, forwarded string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.RemoteAddr = peer
	if forwarded != "" {
		r.Header.Set("X-Forwarded-For", forwarded)
	}
	return r
}

func TestRealIPIsEchosInOneSpelling(t *testing.T) {
	_, proxies, _ := net.ParseCIDR("192.0.2.0/24")
	keys, log := served(t, echo.ExtractIPFromXFFHeader(echo.TrustIPRange(proxies)),
		request("192.0.2.10:1", "203.0.113.1, 198.51.100.7"),
		request("192.0.2.10:1", "2001:DB8:1:2::9"),
		request("192.0.2.10:1", "::ffff:198.51.100.7"),
		request("198.51.100.9:1", "203.0.113.1"),
		request("[2001:db8:1:2::77]:1", ""),
		request("@", ""),
	)
	want := "198.51.100.7 2001:db8:1:2::/64 198.51.100.7 198.51.100.9 2001:db8:1:2::/64 "
	if got := strings.Join(keys, " "); got != want {
		t.Errorf("the keys are %q, want %q", got, want)
	}
	if log != "" {
		t.Errorf("the doctor says %s, want nothing", log)
	}
}

// Some versions of Echo believe everybody if they are not told whom to believe;
// the doctor says so, and only then.
func TestRealIPTellsTheDoctorThatEchoTrustsEverybody(t *testing.T) {
	q := request("198.51.100.9:1", "203.0.113.1")
	keys, log := served(t, nil, q, q)
	believes := keys[0] == "203.0.113.1"
	if got := strings.Count(log, "code=SG102"); believes != (got == 1) {
		t.Errorf("Echo takes the client for %v, and the doctor says %q", keys, log)
	}
	if _, log := served(t, echo.ExtractIPDirect(), q, q); strings.Contains(log, "SG102") {
		t.Errorf("Echo trusts nobody, and the doctor says %s", log)
	}
}

func TestRealIPNeedsEcho(t *testing.T) {
	if key, err := echomw.RealIP()(foreign{}); key != "" || err == nil || !strings.Contains(err.Error(), "needs the adapter echomw") {
		t.Errorf("another adapter's request gives %q, %v; want an error that names the adapter", key, err)
	}
}

// A foreign request is one of another adapter.
type foreign struct{ core.Request }

func (foreign) Native() any { return nil }
