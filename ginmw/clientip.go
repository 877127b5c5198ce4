package ginmw

import (
	"net"
	"reflect"

	"github.com/gin-gonic/gin"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/keyfuncs"
)

// ClientIP keys by what Gin takes for the client's address (gin.Context.ClientIP),
// in the form of [keyfuncs.IP]: one key for all spellings of an address and for
// an IPv6 /64. What Gin gives that is no address is no key.
//
// Gin's configuration decides whether clients can forge it. By default Gin
// trusts everybody, and a client that sends X-Forwarded-For is counted under
// whatever it wrote: call SetTrustedProxies with the addresses of your proxies,
// or with nil. [keyfuncs.ClientIP] has no such default.
func ClientIP() core.KeyFunc {
	clientIP := Key(func(c *gin.Context) (string, error) { return keyfuncs.AddressKey(c.ClientIP()) })
	return func(r core.Request) (string, error) {
		core.Advise(r, core.SG102, func() bool { return trustsEverybody(r) })
		return clientIP(r)
	}
}

// trustsEverybody reports whether Gin takes the word of any peer, which it tells by
// nothing but a field of its own.
func trustsEverybody(r core.Request) bool {
	c := Context(r)
	if c == nil {
		return false
	}
	engine := reflect.ValueOf(c).Elem().FieldByName("engine")
	if !engine.IsValid() || engine.Kind() != reflect.Pointer || engine.IsNil() {
		return false
	}
	proxies := engine.Elem().FieldByName("trustedProxies")
	if !proxies.IsValid() || proxies.Kind() != reflect.Slice || proxies.Type().Elem().Kind() != reflect.String {
		return false
	}
	for i := range proxies.Len() {
		_, prefix, err := net.ParseCIDR(proxies.Index(i).String())
		if err == nil && (prefix.Contains(net.IPv4zero) || prefix.Contains(net.IPv6zero)) {
			return true
		}
	}
	return false
}
