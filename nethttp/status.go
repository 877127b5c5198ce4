package nethttp

import (
	"bufio"
	"cmp"
	"io"
	"net"
	"net/http"
)

// A statusWriter notes the status of a response. The types around it add the
// methods that the writer of HTTP/1 or HTTP/2 has, and no others, since handlers
// ask for them by type.
type statusWriter struct {
	http.ResponseWriter
	status int // 0 until it is sent
}

type (
	flushWriter struct{ *statusWriter }
	http1Writer struct{ flushWriter }
	http2Writer struct{ flushWriter }
)

// watch wraps a writer.
func watch(w http.ResponseWriter) (http.ResponseWriter, *statusWriter) {
	s := &statusWriter{ResponseWriter: w}
	_, flusher := w.(http.Flusher)
	_, hijacker := w.(http.Hijacker)
	_, pusher := w.(http.Pusher)
	switch {
	case flusher && hijacker:
		return http1Writer{flushWriter{s}}, s
	case flusher && pusher:
		return http2Writer{flushWriter{s}}, s
	case flusher:
		return flushWriter{s}, s
	}
	return s, s
}

// of returns the status of a response whose handler is through.
func (s *statusWriter) of(panicked bool) int {
	if panicked {
		return cmp.Or(s.status, http.StatusInternalServerError)
	}
	return cmp.Or(s.status, http.StatusOK)
}

// Unwrap is for http.ResponseController.
func (s *statusWriter) Unwrap() http.ResponseWriter { return s.ResponseWriter }

func (s *statusWriter) sent() { s.status = cmp.Or(s.status, http.StatusOK) }

// WriteHeader notes the first status that is not informational.
func (s *statusWriter) WriteHeader(status int) {
	if status >= http.StatusOK || status == http.StatusSwitchingProtocols {
		s.status = cmp.Or(s.status, status)
	}
	s.ResponseWriter.WriteHeader(status)
}

func (s *statusWriter) Write(b []byte) (int, error) {
	s.sent()
	return s.ResponseWriter.Write(b)
}

// WriteString is for io.WriteString.
func (s *statusWriter) WriteString(text string) (int, error) {
	s.sent()
	return io.WriteString(s.ResponseWriter, text)
}

func (s flushWriter) Flush() {
	s.sent()
	s.ResponseWriter.(http.Flusher).Flush()
}

func (s http1Writer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffer, err := s.ResponseWriter.(http.Hijacker).Hijack()
	if err == nil {
		s.status = cmp.Or(s.status, http.StatusSwitchingProtocols)
	}
	return conn, buffer, err
}

// CloseNotify is what the server's writers have and Gin's streams ask for.
func (s flushWriter) CloseNotify() <-chan bool {
	if notifier, ok := s.ResponseWriter.(interface{ CloseNotify() <-chan bool }); ok {
		return notifier.CloseNotify()
	}
	return make(chan bool, 1)
}

func (s http1Writer) ReadFrom(r io.Reader) (int64, error) {
	s.sent()
	return io.Copy(s.ResponseWriter, r) // which asks the server's own ReaderFrom
}

func (s http2Writer) Push(target string, options *http.PushOptions) error {
	return s.ResponseWriter.(http.Pusher).Push(target, options)
}
