package ginmw_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/ginmw"
)

// served serves requests by the key function and returns the keys, and what the
// doctor logged.
func served(t *testing.T, trusted []string, requests ...*http.Request) (keys []string, log string) {
	t.Helper()
	gin.SetMode(gin.TestMode)
	var b bytes.Buffer
	byClient := ginmw.ClientIP()
	l := core.MustNew(core.Config{
		Rules: []core.Rule{core.By(func(r core.Request) (string, error) {
			key, err := byClient(r)
			keys = append(keys, key)
			return key, err
		}, core.PerMinute(100))},
		Doctor: core.Doctor{Logger: slog.New(slog.NewTextHandler(&b, nil))},
	})
	r := gin.New()
	if err := r.SetTrustedProxies(trusted); err != nil {
		t.Fatal(err)
	}
	r.Use(ginmw.New(l))
	r.GET("/", func(c *gin.Context) { c.Status(http.StatusNoContent) })
	for _, q := range requests {
		r.ServeHTTP(httptest.NewRecorder(), q)
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

func TestClientIPIsGinsInOneSpelling(t *testing.T) {
	keys, log := served(t, []string{"192.0.2.0/24"},
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

// Gin's default is to believe everybody; the doctor says so.
func TestClientIPTellsTheDoctorThatGinTrustsEverybody(t *testing.T) {
	_, log := served(t, []string{"0.0.0.0/0", "::/0"}, request("198.51.100.9:1", "203.0.113.1"), request("198.51.100.9:1", "203.0.113.2"))
	if strings.Count(log, "code=SG102") != 1 {
		t.Errorf("the doctor says %q, want SG102 once", log)
	}
	if _, log := served(t, nil, request("198.51.100.9:1", "")); log != "" {
		t.Errorf("Gin trusts nobody, and the doctor says %s", log)
	}
}

func TestClientIPNeedsGin(t *testing.T) {
	if key, err := ginmw.ClientIP()(foreign{}); key != "" || err == nil || !strings.Contains(err.Error(), "needs the adapter ginmw") {
		t.Errorf("another adapter's request gives %q, %v; want an error that names the adapter", key, err)
	}
}

// A foreign request is one of another adapter.
type foreign struct{ core.Request }

func (foreign) Native() any { return nil }
