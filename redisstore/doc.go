// Package redisstore keeps the counters of limits in Redis, for several
// instances of a program that share their limits.
package redisstore
