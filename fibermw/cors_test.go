package fibermw_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/cors"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/fibermw"
)

// sharing lets scripts of one origin read the limiter's fields.
func sharing() fiber.Handler {
	return cors.New(cors.Config{AllowOrigins: "https://app.example", ExposeHeaders: core.ExposedHeaders})
}

func preflight() *http.Request {
	r := httptest.NewRequest(http.MethodOptions, "/", nil)
	r.Header.Set(fiber.HeaderOrigin, "https://app.example")
	r.Header.Set(fiber.HeaderAccessControlRequestMethod, http.MethodPost)
	return r
}

func crossOrigin() *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Header.Set(fiber.HeaderOrigin, "https://app.example")
	return r
}

func TestPreflightsInFrontOfTheLimiterAreNotCounted(t *testing.T) {
	l := limiter(core.PerMinute(2))
	a := app(plain(), new(counter).handle, sharing(), fibermw.New(l))
	for range 5 {
		r := serve(t, a, preflight())
		wantStatus(t, r, 204)
		wantField(t, r.header, "RateLimit", "")
	}
	wantRemaining(t, l, 2)
}

func TestDenialsBehindCORSCanBeReadByScripts(t *testing.T) {
	for phrase, c := range map[string]fiber.Config{"Fiber's own error handler": plain(), "an error handler of one's own": ownErrors()} {
		t.Run(phrase, func(t *testing.T) {
			a := app(c, new(counter).handle, sharing(), fibermw.New(limiter(core.PerMinute(1))))
			for _, want := range []int{200, 429} {
				r := serve(t, a, crossOrigin())
				wantStatus(t, r, want)
				wantField(t, r.header, fiber.HeaderAccessControlAllowOrigin, "https://app.example")
				wantField(t, r.header, fiber.HeaderAccessControlExposeHeaders, strings.ReplaceAll(core.ExposedHeaders, " ", "")) // as Fiber writes it
			}
		})
	}
}

func TestCORSBehindTheLimiterIsCountedAndMissingOnDenials(t *testing.T) {
	a := app(plain(), new(counter).handle, fibermw.New(limiter(core.PerMinute(1))), sharing())
	wantStatus(t, serve(t, a, preflight()), 204)
	r := serve(t, a, crossOrigin())
	wantStatus(t, r, 429)
	wantField(t, r.header, fiber.HeaderAccessControlAllowOrigin, "")
}
