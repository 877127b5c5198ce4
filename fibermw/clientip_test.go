package fibermw_test

import (
	"bytes"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/fibermw"
)

// A visit is a request of a peer with a forwarded header.
type visit struct{ peer, forwarded string }

// served serves visits by the key function and returns the keys, and what the
// doctor logged.
func served(t *testing.T, c fiber.Config, visits ...visit) (keys []string, log string) {
	t.Helper()
	var b bytes.Buffer
	byClient := fibermw.IP()
	l := core.MustNew(core.Config{
		Rules: []core.Rule{core.By(func(r core.Request) (string, error) {
			key, err := byClient(r)
			keys = append(keys, strings.Clone(key))
			return key, err
		}, core.PerMinute(100))},
		Doctor: core.Doctor{Logger: slog.New(slog.NewTextHandler(&b, nil))},
	})
	app := fiber.New(c)
	app.Use(func(c *fiber.Ctx) error {
		addr, err := net.ResolveTCPAddr("tcp", c.Get("X-Peer"))
		c.Context().SetRemoteAddr(addr)
		return errors.Join(err, c.Next())
	}, fibermw.New(l))
	app.Get("/", func(c *fiber.Ctx) error { return c.SendStatus(fiber.StatusNoContent) })
	for _, v := range visits {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("X-Peer", v.peer)
		if v.forwarded != "" {
			r.Header.Set("X-Forwarded-For", v.forwarded)
		}
		response, err := app.Test(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
	}
	return keys, b.String()
}

func TestIPIsFibersInOneSpelling(t *testing.T) {
	keys, log := served(t, fiber.Config{
		ProxyHeader: "X-Forwarded-For", EnableTrustedProxyCheck: true, TrustedProxies: []string{"192.0.2.0/24"},
	},
		visit{"192.0.2.10:1", "198.51.100.7"},
		visit{"192.0.2.10:1", "2001:DB8:1:2::9"},
		visit{"192.0.2.10:1", "::ffff:198.51.100.7"},
		visit{"192.0.2.10:1", "203.0.113.1, 198.51.100.7"}, // a list is no address
		visit{"198.51.100.9:1", "203.0.113.1"},
		visit{"[2001:db8:1:2::77]:1", ""},
	)
	want := "198.51.100.7 2001:db8:1:2::/64 198.51.100.7  198.51.100.9 2001:db8:1:2::/64"
	if got := strings.Join(keys, " "); got != want {
		t.Errorf("the keys are %q, want %q", got, want)
	}
	if log != "" {
		t.Errorf("the doctor says %s, want nothing", log)
	}
}

func TestIPTellsTheDoctorThatFiberTrustsEverybody(t *testing.T) {
	v := visit{"198.51.100.9:1", "203.0.113.1"}
	if _, log := served(t, fiber.Config{ProxyHeader: "X-Forwarded-For"}, v, v); strings.Count(log, "code=SG102") != 1 {
		t.Errorf("the doctor says %q, want SG102 once", log)
	}
	if _, log := served(t, fiber.Config{}, v, v); log != "" {
		t.Errorf("Fiber reads no header, and the doctor says %s", log)
	}
}

func TestIPNeedsFiber(t *testing.T) {
	if key, err := fibermw.IP()(foreign{}); key != "" || err == nil || !strings.Contains(err.Error(), "needs the adapter fibermw") {
		t.Errorf("another adapter's request gives %q, %v; want an error that names the adapter", key, err)
	}
}

// A foreign request is one of another adapter.
type foreign struct{ core.Request }

func (foreign) Native() any { return nil }
