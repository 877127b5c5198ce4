// Command customkey limits by tenant, which it reads from a signed token (JWT):
// the same key in each framework, from a function that takes the framework's own
// request.
package main

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

const addr = "127.0.0.1:8085"

// secret signs the tokens of this example.
var secret = []byte("a secret for this example only")

func main() {
	framework := flag.String("framework", "nethttp", "nethttp, gin, echo or fiber")
	flag.Parse()
	if err := run(*framework); err != nil {
		fmt.Fprintln(os.Stderr, "customkey:", err)
		os.Exit(1)
	}
}

func run(framework string) error {
	serve := map[string]func() error{
		"nethttp": func() error { return listen(withNetHTTP()) },
		"gin":     func() error { return listen(withGin()) },
		"echo":    func() error { return listen(withEcho()) },
		"fiber":   func() error { return withFiber().Listen(addr) },
	}[framework]
	if serve == nil {
		return fmt.Errorf("-framework %q must be nethttp, gin, echo or fiber", framework)
	}
	acme, err := token("acme")
	if err != nil {
		return err
	}
	fmt.Printf("Serving %s on %s: 5 requests a minute for each tenant. Try six times, and then without the token:\n", framework, addr)
	fmt.Printf("  curl -i -H 'Authorization: Bearer %s' %s\n", acme, addr)
	return serve()
}

func listen(handler http.Handler) error {
	server := &http.Server{Addr: addr, Handler: handler, ReadHeaderTimeout: 5 * time.Second}
	return server.ListenAndServe()
}

// token signs a token for a tenant.
func token(tenant string) (string, error) {
	claims := jwt.MapClaims{"tenant": tenant, "exp": time.Now().Add(time.Hour).Unix()}
	return jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString(secret)
}
