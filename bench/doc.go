// Package bench measures the library against other limiters, in the same run,
// with the same keys and the same work. Package internal/peers says how each is
// configured.
//
//	go run ./bench/cmd/report              # from the top: everything, into docs/benchmarks.md
//	go run -race ./bench/cmd/soak -for 10m # a flood that must leave nothing behind
//	go run ./bench/cmd/redisreport         # the Redis store, into docs/benchmarks-redis.md
//	go test -bench Decision                # from here: one table
//
// It is a module of its own so that no user's build sees what it needs.
package bench
