package echov5mw_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/labstack/echo/v5"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/echov5mw"
)

func TestRealIPIsEchosInOneSpelling(t *testing.T) {
	_, proxies, _ := net.ParseCIDR("192.0.2.0/24")
	for _, c := range []struct {
		phrase, peer, forwarded string
		extract                 echo.IPExtractor
		want                    string
	}{
		{"a trusted proxy", "192.0.2.10:1", "203.0.113.1, 198.51.100.7", echo.ExtractIPFromXFFHeader(echo.TrustIPRange(proxies)), "198.51.100.7"},
		{"IPv6 behind it", "192.0.2.10:1", "2001:DB8:1:2::9", echo.ExtractIPFromXFFHeader(echo.TrustIPRange(proxies)), "2001:db8:1:2::/64"},
		{"a peer that is no proxy", "198.51.100.9:1", "203.0.113.1", echo.ExtractIPFromXFFHeader(echo.TrustIPRange(proxies)), "198.51.100.9"},
		{"no extractor", "198.51.100.9:1", "203.0.113.1", nil, "198.51.100.9"},
		{"a Unix socket", "@", "", nil, ""},
	} {
		t.Run(c.phrase, func(t *testing.T) {
			byClient, got := echov5mw.RealIP(), "not asked"
			e := echo.New()
			e.IPExtractor = c.extract
			e.Use(echov5mw.Limit(core.By(func(r core.Request) (key string, err error) {
				got, err = byClient(r)
				return got, err
			}, core.PerMinute(5))))
			e.GET("/", func(c *echo.Context) error { return c.NoContent(http.StatusNoContent) })
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.RemoteAddr = c.peer
			r.Header.Set("X-Forwarded-For", c.forwarded)
			e.ServeHTTP(httptest.NewRecorder(), r)
			if got != c.want {
				t.Errorf("the key is %q, want %q", got, c.want)
			}
		})
	}
}
