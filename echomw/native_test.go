package echomw_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/labstack/echo/v4"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/echomw"
	"github.com/slidegate/slidegate/keyfuncs"
)

// signIn is middleware that changes Echo's context.
func signIn(change func(echo.Context)) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			change(c)
			return next(c)
		}
	}
}

func TestKeySeesWhatEchoKnowsOfARequest(t *testing.T) {
	tenant := signIn(func(c echo.Context) { c.Set("tenant", c.QueryParam("tenant")) })
	for phrase, key := range map[string]func(echo.Context) (string, error){
		"a parameter of the route": func(c echo.Context) (string, error) { return c.Param("id"), nil },
		"what middleware left":     func(c echo.Context) (string, error) { return c.Get("tenant").(string), nil },
		"a query":                  func(c echo.Context) (string, error) { return c.QueryParam("tenant"), nil },
	} {
		t.Run(phrase, func(t *testing.T) {
			e := echo.New()
			e.Use(tenant, echomw.New(by(echomw.Key(key), core.PerMinute(1))))
			e.GET("/of/:id", new(counter).handle)
			for _, visit := range []struct {
				target string
				want   int
			}{
				{"/of/red?tenant=red", 200}, {"/of/blue?tenant=blue", 200}, {"/of/red?tenant=red", 429},
			} {
				wantStatus(t, get(e, visit.target), visit.want)
			}
		})
	}
}

func TestKeyOfNothingIsAMissingKey(t *testing.T) {
	byTenant := echomw.Key(func(c echo.Context) (string, error) { return c.QueryParam("tenant"), nil })
	wantStatus(t, get(app(new(counter).handle, echomw.New(by(byTenant, core.PerMinute(1)))), "/"), 400)
}

func TestUserIDFindsEchosStoreAndTheContextOfTheRequest(t *testing.T) {
	type user struct{}
	for phrase, tc := range map[string]struct {
		key    any
		signIn func(echo.Context)
	}{
		"Echo's store": {"user", func(c echo.Context) { c.Set("user", "ada") }},
		"the request context": {user{}, func(c echo.Context) {
			c.SetRequest(c.Request().WithContext(context.WithValue(c.Request().Context(), user{}, "ada")))
		}},
	} {
		t.Run(phrase, func(t *testing.T) {
			e := app(new(counter).handle, signIn(tc.signIn), echomw.New(by(keyfuncs.UserID(tc.key), core.PerMinute(1))))
			wantStatus(t, get(e, "/"), 200)
			wantStatus(t, get(e, "/"), 429)
		})
	}
}

// A custom context, as Echo's guide shows it.
type tenantContext struct {
	echo.Context
	tenant string
}

func TestContextIsTheOneThatMiddlewareHandedOnAndNilUnderAnotherAdapter(t *testing.T) {
	wrap := func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error { return next(&tenantContext{c, "red"}) }
	}
	byTenant := echomw.Key(func(c echo.Context) (string, error) { return c.(*tenantContext).tenant, nil })
	e := app(func(c echo.Context) error {
		if _, ok := c.(*tenantContext); !ok {
			t.Errorf("the handler gets a %T, want the context that middleware made", c)
		}
		return nil
	}, wrap, echomw.New(by(byTenant, core.PerMinute(1))))
	wantStatus(t, get(e, "/"), 200)
	wantStatus(t, get(e, "/"), 429)
	if got := echomw.Context(foreign{}); got != nil {
		t.Errorf("the context of another adapter's request is %v, want nil", got)
	}
}

func TestTheDecisionReachesHandlersOfNetHTTPToo(t *testing.T) {
	e := app(echo.WrapHandler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if d, ok := core.DecisionFrom(r.Context()); !ok || !d.Allowed || len(d.States()) != 1 {
			t.Errorf("the wrapped handler finds %+v, %v; want the decision", d, ok)
		}
	})), echomw.New(limiter(core.PerMinute(1)), echomw.ExposeDecision()))
	wantStatus(t, get(e, "/"), 200)
}

func TestNoDecisionIsExposedUnlessAskedFor(t *testing.T) {
	get(app(func(c echo.Context) error {
		if d, ok := echomw.DecisionFrom(c); ok || d.Allowed {
			t.Errorf("the handler finds %+v, %v; want none", d, ok)
		}
		return nil
	}, echomw.New(limiter(core.PerMinute(1)))), "/")
}

func TestTheResponseIsEchosOwnWithEveryOption(t *testing.T) {
	var before, behind http.ResponseWriter
	get(app(func(c echo.Context) error { behind = c.Response().Writer; return nil },
		signIn(func(c echo.Context) { before = c.Response().Writer }),
		echomw.New(limiter(core.PerMinute(1)), echomw.RefundIf(func(int) bool { return false }), echomw.ExposeDecision()),
	), "/")
	if before == nil || before != behind {
		t.Errorf("the handler writes to a %T, want what was there before the limiter", behind)
	}
}
