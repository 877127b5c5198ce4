package ginmw_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/ginmw"
	"github.com/slidegate/slidegate/keyfuncs"
)

func TestOneLimiterOnSeveralLevelsCountsARequestOnce(t *testing.T) {
	for phrase, mount := range map[string]func(r *gin.Engine, limit gin.HandlerFunc){
		"application and group": func(r *gin.Engine, limit gin.HandlerFunc) {
			r.Use(limit)
			r.Group("/api", limit).GET("/items/:id", new(counter).handle)
		},
		"group and route": func(r *gin.Engine, limit gin.HandlerFunc) {
			r.Group("/api", limit).GET("/items/:id", limit, new(counter).handle)
		},
		"application and the handler of unknown paths": func(r *gin.Engine, limit gin.HandlerFunc) {
			r.Use(limit)
			r.NoRoute(limit, func(c *gin.Context) { c.String(http.StatusOK, "ok") })
		},
		"a request that is handed back to the router": func(r *gin.Engine, limit gin.HandlerFunc) {
			r.Use(limit)
			r.GET("/new", new(counter).handle)
			r.GET("/api/items/:id", func(c *gin.Context) {
				c.Request.URL.Path = "/new"
				r.HandleContext(c)
			})
		},
	} {
		t.Run(phrase, func(t *testing.T) {
			l := limiter(core.PerMinute(2))
			r := gin.New()
			mount(r, ginmw.New(l))
			for _, want := range []int{200, 200, 429} {
				wantStatus(t, get(r, "/api/items/1"), want)
			}
		})
	}
}

// Two middlewares of one limiter are one limiter still, and the outer one's
// options hold.
func TestOfTwoMiddlewaresOfOneLimiterTheOuterAnswers(t *testing.T) {
	l := limiter(core.PerMinute(1))
	says := func(text string) gin.HandlerFunc {
		return ginmw.New(l, ginmw.OnDenied(func(c *gin.Context, _ core.Decision) { c.String(http.StatusTooManyRequests, text) }))
	}
	h := app(new(counter).handle, says("outer"), says("inner"))
	wantStatus(t, get(h, "/"), 200)
	w := get(h, "/")
	wantStatus(t, w, 429)
	if got := w.Body.String(); got != "outer" {
		t.Errorf("the body is %q, want that of the outer middleware", got)
	}
}

// A bin is a writer that keeps nothing, so that a measurement sees the
// framework and the limiter alone.
type bin struct{ header http.Header }

func (b *bin) Header() http.Header         { return b.header }
func (b *bin) WriteHeader(int)             {}
func (b *bin) Write(p []byte) (int, error) { return len(p), nil }

// into returns a function that serves one request again and again.
func into(h http.Handler) func() {
	b, r := &bin{http.Header{}}, httptest.NewRequest(http.MethodGet, "/", nil)
	return func() {
		clear(b.header)
		h.ServeHTTP(b, r)
	}
}

// plenty is a limiter that admits all, with or without header fields. It serves
// as many requests as the doctor looks at.
func plenty(headers core.HeaderFormat) gin.HandlerFunc {
	limit := ginmw.New(core.MustNew(core.Config{
		Rules: []core.Rule{core.By(keyfuncs.IP, core.PerMinute(core.MaxQuota))}, Headers: headers,
		Doctor: core.Doctor{Off: []core.Finding{core.SG107}},
	}))
	serve := into(app(func(*gin.Context) {}, limit))
	for range 1100 {
		serve()
	}
	return limit
}

func TestAllocationsOfAnAllowedRequest(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector allocates")
	}
	silent, fields := plenty(core.HeadersNone), plenty(core.HeadersDraft11)
	for _, tc := range []struct {
		phrase     string
		middleware []gin.HandlerFunc
		most       float64
	}{
		{"no limiter", nil, 0},
		{"a limiter without header fields", []gin.HandlerFunc{silent}, 0},
		{"a limiter", []gin.HandlerFunc{fields}, 1},
		{"one limiter twice", []gin.HandlerFunc{fields, fields}, 1},
	} {
		serve := into(app(func(*gin.Context) {}, tc.middleware...))
		if got := testing.AllocsPerRun(200, serve); got > tc.most {
			t.Errorf("%s: %v allocations a request, want at most %v", tc.phrase, got, tc.most)
		}
	}
}
