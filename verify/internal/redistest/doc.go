// Package redistest starts what the tests of the Redis store run against, all on
// loopback: servers, a cluster, and a proxy that fails on command. A test that
// needs a server is skipped where none is installed, and fails in CI.
package redistest
