package fibermw_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gofiber/fiber/v2"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/fibermw"
	"github.com/slidegate/slidegate/keyfuncs"
)

func TestRefundIfIsToldWhatTheClientIsSent(t *testing.T) {
	for _, tc := range []struct {
		phrase string
		handle fiber.Handler
		want   int
	}{
		{"nothing at all", func(*fiber.Ctx) error { return nil }, 200},
		{"a status and no body", func(c *fiber.Ctx) error { return c.SendStatus(http.StatusNoContent) }, 204},
		{"a body", func(c *fiber.Ctx) error { return c.Status(http.StatusCreated).SendString("made") }, 201},
		{"a body and then a status", func(c *fiber.Ctx) error { return errors.Join(c.SendString("ok"), c.SendStatus(404)) }, 404},
		{"a body and then an error", func(c *fiber.Ctx) error { return errors.Join(c.SendString("ok"), fiber.ErrForbidden) }, 403},
		{"a redirect", func(c *fiber.Ctx) error { return c.Redirect("/login") }, 302},
		{"an error of Fiber's", func(*fiber.Ctx) error { return fiber.ErrUnauthorized }, 401},
		{"an error of the application's", func(*fiber.Ctx) error { return &failure{http.StatusForbidden, "no"} }, 403},
		{"an error that nobody knows", func(*fiber.Ctx) error { return errors.New("unknown") }, 500},
		{"a path that no route serves", func(c *fiber.Ctx) error { return c.Next() }, 404},
	} {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			told, statuses := told()
			a := app(ownErrors(), tc.handle, fibermw.New(limiter(core.PerMinute(9)), told))
			wantStatus(t, serve(t, a, httptest.NewRequest(method, "/", nil)), tc.want)
			wantTold(t, method+", "+tc.phrase, statuses, tc.want)
		}
	}
}

// Fiber sends status 500 where the error handler fails itself.
func TestAnErrorHandlerThatFailsIs500ForRefundIfToo(t *testing.T) {
	own := fiber.Config{ErrorHandler: func(*fiber.Ctx, error) error { return errors.New("failed") }}
	told, statuses := told()
	a := app(own, func(*fiber.Ctx) error { return fiber.ErrTeapot }, fibermw.New(limiter(core.PerMinute(9)), told))
	wantStatus(t, get(t, a, "/"), 500)
	wantTold(t, "a failing error handler", statuses, 500)
}

func TestTheErrorHandlerIsAskedOnce(t *testing.T) {
	asked := 0
	own := fiber.Config{ErrorHandler: func(c *fiber.Ctx, err error) error {
		asked++
		return problems(c, err)
	}}
	refund := fibermw.RefundIf(func(int) bool { return true })
	a := app(own, func(*fiber.Ctx) error { return fiber.ErrTeapot },
		fibermw.New(limiter(core.PerMinute(9)), refund), fibermw.New(limiter(core.PerHour(9)), refund))
	wantStatus(t, get(t, a, "/"), 418)
	if asked != 1 {
		t.Errorf("the error handler was asked %d times, want once", asked)
	}
}

// answering is middleware that answers the application's errors itself.
func answering(c *fiber.Ctx) error {
	err := c.Next()
	if mine := new(failure); errors.As(err, &mine) {
		return c.Status(mine.status).SendString(mine.text)
	}
	return err
}

// A limiter with RefundIf hands errors to the error handler at once, and
// middleware in front of it sees none any more.
func TestErrorsAreAnsweredBehindALimiterWithRefundIf(t *testing.T) {
	wrong := func(*fiber.Ctx) error { return &failure{http.StatusUnauthorized, "wrong password"} }
	for _, tc := range []struct {
		phrase string
		order  func(limit fiber.Handler) []fiber.Handler
		want   int
	}{
		{"behind", func(limit fiber.Handler) []fiber.Handler { return []fiber.Handler{limit, answering} }, 401},
		{"in front", func(limit fiber.Handler) []fiber.Handler { return []fiber.Handler{answering, limit} }, 500},
	} {
		told, statuses := told()
		wantStatus(t, get(t, app(plain(), wrong, tc.order(fibermw.New(limiter(core.PerMinute(9)), told))...), "/"), tc.want)
		wantTold(t, "errors answered "+tc.phrase, statuses, tc.want)
	}
}

func TestErrorsGoOnToMiddlewareInFrontWithoutRefundIf(t *testing.T) {
	wrong := func(*fiber.Ctx) error { return &failure{http.StatusUnauthorized, "wrong password"} }
	r := get(t, app(plain(), wrong, answering, fibermw.New(limiter(core.PerMinute(9)))), "/")
	wantStatus(t, r, 401)
	wantBody(t, r, "wrong password")
}

func TestManyWrongPasswordsAtOnceReachTheHandlerAsOftenAsTheLimitSays(t *testing.T) {
	const quota, attempts = 5, 60
	var guesses atomic.Int64
	login := func(c *fiber.Ctx) error {
		if c.Query("password") == "right" {
			return c.SendStatus(http.StatusOK)
		}
		guesses.Add(1)
		return &failure{http.StatusUnauthorized, "wrong password"}
	}
	l := limiter(core.PerMinute(quota))
	a := app(ownErrors(), login, fibermw.New(l, fibermw.RefundIf(func(status int) bool { return status < 400 })))
	for range 20 {
		wantStatus(t, get(t, a, "/?password=right"), 200)
	}
	wantRemaining(t, l, quota)
	addr := start(t, a)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	counts := atOnce(attempts, func() int {
		res, err := client.Get("http://" + addr + "/?password=wrong")
		if err != nil {
			t.Error(err)
			return 0
		}
		_ = res.Body.Close()
		return res.StatusCode
	})
	if counts[401] != quota || counts[429] != attempts-quota || guesses.Load() != quota {
		t.Errorf("statuses %v and %d guesses looked at, want %d", counts, guesses.Load(), quota)
	}
}

// atOnce calls a function n times at once and counts what it returns.
func atOnce(n int, f func() int) map[int]int {
	var mu sync.Mutex
	var all sync.WaitGroup
	counts, begin := map[int]int{}, make(chan struct{})
	for range n {
		all.Go(func() {
			<-begin
			got := f()
			mu.Lock()
			defer mu.Unlock()
			counts[got]++
		})
	}
	close(begin)
	all.Wait()
	return counts
}

func TestLimitersOfTwoLevelsSettleEachByItsOwnRule(t *testing.T) {
	all, failures := limiter(core.PerMinute(9)), limiter(core.PerHour(9))
	a := app(plain(), new(counter).handle,
		fibermw.New(all, fibermw.RefundIf(func(int) bool { return false })),
		fibermw.New(failures, fibermw.RefundIf(func(status int) bool { return status < 400 })))
	wantStatus(t, get(t, a, "/"), 200)
	wantRemaining(t, all, 8)
	wantRemaining(t, failures, 9)
}

// Fiber lends the strings of a request, and what changes the request writes over
// them: a proxy its URI, other handlers its header.
func TestARefundIsForTheKeyThatWasChargedHoweverTheHandlerChangesTheRequest(t *testing.T) {
	for phrase, tc := range map[string]struct {
		key    core.KeyFunc
		change fiber.Handler
	}{
		"a header field": {keyfuncs.Header("X-Client"), func(c *fiber.Ctx) error {
			c.Request().Header.Set("X-Client", "bobby")
			return nil
		}},
		"a native key": {fibermw.Key(func(c *fiber.Ctx) (string, error) { return c.Get("X-Client"), nil }), func(c *fiber.Ctx) error {
			c.Request().Header.Set("X-Client", "bobby")
			return nil
		}},
		"a host": {keyfuncs.Host, func(c *fiber.Ctx) error {
			c.Request().SetRequestURI("http://bobby/")
			c.Request().URI()
			return nil
		}},
	} {
		t.Run(phrase, func(t *testing.T) {
			l := by(tc.key, core.PerMinute(5))
			a := app(plain(), tc.change, fibermw.New(l, fibermw.RefundIf(func(int) bool { return true })))
			q := httptest.NewRequest(http.MethodGet, "/", nil)
			q.Host = "alice"
			q.Header.Set("X-Client", "alice")
			wantStatus(t, serve(t, a, q), 200)
			states, err := l.Peek(t.Context(), "rule-1", "alice")
			if err != nil || states[0].Remaining != 5 {
				t.Errorf("%+v, %v; want all 5 back for the key that was charged", states, err)
			}
		})
	}
}
