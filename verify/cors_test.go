package verify_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
	"github.com/rs/cors"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/echomw"
	"github.com/slidegate/slidegate/nethttp"
)

// fromElsewhere sends a request as the script of another origin does, or the
// preflight before one.
func fromElsewhere(h http.Handler, method string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "/", nil)
	r.Header.Set("Origin", "https://app.example")
	if method == http.MethodOptions {
		r.Header.Set("Access-Control-Request-Method", http.MethodPost)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// sharing are applications with a limit of one and middleware for CORS, of rs/cors
// and Echo's own, which stands in front of the limiter or behind it.
var sharing = map[string]func(inFront bool) http.Handler{
	"rs/cors around net/http": func(inFront bool) http.Handler {
		share := cors.New(cors.Options{AllowedOrigins: []string{"https://app.example"}, ExposedHeaders: []string{core.ExposedHeaders}})
		limit := nethttp.New(quietLimiter(core.PerMinute(1).Exact()))
		ok := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
		if inFront {
			return share.Handler(limit(ok))
		}
		return limit(share.Handler(ok))
	},
	"Echo's own": func(inFront bool) http.Handler {
		chain := []echo.MiddlewareFunc{
			middleware.CORSWithConfig(middleware.CORSConfig{AllowOrigins: []string{"https://app.example"}, ExposeHeaders: []string{core.ExposedHeaders}}),
			echomw.New(quietLimiter(core.PerMinute(1).Exact())),
		}
		if !inFront {
			slices.Reverse(chain)
		}
		e := echo.New()
		e.Use(chain...)
		e.GET("/", func(c echo.Context) error { return c.NoContent(http.StatusOK) })
		return e
	},
}

func TestCORSInFrontOfALimiterCostsNothingAndShowsDenials(t *testing.T) {
	for phrase, app := range sharing {
		h := app(true)
		for range 5 {
			if w := fromElsewhere(h, http.MethodOptions); w.Code != http.StatusNoContent || w.Header().Get("RateLimit") != "" {
				t.Errorf("%s: a preflight has status %d and RateLimit %q, want 204 without a budget", phrase, w.Code, w.Header().Get("RateLimit"))
			}
		}
		for _, want := range []int{200, 429} {
			w := fromElsewhere(h, http.MethodGet)
			origin, exposed := w.Header().Get("Access-Control-Allow-Origin"), w.Header().Get("Access-Control-Expose-Headers")
			if w.Code != want || origin != "https://app.example" || exposed == "" {
				t.Errorf("%s: status %d for the origin %q with the fields %q, want %d and all of it", phrase, w.Code, origin, exposed, want)
			}
		}
	}
}

func TestCORSBehindALimiterIsCountedAndMissingOnDenials(t *testing.T) {
	for phrase, app := range sharing {
		h := app(false)
		if w := fromElsewhere(h, http.MethodOptions); w.Code != http.StatusNoContent {
			t.Errorf("%s: a preflight has status %d, want 204", phrase, w.Code)
		}
		w := fromElsewhere(h, http.MethodGet)
		if origin := w.Header().Get("Access-Control-Allow-Origin"); w.Code != 429 || origin != "" {
			t.Errorf("%s: status %d for the origin %q, want 429 that no script may read", phrase, w.Code, origin)
		}
	}
}
