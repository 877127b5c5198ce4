package echomw_test

import (
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/echomw"
	"github.com/slidegate/slidegate/keyfuncs"
)

// standing is a clock that stands still at a multiple of every window in use.
func standing() time.Time { return time.Unix(1_799_971_200, 0) }

// by limits by a key on a clock that stands still, and keeps quiet what the
// doctor finds of set-ups that are odd on purpose.
func by(key core.KeyFunc, limits ...core.Limit) *core.Limiter {
	return core.MustNew(core.Config{
		Rules: []core.Rule{core.By(key, limits...)}, Now: standing,
		Doctor: core.Doctor{Logger: slog.New(slog.DiscardHandler)},
	})
}

func limiter(limits ...core.Limit) *core.Limiter { return by(keyfuncs.IP, limits...) }

func byAll(limits ...core.Limit) *core.Limiter { return by(keyfuncs.Global, limits...) }

// remaining returns how many more units a limiter by address admits to the peer
// of the tests' requests.
func remaining(t *testing.T, l *core.Limiter) int64 {
	t.Helper()
	states, err := l.Peek(t.Context(), "rule-1", "192.0.2.1")
	if err != nil {
		t.Fatal(err)
	}
	return states[0].Remaining
}

// app is an application of one route, GET and POST /, below middleware.
func app(handle echo.HandlerFunc, middleware ...echo.MiddlewareFunc) *echo.Echo {
	e := echo.New()
	e.Logger.SetOutput(io.Discard) // some handlers misbehave on purpose
	e.Use(middleware...)
	e.GET("/", handle)
	e.POST("/", handle)
	return e
}

// recovery hands panics to Echo's error handler, as Echo's own middleware does,
// which lies in a package that needs one more module.
func recovery(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) (err error) {
		defer func() {
			if p := recover(); p != nil {
				c.Error(fmt.Errorf("recovered: %v", p))
			}
		}()
		return next(c)
	}
}

// counter counts how often its handler runs.
type counter int

func (n *counter) handle(c echo.Context) error {
	*n++
	return c.String(http.StatusOK, "ok")
}

func get(h http.Handler, target string) *httptest.ResponseRecorder {
	return serve(h, httptest.NewRequest(http.MethodGet, target, nil))
}

func serve(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// start serves a handler on a loopback address.
func start(t *testing.T, h http.Handler) *httptest.Server {
	t.Helper()
	server := httptest.NewUnstartedServer(h)
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // some handlers panic on purpose
	server.Start()
	t.Cleanup(server.Close)
	return server
}

func wantStatus(t *testing.T, w *httptest.ResponseRecorder, want int) {
	t.Helper()
	if w.Code != want {
		t.Errorf("status %d with %q, want %d", w.Code, w.Body, want)
	}
}

func wantBody(t *testing.T, w *httptest.ResponseRecorder, want string) {
	t.Helper()
	if got := strings.TrimSuffix(w.Body.String(), "\n"); got != want {
		t.Errorf("the body is %q, want %q", got, want)
	}
}

func wantField(t *testing.T, h http.Header, name, want string) {
	t.Helper()
	if got := strings.Join(h.Values(name), " | "); got != want {
		t.Errorf("%s is %q, want %q", name, got, want)
	}
}

func wantRemaining(t *testing.T, l *core.Limiter, want int64) {
	t.Helper()
	if got := remaining(t, l); got != want {
		t.Errorf("%d remain, want %d", got, want)
	}
}

// told is an option that refunds nothing, and the statuses that it is told.
func told() (echomw.Option, chan int) {
	statuses := make(chan int, 8)
	return echomw.RefundIf(func(status int) bool {
		statuses <- status
		return false
	}), statuses
}

// wantTold checks the one status that RefundIf is told, which over a connection may
// be after the response.
func wantTold(t *testing.T, phrase string, statuses chan int, want int) {
	t.Helper()
	select {
	case got := <-statuses:
		if got != want || len(statuses) > 0 {
			t.Errorf("%s: RefundIf is told %d and %d more, want %d once", phrase, got, len(statuses), want)
		}
	case <-time.After(10 * time.Second):
		t.Errorf("%s: RefundIf is told nothing, want %d", phrase, want)
	}
}
