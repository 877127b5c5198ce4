package fibermw_test

import (
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/fibermw"
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

func limiter(limits ...core.Limit) *core.Limiter { return by(keyfuncs.Global, limits...) }

// remaining returns how many more units a limiter of all requests admits.
func remaining(t *testing.T, l *core.Limiter) int64 {
	t.Helper()
	states, err := l.Peek(t.Context(), "rule-1", "global")
	if err != nil {
		t.Fatal(err)
	}
	return states[0].Remaining
}

// app is an application of one route, GET and POST /, below middleware.
func app(c fiber.Config, handle fiber.Handler, middleware ...fiber.Handler) *fiber.App {
	c.DisableStartupMessage = true
	a := fiber.New(c)
	for _, m := range middleware {
		a.Use(m)
	}
	a.Get("/", handle)
	a.Post("/", handle)
	return a
}

// plain is Fiber's own configuration.
func plain() fiber.Config { return fiber.Config{} }

// counter counts how often its handler runs.
type counter int

func (n *counter) handle(c *fiber.Ctx) error {
	*n++
	return c.SendString("ok")
}

// A reply is a response that was read.
type reply struct {
	status int
	header http.Header
	body   string
}

func get(t *testing.T, a *fiber.App, target string) reply {
	t.Helper()
	return serve(t, a, httptest.NewRequest(http.MethodGet, target, nil))
}

func serve(t *testing.T, a *fiber.App, r *http.Request) reply {
	t.Helper()
	res, err := a.Test(r, -1)
	if err != nil {
		t.Fatal(err)
	}
	return read(t, res)
}

func read(t *testing.T, res *http.Response) reply {
	t.Helper()
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{res.StatusCode, res.Header, string(body)}
}

// start serves an application on a loopback address, which it returns. Clients must
// close their connections before the test ends.
func start(t *testing.T, a *fiber.App) (addr string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = a.Listener(ln)
	}()
	t.Cleanup(func() {
		_ = ln.Close()
		<-done
	})
	return ln.Addr().String()
}

func wantStatus(t *testing.T, r reply, want int) {
	t.Helper()
	if r.status != want {
		t.Errorf("status %d with %q, want %d", r.status, r.body, want)
	}
}

func wantBody(t *testing.T, r reply, want string) {
	t.Helper()
	if r.body != want {
		t.Errorf("the body is %q, want %q", r.body, want)
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
func told() (fibermw.Option, chan int) {
	statuses := make(chan int, 8)
	return fibermw.RefundIf(func(status int) bool {
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
