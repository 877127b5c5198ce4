package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/slidegate/slidegate/core"
)

// A demo plays a client.
type demo struct {
	out   io.Writer
	url   string
	sleep func(context.Context, time.Duration) error
}

const row = "%3s  %-6s  %-4s  %-11s  %s\n"

func (d demo) run(ctx context.Context) error {
	fmt.Fprint(d.out, "Eight requests at once, under limits of 5 in 2 seconds and 30 a minute:\n\n")
	fmt.Fprintf(d.out, row, "#", "status", "", "Retry-After", "RateLimit")
	var wait time.Duration
	for i := range 8 {
		retry, err := d.request(ctx, i+1)
		if err != nil {
			return err
		}
		wait = max(wait, retry)
	}
	fmt.Fprintf(d.out, "\nThe client waits for the %v that it was told, and asks again:\n\n", wait)
	if err := d.sleep(ctx, wait); err != nil {
		return err
	}
	if _, err := d.request(ctx, 9); err != nil {
		return err
	}
	fmt.Fprint(d.out, "\nWhy a sliding window: 100 requests in the last half second of a minute and\n"+
		"100 in the first second of the next, under a limit of 100 a minute:\n\n")
	for _, limit := range []core.Limit{
		core.PerMinute(100).Fixed(), core.PerMinute(100).Exact(), core.PerMinute(100).Strict(60), core.PerMinute(100),
	} {
		admitted, err := boundaryBurst(ctx, limit)
		if err != nil {
			return err
		}
		name := limit.Algorithm().String()
		if limit.Slots() > 0 && limit.Algorithm() != core.Fixed {
			name += "(" + strconv.Itoa(limit.Slots()) + ")"
		}
		fmt.Fprintf(d.out, "  %-11s admits %d\n", name, admitted)
	}
	return nil
}

// request sends one request, prints what came of it, and returns the wait that
// the response asks for.
func (d demo) request(ctx context.Context, number int) (time.Duration, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, d.url, nil)
	if err != nil {
		return 0, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return 0, err
	}
	word := "ok"
	if response.StatusCode == core.StatusDenied {
		word = "deny"
	}
	retry := response.Header.Get("Retry-After")
	fmt.Fprintf(d.out, row, strconv.Itoa(number), strconv.Itoa(response.StatusCode), word,
		cmp.Or(retry, "-"), response.Header.Get("RateLimit"))
	seconds, err := strconv.Atoi(cmp.Or(retry, "0"))
	return time.Duration(seconds) * time.Second, err
}

// boundaryBurst counts what a limit admits of a burst that is timed for the
// boundary of two minutes, on a clock of its own.
func boundaryBurst(ctx context.Context, limit core.Limit) (admitted int, err error) {
	var now time.Time
	limiter, err := core.New(core.Config{
		Rules: []core.Rule{{Key: nobody, Limits: []core.Limit{limit}}},
		Now:   func() time.Time { return now },
	})
	if err != nil {
		return 0, err
	}
	minute := time.Date(2026, time.January, 1, 12, 0, 0, 0, time.UTC)
	for i := range 200 {
		now = minute.Add(-time.Second + time.Duration(i)*5*time.Millisecond)
		if i >= 100 {
			now = minute.Add(time.Duration(i-100)*10*time.Millisecond + 5*time.Millisecond)
		}
		decision, err := limiter.Allow(ctx, "client")
		if err != nil {
			return 0, err
		}
		if decision.Allowed {
			admitted++
		}
	}
	return admitted, nil
}

// nobody stands where keys are handed over by Allow.
func nobody(core.Request) (string, error) { return "", core.ErrNoKey }
