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

// show prints what a key function makes of a request of net/http.
func show(f core.KeyFunc, change func(*http.Request)) {
	r := httptest.NewRequest("GET", "/reports/7", nil)
	change(r)
	look := core.By(func(r core.Request) (string, error) {
		key, err := f(r)
		if err != nil {
			key = err.Error()
		}
		fmt.Println(key)
		return "example", nil
	}, core.PerMinute(1))
	nethttp.Limit(look)(http.NotFoundHandler()).ServeHTTP(httptest.NewRecorder(), r)
}

func ExampleIP() {
	for _, peer := range []string{"198.51.100.7:50412", "[::ffff:198.51.100.7]:443", "[2001:db8:1:2:3:4:5:6]:50412", "@"} {
		show(keyfuncs.IP, func(r *http.Request) { r.RemoteAddr = peer })
	}
	// Output:
	// 198.51.100.7
	// 198.51.100.7
	// 2001:db8:1:2::/64
	// slidegate: request has no key
}

func ExampleIPPrefix() {
	show(keyfuncs.IPPrefix(24, 48), func(r *http.Request) { r.RemoteAddr = "198.51.100.7:50412" })
	show(keyfuncs.IPPrefix(24, 48), func(r *http.Request) { r.RemoteAddr = "[2001:db8:1:2:3:4:5:6]:50412" })
	// Output:
	// 198.51.100.0/24
	// 2001:db8:1::/48
}

func ExampleClientIP() {
	byClient := keyfuncs.ClientIP("X-Forwarded-For", keyfuncs.PrivateNetworks())
	show(byClient, func(r *http.Request) {
		r.RemoteAddr = "10.0.0.2:38112" // the proxy
		r.Header.Set("X-Forwarded-For", "192.0.2.66, 198.51.100.7")
	})
	show(byClient, func(r *http.Request) {
		r.RemoteAddr = "203.0.113.9:50412" // not a proxy
		r.Header.Set("X-Forwarded-For", "192.0.2.66")
	})
	// Output:
	// 198.51.100.7
	// 203.0.113.9
}

func ExampleJoin() {
	byHostAndPath := keyfuncs.Join(keyfuncs.Host, keyfuncs.Path)
	show(byHostAndPath, func(r *http.Request) { r.Host = "API.example.com:8443" })
	// Output:
	// 15:api.example.com10:/reports/7
}

// A tenant has its own quota, and whoever names none shares that of the address.
func ExampleFirstOf() {
	f := keyfuncs.FirstOf(keyfuncs.Header("X-Tenant"), keyfuncs.IP)
	show(f, func(r *http.Request) { r.Header.Set("X-Tenant", "acme") })
	show(f, func(r *http.Request) { r.RemoteAddr = "198.51.100.7:50412" })
	// Output:
	// 1:acme
	// 2:198.51.100.7
}

// Credentials are hashed before a store sees them.
func ExampleHeader() {
	show(keyfuncs.Header("X-Tenant"), func(r *http.Request) { r.Header.Set("X-Tenant", "acme") })
	show(keyfuncs.Header("X-API-Key"), func(r *http.Request) { r.Header.Set("X-API-Key", "correct horse") })
	show(keyfuncs.Header("X-Tenant"), func(*http.Request) {})
	// Output:
	// acme
	// sha256:QQTTb42iwlQ0n4WDZ5Pr4A
	// slidegate: request has no key
}

func ExampleUserID() {
	type userKey struct{}
	byUser := keyfuncs.UserID(userKey{})
	show(byUser, func(r *http.Request) { // what authentication does
		*r = *r.WithContext(context.WithValue(r.Context(), userKey{}, "alice"))
	})
	show(byUser, func(*http.Request) {})
	// Output:
	// alice
	// slidegate: request has no key
}
