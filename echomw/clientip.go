package echomw

import (
	"github.com/labstack/echo/v4"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/keyfuncs"
)

// RealIP keys by what Echo takes for the client's address (echo.Context.RealIP),
// in the form of [keyfuncs.IP]: one key for all spellings of an address and for
// an IPv6 /64. What Echo gives that is no address is no key.
//
// Echo's IPExtractor decides whether clients can forge it. Without one, many
// versions of Echo believe X-Forwarded-For and X-Real-IP from everybody, and a
// client is counted under whatever it wrote: set echo.ExtractIPDirect, or an
// extractor that trusts your proxies only. [keyfuncs.ClientIP] has no such
// default.
func RealIP() core.KeyFunc {
	realIP := Key(func(c echo.Context) (string, error) { return keyfuncs.AddressKey(c.RealIP()) })
	return func(r core.Request) (string, error) {
		core.Advise(r, core.SG102, func() bool { return trustsEverybody(r) })
		return realIP(r)
	}
}

// trustsEverybody reports whether Echo took the word of a peer that nobody told it
// to trust.
func trustsEverybody(r core.Request) bool {
	c := Context(r)
	if c == nil || c.Echo().IPExtractor != nil {
		return false
	}
	real, err := keyfuncs.AddressKey(c.RealIP())
	peer, _ := keyfuncs.AddressKey(r.Peer())
	return err == nil && real != peer
}
