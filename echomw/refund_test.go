package echomw_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/labstack/echo/v4"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/echomw"
)

func TestRefundIfIsToldWhatTheClientIsSent(t *testing.T) {
	for _, tc := range []struct {
		phrase string
		handle echo.HandlerFunc
		want   int
	}{
		{"nothing at all", func(echo.Context) error { return nil }, 200},
		{"a status and no body", func(c echo.Context) error { return c.NoContent(http.StatusNoContent) }, 204},
		{"a body", func(c echo.Context) error { return c.String(http.StatusCreated, "made") }, 201},
		{"a body without a status", func(c echo.Context) error { _, err := c.Response().Write([]byte("ok")); return err }, 200},
		{"a body and then an error", func(c echo.Context) error {
			_ = c.String(http.StatusOK, "ok")
			return echo.ErrInternalServerError
		}, 200},
		{"a redirect", func(c echo.Context) error { return c.Redirect(http.StatusFound, "/login") }, 302},
		{"an error of Echo's", func(echo.Context) error { return echo.ErrUnauthorized }, 401},
		{"an error of the application's", func(echo.Context) error { return &failure{http.StatusForbidden, "no"} }, 403},
		{"an error that nobody knows", func(echo.Context) error { return errors.New("unknown") }, 500},
		{"an error that the handler hands over itself", func(c echo.Context) error { c.Error(echo.ErrTeapot); return nil }, 418},
	} {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			told, statuses := told()
			e := app(new(counter).handle)
			e.HTTPErrorHandler = problems
			e.Add(method, "/refund", tc.handle, echomw.New(limiter(core.PerMinute(9)), told))
			wantStatus(t, serve(e, httptest.NewRequest(method, "/refund", nil)), tc.want)
			wantTold(t, method+", "+tc.phrase, statuses, tc.want)
		}
	}
}

// answering is middleware that answers the application's errors itself.
func answering(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		err := next(c)
		if mine := new(failure); errors.As(err, &mine) {
			return c.String(mine.status, mine.text)
		}
		return err
	}
}

// The limiter settles when the response begins, whoever begins it.
func TestRefundIfIsToldOfErrorsThatAreAnsweredOnEitherSide(t *testing.T) {
	wrong := func(echo.Context) error { return &failure{http.StatusUnauthorized, "wrong password"} }
	for phrase, order := range map[string]func(limit echo.MiddlewareFunc) []echo.MiddlewareFunc{
		"in front": func(limit echo.MiddlewareFunc) []echo.MiddlewareFunc { return []echo.MiddlewareFunc{answering, limit} },
		"behind":   func(limit echo.MiddlewareFunc) []echo.MiddlewareFunc { return []echo.MiddlewareFunc{limit, answering} },
	} {
		told, statuses := told()
		wantStatus(t, get(app(wrong, order(echomw.New(limiter(core.PerMinute(9)), told))...), "/"), 401)
		wantTold(t, "errors answered "+phrase, statuses, 401)
	}
}

// Such a response has status 200, which nobody tells Echo.
func TestAnErrorThatNobodyAnswersStaysCharged(t *testing.T) {
	l := limiter(core.PerMinute(2))
	e := app(func(echo.Context) error { return errors.New("unknown") }, echomw.New(l, echomw.RefundIf(func(int) bool { return true })))
	e.HTTPErrorHandler = func(error, echo.Context) {}
	wantStatus(t, get(e, "/"), 200)
	wantRemaining(t, l, 1)
}

// A streamed response is under way, and counted, until its handler is through.
func TestAStreamedResponseIsSettledWhenItsHandlerIsThrough(t *testing.T) {
	l := limiter(core.PerMinute(1))
	e := app(func(c echo.Context) error {
		wantRemaining(t, l, 0)
		c.Response().WriteHeader(http.StatusOK)
		wantRemaining(t, l, 0)
		return nil
	}, echomw.New(l, echomw.RefundIf(func(int) bool { return true })))
	get(e, "/")
	wantRemaining(t, l, 1)
}

func TestManyWrongPasswordsAtOnceReachTheHandlerAsOftenAsTheLimitSays(t *testing.T) {
	const quota, attempts = 5, 60
	var guesses atomic.Int64
	login := func(c echo.Context) error {
		if c.QueryParam("password") == "right" {
			return c.NoContent(http.StatusOK)
		}
		guesses.Add(1)
		return &failure{http.StatusUnauthorized, "wrong password"}
	}
	l := limiter(core.PerMinute(quota))
	e := app(login, echomw.New(l, echomw.RefundIf(func(status int) bool { return status < 400 })))
	e.HTTPErrorHandler = problems
	for range 20 {
		wantStatus(t, get(e, "/?password=right"), 200)
	}
	wantRemaining(t, l, quota)
	counts := atOnce(attempts, func() int { return get(e, "/?password=wrong").Code })
	if counts[401] != quota || counts[429] != attempts-quota || guesses.Load() != quota {
		t.Errorf("statuses %v and %d guesses looked at, want %d", counts, guesses.Load(), quota)
	}
	wantStatus(t, get(e, "/?password=right"), 429)
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
	e := app(new(counter).handle,
		echomw.New(all, echomw.RefundIf(func(int) bool { return false })),
		echomw.New(failures, echomw.RefundIf(func(status int) bool { return status < 400 })))
	wantStatus(t, get(e, "/"), 200)
	wantRemaining(t, all, 8)
	wantRemaining(t, failures, 9)
}
