package redisstore

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// longestKey is the length in bytes up to which a request's key is written out.
const longestKey = 64

// layout is the version of what a record holds. It is part of the key, so that
// instances of two versions count apart instead of misreading each other.
const layout = "1:"

// recordKey returns the Redis key of a subject's record:
//
//	prefix 1: rule :{ key }
//
// What stands in braces is the hash tag: in a cluster, rules that share a
// request's key share its slot, and keys spread over all slots.
func recordKey(prefix, rule, key string) string {
	var b strings.Builder
	b.Grow(len(prefix) + len(layout) + len(rule) + len(key) + 3)
	b.WriteString(prefix)
	b.WriteString(layout)
	escape(&b, rule)
	b.WriteString(":{")
	writeTag(&b, key)
	b.WriteByte('}')
	return b.String()
}

// probeKey returns the Redis key that a probe writes, which shares its slot with
// the key of a record. No rule's name is escaped to "%probe".
func probeKey(prefix, record string) string {
	return prefix + layout + "%probe" + record[strings.LastIndex(record, ":{"):]
}

// writeTag writes a request's key as a hash tag, which holds no brace and is
// never empty. Different keys have different tags: the signs "#" of a hash and
// "-" of nothing are escaped where a key begins with them.
func writeTag(b *strings.Builder, key string) {
	switch {
	case key == "":
		b.WriteByte('-')
	case len(key) > longestKey:
		sum := sha256.Sum256([]byte(key))
		b.WriteByte('#')
		b.WriteString(hex.EncodeToString(sum[:]))
	case key[0] == '#' || key[0] == '-':
		escapeByte(b, key[0])
		escape(b, key[1:])
	default:
		escape(b, key)
	}
}

// escape writes what is not plain printable ASCII as percent and two digits.
func escape(b *strings.Builder, s string) {
	from := 0
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c > '~' || c == '{' || c == '}' || c == '%' {
			b.WriteString(s[from:i])
			escapeByte(b, c)
			from = i + 1
		}
	}
	b.WriteString(s[from:])
}

func escapeByte(b *strings.Builder, c byte) {
	const digits = "0123456789ABCDEF"
	b.WriteByte('%')
	b.WriteByte(digits[c>>4])
	b.WriteByte(digits[c&15])
}
