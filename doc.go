// Package slidegate is the front page of a library that limits the rate of HTTP
// requests. It has no code of its own; the packages are:
//
//   - [github.com/slidegate/slidegate/core]: limits, rules, algorithms, the
//     memory store and decisions, for every framework and for none.
//   - [github.com/slidegate/slidegate/keyfuncs]: ready key functions.
//   - [github.com/slidegate/slidegate/nethttp], ginmw, echomw and fibermw beside
//     it: the adapters for net/http, Gin, Echo v4 and Fiber v2. Those for Echo v5
//     and Fiber v3, echov5mw and fiberv3mw, are modules of their own.
//   - [github.com/slidegate/slidegate/redisstore]: the store for several machines.
//   - [github.com/slidegate/slidegate/core/storetest]: the contract of stores as
//     a test suite.
//
// One line limits a handler:
//
//	mux.Handle("/", nethttp.Limit(core.By(keyfuncs.IP, core.PerMinute(100)))(api))
package slidegate
