package interop_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-github/v88/github"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/keyfuncs"
	"github.com/slidegate/slidegate/nethttp"
)

// newGitHub returns a client whose connections are its own.
func newGitHub() (*github.Client, error) {
	return github.NewClient(github.WithTransport(&http.Transport{}))
}

func gitHub(t *testing.T) *github.Client {
	c, err := newGitHub()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Client().CloseIdleConnections)
	return c
}

// askGitHub asks with a client of GitHub's API. The caller reads the body.
func askGitHub(ctx context.Context, c *github.Client, url string) (*github.Response, error) {
	req, err := c.NewRequest(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	return c.BareDo(req)
}

// The legacy fields are GitHub's own: its client reads them from every response,
// takes a denial for one of GitHub's, and does not ask again before the reset.
func TestGoGitHubReadsTheLegacyFields(t *testing.T) {
	for _, a := range adapters() {
		t.Run(a.name, func(t *testing.T) { readsLegacyFields(t, a) })
	}
}

func readsLegacyFields(t *testing.T, a adapter) {
	now := time.Now()
	limiter := core.MustNew(core.Config{
		Rules:         []core.Rule{core.By(keyfuncs.IP, core.PerHour(2).Exact())},
		LegacyHeaders: true,
		Now:           func() time.Time { return now },
	})
	var requests atomic.Int32
	url := a.open(t, site{limiters: []*core.Limiter{limiter}, arrived: func() { requests.Add(1) }})
	c := gitHub(t)
	unchecked := context.WithValue(t.Context(), github.BypassRateLimitCheck, true)
	reset := time.Unix(now.Add(time.Hour+time.Second-1).Unix(), 0)

	for _, step := range []struct {
		what      string
		ctx       context.Context
		remaining int
		limited   bool
		requests  int32 // that the server saw by then
	}{
		{"the first request", t.Context(), 1, false, 1},
		{"the last that is left", t.Context(), 0, false, 2},
		{"one too many, which the client would not send by itself", unchecked, 0, true, 3},
		{"another, which it does not send", t.Context(), 0, true, 3},
	} {
		rate, err := rateOf(step.ctx, c, url)
		want := github.Rate{Limit: 2, Remaining: step.remaining, Reset: github.Timestamp{Time: reset}}
		if rate != want {
			t.Errorf("%s: the client reads %v, want %v", step.what, rate, want)
		}
		if limited := errors.As(err, new(*github.RateLimitError)); limited != step.limited {
			t.Errorf("%s: error %v, want a *github.RateLimitError: %t", step.what, err, step.limited)
		}
		if got := requests.Load(); got != step.requests {
			t.Errorf("%s: the server saw %d requests, want %d", step.what, got, step.requests)
		}
	}
}

// rateOf asks and returns what the client reads of the limit.
func rateOf(ctx context.Context, c *github.Client, url string) (github.Rate, error) {
	resp, err := askGitHub(ctx, c, url)
	if resp == nil {
		return github.Rate{}, err
	}
	defer resp.Body.Close()
	return resp.Rate, err
}

// Where OnDenied speaks of a secondary limit in GitHub's words, its client reads
// Retry-After, which is set by then, and does not ask again for so long.
func TestGoGitHubReadsRetryAfterOfASecondaryLimit(t *testing.T) {
	now := time.Now()
	limiter := core.MustNew(core.Config{
		Rules: []core.Rule{core.By(keyfuncs.IP, core.PerMinute(1).Exact())},
		Now:   func() time.Time { return now },
	})
	var requests atomic.Int32
	url := secondary.open(t, site{limiters: []*core.Limiter{limiter}, arrived: func() { requests.Add(1) }})
	c := gitHub(t)
	if _, err := rateOf(t.Context(), c, url); err != nil {
		t.Fatal(err)
	}
	_, denied := rateOf(t.Context(), c, url)
	if wait := secondaryWait(denied); wait != time.Minute {
		t.Errorf("the client reads a wait of %v from the denial (%v), want a minute", wait, denied)
	}
	_, held := rateOf(t.Context(), c, url)
	if wait := secondaryWait(held); wait <= 0 || wait > time.Minute || requests.Load() != 2 {
		t.Errorf("the client asks again: error %v, %d requests, want 2", held, requests.Load())
	}
}

// secondary is the adapter for net/http, with denials worded as GitHub words
// those of its secondary limits.
var secondary = adapter{"nethttp", func(tb testing.TB, ln net.Listener, s site) {
	const body = `{"message": "You have exceeded a secondary rate limit.", "documentation_url": "/docs#secondary-rate-limits"}`
	worded := nethttp.OnDenied(func(w http.ResponseWriter, _ *http.Request, _ core.Decision) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = io.WriteString(w, body)
	})
	serveHTTP(tb, ln, s, nethttp.New(s.limiters[0], worded)(greeting()))
}}

// secondaryWait returns the wait of GitHub's secondary limits, or 0 if the error
// is another.
func secondaryWait(err error) time.Duration {
	var limited *github.AbuseRateLimitError
	if !errors.As(err, &limited) {
		return 0
	}
	return limited.GetRetryAfter()
}
