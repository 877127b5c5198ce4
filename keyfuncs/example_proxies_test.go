package keyfuncs_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/keyfuncs"
	"github.com/slidegate/slidegate/nethttp"
)

// A delivery network in front of a load balancer, both of which append to one
// header: whatever the client put there itself is not read.
func ExampleClientIP_severalProxies() {
	byClient := keyfuncs.ClientIP("X-Forwarded-For",
		keyfuncs.PrivateNetworks(),                // the load balancer
		keyfuncs.TrustedProxies("203.0.113.0/24")) // the delivery network
	show(byClient, func(r *http.Request) {
		r.RemoteAddr = "10.0.0.2:38112"
		r.Header.Add("X-Forwarded-For", "192.0.2.66, 198.51.100.7")
		r.Header.Add("X-Forwarded-For", "203.0.113.80")
	})
	// Output:
	// 198.51.100.7
}

// The standard header writes ports and IPv6 addresses in quotes.
func ExampleClientIP_forwarded() {
	byClient := keyfuncs.ClientIP("Forwarded", keyfuncs.Loopback())
	show(byClient, func(r *http.Request) {
		r.RemoteAddr = "127.0.0.1:38112"
		r.Header.Set("Forwarded", `for=192.0.2.66, for="[2001:db8:1:2::7]:50412";proto=https`)
	})
	// Output:
	// 2001:db8:1:2::/64
}

func ExampleTrustedHops() {
	byClient := keyfuncs.ClientIP("X-Forwarded-For", keyfuncs.TrustedHops(2))
	show(byClient, func(r *http.Request) {
		r.RemoteAddr = "203.0.113.80:38112"
		r.Header.Set("X-Forwarded-For", "192.0.2.66, 198.51.100.7, 203.0.113.9")
	})
	// Output:
	// 198.51.100.7
}

func ExampleClientIPPrefix() {
	byNetwork := keyfuncs.ClientIPPrefix(24, 48, "X-Real-IP", keyfuncs.Loopback())
	show(byNetwork, func(r *http.Request) {
		r.RemoteAddr = "127.0.0.1:38112"
		r.Header.Set("X-Real-IP", "198.51.100.7")
	})
	// Output:
	// 198.51.100.0/24
}

// The office is not limited, and a network that was abused has a limit of its own.
func ExampleInPrefixes() {
	client := keyfuncs.ClientAddress("X-Forwarded-For", keyfuncs.Loopback())
	limiter := core.MustNew(core.Config{
		Skip: keyfuncs.InPrefixes(client, "203.0.113.0/24"),
		Rules: []core.Rule{
			core.By(keyfuncs.ClientIP("X-Forwarded-For", keyfuncs.Loopback()), core.PerMinute(100)),
			{
				Name: "abused", Key: keyfuncs.Global, Limits: []core.Limit{core.PerMinute(10)},
				When: keyfuncs.InPrefixes(client, "198.51.100.0/24", "2001:db8::/32"),
			},
		},
	})
	handler := nethttp.New(limiter)(http.NotFoundHandler())
	for _, address := range []string{"203.0.113.7", "198.51.100.7", "192.0.2.7"} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = "127.0.0.1:38112"
		r.Header.Set("X-Forwarded-For", address)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		fmt.Printf("%s: [%s]\n", address, w.Header().Get("RateLimit"))
	}
	// Output:
	// 203.0.113.7: []
	// 198.51.100.7: ["minute";r=99;t=60, "abused-minute";r=9;t=60]
	// 192.0.2.7: ["minute";r=99;t=60]
}

func ExampleBearerToken() {
	for _, line := range []string{"Bearer k1", "bearer  k1", "Basic YWxpY2U6c2VjcmV0"} {
		show(keyfuncs.BearerToken, func(r *http.Request) { r.Header.Set("Authorization", line) })
	}
	// Output:
	// sha256:arnx6499M4j0-dWG9m6Z_Q
	// sha256:arnx6499M4j0-dWG9m6Z_Q
	// slidegate: request has no key
}

func ExampleBasicAuthUser() {
	show(keyfuncs.BasicAuthUser, func(r *http.Request) { r.SetBasicAuth("alice", "secret") })
	// Output:
	// alice
}

// The key of a hashed function is found again by the same secret.
func ExampleHashed() {
	pepper := []byte("from the configuration")
	limiter := core.MustNew(core.Config{Rules: []core.Rule{{
		Name: "mail", Key: keyfuncs.Hashed(keyfuncs.Header("X-Email"), pepper), Limits: []core.Limit{core.PerMinute(5)},
	}}})
	r := httptest.NewRequest("POST", "/", nil)
	r.Header.Set("X-Email", "alice@example.com")
	nethttp.New(limiter)(http.NotFoundHandler()).ServeHTTP(httptest.NewRecorder(), r)

	states, err := limiter.Peek(context.Background(), "mail", keyfuncs.HashedKey("alice@example.com", pepper))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(states[0].Remaining)
	// Output:
	// 4
}
