package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"
)

// redisOfServer is the variable that makes a process of this program a server,
// and tells it where Redis is.
const redisOfServer = "SLIDEGATE_EXAMPLE_REDIS"

// serve prints the server's URL and serves until the process that has started it
// closes its input, or ends.
func serve(redis string) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	client := newClient(redis)
	defer client.Close()
	server := &http.Server{Handler: newHandler(client), ReadHeaderTimeout: 5 * time.Second}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = server.Close()
	}()
	fmt.Printf("http://%s/\n", listener.Addr())
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// A server is a process of this program that serves.
type server struct {
	url   string
	cmd   *exec.Cmd
	input io.Closer
}

func startServer(ctx context.Context, redis string) (*server, error) {
	path, err := os.Executable()
	if err != nil {
		return nil, err
	}
	s := &server{cmd: exec.CommandContext(ctx, path)}
	s.cmd.Env = append(os.Environ(), redisOfServer+"="+redis)
	s.cmd.Stderr = os.Stderr
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if s.input, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		s.stop()
		return nil, fmt.Errorf("a server did not start: %w", err)
	}
	s.url = strings.TrimSpace(line)
	return s, nil
}

func (s *server) stop() {
	_ = s.input.Close()
	_ = s.cmd.Wait()
}
