package fibermw_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/fibermw"
)

// limits are ways to limit that must not change what a handler can do.
var limits = map[string]func() []fiber.Handler{
	"no limiter": func() []fiber.Handler { return nil },
	"a limiter":  func() []fiber.Handler { return []fiber.Handler{fibermw.New(limiter(core.PerMinute(100)))} },
	"two limiters with RefundIf": func() []fiber.Handler {
		refund := fibermw.RefundIf(func(int) bool { return true })
		return []fiber.Handler{
			fibermw.New(limiter(core.PerMinute(100)), refund), fibermw.New(limiter(core.PerHour(100)), refund, fibermw.ExposeDecision()),
		}
	},
}

// Of a file that the client has, and of a range that the file has not, fasthttp
// sends a response that it made anew, without anybody's fields.
func TestFilesAreServedWithTheBudgetUnlessFasthttpBeginsAnew(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "a.txt"), []byte("0123456789"), 0o600); err != nil {
		t.Fatal(err)
	}
	for phrase, limit := range limits {
		a := app(plain(), new(counter).handle, limit()...)
		a.Static("/files", folder, fiber.Static{ByteRange: true})
		for _, tc := range []struct {
			name, field, value string
			status             int
			body               string
			kept               bool
		}{
			{"whole", "X-Nothing", "", 200, "0123456789", true},
			{"a range", "Range", "bytes=2-4", 206, "234", true},
			{"not modified", "If-Modified-Since", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat), 304, "", false},
			{"a range that is none", "Range", "bytes=20-", 416, "Range Not Satisfiable", false},
		} {
			q := httptest.NewRequest(http.MethodGet, "/files/a.txt", nil)
			q.Header.Set(tc.field, tc.value)
			r := serve(t, a, q)
			wantStatus(t, r, tc.status)
			wantBody(t, r, tc.body)
			if limited := r.header.Get("RateLimit") != ""; limited != (tc.kept && phrase != "no limiter") {
				t.Errorf("%s, %s: the budget on the response is %v", phrase, tc.name, limited)
			}
		}
	}
}

func TestEventsArriveWhileTheyAreWritten(t *testing.T) {
	for phrase, limit := range limits {
		t.Run("RL-089 "+phrase, func(t *testing.T) {
			leave := make(chan struct{})
			letGo := sync.OnceFunc(func() { close(leave) })
			addr := start(t, app(plain(), func(c *fiber.Ctx) error {
				c.Set(fiber.HeaderContentType, "text/event-stream")
				c.Context().SetBodyStreamWriter(func(w *bufio.Writer) {
					_, _ = w.WriteString("data: 1\n\n")
					_ = w.Flush()
					<-leave
				})
				return nil
			}, limit()...))
			defer letGo()
			client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
			res, err := client.Get("http://" + addr)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = res.Body.Close() }()
			if line, err := bufio.NewReader(res.Body).ReadString('\n'); line != "data: 1\n" {
				t.Errorf("the first line is %q, %v", line, err)
			}
			letGo()
		})
	}
}

// takeOver answers an upgrade as libraries for websockets do: Fiber sends the
// response, and hands the connection over after it.
func takeOver(c *fiber.Ctx) error {
	c.Status(http.StatusSwitchingProtocols)
	c.Set(fiber.HeaderUpgrade, "echo")
	c.Set(fiber.HeaderConnection, "Upgrade")
	c.Context().Hijack(func(conn net.Conn) {
		line, _ := bufio.NewReader(conn).ReadString('\n')
		_, _ = io.WriteString(conn, "you said "+line)
	})
	return nil
}

// converse asks for an upgrade, says hello, and returns all that comes back.
func converse(t *testing.T, a *fiber.App) string {
	t.Helper()
	conn, err := net.Dial("tcp", start(t, a))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nhello\n")
	got, err := io.ReadAll(conn)
	if err != nil {
		t.Error(err)
	}
	return string(got)
}

func TestAnUpgradeTakesTheConnectionOverAndCarriesTheBudget(t *testing.T) {
	for phrase, limit := range limits {
		t.Run("RL-089 "+phrase, func(t *testing.T) {
			got := converse(t, app(plain(), takeOver, limit()...))
			if !strings.HasPrefix(got, "HTTP/1.1 101 Switching Protocols\r\n") || !strings.HasSuffix(got, "\r\n\r\nyou said hello\n") {
				t.Errorf("got %q, want a response with status 101 and what the handler says", got)
			}
			if limited := strings.Contains(got, "\r\nRatelimit: "); limited != (phrase != "no limiter") {
				t.Errorf("got %q; the budget on it is %v", got, limited)
			}
		})
	}
}

func TestAnUpgradeThatIsDeniedIsAnsweredWith429(t *testing.T) {
	closing := func(c *fiber.Ctx) error {
		c.Context().Response.SetConnectionClose()
		return c.Next()
	}
	got := converse(t, app(plain(), takeOver, closing, fibermw.New(limiter(core.PerMinute(0)))))
	if !strings.HasPrefix(got, "HTTP/1.1 429 Too Many Requests\r\n") {
		t.Errorf("got %q, want a response with status 429", got)
	}
}

func TestRefundIfIsTold101OfATakenConnection(t *testing.T) {
	told, statuses := told()
	converse(t, app(plain(), takeOver, fibermw.New(limiter(core.PerMinute(9)), told)))
	wantTold(t, "hijacked", statuses, 101)
}
