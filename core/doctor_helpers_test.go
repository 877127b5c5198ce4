package core_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/slidegate/slidegate/core"
)

// A visitor is a request with everything that tells clients apart.
type visitor struct {
	stubRequest
	peer    string
	headers map[string][]string
	user    any
	timeout time.Duration // of the server
}

// from returns a request of a peer with header lines such as "Name: value".
func from(peer string, lines ...string) *visitor {
	v := &visitor{stubRequest: get(), peer: peer, headers: map[string][]string{}}
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ": ")
		v.headers[name] = append(v.headers[name], value)
	}
	return v
}

func (v *visitor) Peer() string                      { return v.peer }
func (v *visitor) HeaderValues(name string) []string { return v.headers[name] }
func (v *visitor) Value(any) any                     { return v.user }
func (v *visitor) ServerTimeout() time.Duration      { return v.timeout }

// A chart collects the records of a doctor.
type chart struct {
	mu      sync.Mutex
	records []map[string]string
}

// doctor returns a doctor that writes to the chart.
func (c *chart) doctor() core.Doctor { return core.Doctor{Logger: slog.New(c)} }

func (c *chart) Enabled(context.Context, slog.Level) bool { return true }
func (c *chart) WithAttrs([]slog.Attr) slog.Handler       { return c }
func (c *chart) WithGroup(string) slog.Handler            { return c }

func (c *chart) Handle(_ context.Context, r slog.Record) error {
	record := map[string]string{"message": r.Message, "level": r.Level.String()}
	r.Attrs(func(a slog.Attr) bool {
		record[a.Key] = a.Value.String()
		return true
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.records = append(c.records, record)
	return nil
}

// codes returns the findings in their order, with spaces between.
func (c *chart) codes() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var codes []string
	for _, r := range c.records {
		codes = append(codes, r["code"])
	}
	return strings.Join(codes, " ")
}
