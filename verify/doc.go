// Package verify proves the library with other people's code: random histories
// are compared with a model by definition, header fields are read by a parser
// of Structured Fields, and leaks are looked for. It has tests only, and is
// a module of its own so that no user's build sees what they need.
package verify
