package keyfuncs_test

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/keyfuncs"
)

func TestSecretsAreHashed(t *testing.T) {
	const secret = "hunter2"
	hashed := core.HashKey(secret)
	if strings.Contains(hashed, secret) || !strings.HasPrefix(hashed, "sha256:") {
		t.Fatalf("the hash is %q", hashed)
	}
	for _, name := range []string{"Authorization", "Proxy-Authorization", "X-API-Key", "x-api-key", "Api-Key", "Cookie"} {
		wantKey(t, name, keyfuncs.Header(name), with(name, " "+secret+" "), hashed)
		wantKey(t, "an empty "+name, keyfuncs.Header(name), with(name, " "), noKey)
		wantKey(t, "two of "+name, keyfuncs.Header(name), with(name, secret, secret), noKey)
	}
	wantKey(t, "a cookie", keyfuncs.Cookie("session"), fake{cookies: map[string]string{"session": secret}}, hashed)
	wantKey(t, "an empty cookie", keyfuncs.Cookie("session"), fake{cookies: map[string]string{"session": ""}}, noKey)
	wantKey(t, "no cookie", keyfuncs.Cookie("session"), fake{cookies: map[string]string{"other": secret}}, noKey)
	wantKey(t, "a bearer token", keyfuncs.BearerToken, with("Authorization", "Bearer "+secret), hashed)
}

func TestBearerTokenIsOneKeyHoweverItIsSpelt(t *testing.T) {
	k1 := core.HashKey("k1")
	for _, c := range []struct {
		phrase string
		lines  []string
		want   string
	}{
		{"RL-058 as it should be", []string{"Bearer k1"}, k1},
		{"RL-058 lower case", []string{"bearer k1"}, k1},
		{"RL-058 two spaces", []string{"Bearer  k1"}, k1},
		{"RL-058 a space behind", []string{"Bearer k1 "}, k1},
		{"RL-058 junk in front", []string{"junk Bearer k1"}, noKey},
		{"a token with a space", []string{"Bearer k1 k2"}, noKey},
		{"another scheme", []string{"Basic k1"}, noKey},
		{"no scheme", []string{"k1"}, noKey},
		{"no token", []string{"Bearer"}, noKey},
		{"an empty token", []string{"Bearer "}, noKey},
		{"nothing", nil, noKey},
		{"two lines", []string{"Bearer k1", "Bearer k1"}, noKey},
	} {
		wantKey(t, c.phrase, keyfuncs.BearerToken, with("Authorization", c.lines...), c.want)
	}
	wantKey(t, "a token's case counts", keyfuncs.BearerToken, with("Authorization", "Bearer K1"), core.HashKey("K1"))
}

func TestBasicAuthUserIsTheNameBeforeTheColon(t *testing.T) {
	basic := func(pair string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte(pair)) }
	for _, c := range []struct{ phrase, line, want string }{
		{"a user and a password", basic("alice:secret"), "alice"},
		{"another password", basic("alice:other"), "alice"},
		{"a colon in the password", basic("alice:a:b"), "alice"},
		{"no password", basic("alice:"), "alice"},
		{"lower case", strings.Replace(basic("alice:x"), "Basic", "basic", 1), "alice"},
		{"no user", basic(":secret"), noKey},
		{"no colon", basic("alice"), noKey},
		{"not base64", "Basic ???", noKey},
		{"another scheme", "Bearer YWxpY2U6eA==", noKey},
		{"nothing", "", noKey},
	} {
		wantKey(t, c.phrase, keyfuncs.BasicAuthUser, with("Authorization", c.line), c.want)
	}
}

func TestHashedHidesAKeyBehindASecret(t *testing.T) {
	secret := []byte("pepper")
	f := keyfuncs.Hashed(keyfuncs.Header("X-Email"), secret)
	want := keyfuncs.HashedKey("alice@example.com", []byte("pepper"))
	secret[0] = 'x' // which must change nothing
	wantKey(t, "a key", f, with("X-Email", "alice@example.com"), want)
	wantKey(t, "no key", f, with("X-Email"), noKey)
	if !strings.HasPrefix(want, "hmac:") || len(want) != len("hmac:")+22 {
		t.Errorf("the key is %q, want hmac: and 22 characters", want)
	}
	if other := keyfuncs.HashedKey("alice@example.com", []byte("salt")); other == want {
		t.Errorf("another secret gives the same key, %q", want)
	}
	if other := keyfuncs.HashedKey("bob@example.com", []byte("pepper")); other == want {
		t.Errorf("another address gives the same key, %q", want)
	}
	if got, err := keyfuncs.Hashed(broken, []byte("pepper"))(fake{}); got != "" || !errors.Is(err, errBroken) {
		t.Errorf("a broken function gives %q, %v; want its error", got, err)
	}
	if got, err := keyfuncs.Hashed(constant(""), []byte("pepper"))(fake{}); got != "" || err != nil {
		t.Errorf("an empty key gives %q, %v; want it to stay empty, which is a missing key", got, err)
	}
}
