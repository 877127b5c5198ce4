package main

import (
	"context"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestDemonstrationShowsWhatIsAdmittedAndDenied(t *testing.T) {
	var now atomic.Int64
	now.Store(time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC).UnixNano())
	server := httptest.NewServer(newHandler(func() time.Time { return time.Unix(0, now.Load()) }))
	defer server.Close()

	var out strings.Builder
	d := demo{out: &out, url: server.URL, sleep: func(_ context.Context, d time.Duration) error {
		now.Add(int64(d))
		return nil
	}}
	if err := d.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := out.String()
	for _, want := range []string{
		`  1  200     ok    -            "2s";r=4;t=2, "minute";r=29;t=60`,
		`  5  200     ok    -            "2s";r=0;t=3, "minute";r=25;t=60`,
		`  6  429     deny  3            "2s";r=0;t=3`,
		`  8  429     deny  3            "2s";r=0;t=3`,
		`waits for the 3s`,
		`  9  200     ok    -            "2s";r=1;t=1`,
		`fixed       admits 200`,
		`exact       admits 100`,
		`strict(60)  admits 100`,
		`smooth(1)   admits 101`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the demonstration does not show %q:\n%s", want, got)
		}
	}
}
