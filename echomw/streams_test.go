package echomw_test

import (
	"bufio"
	"fmt"
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

	"github.com/labstack/echo/v4"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/echomw"
)

// limits are ways to limit that must not change what a handler can do.
var limits = map[string]func() []echo.MiddlewareFunc{
	"no limiter": func() []echo.MiddlewareFunc { return nil },
	"a limiter":  func() []echo.MiddlewareFunc { return []echo.MiddlewareFunc{echomw.New(limiter(core.PerMinute(100)))} },
	"two limiters with RefundIf": func() []echo.MiddlewareFunc {
		refund := echomw.RefundIf(func(int) bool { return true })
		return []echo.MiddlewareFunc{
			echomw.New(limiter(core.PerMinute(100)), refund), echomw.New(limiter(core.PerHour(100)), refund, echomw.ExposeDecision()),
		}
	},
}

func TestFilesAreServedWithTheBudget(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "a.txt"), []byte("0123456789"), 0o600); err != nil {
		t.Fatal(err)
	}
	for phrase, limit := range limits {
		e := echo.New()
		e.Use(limit()...)
		e.Static("/files", folder)
		for _, tc := range []struct {
			name, field, value string
			status             int
			body               string
		}{
			{"whole", "X-Nothing", "", 200, "0123456789"},
			{"a range", "Range", "bytes=2-4", 206, "234"},
			{"not modified", "If-Modified-Since", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat), 304, ""},
			{"a range that is none", "Range", "bytes=20-", 416, "invalid range: failed to overlap"},
		} {
			q := httptest.NewRequest(http.MethodGet, "/files/a.txt", nil)
			q.Header.Set(tc.field, tc.value)
			w := serve(e, q)
			wantStatus(t, w, tc.status)
			wantBody(t, w, tc.body)
			if limited := w.Header().Get("RateLimit") != ""; limited != (phrase != "no limiter") {
				t.Errorf("%s, %s: the budget on the response is %v", phrase, tc.name, limited)
			}
		}
	}
}

func TestEventsArriveWhileTheHandlerRuns(t *testing.T) {
	for phrase, limit := range limits {
		t.Run("RL-089 "+phrase, func(t *testing.T) {
			leave := make(chan struct{})
			letGo := sync.OnceFunc(func() { close(leave) })
			server := start(t, app(func(c echo.Context) error {
				c.Response().Header().Set(echo.HeaderContentType, "text/event-stream")
				_, err := fmt.Fprint(c.Response(), "data: 1\n\n")
				c.Response().Flush()
				<-leave
				return err
			}, limit()...))
			t.Cleanup(letGo)
			res, err := server.Client().Get(server.URL)
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

// takeOver answers an upgrade as libraries for websockets do, past the writer.
func takeOver(t *testing.T) echo.HandlerFunc {
	return func(c echo.Context) error {
		conn, both, err := c.Response().Hijack()
		if err != nil {
			t.Error(err)
			return err
		}
		defer func() { _ = conn.Close() }()
		_, _ = both.WriteString("HTTP/1.1 101 Switching Protocols\r\n\r\n")
		_ = both.Flush()
		line, _ := both.ReadString('\n')
		_, _ = io.WriteString(conn, "you said "+line)
		return nil
	}
}

// converse asks for an upgrade, says hello, and returns all that comes back.
func converse(t *testing.T, h http.Handler) string {
	t.Helper()
	conn, err := net.Dial("tcp", start(t, h).Listener.Addr().String())
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

func TestAnUpgradeTakesTheConnectionOver(t *testing.T) {
	for phrase, limit := range limits {
		t.Run("RL-089 "+phrase, func(t *testing.T) {
			got := converse(t, app(takeOver(t), limit()...))
			if want := "HTTP/1.1 101 Switching Protocols\r\n\r\nyou said hello\n"; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestAnUpgradeThatIsDeniedIsAnsweredWith429(t *testing.T) {
	closing := signIn(func(c echo.Context) { c.Response().Header().Set(echo.HeaderConnection, "close") })
	got := converse(t, app(takeOver(t), closing, echomw.New(limiter(core.PerMinute(0)))))
	if !strings.HasPrefix(got, "HTTP/1.1 429 Too Many Requests\r\n") {
		t.Errorf("got %q, want a response with status 429", got)
	}
}

// Echo has no status of a connection that was taken over.
func TestRefundIfIsTold200OfATakenConnection(t *testing.T) {
	told, statuses := told()
	converse(t, app(takeOver(t), echomw.New(limiter(core.PerMinute(9)), told)))
	wantTold(t, "hijacked", statuses, 200)
}
