package core

import (
	"hash/maphash"
	"net/netip"
	"slices"
	"strings"
)

// What it takes to suspect something of the keys of a rule.
const (
	// forwardedAtLeast requests must have come, nine in ten of them with
	// forwarded fields that nobody reads: a lone client may send them to a
	// server without a proxy. A peer on the same machine is a proxy at once.
	forwardedAtLeast = 20
	// differentAtLeast clients must have sent the requests that share one key.
	differentAtLeast = 10
)

// keyOf asks a rule's key function, and looks at the key if the request is
// examined.
func (rule *rule) keyOf(r Request) (string, error) {
	e, ok := r.(*examined)
	if !ok {
		return rule.Key(r)
	}
	e.rule, e.asked, e.askedHeader = rule.Name, false, false
	key, err := rule.Key(e)
	if err == nil && e.asked { // else it is the same for all on purpose
		e.look(key)
	}
	e.rule = ""
	return key, err
}

// look looks at the key of a request.
func (e *examined) look(key string) {
	s, ok := e.sight()
	if !ok {
		return
	}
	if s.portIn(key) || e.askedHeader && isAddrPort(key) {
		e.find(SG104, "")
	}
	behind := s.forwarded && !e.askedHeader && s.keyedBy(key)
	shared, suspicious := e.doctor.remember(e.rule, key, s, behind)
	if suspicious {
		e.find(SG101, "")
	}
	if shared {
		e.find(SG103, "")
	}
}

// A sight is what the doctor sees of where a request comes from.
type sight struct {
	peer      string
	addr      netip.Addr // of the peer; the zero Addr if it has none
	forwarded bool       // there are fields that a proxy adds
	origin    uint64     // a hash of all that tells clients apart
}

// sight looks at the request. It reports false for a request of a test that has
// no more methods than its key function needs.
func (e *examined) sight() (s sight, ok bool) {
	defer func() { _ = recover() }()
	s.peer = e.Request.Peer()
	s.addr = addrOf(s.peer)
	var h maphash.Hash
	h.SetSeed(e.doctor.seed)
	maphash.WriteComparable(&h, owned(s.addr))
	for i, name := range []string{"X-Forwarded-For", "Forwarded", "X-Real-Ip", "User-Agent", "Authorization"} {
		for _, value := range e.Request.HeaderValues(name) {
			s.forwarded = s.forwarded || i < 3
			_ = h.WriteByte(byte(i))
			_, _ = h.WriteString(value)
		}
	}
	s.origin = h.Sum64()
	return s, true
}

// owned returns the part of an address that one client has all of: its /64 if it
// is IPv6.
func owned(addr netip.Addr) netip.Prefix {
	prefix, _ := addr.Prefix(min(addr.BitLen(), 64)) // of the zero Addr: the zero Prefix
	return prefix
}

// addrOf returns the address of a peer, with a port or without, or the zero Addr.
func addrOf(peer string) netip.Addr {
	var addr netip.Addr
	if isAddrPort(peer) {
		addr = netip.MustParseAddrPort(peer).Addr()
	} else {
		addr, _ = netip.ParseAddr(peer)
	}
	return addr.Unmap().WithZone("")
}

// portIn reports whether a key contains the peer with its port.
func (s *sight) portIn(key string) bool {
	if isAddrPort(s.peer) && strings.Contains(key, s.peer) {
		return true
	}
	return isAddrPort(key) && netip.MustParseAddrPort(key).Addr().Unmap() == s.addr
}

func isAddrPort(text string) bool {
	if strings.IndexByte(text, ':') < 0 {
		return false // without the allocation of an error
	}
	_, err := netip.ParseAddrPort(text)
	return err == nil
}

// keyedBy reports whether a key contains the peer's address or a usual prefix of
// it.
func (s *sight) keyedBy(key string) bool {
	lengths := []int{16, 24}
	if s.addr.Is6() {
		lengths = []int{32, 48, 56, 64}
	}
	for _, bits := range lengths {
		if prefix, err := s.addr.Prefix(bits); err == nil && strings.Contains(key, prefix.String()) {
			return true
		}
	}
	return s.addr.IsValid() && strings.Contains(key, s.addr.String())
}

// A history is what the doctor remembers of a rule's requests. Of keys it
// remembers hashes only.
type history struct {
	asked, behind int
	key           uint64 // of the first request
	differ        bool   // not all have it
	origins       []uint64
}

// remember notes a request of a rule. It returns whether all requests so far,
// which are as many as are examined, share one key although they are of different
// clients, and whether the rule's keys seem to be those of an unknown proxy.
func (d *doctor) remember(rule, key string, s sight, behind bool) (shared, suspicious bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	h := d.rules[rule]
	hash := maphash.String(d.seed, key)
	if h == nil {
		h = &history{key: hash}
		d.rules[rule] = h
	}
	h.asked++
	h.differ = h.differ || hash != h.key
	if len(h.origins) < differentAtLeast && !slices.Contains(h.origins, s.origin) {
		h.origins = append(h.origins, s.origin)
	}
	if behind {
		h.behind++
	}
	shared = h.asked == examinedRequests && !h.differ && len(h.origins) == differentAtLeast
	suspicious = behind && (s.addr.IsLoopback() || h.asked >= forwardedAtLeast && h.behind*10 >= h.asked*9)
	return shared, suspicious
}
