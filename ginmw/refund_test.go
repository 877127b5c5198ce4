package ginmw_test

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/ginmw"
)

func TestRefundIfIsToldWhatTheClientIsSent(t *testing.T) {
	for _, tc := range []struct {
		phrase string
		handle gin.HandlerFunc
		want   int
	}{
		{"nothing at all", func(*gin.Context) {}, 200},
		{"a status and no body", func(c *gin.Context) { c.Status(http.StatusNoContent) }, 204},
		{"a body", func(c *gin.Context) { c.String(http.StatusCreated, "made") }, 201},
		{"a body without a status", func(c *gin.Context) { _, _ = c.Writer.WriteString("ok") }, 200},
		{"a body and then a status", func(c *gin.Context) { c.String(http.StatusOK, "ok"); c.Status(http.StatusInternalServerError) }, 200},
		{"a status that is thought better of", func(c *gin.Context) { c.Status(http.StatusTeapot); c.String(http.StatusOK, "ok") }, 200},
		{"early hints and then a status", func(c *gin.Context) {
			c.Writer.WriteHeader(http.StatusEarlyHints)
			c.String(http.StatusNotFound, "no")
		}, 404},
		{"a redirect", func(c *gin.Context) { c.Redirect(http.StatusFound, "/login") }, 302},
		{"an abort", func(c *gin.Context) { c.AbortWithStatus(http.StatusUnauthorized) }, 401},
		{"an abort with an error", func(c *gin.Context) { _ = c.AbortWithError(http.StatusForbidden, &failure{}) }, 403},
	} {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			told, statuses := told()
			r := gin.New()
			r.Handle(method, "/", ginmw.New(limiter(core.PerMinute(9)), told), tc.handle)
			wantStatus(t, serve(r, httptest.NewRequest(method, "/", nil)), tc.want)
			wantTold(t, method+", "+tc.phrase, statuses, tc.want)
		}
	}
}

// Gin's errors are a list in the context: what is made of them in front of a
// limiter comes when that has settled.
func TestRefundIfIsToldOfErrorsOnlyWhereTheirHandlerIsBehindTheLimiter(t *testing.T) {
	wrong := func(c *gin.Context) { _ = c.Error(&failure{http.StatusUnauthorized, "wrong password"}) }
	for _, tc := range []struct {
		phrase string
		order  func(limit gin.HandlerFunc) []gin.HandlerFunc
		want   int
	}{
		{"behind", func(limit gin.HandlerFunc) []gin.HandlerFunc { return []gin.HandlerFunc{limit, problems} }, 401},
		{"in front", func(limit gin.HandlerFunc) []gin.HandlerFunc { return []gin.HandlerFunc{problems, limit} }, 200},
	} {
		told, statuses := told()
		wantStatus(t, get(app(wrong, tc.order(ginmw.New(limiter(core.PerMinute(9)), told))...), "/"), 401)
		wantTold(t, "errors handled "+tc.phrase, statuses, tc.want)
	}
}

func TestManyWrongPasswordsAtOnceReachTheHandlerAsOftenAsTheLimitSays(t *testing.T) {
	const quota, attempts = 5, 60
	var guesses atomic.Int64
	login := func(c *gin.Context) {
		if c.Query("password") == "right" {
			c.Status(http.StatusOK)
			return
		}
		guesses.Add(1)
		_ = c.Error(&failure{http.StatusUnauthorized, "wrong password"})
	}
	l := limiter(core.PerMinute(quota))
	h := app(login, ginmw.New(l, ginmw.RefundIf(func(status int) bool { return status < 400 })), problems)
	for range 20 {
		wantStatus(t, get(h, "/?password=right"), 200)
	}
	wantRemaining(t, l, quota)
	counts := atOnce(attempts, func() int { return get(h, "/?password=wrong").Code })
	if counts[401] != quota || counts[429] != attempts-quota || guesses.Load() != quota {
		t.Errorf("statuses %v and %d guesses looked at, want %d", counts, guesses.Load(), quota)
	}
	wantStatus(t, get(h, "/?password=right"), 429)
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
	handle := func(c *gin.Context) { c.Status(http.StatusOK) }
	h := app(handle,
		ginmw.New(all, ginmw.RefundIf(func(int) bool { return false })),
		ginmw.New(failures, ginmw.RefundIf(func(status int) bool { return status < 400 })))
	wantStatus(t, get(h, "/"), 200)
	wantRemaining(t, all, 8)
	wantRemaining(t, failures, 9)
}
