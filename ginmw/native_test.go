package ginmw_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/ginmw"
	"github.com/slidegate/slidegate/keyfuncs"
)

func TestKeySeesWhatGinKnowsOfARequest(t *testing.T) {
	signIn := func(c *gin.Context) { c.Set("tenant", c.Query("tenant")) }
	for phrase, key := range map[string]func(*gin.Context) (string, error){
		"a parameter of the route":     func(c *gin.Context) (string, error) { return c.Param("id"), nil },
		"what middleware left in Keys": func(c *gin.Context) (string, error) { return c.GetString("tenant"), nil },
		"a query":                      func(c *gin.Context) (string, error) { return c.Query("tenant"), nil },
	} {
		t.Run(phrase, func(t *testing.T) {
			r := gin.New()
			r.Use(signIn, ginmw.New(by(ginmw.Key(key), core.PerMinute(1))))
			r.GET("/of/:id", new(counter).handle)
			for _, visit := range []struct {
				target string
				want   int
			}{
				{"/of/red?tenant=red", 200}, {"/of/blue?tenant=blue", 200}, {"/of/red?tenant=red", 429},
			} {
				wantStatus(t, get(r, visit.target), visit.want)
			}
		})
	}
}

func TestKeyOfNothingIsAMissingKey(t *testing.T) {
	byTenant := ginmw.Key(func(c *gin.Context) (string, error) { return c.GetString("tenant"), nil })
	w := get(app(new(counter).handle, ginmw.New(by(byTenant, core.PerMinute(1)))), "/")
	wantStatus(t, w, 400)
	wantField(t, w.Header(), "Cache-Control", "no-store")
}

func TestUserIDFindsKeysAndTheContextOfTheRequest(t *testing.T) {
	type user struct{}
	for phrase, tc := range map[string]struct {
		key    any
		signIn gin.HandlerFunc
	}{
		"Gin's Keys": {"user", func(c *gin.Context) { c.Set("user", "ada") }},
		"the request context": {user{}, func(c *gin.Context) {
			c.Request = c.Request.WithContext(context.WithValue(c.Request.Context(), user{}, "ada"))
		}},
	} {
		t.Run(phrase, func(t *testing.T) {
			h := app(new(counter).handle, tc.signIn, ginmw.New(by(keyfuncs.UserID(tc.key), core.PerMinute(1))))
			wantStatus(t, get(h, "/"), 200)
			wantStatus(t, get(h, "/"), 429)
		})
	}
}

func TestContextIsGinsOwnAndNilUnderAnotherAdapter(t *testing.T) {
	var inKey, inHandler *gin.Context
	key := func(r core.Request) (string, error) {
		inKey = ginmw.Context(r)
		return "k", nil
	}
	get(app(func(c *gin.Context) { inHandler = c }, ginmw.New(by(key, core.PerMinute(1)))), "/")
	if inKey == nil || inKey != inHandler {
		t.Errorf("a key function gets the context %p, the handler %p; want the same", inKey, inHandler)
	}
	if got := ginmw.Context(foreign{}); got != nil {
		t.Errorf("the context of another adapter's request is %v, want nil", got)
	}
}

func TestTheDecisionReachesHandlersOfNetHTTPToo(t *testing.T) {
	h := app(gin.WrapF(func(w http.ResponseWriter, r *http.Request) {
		if d, ok := core.DecisionFrom(r.Context()); !ok || !d.Allowed || len(d.States()) != 1 {
			t.Errorf("the wrapped handler finds %+v, %v; want the decision", d, ok)
		}
	}), ginmw.New(limiter(core.PerMinute(1)), ginmw.ExposeDecision()))
	wantStatus(t, get(h, "/"), 200)
}

func TestNoDecisionIsExposedUnlessAskedFor(t *testing.T) {
	get(app(func(c *gin.Context) {
		if d, ok := ginmw.DecisionFrom(c); ok || d.Allowed {
			t.Errorf("the handler finds %+v, %v; want none", d, ok)
		}
	}, ginmw.New(limiter(core.PerMinute(1)))), "/")
}

func TestTheWriterIsGinsOwnWithEveryOption(t *testing.T) {
	var before, behind gin.ResponseWriter
	serve(app(func(c *gin.Context) { behind = c.Writer },
		func(c *gin.Context) { before = c.Writer },
		ginmw.New(limiter(core.PerMinute(1)), ginmw.RefundIf(func(int) bool { return false }), ginmw.ExposeDecision()),
	), httptest.NewRequest(http.MethodGet, "/", nil))
	if before == nil || before != behind {
		t.Errorf("the handler writes to a %T, want what was there before the limiter", behind)
	}
}
