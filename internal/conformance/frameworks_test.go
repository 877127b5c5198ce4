package conformance_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/gofiber/fiber/v2"
	"github.com/labstack/echo/v4"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/echomw"
	"github.com/slidegate/slidegate/fibermw"
	"github.com/slidegate/slidegate/ginmw"
	"github.com/slidegate/slidegate/keyfuncs"
)

// oneOfTenant admits one request a minute of each tenant.
func oneOfTenant() *core.Limiter {
	return core.MustNew(core.Config{
		Rules: []core.Rule{core.By(keyfuncs.Header("X-Tenant"), core.PerMinute(1))},
		Now:   func() time.Time { return time.Unix(1_799_971_200, 0) },
	})
}

// An exchange is a request of a tenant, or of none, and what the application's
// own error handler makes of it.
type exchange struct{ tenant, want string }

const (
	deniedInOwnWords  = `429 own words: Try again in 120 seconds. | 120 | "minute";r=0;t=120 | no-store`
	refusedInOwnWords = `400 own words: The request carries no key for the rule "rule-1". |  |  | no-store`
)

var ownWords = []exchange{{"acme", `200 ok |  | "minute";r=0;t=120 | `}, {"acme", deniedInOwnWords}, {"", refusedInOwnWords}}

func (e exchange) request() *http.Request {
	r := httptest.NewRequest("GET", "/", nil)
	if e.tenant != "" {
		r.Header.Set("X-Tenant", e.tenant)
	}
	return r
}

func (e exchange) check(t *testing.T, res *http.Response) {
	t.Helper()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintf("%d %s | %s | %s | %s", res.StatusCode, body,
		res.Header.Get("Retry-After"), res.Header.Get("RateLimit"), res.Header.Get("Cache-Control"))
	if got != e.want {
		t.Errorf("got  %s\nwant %s", got, e.want)
	}
}

func TestEchoHandsDenialsToTheApplicationsErrorHandler(t *testing.T) {
	app := echo.New()
	app.HTTPErrorHandler = func(err error, c echo.Context) {
		var he *echo.HTTPError
		if !errors.As(err, &he) {
			t.Errorf("the error is a %T", err)
			return
		}
		_ = c.String(he.Code, fmt.Sprint("own words: ", he.Message))
	}
	app.GET("/", func(c echo.Context) error { return c.String(200, "ok") }, echomw.New(oneOfTenant()))
	for _, e := range ownWords {
		w := httptest.NewRecorder()
		app.ServeHTTP(w, e.request())
		e.check(t, w.Result())
	}
}

func TestFiberHandsDenialsToTheApplicationsErrorHandler(t *testing.T) {
	app := fiber.New(fiber.Config{ErrorHandler: func(c *fiber.Ctx, err error) error {
		var fe *fiber.Error
		if !errors.As(err, &fe) {
			t.Errorf("the error is a %T", err)
			return err
		}
		return c.Status(fe.Code).SendString("own words: " + fe.Message)
	}})
	app.Get("/", fibermw.New(oneOfTenant()), func(c *fiber.Ctx) error { return c.SendString("ok") })
	for _, e := range ownWords {
		res, err := app.Test(e.request())
		if err != nil {
			t.Fatal(err)
		}
		e.check(t, res)
	}
}

// errTeapot is an error that only the application's error handler can make a status of.
var errTeapot = errors.New("a teapot")

func TestRefundIfIsToldWhatTheApplicationsErrorHandlerAnswers(t *testing.T) {
	told := make(chan int, 1)
	tell := func(status int) bool {
		told <- status
		return false
	}
	t.Run("Echo", func(t *testing.T) {
		app := echo.New()
		app.HTTPErrorHandler = func(_ error, c echo.Context) { _ = c.NoContent(http.StatusTeapot) }
		app.GET("/", func(echo.Context) error { return errTeapot }, echomw.New(oneOfTenant(), echomw.RefundIf(tell)))
		app.ServeHTTP(httptest.NewRecorder(), exchange{tenant: "acme"}.request())
		wantTold(t, told)
	})
	t.Run("Fiber", func(t *testing.T) {
		app := fiber.New(fiber.Config{ErrorHandler: func(c *fiber.Ctx, _ error) error { return c.SendStatus(http.StatusTeapot) }})
		app.Get("/", fibermw.New(oneOfTenant(), fibermw.RefundIf(tell)), func(*fiber.Ctx) error { return errTeapot })
		if _, err := app.Test(exchange{tenant: "acme"}.request()); err != nil {
			t.Fatal(err)
		}
		wantTold(t, told)
	})
}

func wantTold(t *testing.T, told <-chan int) {
	t.Helper()
	select {
	case got := <-told:
		if got != http.StatusTeapot {
			t.Errorf("RefundIf is told %d, want 418", got)
		}
	default:
		t.Error("RefundIf is told nothing")
	}
}

func TestGinTellsRefundIfWhatWasSentBeforeAPanic(t *testing.T) {
	told := make(chan int, 1)
	gin.SetMode(gin.ReleaseMode)
	app := gin.New()
	app.Use(gin.RecoveryWithWriter(io.Discard), ginmw.New(oneOfTenant(), ginmw.RefundIf(func(status int) bool {
		told <- status
		return false
	})))
	app.GET("/", func(c *gin.Context) {
		c.String(http.StatusTeapot, "short and stout")
		panic("on purpose")
	})
	app.ServeHTTP(httptest.NewRecorder(), exchange{tenant: "acme"}.request())
	wantTold(t, told)
}

// What middleware of net/http in front of the framework leaves in the request's
// context is found too.
func TestUserIDFindsWhatTheRequestsContextHolds(t *testing.T) {
	type userKey struct{}
	limiter := func() *core.Limiter {
		return core.MustNew(core.Config{Rules: []core.Rule{core.By(keyfuncs.UserID(userKey{}), core.PerMinute(1))}})
	}
	gin.SetMode(gin.ReleaseMode)
	ginApp, echoApp := gin.New(), echo.New()
	ginApp.GET("/", ginmw.New(limiter()), func(c *gin.Context) { c.Status(200) })
	echoApp.GET("/", func(c echo.Context) error { return c.NoContent(200) }, echomw.New(limiter()))
	for name, app := range map[string]http.Handler{"Gin": ginApp, "Echo": echoApp} {
		for _, want := range []int{200, 429} {
			r := httptest.NewRequest("GET", "/", nil)
			w := httptest.NewRecorder()
			app.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), userKey{}, "alice")))
			if w.Code != want {
				t.Errorf("%s: status %d, want %d", name, w.Code, want)
			}
		}
	}
}
