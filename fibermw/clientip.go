package fibermw

import (
	"github.com/gofiber/fiber/v2"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/keyfuncs"
)

// IP keys by what Fiber takes for the client's address (fiber.Ctx.IP), in the form
// of [keyfuncs.IP]: one key for all spellings of an address and for an IPv6 /64.
// What Fiber gives that is no address, such as a list of them, is no key.
//
// Fiber's configuration decides whether clients can forge it. With ProxyHeader
// and without EnableTrustedProxyCheck it believes that header from everybody,
// and a client is counted under whatever it wrote; of a list it takes the first
// element, which is the client's own, if EnableIPValidation is set.
// [keyfuncs.ClientIP] has no such default.
func IP() core.KeyFunc {
	ip := Key(func(c *fiber.Ctx) (string, error) { return keyfuncs.AddressKey(c.IP()) })
	return func(r core.Request) (string, error) {
		core.Advise(r, core.SG102, func() bool { return trustsEverybody(r) })
		return ip(r)
	}
}

// trustsEverybody reports whether Fiber takes the word of any peer.
func trustsEverybody(r core.Request) bool {
	c := Context(r)
	if c == nil {
		return false
	}
	config := c.App().Config()
	return config.ProxyHeader != "" && !config.EnableTrustedProxyCheck
}
