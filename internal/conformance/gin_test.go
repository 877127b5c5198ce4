package conformance_test

import (
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/ginmw"
	"github.com/slidegate/slidegate/internal/conformance"
)

func TestGin(t *testing.T) {
	gin.SetMode(gin.ReleaseMode)
	item := "/api/items/:id"
	conformance.Run(t, conformance.Adapter{
		Serve: func(tb testing.TB, ln net.Listener, s conformance.Setup) {
			conformance.ServeHTTP(tb, ln, ginApp(s))
		},
		New:   func(l *core.Limiter) { ginmw.New(l) },
		Limit: func(rules ...core.Rule) { ginmw.Limit(rules...) },
		NativeKey: ginmw.Key(func(c *gin.Context) (string, error) {
			return c.GetHeader("X-Client"), nil
		}),
		NilFunctions: map[string]func(){
			"Key":      func() { ginmw.Key(nil) },
			"OnDenied": func() { ginmw.OnDenied(nil) },
			"OnError":  func() { ginmw.OnError(nil) },
			"RefundIf": func() { ginmw.RefundIf(nil) },
		},
		UserKey:  "user",
		AppRoute: item, GroupRoute: item, ItemRoute: item,
		Spellings: []string{"/login", "/%6cogin", "/login?next=/"},
	})
}

func ginApp(s conformance.Setup) http.Handler {
	app := gin.New()
	app.Use(gin.RecoveryWithWriter(io.Discard), ginFront(s))
	app.Use(ginLimits(s.App, s)...)
	handle := func(c *gin.Context) { ginReply(c, s.Handle(ginCall(c))) }
	app.Any("/open", handle)
	app.Any("/login", append(ginLimits(s.Route, s), handle)...)
	api := app.Group("/api", ginLimits(s.Group, s)...)
	api.Any("/hello", handle)
	api.Any("/items/:id", append(ginLimits(s.Route, s), handle)...)
	return app
}

func ginLimits(limiters []*core.Limiter, s conformance.Setup) []gin.HandlerFunc {
	var options []ginmw.Option
	if s.OnDenied != nil {
		options = append(options, ginmw.OnDenied(func(c *gin.Context, d core.Decision) {
			ginReply(c, s.OnDenied(d, c.Writer.Header().Get))
		}))
	}
	if s.OnError != nil {
		options = append(options, ginmw.OnError(func(c *gin.Context, err error) { ginReply(c, s.OnError(err)) }))
	}
	if s.ExposeDecision {
		options = append(options, ginmw.ExposeDecision())
	}
	if s.RefundIf != nil {
		options = append(options, ginmw.RefundIf(s.RefundIf))
	}
	var limits []gin.HandlerFunc
	for _, l := range limiters {
		limits = append(limits, ginmw.New(l, options...))
	}
	return limits
}

func ginFront(s conformance.Setup) gin.HandlerFunc {
	return func(c *gin.Context) {
		for _, field := range s.Preset {
			c.Header(field[0], field[1])
		}
		if s.Authenticate == nil {
			return
		}
		user, ok := s.Authenticate(c.GetHeader)
		if !ok {
			c.AbortWithStatus(http.StatusUnauthorized)
			return
		}
		c.Set("user", user)
	}
}

func ginCall(c *gin.Context) conformance.Call {
	return conformance.Call{
		Header:   c.GetHeader,
		Decision: func() (core.Decision, bool) { return ginmw.DecisionFrom(c) },
	}
}

func ginReply(c *gin.Context, r conformance.Reply) {
	if r.Fails {
		c.AbortWithStatus(r.Status)
		return
	}
	conformance.WriteReply(c.Writer, r)
}
