package fiberv3mw_test

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v3"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/fiberv3mw"
)

func TestIPIsFibersInOneSpelling(t *testing.T) {
	trusting := fiber.Config{
		ProxyHeader: "X-Forwarded-For", TrustProxy: true, TrustProxyConfig: fiber.TrustProxyConfig{Proxies: []string{"192.0.2.0/24"}},
	}
	for _, c := range []struct {
		phrase, peer, forwarded string
		config                  fiber.Config
		want                    string
	}{
		{"a trusted proxy", "192.0.2.10:1", "198.51.100.7", trusting, "198.51.100.7"},
		{"IPv6 behind it", "192.0.2.10:1", "2001:DB8:1:2::9", trusting, "2001:db8:1:2::/64"},
		{"a list is no address", "192.0.2.10:1", "203.0.113.1, 198.51.100.7", trusting, ""},
		{"a peer that is no proxy", "198.51.100.9:1", "203.0.113.1", trusting, "198.51.100.9"},
		{"nobody is trusted", "198.51.100.9:1", "203.0.113.1", fiber.Config{}, "198.51.100.9"},
	} {
		t.Run(c.phrase, func(t *testing.T) {
			byClient, got := fiberv3mw.IP(), "not asked"
			app := fiber.New(c.config)
			app.Use(func(ctx fiber.Ctx) error {
				addr, err := net.ResolveTCPAddr("tcp", c.peer)
				ctx.RequestCtx().SetRemoteAddr(addr)
				return errors.Join(err, ctx.Next())
			}, fiberv3mw.Limit(core.By(func(r core.Request) (string, error) {
				key, err := byClient(r)
				got = strings.Clone(key)
				return key, err
			}, core.PerMinute(5))))
			app.Get("/", func(c fiber.Ctx) error { return c.SendStatus(fiber.StatusNoContent) })
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.Header.Set("X-Forwarded-For", c.forwarded)
			response, err := app.Test(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = response.Body.Close()
			if got != c.want {
				t.Errorf("the key is %q, want %q", got, c.want)
			}
		})
	}
}
