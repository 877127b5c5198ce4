package interop_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/go-github/v88/github"
	"github.com/hashicorp/go-retryablehttp"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/keyfuncs"
)

// busyWindow makes Retry-After 2 seconds, which is longer than any of the
// clients waits before its second try where it is told nothing, and a tenth more
// than need be, since timers of whole milliseconds may fire early.
const busyWindow = 1900 * time.Millisecond

// A client gets all URLs at once and returns its answers in their order.
type client struct {
	name string
	get  func(t *testing.T, urls []string) []answer
}

// An answer is what a client hands its caller in the end.
type answer struct {
	Status int    `json:"status"`
	Body   string `json:"body"`
	Error  string `json:"error"`
}

func clients() []client {
	return []client{
		{"ky", script("ky.mjs")},
		{"got", script("got.mjs")},
		{"axios-retry", script("axios-retry.mjs")},
		{"undici RetryAgent", script("undici-agent.mjs")},
		{"undici retry interceptor", script("undici-interceptor.mjs")},
		{"Octokit throttling", script("octokit.mjs")},
		{"go-retryablehttp", inGo(getRetryable)},
		{"go-github", inGo(getGitHub)},
		{"curl", curl},
	}
}

// Each client is denied once, by every adapter, and admitted when it asks again.
// They wait in real time, all at once.
func TestClientsWaitAsTheyAreTold(t *testing.T) {
	var all sync.WaitGroup
	for _, c := range clients() {
		all.Go(func() {
			t.Run(c.name, func(t *testing.T) { waits(t, c) })
		})
	}
	all.Wait()
}

func waits(t *testing.T, c client) {
	var urls []string
	var sites []*busySite
	for _, a := range adapters() {
		s := &busySite{}
		urls, sites = append(urls, s.open(t, a)), append(sites, s)
	}
	answers := c.get(t, urls)
	if len(answers) != len(sites) {
		t.Fatalf("%d answers of %d servers: %v", len(answers), len(sites), answers)
	}
	for i, a := range adapters() {
		if want := (answer{Status: http.StatusOK, Body: hello}); answers[i] != want {
			t.Errorf("%s: the client reports %+v, want %+v", a.name, answers[i], want)
		}
		waited, err := sites[i].visitedTwice()
		if err != nil {
			t.Errorf("%s: %v", a.name, err)
			continue
		}
		t.Logf("%s: asked again after %v", a.name, waited.Round(time.Millisecond))
	}
}

// A busySite admits one request a window. That of somebody else with the same
// address comes in just before the first.
type busySite struct {
	other *core.Limiter

	mu     sync.Mutex
	taken  time.Time // not after the other request was charged
	visits []visit
}

// A visit is a request of the client.
type visit struct {
	arrived    time.Time
	allowed    bool
	retryAfter time.Duration // as the header says it, in whole seconds
}

func (v visit) String() string {
	at := v.arrived.Format(time.StampMilli)
	if v.allowed {
		return "admitted at " + at
	}
	return fmt.Sprintf("denied for %v at %s", v.retryAfter, at)
}

func (s *busySite) open(t *testing.T, a adapter) string {
	store := &core.Memory{}
	rules := []core.Rule{core.By(keyfuncs.IP, core.Per(1, busyWindow).Exact())}
	s.other = core.MustNew(core.Config{Rules: rules, Store: store})
	limiter := core.MustNew(core.Config{Rules: rules, Store: store, LegacyHeaders: true, Observer: s.decided})
	return a.open(t, site{limiters: []*core.Limiter{limiter}, arrived: s.arrived})
}

func (s *busySite) arrived() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.visits = append(s.visits, visit{arrived: time.Now()})
	if len(s.visits) == 1 {
		s.taken = time.Now()
		_, _ = s.other.Allow(context.Background(), "127.0.0.1")
	}
}

func (s *busySite) decided(_ context.Context, e core.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := &s.visits[len(s.visits)-1]
	v.allowed = e.Decision.Allowed
	v.retryAfter = (e.Decision.RetryAfter + time.Second - 1).Truncate(time.Second)
}

// visitedTwice reports how the visits differ from one that was denied and
// another that waited as it was told and was admitted. It returns the time
// between the first two.
func (s *busySite) visitedTwice() (time.Duration, error) {
	const early = 10 * time.Millisecond // of a timer that counts whole milliseconds
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.visits) != 2 {
		return 0, fmt.Errorf("%d requests, want 2: %v", len(s.visits), s.visits)
	}
	first, second := s.visits[0], s.visits[1]
	waited := second.arrived.Sub(first.arrived)
	switch {
	case first.allowed:
		return waited, errors.New("the first request was admitted")
	case !second.allowed:
		return waited, fmt.Errorf("the second request was denied, %v after the first", waited)
	case second.arrived.Before(s.taken.Add(busyWindow)):
		return waited, fmt.Errorf("the second request was admitted %v after the first, within the window", waited)
	case waited < first.retryAfter-early:
		return waited, fmt.Errorf("the second request came after %v, told was %v", waited, first.retryAfter)
	}
	return waited, nil
}

func script(name string) func(*testing.T, []string) []answer {
	return func(t *testing.T, urls []string) []answer {
		var answers []answer
		runScript(t, &answers, name, urls...)
		return answers
	}
}

// inGo makes a client for many URLs of a function for one.
func inGo(get func(ctx context.Context, url string) (answer, error)) func(*testing.T, []string) []answer {
	return func(t *testing.T, urls []string) []answer {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		answers := make([]answer, len(urls))
		var all sync.WaitGroup
		for i, url := range urls {
			all.Go(func() {
				var err error
				if answers[i], err = get(ctx, url); err != nil {
					answers[i].Error = err.Error()
				}
			})
		}
		all.Wait()
		return answers
	}
}

func getRetryable(ctx context.Context, url string) (answer, error) {
	c := retryablehttp.NewClient()
	defer c.HTTPClient.CloseIdleConnections()
	c.Logger = nil
	req, err := retryablehttp.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return answer{}, err
	}
	resp, err := c.Do(req)
	if err != nil {
		return answer{}, err
	}
	return read(resp)
}

// getGitHub asks as GitHub's documentation of its limits says: a context value
// makes the client sleep until X-RateLimit-Reset, and a second more.
func getGitHub(ctx context.Context, url string) (answer, error) {
	ctx = context.WithValue(ctx, github.SleepUntilPrimaryRateLimitResetWhenRateLimited, true)
	c, err := newGitHub()
	if err != nil {
		return answer{}, err
	}
	defer c.Client().CloseIdleConnections()
	resp, err := askGitHub(ctx, c, url)
	if err != nil {
		return answer{}, err
	}
	return read(resp.Response)
}

func read(resp *http.Response) (answer, error) {
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return answer{Status: resp.StatusCode, Body: string(body)}, err
}

// curl needs --fail, without which it prints the denial's body as well.
func curl(t *testing.T, urls []string) []answer {
	need(t, "curl")
	return inGo(func(ctx context.Context, url string) (answer, error) {
		out, err := output(ctx, "curl", "--silent", "--show-error", "--fail", "--retry", "1", "--write-out", " %{http_code}", url)
		if err != nil {
			return answer{}, err
		}
		var a answer
		_, err = fmt.Sscanf(string(out), "%s %d", &a.Body, &a.Status)
		return a, err
	})(t, urls)
}
