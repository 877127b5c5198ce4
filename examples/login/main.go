// Command login limits failed logins only: five wrong passwords a user in ten
// minutes, however many arrive at once, while right ones cost nothing.
package main

import (
	"crypto/subtle"
	"fmt"
	"log"
	"net/http"
	"time"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/nethttp"
)

func main() {
	fmt.Println("Serving on 127.0.0.1:8084. Try the right password, and the wrong one six times:")
	fmt.Println("  curl -i -d user=ada -d password=lovelace 127.0.0.1:8084/login")
	fmt.Println("  curl -i -d user=ada -d password=guess 127.0.0.1:8084/login")
	server := &http.Server{Addr: "127.0.0.1:8084", Handler: newHandler(), ReadHeaderTimeout: 5 * time.Second}
	log.Fatal(server.ListenAndServe())
}

func newHandler() http.Handler {
	limiter := core.MustNew(core.Config{
		Rules: []core.Rule{
			core.By(nethttp.Key(user), core.Per(5, 10*time.Minute).Exact()),
		},
	})
	// Every attempt is charged before the password is looked at, so that no
	// more than five guesses are ever under way; success is refunded.
	limit := nethttp.New(limiter, nethttp.RefundIf(func(status int) bool { return status < 400 }))

	mux := http.NewServeMux()
	mux.Handle("POST /login", limit(http.HandlerFunc(login)))
	return mux
}

// user keys by the user that is logging in, so that guesses from many addresses
// count together.
func user(r *http.Request) (string, error) {
	name := r.PostFormValue("user")
	if name == "" {
		return "", core.ErrNoKey
	}
	return name, nil
}

func login(w http.ResponseWriter, r *http.Request) {
	if subtle.ConstantTimeCompare([]byte(r.PostFormValue("password")), []byte("lovelace")) == 0 {
		http.Error(w, "wrong user or password", http.StatusUnauthorized)
		return
	}
	fmt.Fprintln(w, "welcome")
}
