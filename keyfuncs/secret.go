package keyfuncs

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"github.com/slidegate/slidegate/core"
)

// isSecret reports whether the values of a header are secrets.
func isSecret(header string) bool {
	switch strings.ToLower(header) {
	case "authorization", "proxy-authorization", "x-api-key", "api-key", "cookie":
		return true
	}
	return false
}

// BearerToken keys by the token in the header Authorization: Bearer, hashed by
// [core.HashKey]. The scheme may be in any case and the spaces around the token
// are not part of it, so that the spellings of one token are one key. Another
// scheme, no token, a token with spaces inside, or several lines are no key.
//
// The client chooses what it sends: where nobody has checked the token yet,
// every made-up one is a key of its own. Limit by [UserID] behind
// authentication, or by the address beside this.
func BearerToken(r core.Request) (string, error) {
	token, ok := credentials(r, "bearer")
	if !ok || strings.ContainsAny(token, " \t") {
		return "", core.ErrNoKey
	}
	return core.HashKey(token), nil
}

// BasicAuthUser keys by the user name in the header Authorization: Basic, as it
// is. The password is not looked at, and nobody has checked it yet: a client can
// name any user here, and use up that user's quota. Where that matters limit by
// the address too, or by [UserID] behind authentication. Anything but a user and
// a password in base64 is no key.
func BasicAuthUser(r core.Request) (string, error) {
	encoded, ok := credentials(r, "basic")
	if !ok {
		return "", core.ErrNoKey
	}
	decoded, err := base64.StdEncoding.DecodeString(encoded)
	user, _, found := bytes.Cut(decoded, []byte(":"))
	if err != nil || !found {
		return "", core.ErrNoKey
	}
	return present(string(user))
}

// credentials returns what follows a scheme, given in lower case, in the one line
// of the header Authorization.
func credentials(r core.Request, scheme string) (string, bool) {
	lines := r.HeaderValues("Authorization")
	if len(lines) != 1 {
		return "", false
	}
	name, value, _ := strings.Cut(trim(lines[0]), " ")
	value = trim(value)
	return value, value != "" && strings.EqualFold(name, scheme)
}

// Hashed keys by what another function gives, hashed with a secret of the server:
// HMAC-SHA-256, of which 128 bits are kept. Unlike [core.HashKey], which needs no
// secret, it hides keys that can be guessed, such as e-mail addresses. All
// instances that share a store need the same secret, and a new one starts all
// counts afresh. It panics without a function or a secret.
//
// [core.Limiter.Peek] and [core.Limiter.Reset] cannot know the secret; give them
// what [HashedKey] returns.
func Hashed(f core.KeyFunc, secret []byte) core.KeyFunc {
	require("Hashed", "a key function", f != nil)
	require("Hashed", "a secret that is not empty", len(secret) > 0)
	secret = bytes.Clone(secret)
	return func(r core.Request) (string, error) {
		key, err := f(r)
		if err != nil || key == "" {
			return "", err
		}
		return HashedKey(key, secret), nil
	}
}

// HashedKey returns the key that [Hashed] makes of a key: hmac: and 22 characters
// of base64url (RFC 4648, section 5).
func HashedKey(key string, secret []byte) string {
	h := hmac.New(sha256.New, secret)
	h.Write([]byte(key))
	return "hmac:" + base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:16])
}
