package keyfuncs_test

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/keyfuncs"
)

// FuzzCredentials: an Authorization header gives the hash of one token, or a user
// without the password, or no key.
func FuzzCredentials(f *testing.F) {
	for _, seed := range []string{"Bearer k1", "bearer  k1 ", "Basic YWxpY2U6c2VjcmV0", "Basic =", "Bearer", "junk Bearer k1", "Basic\tYTpi", ""} {
		f.Add(seed, "alice", "secret")
	}
	f.Fuzz(func(t *testing.T, text, user, password string) {
		for _, function := range []core.KeyFunc{keyfuncs.BearerToken, keyfuncs.BasicAuthUser} {
			key, err := function(with("Authorization", text))
			if (key == "") != (err != nil) || err != nil && !errors.Is(err, core.ErrNoKey) {
				t.Fatalf("%q gives %q, %v", text, key, err)
			}
		}
		if key, err := keyfuncs.BearerToken(with("Authorization", text)); err == nil {
			fields := strings.Split(strings.Trim(text, " \t"), " ")
			if !strings.EqualFold(fields[0], "bearer") || key != core.HashKey(strings.Trim(fields[len(fields)-1], " \t")) {
				t.Fatalf("%q gives %q", text, key)
			}
		}
		name, _, _ := strings.Cut(user, ":")
		line := "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
		if key, err := keyfuncs.BasicAuthUser(with("Authorization", line)); key != name || (name != "") != (err == nil) {
			t.Fatalf("the user %q with the password %q gives %q, %v", user, password, key, err)
		}
	})
}
