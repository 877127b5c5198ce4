package conformance

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/keyfuncs"
)

// A stage is what a scenario plays on: a clock, a served setup and its clients.
type stage struct {
	tb    testing.TB
	clock clock
	addr  string
	hits  atomic.Int64 // runs of the handler
	mixed bool         // other middleware sets fields of ours

	mu      sync.Mutex
	clients map[string]*http.Client // by the peer that they seem to be
}

func newStage(tb testing.TB) *stage {
	return &stage{tb: tb, clients: map[string]*http.Client{}}
}

// quiet keeps to itself what the doctor finds of set-ups that are odd on purpose.
func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// limiter makes a limiter that reads the stage's clock, and is quiet unless the
// scenario is about the doctor.
func (s *stage) limiter(c core.Config) *core.Limiter {
	s.tb.Helper()
	if c.Doctor.Logger == nil {
		c.Doctor.Logger = quiet()
	}
	if c.Store == nil {
		c.Now = s.clock.now
	}
	l, err := core.New(c)
	if err != nil {
		s.tb.Fatal(err)
	}
	return l
}

// limited makes a limiter of limits by client.
func (s *stage) limited(limits ...core.Limit) *core.Limiter {
	s.tb.Helper()
	return s.limiter(core.Config{Rules: []core.Rule{byClient(limits...)}})
}

// byClient counts by the header field X-Client, at the cost in X-Cost.
func byClient(limits ...core.Limit) core.Rule {
	rule := core.By(keyfuncs.Header("X-Client"), limits...)
	rule.Cost = costOf
	return rule
}

func costOf(r core.Request) (int64, error) {
	values := r.HeaderValues("X-Cost")
	if len(values) == 0 {
		return 1, nil
	}
	return strconv.ParseInt(values[0], 10, 64)
}

// serve serves a setup until the test ends. A setup without a handler gets one
// that says ok.
func (s *stage) serve(a Adapter, setup Setup) {
	s.tb.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.tb.Fatal(err)
	}
	s.addr = ln.Addr().String()
	s.mixed = len(setup.Preset) > 0
	handle := setup.Handle
	setup.Handle = func(c Call) Reply {
		s.hits.Add(1)
		if handle == nil {
			return plain(http.StatusOK, "ok\n")
		}
		return handle(c)
	}
	a.Serve(s.tb, listener{ln}, setup)
	s.tb.Cleanup(s.hangUp) // before the server stops, which may wait for it
}

func (s *stage) hangUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.clients {
		c.CloseIdleConnections()
	}
}

// plain returns a reply of text.
func plain(status int, body string) Reply {
	return Reply{Status: status, Header: [][2]string{{"Content-Type", "text/plain; charset=utf-8"}}, Body: body}
}

// A request is what a client sends: unless it says otherwise, a GET of
// /api/hello with X-Client: a.
type request struct {
	method, path string
	client, cost string // X-Client, where - means none, and X-Cost
	peer         string // the address that it seems to come from
	header       [][2]string
}

// String names what a failure needs to tell.
func (q request) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s of client %s", orElse(q.method, "GET"), orElse(q.path, "/api/hello"), orElse(q.client, "a"))
	if q.cost != "" {
		fmt.Fprint(&b, " at cost ", q.cost)
	}
	if q.peer != "" {
		fmt.Fprint(&b, " from ", q.peer)
	}
	for _, field := range q.header {
		fmt.Fprintf(&b, " with %s: %q", field[0], field[1])
	}
	return b.String()
}

func (q request) native(tb testing.TB, addr string) *http.Request {
	tb.Helper()
	path := orElse(q.path, "/api/hello")
	r, err := http.NewRequestWithContext(context.Background(), orElse(q.method, "GET"), "http://"+addr+path, nil)
	if err != nil {
		tb.Fatal(err)
	}
	r.Host = "slidegate.test"
	if client := orElse(q.client, "a"); client != "-" {
		r.Header.Set("X-Client", client)
	}
	if q.cost != "" {
		r.Header.Set("X-Cost", q.cost)
	}
	for _, field := range q.header {
		r.Header.Add(field[0], field[1])
	}
	return r
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

// do sends a request, checks the promises that hold for all responses, and
// that the handler ran if and only if the status is not a limiter's.
func (s *stage) do(q request) response {
	s.tb.Helper()
	before := s.hits.Load()
	r := s.send(q)
	ran := s.hits.Load() - before
	want := int64(1)
	if r.header.Get("Content-Type") == core.ContentTypeProblem {
		want = 0
	}
	if ran != want {
		s.tb.Errorf("%v: the handler ran %d times for an answer of status %d", q, ran, r.status)
	}
	return r
}

// send is do for requests that overlap.
func (s *stage) send(q request) response {
	s.tb.Helper()
	native, err := s.as(q.peer).Do(q.native(s.tb, s.addr))
	if err != nil {
		s.tb.Errorf("%v: %v", q, err)
		return response{header: http.Header{}}
	}
	defer func() { _ = native.Body.Close() }()
	body, err := io.ReadAll(native.Body)
	if err != nil {
		s.tb.Errorf("%v: %v", q, err)
	}
	r := response{native.StatusCode, native.Header, string(body)}
	if !s.mixed {
		for _, broken := range r.brokenPromises() {
			s.tb.Errorf("%v: %s", q, broken)
		}
	}
	return r
}

// as returns the client that seems to be a peer. It keeps connections alive.
func (s *stage) as(peer string) *http.Client {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.clients[peer]
	if c == nil {
		c = &http.Client{
			Timeout:       patienceOf(s.tb),
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			Transport: &http.Transport{
				DialContext:         func(context.Context, string, string) (net.Conn, error) { return dial(s.addr, peer) },
				DisableCompression:  true,
				MaxIdleConnsPerHost: 64,
			},
		}
		s.clients[peer] = c
	}
	return c
}

// raw sends bytes on a connection of its own and returns what comes back.
func (s *stage) raw(text string) *bufio.Reader {
	s.tb.Helper()
	conn, err := dial(s.addr, "")
	if err != nil {
		s.tb.Fatal(err)
	}
	s.tb.Cleanup(func() { _ = conn.Close() })
	if _, err := io.WriteString(conn, text); err != nil {
		s.tb.Fatal(err)
	}
	return bufio.NewReader(conn)
}
