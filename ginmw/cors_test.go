package ginmw_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/ginmw"
)

// cors is what middleware for CORS does: it answers preflights itself, and lets
// scripts of one origin read the limiter's fields.
func cors(c *gin.Context) {
	c.Header("Access-Control-Allow-Origin", "https://app.example")
	if c.Request.Method == http.MethodOptions && c.GetHeader("Access-Control-Request-Method") != "" {
		c.Header("Access-Control-Allow-Methods", "GET, POST")
		c.AbortWithStatus(http.StatusNoContent)
		return
	}
	c.Header("Access-Control-Expose-Headers", core.ExposedHeaders)
}

func preflight() *http.Request {
	r := httptest.NewRequest(http.MethodOptions, "/", nil)
	r.Header.Set("Origin", "https://app.example")
	r.Header.Set("Access-Control-Request-Method", http.MethodPost)
	return r
}

func TestPreflightsInFrontOfTheLimiterAreNotCounted(t *testing.T) {
	l := limiter(core.PerMinute(2))
	h := app(new(counter).handle, cors, ginmw.New(l))
	for range 5 {
		w := serve(h, preflight())
		wantStatus(t, w, 204)
		wantField(t, w.Header(), "RateLimit", "")
	}
	wantRemaining(t, l, 2)
}

func TestDenialsBehindCORSCanBeReadByScripts(t *testing.T) {
	h := app(new(counter).handle, cors, ginmw.New(limiter(core.PerMinute(1))))
	for _, want := range []int{200, 429} {
		w := get(h, "/")
		wantStatus(t, w, want)
		wantField(t, w.Header(), "Access-Control-Allow-Origin", "https://app.example")
		wantField(t, w.Header(), "Access-Control-Expose-Headers", core.ExposedHeaders)
	}
}

func TestCORSBehindTheLimiterIsCountedAndMissingOnDenials(t *testing.T) {
	h := app(new(counter).handle, ginmw.New(limiter(core.PerMinute(1))), cors)
	wantStatus(t, serve(h, preflight()), 204)
	w := get(h, "/")
	wantStatus(t, w, 429)
	wantField(t, w.Header(), "Access-Control-Allow-Origin", "")
}
