//go:build unix

package redistest

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// A Server is a redis-server of a test's own, with an empty memory and nothing
// on disk.
type Server struct {
	// Addr is its host and port, which a restart keeps.
	Addr string

	t    testing.TB
	path string
	args []string
	cmd  *exec.Cmd
	log  log
	done chan struct{} // closed when the process has ended
}

// Start starts a server that ends with the test. Options are those of
// redis-server: "--name", "value".
func Start(t testing.TB, options ...string) *Server {
	t.Helper()
	path := find(t)
	for range 3 { // the port may be taken meanwhile
		port := freePort(t)
		s := &Server{Addr: address(port), t: t, path: path, args: append([]string{
			"--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--dir", t.TempDir(), "--save", "", "--appendonly", "no",
		}, options...)}
		if s.start() == nil {
			t.Cleanup(s.end)
			return s
		}
		s.end()
	}
	t.Fatal("no redis-server could be started")
	return nil
}

// find returns where redis-server is, or skips the test.
func find(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	switch {
	case err == nil:
		return path
	case os.Getenv("CI") != "":
		t.Fatal("redis-server is not installed, and in CI it must be")
	default:
		t.Skip("redis-server is not installed")
	}
	return ""
}

func address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// freePort returns a port that is free, as is the one 10,000 above it, at which
// the nodes of a cluster talk to each other.
func freePort(t testing.TB) int {
	t.Helper()
	for range 100 {
		port := 20_000 + rand.IntN(12_000)
		if isFree(port) && isFree(port+10_000) {
			return port
		}
	}
	t.Fatal("no free port was found")
	return 0
}

func isFree(port int) bool {
	l, err := net.Listen("tcp", address(port))
	if err != nil {
		return false
	}
	return l.Close() == nil
}

func (s *Server) start() error {
	s.cmd = exec.Command(s.path, s.args...)
	s.cmd.Stdout, s.cmd.Stderr = &s.log, &s.log
	s.cmd.SysProcAttr = dieWithParent()
	if err := s.cmd.Start(); err != nil {
		return err
	}
	s.done = make(chan struct{})
	go func() {
		defer close(s.done)
		_ = s.cmd.Wait() // that it was killed is no news
	}()
	client := s.Client()
	defer client.Close()
	for range 500 {
		if client.Ping(context.Background()).Err() == nil && !s.ended() {
			return nil
		}
		select {
		case <-s.done:
			return fmt.Errorf("redis-server ended: %s", s.log.String())
		case <-time.After(10 * time.Millisecond):
		}
	}
	return fmt.Errorf("redis-server does not answer: %s", s.log.String())
}

func (s *Server) ended() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// Client returns a client that is not held up by what is wrong with the server
// for long. The caller closes it.
func (s *Server) Client() *redis.Client {
	return redis.NewClient(&redis.Options{Addr: s.Addr, DialTimeout: time.Second, ReadTimeout: time.Second, MaxRetries: -1})
}

// Do has the server run one command.
func (s *Server) Do(args ...any) any {
	s.t.Helper()
	client := s.Client()
	defer client.Close()
	reply, err := client.Do(context.Background(), args...).Result()
	if err != nil {
		s.t.Fatalf("%v: %v", args, err)
	}
	return reply
}

// Kill ends the process at once (kill -9). What it held is lost.
func (s *Server) Kill() {
	_ = s.cmd.Process.Kill()
	<-s.done
}

// Restart starts the server anew after a Kill, on the same port.
func (s *Server) Restart() {
	s.t.Helper()
	if err := s.start(); err != nil {
		s.t.Fatal(err)
	}
}

// Freeze stops the process, which goes on accepting connections but answers
// nothing (kill -STOP), and Thaw lets it go on.
func (s *Server) Freeze() { _ = s.cmd.Process.Signal(syscall.SIGSTOP) }

// Thaw ends a Freeze.
func (s *Server) Thaw() { _ = s.cmd.Process.Signal(syscall.SIGCONT) }

func (s *Server) end() {
	if s.done != nil {
		s.Kill()
	}
}

// A log keeps what a server writes.
type log struct {
	mu sync.Mutex
	bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Buffer.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Buffer.String()
}
