package fiberv3mw

import (
	"github.com/gofiber/fiber/v3"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/keyfuncs"
)

// IP keys by what Fiber takes for the client's address (fiber.Ctx.IP), in the form
// of [keyfuncs.IP]: one key for all spellings of an address and for an IPv6 /64.
// What Fiber gives that is no address, such as a list of them, is no key.
//
// Fiber's configuration decides whether clients can forge it: with TrustProxy and
// ProxyHeader it believes that header from the peers in TrustProxyConfig, and of
// a list takes the first element, which is the client's own, if
// EnableIPValidation is set. [keyfuncs.ClientIP] reads lists from the right.
func IP() core.KeyFunc {
	return Key(func(c fiber.Ctx) (string, error) { return keyfuncs.AddressKey(c.IP()) })
}
