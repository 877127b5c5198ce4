package echomw_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/labstack/echo/v4"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/echomw"
)

// cors is what middleware for CORS does: it answers preflights itself, and lets
// scripts of one origin read the limiter's fields.
func cors(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		header := c.Response().Header()
		header.Set(echo.HeaderAccessControlAllowOrigin, "https://app.example")
		if c.Request().Method == http.MethodOptions && c.Request().Header.Get(echo.HeaderAccessControlRequestMethod) != "" {
			header.Set(echo.HeaderAccessControlAllowMethods, "GET, POST")
			return c.NoContent(http.StatusNoContent)
		}
		header.Set(echo.HeaderAccessControlExposeHeaders, core.ExposedHeaders)
		return next(c)
	}
}

func preflight() *http.Request {
	r := httptest.NewRequest(http.MethodOptions, "/", nil)
	r.Header.Set(echo.HeaderOrigin, "https://app.example")
	r.Header.Set(echo.HeaderAccessControlRequestMethod, http.MethodPost)
	return r
}

func TestPreflightsInFrontOfTheLimiterAreNotCounted(t *testing.T) {
	l := limiter(core.PerMinute(2))
	e := app(new(counter).handle, cors, echomw.New(l))
	for range 5 {
		w := serve(e, preflight())
		wantStatus(t, w, 204)
		wantField(t, w.Header(), "RateLimit", "")
	}
	wantRemaining(t, l, 2)
}

func TestDenialsBehindCORSCanBeReadByScripts(t *testing.T) {
	for phrase, handle := range map[string]echo.HTTPErrorHandler{"Echo's own error handler": nil, "an error handler of one's own": problems} {
		t.Run(phrase, func(t *testing.T) {
			e := app(new(counter).handle, cors, echomw.New(limiter(core.PerMinute(1))))
			if handle != nil {
				e.HTTPErrorHandler = handle
			}
			for _, want := range []int{200, 429} {
				w := get(e, "/")
				wantStatus(t, w, want)
				wantField(t, w.Header(), echo.HeaderAccessControlAllowOrigin, "https://app.example")
				wantField(t, w.Header(), echo.HeaderAccessControlExposeHeaders, core.ExposedHeaders)
			}
		})
	}
}

func TestCORSBehindTheLimiterIsCountedAndMissingOnDenials(t *testing.T) {
	e := app(new(counter).handle, echomw.New(limiter(core.PerMinute(1))), cors)
	wantStatus(t, serve(e, preflight()), 204)
	w := get(e, "/")
	wantStatus(t, w, 429)
	wantField(t, w.Header(), echo.HeaderAccessControlAllowOrigin, "")
}
