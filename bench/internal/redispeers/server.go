package redispeers

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// ErrNoServer reports that redis-server is not installed.
var ErrNoServer = errors.New("redis-server is not in the PATH: install Redis 6 or later, or Valkey under that name")

// A Server is a redis-server process of our own on loopback, with an empty memory
// and nothing on disk.
type Server struct {
	// Addr is its host and port.
	Addr string

	client *redis.Client
	dir    string
	cmd    *exec.Cmd
	ended  chan struct{}
}

// StartServer starts a server. The caller stops it. The error is [ErrNoServer] if
// there is none to start.
func StartServer(ctx context.Context) (*Server, error) {
	path, err := exec.LookPath("redis-server")
	if err != nil {
		return nil, ErrNoServer
	}
	for range 3 { // another process may take the port first
		var s *Server
		if s, err = startServer(ctx, path); err == nil {
			return s, nil
		}
	}
	return nil, err
}

func startServer(ctx context.Context, path string) (*Server, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "slidegate-redis")
	if err != nil {
		return nil, err
	}
	s := &Server{Addr: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), dir: dir, ended: make(chan struct{})}
	s.client = redis.NewClient(&redis.Options{Addr: s.Addr, MaxRetries: -1})
	s.cmd = exec.Command(path, "--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--dir", dir, "--save", "", "--appendonly", "no")
	s.cmd.SysProcAttr = dieWithParent()
	if err := s.cmd.Start(); err != nil {
		close(s.ended)
		s.Stop()
		return nil, err
	}
	go func() {
		defer close(s.ended)
		_ = s.cmd.Wait() // that it was killed is no news
	}()
	if err := s.await(ctx); err != nil {
		s.Stop()
		return nil, err
	}
	return s, nil
}

// freePort returns a port of loopback that nobody listens on.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	return l.Addr().(*net.TCPAddr).Port, l.Close()
}

// await returns once the server answers.
func (s *Server) await(ctx context.Context) error {
	for range 500 {
		if s.client.Ping(ctx).Err() == nil {
			return nil
		}
		select {
		case <-s.ended:
			return errors.New("redis-server ended at once")
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
	return errors.New("redis-server does not answer")
}

// Stop ends the process and removes its folder.
func (s *Server) Stop() {
	_ = s.client.Close()
	if s.cmd.Process != nil {
		_ = s.cmd.Process.Kill()
	}
	<-s.ended
	_ = os.RemoveAll(s.dir)
}

// Clear removes all keys.
func (s *Server) Clear(ctx context.Context) error { return s.client.FlushAll(ctx).Err() }

// Version returns what the server calls itself: "Redis 7.0.15".
func (s *Server) Version(ctx context.Context) (string, error) {
	fields, err := s.info(ctx, "server")
	if v := fields["valkey_version"]; v != "" {
		return "Valkey " + v, err
	}
	return "Redis " + fields["redis_version"], err
}

// ScriptCalls returns how many calls of scripts the server has had.
func (s *Server) ScriptCalls(ctx context.Context) (calls int64, err error) {
	fields, err := s.info(ctx, "commandstats")
	if err != nil {
		return 0, err
	}
	for _, command := range []string{"eval", "evalsha"} {
		n, err := callsIn(fields["cmdstat_"+command])
		if err != nil {
			return 0, err
		}
		calls += n
	}
	return calls, nil
}

// callsIn reads the statistics of a command, such as "calls=3,usec=41"; it has
// none before its first call.
func callsIn(stats string) (int64, error) {
	if stats == "" {
		return 0, nil
	}
	first, _, _ := strings.Cut(stats, ",")
	calls, ok := strings.CutPrefix(first, "calls=")
	if !ok {
		return 0, fmt.Errorf("the statistics of a command are %q", stats)
	}
	return strconv.ParseInt(calls, 10, 64)
}

// usedMemory returns the bytes that the server has allocated.
func (s *Server) usedMemory(ctx context.Context) (int64, error) {
	fields, err := s.info(ctx, "memory")
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(fields["used_memory"], 10, 64)
}

// info returns the fields of a section of INFO.
func (s *Server) info(ctx context.Context, section string) (map[string]string, error) {
	text, err := s.client.Info(ctx, section).Result()
	fields := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			fields[name] = value
		}
	}
	return fields, err
}
