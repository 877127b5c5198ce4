// Command nethttp is a small API on net/http with three chained rules: every
// client is held to a pace, every API key has an hourly quota, and searches
// cost more than other requests.
package main

import (
	"fmt"
	"log"
	"net/http"
	"time"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/keyfuncs"
	"github.com/slidegate/slidegate/nethttp"
)

func main() {
	fmt.Println("Serving on 127.0.0.1:8086. Try:")
	fmt.Println("  curl -i -H 'X-API-Key: demo' 127.0.0.1:8086/search")
	server := &http.Server{Addr: "127.0.0.1:8086", Handler: newHandler(), ReadHeaderTimeout: 5 * time.Second}
	log.Fatal(server.ListenAndServe())
}

func newHandler() http.Handler {
	limiter := core.MustNew(core.Config{
		Rules: []core.Rule{
			core.By(keyfuncs.IP, core.PerSecond(10), core.PerMinute(100)),
			{
				Name:   "plan",
				Key:    keyfuncs.Header("X-API-Key"),
				Limits: []core.Limit{core.PerHour(1_000).Strict(60)},
				Cost:   costOf,
			},
		},
	})
	mux := http.NewServeMux()
	mux.HandleFunc("/search", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "found it") })
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "hello") })
	return nethttp.New(limiter)(mux)
}

func costOf(r core.Request) (int64, error) {
	if r.Path() == "/search" {
		return 5, nil
	}
	return 1, nil
}
