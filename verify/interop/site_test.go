package interop_test

import (
	"io"
	"net"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/gofiber/fiber/v2"
	"github.com/labstack/echo/v4"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/echomw"
	"github.com/slidegate/slidegate/fibermw"
	"github.com/slidegate/slidegate/ginmw"
	"github.com/slidegate/slidegate/nethttp"
)

// A site is what a server has at /hello: limiters, the outermost first, before
// a handler that says hello.
type site struct {
	limiters []*core.Limiter
	arrived  func() // is called for each request before a limiter sees it
}

const hello = "hello"

// An adapter serves sites with a framework.
type adapter struct {
	name  string
	serve func(testing.TB, net.Listener, site)
}

func adapters() []adapter {
	return []adapter{
		{"nethttp", func(tb testing.TB, ln net.Listener, s site) { serveHTTP(tb, ln, s, muxHandler(s)) }},
		{"ginmw", func(tb testing.TB, ln net.Listener, s site) { serveHTTP(tb, ln, s, ginHandler(s)) }},
		{"echomw", func(tb testing.TB, ln net.Listener, s site) { serveHTTP(tb, ln, s, echoHandler(s)) }},
		{"fibermw", serveFiber},
	}
}

// open serves a site on a loopback address until the test ends, and returns the
// URL of its greeting.
func (a adapter) open(tb testing.TB, s site) string {
	tb.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	if s.arrived == nil {
		s.arrived = func() {}
	}
	a.serve(tb, ln, s)
	return "http://" + ln.Addr().String() + "/hello"
}

func serveHTTP(tb testing.TB, ln net.Listener, s site, h http.Handler) {
	server := &http.Server{
		ReadHeaderTimeout: patience,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			s.arrived()
			h.ServeHTTP(w, r)
		}),
	}
	serving(tb, ln, func() { _ = server.Serve(ln) }, func() { _ = server.Close() })
}

func muxHandler(s site) http.Handler {
	h := greeting()
	for _, l := range slices.Backward(s.limiters) {
		h = nethttp.New(l)(h)
	}
	return h
}

func greeting() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /hello", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, hello) })
	return mux
}

func ginHandler(s site) http.Handler {
	r := gin.New()
	for _, l := range s.limiters {
		r.Use(ginmw.New(l))
	}
	r.GET("/hello", func(c *gin.Context) { c.String(http.StatusOK, hello) })
	return r
}

func echoHandler(s site) http.Handler {
	e := echo.New()
	for _, l := range s.limiters {
		e.Use(echomw.New(l))
	}
	e.GET("/hello", func(c echo.Context) error { return c.String(http.StatusOK, hello) })
	return e
}

func serveFiber(tb testing.TB, ln net.Listener, s site) {
	app := fiber.New(fiber.Config{DisableStartupMessage: true})
	app.Use(func(c *fiber.Ctx) error {
		s.arrived()
		return c.Next()
	})
	for _, l := range s.limiters {
		app.Use(fibermw.New(l))
	}
	app.Get("/hello", func(c *fiber.Ctx) error { return c.SendString(hello) })
	serving(tb, ln, func() { _ = app.Listener(ln) }, func() { _ = app.ShutdownWithTimeout(time.Second) })
}

// serving serves until the test ends. It closes the listener as well, since
// Fiber does not where it is stopped before it has begun.
func serving(tb testing.TB, ln net.Listener, serve, stop func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		serve()
	}()
	tb.Cleanup(func() {
		stop()
		_ = ln.Close()
		<-done
	})
}
