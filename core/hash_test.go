package core_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/slidegate/slidegate/core"
)

func TestHashKeyIsAPrefixAnd128BitsOfSHA256(t *testing.T) {
	for _, secret := range []string{"", "hunter2", strings.Repeat("x", 10_000), "\x00\xff"} {
		sum := sha256.Sum256([]byte(secret))
		want := "sha256:" + base64.RawURLEncoding.EncodeToString(sum[:16])
		if got := core.HashKey(secret); got != want || len(got) != 29 {
			t.Errorf("HashKey(%.20q) = %q, want %q", secret, got, want)
		}
	}
}

// Whoever looks a key up has the secret that the client sent, not its hash.
func TestPeekAndResetTakeTheKeyBeforeHashing(t *testing.T) {
	for _, c := range []struct {
		phrase string
		store  core.Store
	}{
		{"in the limiter's own memory", nil},
		{"in a store of the user's", wrappedMemory{&core.Memory{}}},
	} {
		t.Run(c.phrase, func(t *testing.T) {
			g := newGateOf(t, core.Config{
				Rules: []core.Rule{{Name: "rule", Key: byNobody, Limits: []core.Limit{core.PerMinute(5), core.PerHour(50)}}},
				Store: c.store,
			})
			g.take(2, core.HashKey("secret"))
			g.take(1, "plain")
			for key, want := range map[string]int64{"secret": 3, core.HashKey("secret"): 3, "plain": 4, "other": 5} {
				if got := g.remaining(key); got != want {
					t.Errorf("%s: %d remain, want %d", key, got, want)
				}
			}
			if err := g.Reset(context.Background(), "rule", "secret"); err != nil {
				t.Fatal(err)
			}
			if got := g.remaining("secret"); got != 5 {
				t.Errorf("%d remain after a reset, want 5", got)
			}
			if got := g.remaining("plain"); got != 4 {
				t.Errorf("%d remain for another key, want 4", got)
			}
		})
	}
}

// What is counted under the key itself comes first.
func TestPeekPrefersTheKeyAsGiven(t *testing.T) {
	g := newGate(t, core.PerMinute(5))
	g.take(1, "key")
	g.take(3, core.HashKey("key"))
	if got := g.remaining("key"); got != 4 {
		t.Errorf("%d remain, want the 4 of the key as given", got)
	}
}

// A wrappedMemory is a memory that the limiter does not know to be one.
type wrappedMemory struct{ core.Store }

// RL-057: whoever can choose keys cannot choose one that shares another's count.
// Keys of up to 36 bytes are compared as a whole; longer ones by 128 bits of a
// hash with a secret seed, so that no list of keys can be prepared to collide.
func TestRL057AMillionKeysShareNothing(t *testing.T) {
	n := 1_000_000
	if testing.Short() {
		n = 100_000
	}
	m := &core.Memory{MaxKeys: n + n/10}
	g := newGateOf(t, core.Config{Rules: []core.Rule{{Name: "rule", Key: byNobody, Limits: []core.Limit{core.PerMinute(1)}}}, Store: m})
	random := rand.New(rand.NewPCG(0, 57))
	long := strings.Repeat("a long key ", 10)
	kinds := []func(int) string{
		func(i int) string { return fmt.Sprint("sequential-", i) },
		func(int) string { return fmt.Sprintf("%016x%016x", random.Uint64(), random.Uint64()) },
		func(i int) string { return oneBit("one bit apart, in thirty-two bytes", i) },
		func(i int) string { return oneBit(long, i) },
	}
	for i := range n {
		key := kinds[i%len(kinds)](i / len(kinds))
		if d := g.take(1, key); !d.Allowed {
			t.Fatalf("the first request of key %d, %q, is denied", i, key)
		}
	}
	if got := m.Stats(); got.Keys != n || got.LiveEvictions != 0 {
		t.Errorf("the store has %+v, want %d keys and no eviction", got, n)
	}
	if d := g.take(1, oneBit(long, 7)); d.Allowed {
		t.Error("the second request of a long key is admitted")
	}
}

// oneBit returns the i-th of texts of which neighbours differ in one bit, as a
// Gray code has it, written into the lowest bits of the first bytes.
func oneBit(text string, i int) string {
	b := []byte(text)
	gray := i ^ i>>1
	for bit := range 20 {
		b[bit] = b[bit]&^1 | byte(gray>>bit&1)
	}
	return string(b)
}

// Keys are bytes: nothing in them is special, and no two of them are one.
func TestKeysOfAnyBytesAreKeptApart(t *testing.T) {
	g := newGate(t, core.PerMinute(1))
	for _, key := range []string{
		"a", "a ", " a", "a\x00", "\x00a", "a\n", `a\n`, "a\xff", "a\xef\xbf\xbd", "ä", "a\u0308",
		"{a}", "{a", "a}", "a:b", "a|b", strings.Repeat("a", 64), strings.Repeat("a", 65), strings.Repeat("a", 66),
		strings.Repeat("a", 100_000), strings.Repeat("a", 100_001), "sha256:a", core.HashKey("a"),
	} {
		if d := g.take(1, key); !d.Allowed {
			t.Errorf("the first request of %.80q is denied", key)
		}
		if d := g.take(1, key); d.Allowed {
			t.Errorf("the second request of %.80q is admitted", key)
		}
	}
}
