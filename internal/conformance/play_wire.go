package conformance

import (
	"bufio"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/slidegate/slidegate/core"
)

func wirePlays() []scenario {
	return []scenario{
		{"RL-089 the first event arrives before the handler ends", streams},
		{"RL-089 the first event arrives before the handler ends, with RefundIf", streamsWithRefund},
		{"RL-091 a HEAD that is denied has no body on the wire", headHasNoBody},
		{"the header block holds known fields only, each on one line", knownFields},
	}
}

func streams(tb testing.TB, a Adapter) { stream(tb, a, nil) }

func streamsWithRefund(tb testing.TB, a Adapter) {
	stream(tb, a, func(int) bool { return false })
}

func stream(tb testing.TB, a Adapter, refundIf func(int) bool) {
	s := newStage(tb)
	leave := make(chan struct{})
	sent := make(chan error, 2)
	s.serve(a, Setup{Group: []*core.Limiter{s.limited(core.PerMinute(5))}, RefundIf: refundIf, Handle: func(Call) Reply {
		return Reply{Header: [][2]string{{"Content-Type", "text/event-stream"}}, Stream: func(send func(string) error) {
			err := send("data: first\n\n")
			sent <- err
			if err == nil {
				<-leave
				sent <- send("data: second\n\n")
			}
		}}
	}})
	r, err := s.as("").Do(request{}.native(tb, s.addr))
	if err != nil {
		close(leave)
		tb.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }()
	if err := <-sent; err != nil {
		close(leave)
		tb.Fatalf("the handler cannot send at once: %v", err)
	}
	body := bufio.NewReader(r.Body)
	if line, err := body.ReadString('\n'); line != "data: first\n" {
		tb.Errorf("the first line is %q, %v", line, err)
	}
	if got := r.Header.Get(fieldLimit); got == "" {
		tb.Error("the stream has no budget in its header")
	}
	close(leave)
	rest, err := io.ReadAll(body)
	if err != nil || string(rest) != "\ndata: second\n\n" {
		tb.Errorf("the rest of the stream is %q, %v", rest, err)
	}
}

func headHasNoBody(tb testing.TB, a Adapter) {
	s := newStage(tb)
	s.serve(a, Setup{Group: []*core.Limiter{s.limited(core.PerMinute(0))}})
	const head = "HEAD /api/hello HTTP/1.1\r\nHost: slidegate.test\r\nX-Client: a\r\n"
	in := s.raw(head + "\r\n" + head + "Connection: close\r\n\r\n")
	for range 2 { // a body of the first would be read as the second
		block := readBlock(tb, in)
		if !strings.HasPrefix(block[0], "HTTP/1.1 429 ") {
			tb.Errorf("the answer begins with %q", block[0])
		}
	}
	if rest, _ := io.ReadAll(in); len(rest) > 0 {
		tb.Errorf("%q follows the header block", rest)
	}
}

// readBlock reads a status line and the header fields after it.
func readBlock(tb testing.TB, in *bufio.Reader) []string {
	tb.Helper()
	var block []string
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			tb.Fatalf("%v after %q", err, block)
		}
		line = strings.TrimSuffix(line, "\r\n")
		if line == "" {
			return block
		}
		block = append(block, line)
	}
}

func knownFields(tb testing.TB, a Adapter) {
	s := newStage(tb)
	l := s.limited(core.PerMinute(1))
	s.serve(a, Setup{App: []*core.Limiter{l, s.limited(core.PerMinute(5))}, Group: []*core.Limiter{l}})
	const get = "GET /api/hello HTTP/1.1\r\nHost: slidegate.test\r\nX-Client: a\r\nConnection: close\r\n\r\n"
	for _, want := range []string{
		"Connection Content-Length Content-Type Date Ratelimit Ratelimit-Policy",
		"Cache-Control Connection Content-Length Content-Type Date Ratelimit Ratelimit-Policy Retry-After",
	} {
		var names []string
		for _, line := range readBlock(tb, s.raw(get))[1:] {
			name, _, _ := strings.Cut(line, ":")
			names = append(names, http.CanonicalHeaderKey(name))
		}
		slices.Sort(names)
		if got := strings.Join(names, " "); got != want {
			tb.Errorf("the fields are %q, want %q", got, want)
		}
	}
}
