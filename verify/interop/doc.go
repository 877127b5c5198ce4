// Package interop proves that other people's HTTP clients read the header fields
// of the library and wait as they are told: clients from npm, Go modules and
// curl, against a server of every adapter. It has tests only.
package interop
