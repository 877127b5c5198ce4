package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"time"
)

// errNoRedis is what there is to say where redis-server is missing.
var errNoRedis = errors.New("redis-server is not installed, or not in PATH; install it (apt install redis-server, brew install redis) and try again")

// A redisServer is a redis-server of our own. What it holds is gone with it.
type redisServer struct {
	addr, dir string
	cmd       *exec.Cmd
}

func startRedis(ctx context.Context) (*redisServer, error) {
	path, err := exec.LookPath("redis-server")
	if err != nil {
		return nil, errNoRedis
	}
	host, port, err := freePort()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "slidegate-example-")
	if err != nil {
		return nil, err
	}
	r := &redisServer{addr: net.JoinHostPort(host, port), dir: dir}
	r.cmd = exec.CommandContext(ctx, path, "--bind", host, "--port", port, "--dir", dir, "--save", "", "--appendonly", "no")
	if err := r.cmd.Start(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if err := r.await(ctx); err != nil {
		return nil, errors.Join(err, r.stop())
	}
	return r, nil
}

// freePort returns a port that is free now, which is good enough for an example.
func freePort() (host, port string, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", "", err
	}
	host, port, err = net.SplitHostPort(l.Addr().String())
	return host, port, errors.Join(err, l.Close())
}

// await waits until the server answers, for five seconds at most.
func (r *redisServer) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	client := newClient(r.addr)
	defer client.Close()
	for client.Ping(ctx).Err() != nil {
		select {
		case <-ctx.Done():
			return fmt.Errorf("redis-server at %s does not answer: %w", r.addr, ctx.Err())
		case <-time.After(10 * time.Millisecond):
		}
	}
	return nil
}

func (r *redisServer) stop() error {
	_ = r.cmd.Process.Kill()
	_ = r.cmd.Wait() // it was killed
	return os.RemoveAll(r.dir)
}
