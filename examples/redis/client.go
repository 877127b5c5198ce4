package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"text/tabwriter"
)

// A result is what became of the requests to one server.
type result struct {
	url                      string
	admitted, denied, failed atomic.Int64
}

// callers is how many requests are under way to each server at a time.
const callers = 8

// hammer makes requests to all servers at once, an equal part to each.
func hammer(ctx context.Context, urls []string, requests int) ([]*result, error) {
	var results []*result
	var group sync.WaitGroup
	for _, url := range urls {
		r := &result{url: url}
		results = append(results, r)
		var begun atomic.Int64
		for range callers {
			group.Go(func() {
				for begun.Add(1) <= int64(requests/len(urls)) {
					r.ask(ctx)
				}
			})
		}
	}
	group.Wait()
	return results, ctx.Err()
}

// ask makes one request.
func (r *result) ask(ctx context.Context) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.url, nil)
	if err != nil {
		r.failed.Add(1)
		return
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		r.failed.Add(1)
		return
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, response.Body) // so that the connection is used again
	switch response.StatusCode {
	case http.StatusOK:
		r.admitted.Add(1)
	case http.StatusTooManyRequests:
		r.denied.Add(1)
	default:
		r.failed.Add(1)
	}
}

// printTable prints the results and their sum.
func printTable(out io.Writer, results []*result) {
	var admitted, denied, failed int64
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "server\tadmitted (200)\tdenied (429)\tfailed\t")
	for _, r := range results {
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t\n", r.url, r.admitted.Load(), r.denied.Load(), r.failed.Load())
		admitted, denied, failed = admitted+r.admitted.Load(), denied+r.denied.Load(), failed+r.failed.Load()
	}
	fmt.Fprintf(table, "together\t%d\t%d\t%d\t\n", admitted, denied, failed)
	_ = table.Flush()
	fmt.Fprintf(out, "\nThe quota is one: of %d requests an hour, %d were admitted by both servers together.\n", quota, admitted)
}
