package keyfuncs_test

import (
	"testing"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/keyfuncs"
)

// A lean request is one pointer wide, as those of the adapters are.
type lean struct{ *fake }

func leanly(f fake) core.Request { return lean{&f} }

// paths are the key functions that a busy server calls, with what they may cost.
var paths = []struct {
	name   string
	f      core.KeyFunc
	r      core.Request
	allocs float64
}{
	{"f=IP/family=4", keyfuncs.IP, leanly(peer("198.51.100.7:1001")), 0},
	{"f=IP/family=6", keyfuncs.IP, leanly(peer("[2001:db8:1:2::7]:1001")), 1},
	{"f=IPPrefix24", keyfuncs.IPPrefix(24, 64), leanly(peer("198.51.100.7:1001")), 1},
	{"f=Header", keyfuncs.Header("X-Tenant"), leanly(with("X-Tenant", "acme")), 0},
	{"f=HeaderHashed", keyfuncs.Header("X-API-Key"), leanly(with("X-API-Key", "0123456789abcdef")), 2},
	{"f=Path", keyfuncs.Path, leanly(fake{path: "/users/42"}), 0},
	{"f=Host", keyfuncs.Host, leanly(fake{host: "api.example.com:443"}), 0},
	{"f=Join", keyfuncs.Join(keyfuncs.IP, keyfuncs.Path), leanly(fake{peer: "198.51.100.7:1001", path: "/users/42"}), 1},
	{"f=FirstOf", keyfuncs.FirstOf(keyfuncs.Header("X-Tenant"), keyfuncs.IP), leanly(peer("198.51.100.7:1001")), 1},
	{"f=ClientIP", keyfuncs.ClientIP("X-Forwarded-For", keyfuncs.Loopback()), leanly(fake{peer: "127.0.0.1:1", header: map[string][]string{
		"X-Forwarded-For": {"203.0.113.1, 198.51.100.7"},
	}}), 0},
}

func BenchmarkKey(b *testing.B) {
	for _, p := range paths {
		b.Run(p.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.f(p.r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestKeysCostFewAllocations(t *testing.T) {
	for _, p := range paths {
		var err error
		if got := testing.AllocsPerRun(100, func() { _, err = p.f(p.r) }); got > p.allocs || err != nil {
			t.Errorf("%s: %v allocations, %v; want at most %v", p.name, got, err, p.allocs)
		}
	}
}
