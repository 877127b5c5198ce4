// Command redis shows that two server processes share one quota through Redis. It
// starts a redis-server and two servers, has a client ask both as fast as it can,
// and prints what each admitted.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
)

// quota is what a client may ask of all servers together in an hour.
const quota = 100

func main() {
	if addr := os.Getenv(redisOfServer); addr != "" {
		exitOn(serve(addr))
		return
	}
	requests := flag.Int("requests", 400, "how many requests the client makes, half of them to each server")
	flag.Usage = func() {
		fmt.Fprintf(flag.CommandLine.Output(), "Usage: redis [-requests n]\n\n"+
			"Starts a redis-server and two web servers that share it, all on 127.0.0.1,\n"+
			"with %d requests an hour for each client. A client asks both servers; a table\n"+
			"shows that together they admit no more. Everything is stopped at the end.\n\n", quota)
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "redis: unexpected argument %q; see -h\n", flag.Arg(0))
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout, *requests)
	stop()
	exitOn(err)
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "redis:", err)
		os.Exit(1)
	}
}

// run demonstrates, and leaves nothing behind.
func run(ctx context.Context, out io.Writer, requests int) (err error) {
	if requests < 2 {
		return fmt.Errorf("-requests %d must be at least 2, one for each server", requests)
	}
	redis, err := startRedis(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, redis.stop()) }()

	var urls []string
	for range 2 {
		server, err := startServer(ctx, redis.addr)
		if err != nil {
			return err
		}
		defer server.stop()
		urls = append(urls, server.url)
	}
	fmt.Fprintf(out, "Two servers share the Redis at %s: %d requests an hour for each client.\n\n", redis.addr, quota)
	results, err := hammer(ctx, urls, requests)
	if err != nil {
		return err
	}
	printTable(out, results)
	return nil
}
