package peers

import (
	"net"
	"net/http"
	"net/url"
	"strconv"

	"github.com/gin-gonic/gin"
	"github.com/gofiber/fiber/v2"
	fiberlimiter "github.com/gofiber/fiber/v2/middleware/limiter"
	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
	ululegin "github.com/ulule/limiter/v3/drivers/middleware/gin"
	"github.com/valyala/fasthttp"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/echomw"
	"github.com/slidegate/slidegate/fibermw"
	"github.com/slidegate/slidegate/ginmw"
	"github.com/slidegate/slidegate/keyfuncs"
)

// A Service is a framework with one route behind one limiter.
type Service struct {
	// Framework is nethttp, gin, echo or fiber.
	Framework string
	// Limiter is the limiter's name.
	Limiter string
	// New makes the service. What it returns serves one request, which is
	// always the same, without a network and into a response that is used
	// again, and reports the status.
	New func(Load) (serve func() (status int))
}

// The frameworks.
const (
	NetHTTP = "nethttp"
	Gin     = "gin"
	Echo    = "echo"
	Fiber   = "fiber"
)

// The one request that is served again and again.
const (
	path    = "/hello"
	address = "203.0.113.195"
	port    = 51423
)

// Services returns every pair of a framework and a limiter, ours first in each.
func Services() []Service {
	var all []Service
	for _, l := range All() {
		if l.Middleware != nil {
			all = append(all, netHTTPService(l))
		}
	}
	return append(append(append(all, ginServices()...), echoServices()...), fiberServices()...)
}

func netHTTPService(l Limiter) Service {
	return Service{NetHTTP, l.Name, func(load Load) func() int {
		return serveHTTP(l.Middleware(load, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNoContent)
		})))
	}}
}

// serveHTTP serves one request to a handler.
func serveHTTP(h http.Handler) func() int {
	r := &http.Request{
		Method: http.MethodGet, Host: "example.com", URL: &url.URL{Path: path}, RequestURI: path,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, RemoteAddr: net.JoinHostPort(address, strconv.Itoa(port)), Body: http.NoBody,
	}
	w := &sink{header: http.Header{}}
	return func() int {
		clear(w.header)
		w.status = http.StatusOK
		h.ServeHTTP(w, r)
		return w.status
	}
}

// A sink is a response that goes nowhere.
type sink struct {
	header http.Header
	status int
}

func (s *sink) Header() http.Header         { return s.header }
func (s *sink) WriteHeader(status int)      { s.status = status }
func (s *sink) Write(b []byte) (int, error) { return len(b), nil }

// ginServices compare with ulule, which has a middleware for Gin.
func ginServices() []Service {
	service := func(name string, limit func(Load) gin.HandlerFunc) Service {
		return Service{Gin, name, func(l Load) func() int {
			gin.SetMode(gin.ReleaseMode)
			r := gin.New()
			r.Use(limit(l))
			r.GET(path, func(c *gin.Context) { c.Status(http.StatusNoContent) })
			return serveHTTP(r)
		}}
	}
	return []Service{
		service(Ours, func(l Load) gin.HandlerFunc { return ginmw.New(NewLimiter(l, Limit(l))) }),
		service("ulule", func(l Load) gin.HandlerFunc { return ululegin.NewMiddleware(Ulule(l)) }),
		service(None, func(Load) gin.HandlerFunc { return func(*gin.Context) {} }),
	}
}

// echoServices compare with Echo's own limiter, which writes no header fields.
func echoServices() []Service {
	service := func(name string, limit func(Load) echo.MiddlewareFunc) Service {
		return Service{Echo, name, func(l Load) func() int {
			e := echo.New()
			e.IPExtractor = echo.ExtractIPDirect()
			e.Use(limit(l))
			e.GET(path, func(c echo.Context) error { return c.NoContent(http.StatusNoContent) })
			return serveHTTP(e)
		}}
	}
	return []Service{
		service(Ours, func(l Load) echo.MiddlewareFunc { return echomw.New(NewLimiter(l, Limit(l))) }),
		service(WithoutHeaders, func(l Load) echo.MiddlewareFunc { return echomw.New(headerless(l)) }),
		service("echo", func(l Load) echo.MiddlewareFunc { return middleware.RateLimiter(EchoStore(l)) }),
		service(Floor, floorOnEcho),
		service(None, func(Load) echo.MiddlewareFunc { return func(next echo.HandlerFunc) echo.HandlerFunc { return next } }),
	}
}

// headerless is ours without the header fields that Echo's own does not write.
func headerless(l Load) *core.Limiter {
	return core.MustNew(core.Config{
		Headers: core.HeadersNone,
		Rules:   []core.Rule{core.By(keyfuncs.IP, Limit(l))},
	})
}

// fiberServices compare with Fiber's own limiter with its sliding window.
func fiberServices() []Service {
	service := func(name string, limit func(Load) fiber.Handler) Service {
		return Service{Fiber, name, func(l Load) func() int {
			app := fiber.New(fiber.Config{DisableStartupMessage: true})
			app.Use(limit(l))
			app.Get(path, func(c *fiber.Ctx) error { return c.SendStatus(fiber.StatusNoContent) })
			return serveFast(app.Handler())
		}}
	}
	own := func(l Load) fiber.Handler {
		return fiberlimiter.New(fiberlimiter.Config{
			Max: int(l.quota()), Expiration: window, LimiterMiddleware: fiberlimiter.SlidingWindow{},
		})
	}
	return []Service{
		service(Ours, func(l Load) fiber.Handler { return fibermw.New(NewLimiter(l, Limit(l))) }),
		service("fiber", own),
		service(Floor, floorOnFiber),
		service(None, func(Load) fiber.Handler { return func(c *fiber.Ctx) error { return c.Next() } }),
	}
}

// serveFast serves one request to a handler of fasthttp, and clears what its
// server clears before the next one.
func serveFast(h fasthttp.RequestHandler) func() int {
	var request fasthttp.Request
	request.Header.SetMethod(fasthttp.MethodGet)
	request.SetRequestURI(path)
	request.Header.SetHost("example.com")
	ctx := &fasthttp.RequestCtx{}
	ctx.Init(&request, &net.TCPAddr{IP: net.ParseIP(address), Port: port}, nil)
	return func() int {
		ctx.Response.Reset()
		ctx.ResetUserValues()
		h(ctx)
		return ctx.Response.StatusCode()
	}
}
