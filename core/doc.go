// Package core decides whether a request is within its limits. It knows no
// framework and no net/http: the adapters nethttp, ginmw, echomw and fibermw
// hand it requests and speak its decisions.
//
// A [Limiter] is an ordered set of rules and a store. A [Rule] is a key function
// and the limits that share its keys; a [Limit] is a quota of units in any
// window of a length. All limits of all rules are checked and charged as one
// step: a denied request charges none, under any concurrency.
//
// # Algorithms
//
// A window of length W is cut into n equal slots, aligned to the Unix epoch. The
// state of a key is n + 1 counts: the slot in progress, n − 1 whole ones, and
// the oldest, which is only partly inside the window still. A request is
// admitted when estimate + cost ≤ quota, and one made at u counts for every now
// in [u, u + W). What the oldest slot counts is the algorithm's choice:
//
//   - [Limit.Smooth](n), with n = 1 the default: the share of it still in view.
//     At most the quota in any window of W·(1 − 1/n); any window of W can reach
//     almost twice the quota under an attack timed for it.
//   - [Limit.Strict](n): in full. Never more than the quota in any window of W; a
//     saturated client sustains quota·n/(n+1).
//   - [Limit.Fixed]: not at all. The classic fixed window, which admits twice the
//     quota around a boundary.
//
// Beside this family stand [Limit.Exact], a log of every request with neither
// excess nor needless denial, and [Limit.Bucket], a token bucket, for traffic
// that is rightly bursty.
//
// A burst of 100 requests in the last half second of a minute and another 100
// in the first second of the next, under a limit of 100 a minute: fixed admits
// 200, exact and strict(60) 100, smooth(1) 101.
//
// All arithmetic is in exact integers. A retry time is therefore the smallest
// wait after which the request is admitted: one nanosecond earlier it is denied.
package core
