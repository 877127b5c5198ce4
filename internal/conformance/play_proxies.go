package conformance

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/keyfuncs"
)

// An arrival is a request from a peer with lines of a header, and the key that it
// must be counted under.
type arrival struct {
	peer  string
	lines []string
	key   string
}

func lines(all ...string) []string { return all }

func proxyPlays() []scenario {
	proxies := keyfuncs.TrustedProxies("192.0.2.0/24", "2001:db8:ffff::/48")
	const list, lone, forwarded = "X-Forwarded-For", "X-Real-IP", "Forwarded"
	return []scenario{
		{"RL-059 a trusted proxy's header does not help others", strangersForge},
		{"RL-061 what a client puts in front of a list is not read", frontsAreMadeUp},
		arrivals("RL-062 the walk ends at the first address that is not trusted", keyfuncs.ClientIP(list, proxies), list, []arrival{
			{"192.0.2.20:1", lines("203.0.113.5, 2001:db8:ffff::10, 192.0.2.30"), "203.0.113.5"},
			{"192.0.2.20:1", lines("junk.example, 203.0.113.50, 192.0.2.30"), "203.0.113.50"},
			{"192.0.2.20:1", lines("198.51.100.1, 203.0.113.50"), "203.0.113.50"},
			{"192.0.2.20:1", lines("198.51.100.1", "203.0.113.51", "192.0.2.30"), "203.0.113.51"},
			{"[2001:db8:ffff::1]:1", lines("2001:DB8:1:2::9"), "2001:db8:1:2::/64"},
		}),
		arrivals("RL-062 the same in the field Forwarded", keyfuncs.ClientIP(forwarded, proxies), forwarded, []arrival{
			{"192.0.2.20:1", lines(`for=203.0.113.5;proto=https, For="[2001:db8:ffff::10]:4711", for=192.0.2.30`), "203.0.113.5"},
			{"192.0.2.20:1", lines(`for="junk, for=203.0.113.50, for="192.0.2.30:80"`), "203.0.113.50"},
			{"192.0.2.20:1", lines("for=203.0.113.51, for=_hidden, for=192.0.2.30"), "192.0.2.30"},
			{"192.0.2.20:1", lines("for=203.0.113.51", "for=unknown"), "192.0.2.20"},
			{"192.0.2.20:1", lines(`by=192.0.2.1;for="203.0.113.52"; host="a, for=198.51.100.1"`), "203.0.113.52"},
		}),
		arrivals("RL-066 there is always a key", keyfuncs.ClientIP(list, proxies), list, []arrival{
			{"192.0.2.10:1", nil, "192.0.2.10"},
			{"192.0.2.10:1", lines("192.0.2.40, 192.0.2.30"), "192.0.2.40"},
			{"192.0.2.10:1", lines(""), "192.0.2.10"},
			{"198.51.100.8:1", nil, "198.51.100.8"},
		}),
		arrivals("RL-068 trust is in the peer, not in what it says", keyfuncs.ClientIP(lone, proxies), lone, []arrival{
			{"203.0.113.9:1", lines("192.0.2.5"), "203.0.113.9"},
			{"192.0.2.10:1", lines("198.51.100.7"), "198.51.100.7"},
			{"192.0.2.10:1", lines("nonsense"), "192.0.2.10"},
			{"192.0.2.10:1", lines("198.51.100.7", "198.51.100.8"), "192.0.2.10"},
		}),
		arrivals("RL-069 ports in a header do not make clients", keyfuncs.ClientIP(list, proxies), list, []arrival{
			{"192.0.2.10:1", lines("198.51.100.7:1001"), "198.51.100.7"},
			{"192.0.2.10:2", lines("198.51.100.7:1002"), "198.51.100.7"},
			{"192.0.2.10:3", lines("[2001:db8::7]:1001"), "2001:db8::/64"},
		}),
		arrivals("RL-073 spellings in a header do not make clients", keyfuncs.ClientIP(list, proxies), list, []arrival{
			{"192.0.2.10:1", lines("::ffff:198.51.100.7"), "198.51.100.7"},
			{"192.0.2.10:1", lines("0:0:0:0:0:ffff:c633:6407"), "198.51.100.7"},
			{"192.0.2.10:1", lines("2001:db8:1:2::198.51.100.7"), "2001:db8:1:2::/64"},
			{"192.0.2.10:1", lines("64:ff9b::192.0.2.9"), "64:ff9b::/64"},
		}),
		arrivals("RL-075 zones in a header do not make clients", keyfuncs.ClientIP(list, proxies), list, []arrival{
			{"192.0.2.10:1", lines("2001:db8:1:2::9%a"), "2001:db8:1:2::/64"},
			{"192.0.2.10:1", lines("2001:db8:1:2::9%b"), "2001:db8:1:2::/64"},
			{"192.0.2.10:1", lines("::ffff:198.51.100.7%z"), "198.51.100.7"},
			{"192.0.2.10:1", lines("::1%" + strings.Repeat("A", 3000)), "::/64"},
		}),
		arrivals("hops are counted from the peer", keyfuncs.ClientIP(list, keyfuncs.TrustedHops(2)), list, []arrival{
			{"203.0.113.200:1", lines("198.51.100.1, 198.51.100.7, 203.0.113.100"), "198.51.100.7"},
			{"203.0.113.200:1", lines("198.51.100.8"), "198.51.100.8"},
			{"@", lines("198.51.100.9, 203.0.113.100"), "198.51.100.9"},
		}),
		arrivals("a proxy at a Unix socket", keyfuncs.ClientIP(list, keyfuncs.Loopback()), list, []arrival{
			{"@", lines("192.0.2.66, 198.51.100.7"), "198.51.100.7"},
			{"/run/proxy.sock", lines("198.51.100.7"), "198.51.100.7"},
		}),
		{"lists of addresses skip and limit by the verified address", listsOfAddresses},
	}
}

// arrivals is a scenario of requests whose keys are looked up after each.
func arrivals(name string, key core.KeyFunc, header string, all []arrival) scenario {
	return scenario{name, func(tb testing.TB, a Adapter) {
		s := newStage(tb)
		l := s.limiter(core.Config{Rules: []core.Rule{core.By(key, core.PerMinute(10))}})
		s.serve(a, Setup{Group: []*core.Limiter{l}})
		for _, v := range all {
			before := remaining(tb, l, v.key)
			q := request{peer: v.peer}
			for _, line := range v.lines {
				q.header = append(q.header, [2]string{header, line})
			}
			s.expect(q, "200 r="+strconv.FormatInt(before-1, 10))
			if after := remaining(tb, l, v.key); after != before-1 {
				tb.Errorf("%v: not counted under %s", q, v.key)
			}
		}
	}}
}

func remaining(tb testing.TB, l *core.Limiter, key string) int64 {
	tb.Helper()
	states, err := l.Peek(context.Background(), "rule-1", key)
	if err != nil {
		tb.Fatal(err)
	}
	return states[0].Remaining
}

func strangersForge(tb testing.TB, a Adapter) {
	s := newStage(tb)
	rule := core.By(keyfuncs.ClientIP("X-Forwarded-For", keyfuncs.TrustedProxies("192.0.2.10")), core.PerMinute(3))
	s.serve(a, Setup{Group: []*core.Limiter{s.limiter(core.Config{Rules: []core.Rule{rule}})}})
	for i, want := range []string{"200 r=2", "200 r=1", "200 r=0", "429"} {
		s.expect(request{peer: "198.51.100.9:40001", header: [][2]string{{"X-Forwarded-For", fmt.Sprintf("203.0.113.%d", i)}}}, want)
	}
	s.expect(request{peer: "192.0.2.10:1", header: [][2]string{{"X-Forwarded-For", "198.51.100.9"}}}, "429")
}

func frontsAreMadeUp(tb testing.TB, a Adapter) {
	s := newStage(tb)
	rule := core.By(keyfuncs.ClientIP("X-Forwarded-For", keyfuncs.TrustedProxies("192.0.2.10")), core.PerMinute(3))
	s.serve(a, Setup{Group: []*core.Limiter{s.limiter(core.Config{Rules: []core.Rule{rule}})}})
	for i, want := range []string{"200 r=2", "200 r=1", "200 r=0", "429"} {
		list := fmt.Sprintf("203.0.113.%d, 198.51.100.7", i)
		s.expect(request{peer: "192.0.2.10:1", header: [][2]string{{"X-Forwarded-For", list}}}, want)
	}
}

// listsOfAddresses skips an office, and limits one network more than others.
func listsOfAddresses(tb testing.TB, a Adapter) {
	client := keyfuncs.ClientAddress("X-Forwarded-For", keyfuncs.TrustedProxies("192.0.2.10"))
	strict := core.By(keyfuncs.Global, core.PerMinute(1))
	strict.When = keyfuncs.InPrefixes(client, "203.0.113.0/24", "2001:db8::/32")
	s := newStage(tb)
	s.serve(a, Setup{Group: []*core.Limiter{s.limiter(core.Config{
		Rules: []core.Rule{strict}, Skip: keyfuncs.InPrefixes(client, "203.0.113.99"),
	})}})
	of := func(addr string) request {
		return request{peer: "192.0.2.10:1", header: [][2]string{{"X-Forwarded-For", addr}}}
	}
	s.expect(of("203.0.113.1"), "200 r=0")
	s.expect(of("2001:db8:5::1"), "429")
	s.expect(of("203.0.113.2"), "429")
	s.expect(of("203.0.113.99"), "200 none") // skipped
	s.expect(of("198.51.100.1"), "200 none") // no rule is for it
	s.expect(request{peer: "203.0.113.99:1", header: [][2]string{{"X-Forwarded-For", "198.51.100.1"}}}, "200 none")
	s.expect(request{peer: "203.0.113.3:1", header: [][2]string{{"X-Forwarded-For", "203.0.113.99"}}}, "429")
}
