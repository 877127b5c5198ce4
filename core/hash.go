package core

import (
	"crypto/sha256"
	"encoding/base64"
)

// hashPrefix begins every hashed key, so that it is told from a plain one.
const hashPrefix = "sha256:"

// HashKey returns the key that stands for a secret, such as an API key, wherever
// keys are kept: sha256: and the first 128 bits of its SHA-256 in 22 characters
// of base64url (RFC 4648, section 5). No secret of the server goes into it, so
// that instances agree; who can guess the secret can check the guess. The ready
// key functions hash what they take for secrets by it, and [Limiter.Peek] and
// [Limiter.Reset] find a key by what it was before.
func HashKey(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	var key [len(hashPrefix) + 22]byte
	copy(key[:], hashPrefix)
	base64.RawURLEncoding.Encode(key[len(hashPrefix):], sum[:16])
	return string(key[:])
}
