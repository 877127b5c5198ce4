// Package slidegate is the front page of a library that limits the rate of HTTP
// requests. It has no code of its own; the packages are:
//
//   - [github.com/slidegate/slidegate/core]: limits, rules, algorithms, the
//     memory store and decisions, for every framework and for none.
//   - [github.com/slidegate/slidegate/keyfuncs]: ready key functions.
//   - [github.com/slidegate/slidegate/nethttp]: the adapter for net/http.
//   - [github.com/slidegate/slidegate/core/storetest]: the contract of stores as
//     a test suite.
//
// One line limits a handler:
//
//	mux.Handle("/", nethttp.Limit(core.By(keyfuncs.IP, core.PerMinute(100)))(api))
package slidegate
