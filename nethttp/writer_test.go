package nethttp_test

import (
	"bufio"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/nethttp"
)

// abilities tells what a handler can do with its writer.
func abilities(w http.ResponseWriter, _ *http.Request) {
	_, flusher := w.(http.Flusher)
	_, hijacker := w.(http.Hijacker)
	_, readerFrom := w.(io.ReaderFrom)
	_, pusher := w.(http.Pusher)
	control := http.NewResponseController(w)
	later := time.Now().Add(time.Hour)
	text := fmt.Sprintln("Flusher", flusher, "Hijacker", hijacker, "ReaderFrom", readerFrom, "Pusher", pusher,
		"SetReadDeadline", control.SetReadDeadline(later), "SetWriteDeadline", control.SetWriteDeadline(later),
		"EnableFullDuplex", control.EnableFullDuplex(), "Flush", control.Flush())
	if p, ok := w.(http.Pusher); ok {
		text += fmt.Sprintln("Push", p.Push("/style.css", nil))
	}
	_, _ = io.Copy(w, strings.NewReader(text))
}

// start serves a handler over HTTP/1.1 or, with TLS, HTTP/2.
func start(t *testing.T, http2 bool, h http.Handler) *httptest.Server {
	t.Helper()
	server := httptest.NewUnstartedServer(h)
	server.EnableHTTP2 = http2
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // some handlers misbehave on purpose
	if http2 {
		server.StartTLS()
	} else {
		server.Start()
	}
	t.Cleanup(server.Close)
	return server
}

func fetch(t *testing.T, server *httptest.Server) (*http.Response, string) {
	t.Helper()
	res, err := server.Client().Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(body)
}

func TestTheWriterCanDoWhatItCouldWithoutALimiter(t *testing.T) {
	for _, c := range []struct {
		name  string
		http2 bool
		has   []string
	}{
		{"RL-089 over HTTP/1.1", false, []string{"Flusher true", "Hijacker true", "ReaderFrom true", "Flush <nil>"}},
		{"RL-089 over HTTP/2", true, []string{"Flusher true", "Pusher true", "SetWriteDeadline <nil>", "Flush <nil>"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, want := fetch(t, start(t, c.http2, http.HandlerFunc(abilities)))
			for _, ability := range c.has {
				if !strings.Contains(want, ability) {
					t.Fatalf("without a limiter: %q, want %q in it", want, ability)
				}
			}
			for name, mount := range variants {
				res, got := fetch(t, start(t, c.http2, mount(http.HandlerFunc(abilities))))
				if got != want {
					t.Errorf("%s:\n got %q\nwant %q", name, got, want)
				}
				if (res.ProtoMajor == 2) != c.http2 {
					t.Errorf("%s: the protocol is %s", name, res.Proto)
				}
				wantNoMark(t, res.Header)
			}
		})
	}
}

// wantNoMark checks that nothing is sent but what the test knows.
func wantNoMark(t *testing.T, h http.Header) {
	t.Helper()
	for name := range h {
		switch name {
		case "Date", "Content-Type", "Content-Length", "Ratelimit", "Ratelimit-Policy":
		default:
			t.Errorf("the field %q is sent", name)
		}
	}
}

func TestAStreamArrivesWhileTheHandlerRuns(t *testing.T) {
	for _, c := range []struct {
		name  string
		http2 bool
	}{{"RL-089 over HTTP/1.1", false}, {"RL-089 over HTTP/2", true}} {
		for name, mount := range variants {
			t.Run(c.name+", "+name, func(t *testing.T) {
				leave := make(chan struct{})
				letGo := sync.OnceFunc(func() { close(leave) })
				server := start(t, c.http2, mount(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", "text/event-stream")
					_, _ = io.WriteString(w, "data: 1\n\n")
					w.(http.Flusher).Flush()
					<-leave
				})))
				t.Cleanup(letGo)
				res, err := server.Client().Get(server.URL)
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = res.Body.Close() }()
				if line, err := bufio.NewReader(res.Body).ReadString('\n'); line != "data: 1\n" {
					t.Errorf("the first line is %q, %v", line, err)
				}
				letGo()
			})
		}
	}
}

func TestAnUpgradeTakesTheConnectionOver(t *testing.T) {
	for name, mount := range variants {
		t.Run("RL-089 "+name, func(t *testing.T) {
			server := start(t, false, mount(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				conn, both, err := w.(http.Hijacker).Hijack()
				if err != nil {
					t.Error(err)
					return
				}
				defer func() { _ = conn.Close() }()
				_, _ = both.WriteString("HTTP/1.1 101 Switching Protocols\r\n\r\n")
				_ = both.Flush()
				line, _ := both.ReadString('\n')
				_, _ = io.WriteString(conn, "you said "+line)
			})))
			conn, err := net.Dial("tcp", server.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close() }()
			_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: h\r\n\r\nhello\n")
			got, err := io.ReadAll(conn)
			if want := "HTTP/1.1 101 Switching Protocols\r\n\r\nyou said hello\n"; string(got) != want || err != nil {
				t.Errorf("got %q, %v; want %q", got, err, want)
			}
		})
	}
}

func TestRefundIfIsToldOfWritesThatBringTheirOwnStatus(t *testing.T) {
	for _, c := range []struct {
		phrase string
		handle http.HandlerFunc
		want   int
	}{
		{"nothing at all", func(http.ResponseWriter, *http.Request) {}, 200},
		{"a body", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") }, 200},
		{"a body and then a status", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte("ok"))
			w.WriteHeader(500)
		}, 200},
		{"a flush and then a status", func(w http.ResponseWriter, _ *http.Request) {
			w.(http.Flusher).Flush()
			w.WriteHeader(500)
		}, 200},
		{"a reader and then a status", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.(io.ReaderFrom).ReadFrom(strings.NewReader("ok"))
			w.WriteHeader(500)
		}, 200},
		{"early hints and then a status", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(103)
			w.WriteHeader(404)
		}, 404},
		{"a hijacked connection", func(w http.ResponseWriter, _ *http.Request) {
			conn, _, _ := w.(http.Hijacker).Hijack()
			_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\n\r\n")
			_ = conn.Close()
		}, 101},
		{"a panic after a status", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(201)
			panic(http.ErrAbortHandler)
		}, 201},
	} {
		told := make(chan int, 1)
		refund := nethttp.RefundIf(func(status int) bool {
			told <- status
			return false
		})
		server := start(t, false, nethttp.New(limiter(core.PerMinute(9)), refund)(c.handle))
		if res, err := server.Client().Post(server.URL, "", nil); err == nil {
			_ = res.Body.Close()
		}
		if got := <-told; got != c.want {
			t.Errorf("%s: RefundIf is told %d, want %d", c.phrase, got, c.want)
		}
	}
}
