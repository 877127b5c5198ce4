package conformance

import (
	"testing"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/keyfuncs"
)

// A visit is a request from a peer, and what its response must tell.
type visit struct{ peer, want string }

func peerPlays() []scenario {
	return []scenario{
		{"RL-059 header fields do not change who the client is", forgedAddresses},
		visits("RL-069 ports do not make clients", keyfuncs.IP, 2, []visit{
			{"198.51.100.7:1001", "200"},
			{"198.51.100.7:1002", "200"},
			{"198.51.100.7", "429"},
			{"[2001:db8::7]:1001", "200 r=1"},
			{"2001:db8::7", "200 r=0"},
			{"[2001:db8::7]:7", "429"},
		}),
		visits("RL-071 a host is its whole /64", keyfuncs.IP, 3, []visit{
			{"[2001:db8:1:2::1]:1", "200"},
			{"[2001:db8:1:2::2]:1", "200"},
			{"[2001:db8:1:2:ffff::3]:1", "200"},
			{"[2001:db8:1:2:8000:0:0:4]:1", "429"},
			{"[2001:db8:1:3::1]:1", "200"},
		}),
		visits("RL-071 the prefix can be chosen", keyfuncs.IPPrefix(32, 48), 1, []visit{
			{"[2001:db8:1:2::1]:1", "200"}, {"[2001:db8:1:3::1]:1", "429"}, {"[2001:db8:2:2::1]:1", "200"},
		}),
		visits("RL-073 an IPv4 address in IPv6 is the IPv4 address", keyfuncs.IP, 3, []visit{
			{"[::ffff:192.0.2.1]:1", "200"},
			{"::ffff:c000:201", "200"},
			{"0:0:0:0:0:ffff:c000:0201", "200"},
			{"192.0.2.1:9", "429"},
			{"2001:db8:1:2::192.0.2.9", "200 r=2"},
			{"2001:db8:1:2::c000:209", "200 r=1"},
			{"192.0.2.9:1", "200 r=2"},
			{"64:ff9b::192.0.2.9", "200 r=2"},
		}),
		visits("RL-075 zones do not make clients", keyfuncs.IP, 2, []visit{
			{"[fe80::1%eth0]:1234", "200"}, {"[fe80::1%eth1]:1234", "200"}, {"[fe80::1%eth2]:1234", "429"},
		}),
		visits("a peer without an address has no key", keyfuncs.IP, 2, []visit{{"@", "400"}, {"/run/app.sock", "400"}}),
	}
}

// visits is a scenario of a limit a minute by peer.
func visits(name string, key core.KeyFunc, quota int64, all []visit) scenario {
	return scenario{name, func(tb testing.TB, a Adapter) {
		s := newStage(tb)
		rule := core.By(key, core.PerMinute(quota))
		s.serve(a, Setup{Group: []*core.Limiter{s.limiter(core.Config{Rules: []core.Rule{rule}})}})
		for _, v := range all {
			s.expect(request{peer: v.peer}, v.want)
		}
	}}
}

func forgedAddresses(tb testing.TB, a Adapter) {
	s := newStage(tb)
	m := s.memory()
	rule := core.By(keyfuncs.IP, core.PerMinute(3))
	s.serve(a, Setup{Group: []*core.Limiter{s.limiter(core.Config{Rules: []core.Rule{rule}, Store: m})}})
	for i, want := range []string{"200 r=2", "200 r=1", "200 r=0", "429"} {
		address := "203.0.113." + string(rune('1'+i))
		q := request{peer: "198.51.100.9:40001"}
		for _, name := range []string{"X-Forwarded-For", "X-Real-IP", "True-Client-IP", "CF-Connecting-IP"} {
			q.header = append(q.header, [2]string{name, address})
		}
		q.header = append(q.header, [2]string{"Forwarded", "for=" + address})
		s.expect(q, want)
	}
	if got := m.Stats().Keys; got != 1 {
		tb.Errorf("%d keys are stored, want 1", got)
	}
}
