package core

import "hash/maphash"

// A subject is a rule and a key as an entry is found by them.
type subject struct {
	hash uint64 // seeded, of the rule and the key
	tag  uint64 // the rule's number or, of a long key, more of its hash
	key  string // "" of a long key
}

// longestKey is the length up to which a key is kept as it is. Of a longer one
// only two seeded hashes are, so that every entry takes the same room.
const longestKey = 36

func (m *Memory) subject(p *plan, key string) subject {
	s := subject{hash: maphash.String(m.seed, key) + p.salt, tag: p.number, key: key}
	if len(key) > longestKey {
		s.tag, s.key = maphash.String(m.long, key), ""
	}
	return s
}
