// Package keyfuncs has ready key functions for the rules of package core. They
// see a neutral request and work under every adapter.
//
// A function that finds no key returns [core.ErrNoKey], and the request is then
// refused unless its rule says otherwise: there is no silent bypass, and no
// bucket that all such requests share.
//
// # Which key
//
// Limit by what the server knows, not by what the client says:
//
//   - [UserID], behind authentication: what was proved.
//   - [IP], where clients connect themselves; [ClientIP] behind proxies.
//   - [Header], [Cookie], [BearerToken] and [BasicAuthUser] take what the client
//     sends. Before somebody has checked it, every made-up value is a key with
//     a quota of its own, so limit by the address too.
//   - [FirstOf]([UserID], [IP]) limits users, and strangers by address.
//   - [Join]([IP], [Route]) gives every client a quota for each route.
//   - [Global] is one limit for all.
//
// # Which header behind which front
//
// A header tells the truth only as far as the front that wrote it can be trusted,
// and only if nobody reaches the server past that front. So [ClientIP] wants
// both: the one header that the front writes, and who the front is.
//
//   - nginx, HAProxy, Apache, Caddy, Traefik or Envoy on the same machine or
//     network: X-Forwarded-For with [Loopback] or [PrivateNetworks]. The front
//     must append the peer's address, as they do when they are told to forward.
//   - nginx with proxy_set_header X-Real-IP $remote_addr: X-Real-IP. It is safe
//     because it is set anew for each request, whatever the client sent.
//   - A load balancer that appends the client's address (AWS ALB by default):
//     X-Forwarded-For with [TrustedProxies] of its subnets, or [TrustedHops](1).
//     One that appends the client's and its own address (Google Cloud):
//     [TrustedHops](2).
//   - Cloudflare: CF-Connecting-IP, if the server can be reached through
//     Cloudflare only. Whoever reaches it past Cloudflare, or through another
//     customer's account, can write what it likes; a client certificate or a
//     tunnel excludes that.
//   - Fastly-Client-IP and Akamai's True-Client-IP keep what the client sent
//     unless the front is configured otherwise; X-Azure-ClientIP may be what the
//     client sent, X-Azure-SocketIP is not.
//   - Several fronts in a row: the header that all of them append to,
//     X-Forwarded-For or Forwarded, and all of them trusted.
//
// Before relying on a header send one of your own making through the front, and
// see what arrives.
package keyfuncs
