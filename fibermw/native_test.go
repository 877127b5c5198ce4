package fibermw_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gofiber/fiber/v2"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/fibermw"
	"github.com/slidegate/slidegate/keyfuncs"
)

func TestKeySeesWhatFiberKnowsOfARequest(t *testing.T) {
	signIn := func(c *fiber.Ctx) error {
		c.Locals("tenant", c.Query("tenant"))
		return c.Next()
	}
	for phrase, key := range map[string]func(*fiber.Ctx) (string, error){
		"a parameter of the route": func(c *fiber.Ctx) (string, error) { return c.Params("id"), nil },
		"what middleware left":     func(c *fiber.Ctx) (string, error) { return c.Locals("tenant").(string), nil },
		"a query":                  func(c *fiber.Ctx) (string, error) { return c.Query("tenant"), nil },
	} {
		t.Run(phrase, func(t *testing.T) {
			a := fiber.New()
			a.Get("/of/:id", signIn, fibermw.New(by(fibermw.Key(key), core.PerMinute(1))), new(counter).handle)
			for _, visit := range []struct {
				target string
				want   int
			}{
				{"/of/red?tenant=red", 200}, {"/of/blue?tenant=blue", 200}, {"/of/red?tenant=red", 429},
			} {
				wantStatus(t, get(t, a, visit.target), visit.want)
			}
		})
	}
}

func TestKeyOfNothingIsAMissingKey(t *testing.T) {
	byTenant := fibermw.Key(func(c *fiber.Ctx) (string, error) { return c.Query("tenant"), nil })
	wantStatus(t, get(t, app(plain(), new(counter).handle, fibermw.New(by(byTenant, core.PerMinute(1)))), "/"), 400)
}

// Fiber lends the strings of a request and writes the next one of the connection
// into the same memory.
func TestKeysThatFiberLendsOutliveTheirRequest(t *testing.T) {
	for phrase, key := range map[string]func(*fiber.Ctx) (string, error){
		"a header":    func(c *fiber.Ctx) (string, error) { return c.Get("X-Client"), nil },
		"a query":     func(c *fiber.Ctx) (string, error) { return c.Query("client"), nil },
		"a parameter": func(c *fiber.Ctx) (string, error) { return c.Params("client"), nil },
		"a path":      func(c *fiber.Ctx) (string, error) { return c.Path(), nil },
		"a cookie":    func(c *fiber.Ctx) (string, error) { return c.Cookies("client"), nil },
		"a Local":     func(c *fiber.Ctx) (string, error) { return c.Locals("client").(string), nil },
	} {
		t.Run("RL-086 "+phrase, func(t *testing.T) {
			a := fiber.New()
			a.Get("/:client", func(c *fiber.Ctx) error {
				c.Locals("client", c.Get("X-Client"))
				return c.Next()
			}, fibermw.New(by(fibermw.Key(key), core.PerMinute(1))), new(counter).handle)
			visits(t, start(t, a))
		})
	}
}

// visits sends requests of many clients with names of one length and of others on
// one connection, all once and then all again.
func visits(t *testing.T, addr string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}}
	defer client.CloseIdleConnections()
	for _, want := range []int{200, 429} {
		for _, name := range []string{"aaaa", "bbbb", "c", "dddddddd", "eeee", "ff"} {
			r, err := http.NewRequest(http.MethodGet, "http://"+addr+"/"+name+"?client="+name, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("X-Client", name)
			r.AddCookie(&http.Cookie{Name: "client", Value: name})
			res, err := client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			if got := read(t, res); got.status != want {
				t.Errorf("client %s: status %d, want %d", name, got.status, want)
			}
		}
	}
}

func TestUserIDFindsLocalsAndTheUserContext(t *testing.T) {
	type user struct{}
	for phrase, tc := range map[string]struct {
		key    any
		signIn fiber.Handler
	}{
		"Locals": {"user", func(c *fiber.Ctx) error {
			c.Locals("user", "ada")
			return c.Next()
		}},
		"the user context": {user{}, func(c *fiber.Ctx) error {
			c.SetUserContext(context.WithValue(c.UserContext(), user{}, "ada"))
			return c.Next()
		}},
	} {
		t.Run(phrase, func(t *testing.T) {
			a := app(plain(), new(counter).handle, tc.signIn, fibermw.New(by(keyfuncs.UserID(tc.key), core.PerMinute(1))))
			wantStatus(t, get(t, a, "/"), 200)
			wantStatus(t, get(t, a, "/"), 429)
		})
	}
}

func TestContextIsFibersOwnAndNilUnderAnotherAdapter(t *testing.T) {
	var inKey, inHandler *fiber.Ctx
	key := func(r core.Request) (string, error) {
		inKey = fibermw.Context(r)
		return "k", nil
	}
	get(t, app(plain(), func(c *fiber.Ctx) error { inHandler = c; return nil }, fibermw.New(by(key, core.PerMinute(1)))), "/")
	if inKey == nil || inKey != inHandler {
		t.Errorf("a key function gets the context %p, the handler %p; want the same", inKey, inHandler)
	}
	if got := fibermw.Context(foreign{}); got != nil {
		t.Errorf("the context of another adapter's request is %v, want nil", got)
	}
}

func TestTheDecisionIsInTheUserContext(t *testing.T) {
	a := app(plain(), func(c *fiber.Ctx) error {
		if d, ok := core.DecisionFrom(c.UserContext()); !ok || !d.Allowed || len(d.States()) != 1 {
			t.Errorf("the handler finds %+v, %v; want the decision", d, ok)
		}
		return nil
	}, fibermw.New(limiter(core.PerMinute(1)), fibermw.ExposeDecision()))
	wantStatus(t, get(t, a, "/"), 200)
}

func TestNoDecisionIsExposedUnlessAskedFor(t *testing.T) {
	serve(t, app(plain(), func(c *fiber.Ctx) error {
		if d, ok := fibermw.DecisionFrom(c); ok || d.Allowed {
			t.Errorf("the handler finds %+v, %v; want none", d, ok)
		}
		return nil
	}, fibermw.New(limiter(core.PerMinute(1)))), httptest.NewRequest(http.MethodGet, "/", nil))
}
