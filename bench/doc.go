// Package bench measures the library against other limiters, in the same run,
// with the same keys and the same work. Package internal/peers says how each is
// configured.
//
//	go run ./bench/cmd/report     # from the top: everything, into docs/benchmarks.md
//	go test -bench Decision       # from here: one table
//
// Two more commands and packages besiege and soak a limiter. All of it is a module of its own so that no
// user sees what it needs.
package bench
