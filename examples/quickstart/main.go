// Command quickstart serves a page behind a limiter, shows by requests of its
// own what is admitted and what is denied, and goes on serving so that you can
// try it with curl.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/keyfuncs"
	"github.com/slidegate/slidegate/nethttp"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to serve on")
	once := flag.Bool("once", false, "demonstrate and exit")
	flag.Usage = func() {
		fmt.Fprintf(flag.CommandLine.Output(), "Usage: quickstart [-addr host:port] [-once]\n\n"+
			"Serves a page limited to 5 requests in 2 seconds and 30 a minute for each\n"+
			"client, shows what happens to a burst, and goes on serving.\n\n")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "quickstart: unexpected argument %q; see -h\n", flag.Arg(0))
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *addr, *once); err != nil {
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		os.Exit(1)
	}
}

// newHandler is all that it takes to limit a handler.
func newHandler(now func() time.Time) http.Handler {
	limiter := core.MustNew(core.Config{
		Rules: []core.Rule{
			core.By(keyfuncs.IP, core.Per(5, 2*time.Second), core.PerMinute(30)),
		},
		Now: now, // nil outside tests: the monotonic clock
	})
	return nethttp.New(limiter)(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "hello")
	}))
}

func run(ctx context.Context, addr string, once bool) error {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("%w (choose another address with -addr)", err)
	}
	server := &http.Server{Handler: newHandler(nil), ReadHeaderTimeout: 5 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()

	demo := demo{out: os.Stdout, url: "http://" + listener.Addr().String() + "/", sleep: sleep}
	err = demo.run(ctx)
	if err == nil && !once {
		fmt.Printf("\nServing on %s until interrupted. Try:\n\n  for i in 1 2 3 4 5 6 7; do curl -i %s; done\n", listener.Addr(), demo.url)
		select {
		case <-ctx.Done():
		case err := <-served:
			return err
		}
	}
	if errors.Is(err, context.Canceled) {
		err = nil // interrupted
	}
	closing, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return errors.Join(err, server.Shutdown(closing))
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
