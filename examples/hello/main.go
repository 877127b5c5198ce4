// Command hello is the whole program of the README.
package main

import (
	"fmt"
	"log"
	"net/http"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/keyfuncs"
	"github.com/slidegate/slidegate/nethttp"
)

func main() {
	hello := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "hello") })
	http.Handle("/", nethttp.Limit(core.By(keyfuncs.IP, core.PerMinute(100)))(hello))
	log.Fatal(http.ListenAndServe("127.0.0.1:8080", nil))
}
