package echov5mw

import (
	"github.com/labstack/echo/v5"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/keyfuncs"
)

// RealIP keys by what Echo takes for the client's address (echo.Context.RealIP),
// in the form of [keyfuncs.IP]: one key for all spellings of an address and for
// an IPv6 /64. What Echo gives that is no address is no key.
//
// Echo's IPExtractor decides whether clients can forge it: one that trusts more
// than your proxies lets a client be counted under whatever it writes. Without
// one it is the peer's address.
func RealIP() core.KeyFunc {
	return Key(func(c *echo.Context) (string, error) { return keyfuncs.AddressKey(c.RealIP()) })
}
