package core_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/keyfuncs"
	"github.com/slidegate/slidegate/nethttp"
)

// A malady is a set-up that is wrong.
type malady struct {
	phrase  string
	finding core.Finding
	config  core.Config
	// traffic are requests, each of which is made many times over.
	traffic []core.Request
	// requests is how often the traffic is repeated, 1 if 0.
	requests int
	// make makes the limiter, in place of core.New.
	make func(core.Config) (*core.Limiter, error)
	// after runs when the traffic is through.
	after func(*core.Limiter)
}

func by(key core.KeyFunc, limits ...core.Limit) []core.Rule {
	return []core.Rule{core.By(key, limits...)}
}

// maladies are at least one for each finding.
func maladies() []malady {
	perMinute := core.PerMinute(1_000_000)
	return []malady{
		{
			phrase: "a proxy on the same machine that nobody trusts", finding: core.SG101,
			config:  core.Config{Rules: by(keyfuncs.IP, perMinute)},
			traffic: []core.Request{from("127.0.0.1:4711", "X-Forwarded-For: 198.51.100.7")},
		},
		{
			phrase: "a proxy elsewhere that nobody trusts", finding: core.SG101,
			config:  core.Config{Rules: by(keyfuncs.IP, perMinute)},
			traffic: []core.Request{from("10.0.0.9:4711", "Forwarded: for=198.51.100.7")}, requests: 20,
		},
		{
			phrase: "a proxy that is not in the trusted range", finding: core.SG101,
			config:  core.Config{Rules: by(keyfuncs.ClientIP("X-Forwarded-For", keyfuncs.TrustedProxies("10.1.0.0/16")), perMinute)},
			traffic: []core.Request{from("10.2.0.9:4711", "X-Forwarded-For: 198.51.100.7")}, requests: 20,
		},
		{
			phrase: "a proxy with an IPv6 address, where a key has several parts", finding: core.SG101,
			config:  core.Config{Rules: by(keyfuncs.Join(keyfuncs.Method, keyfuncs.IPPrefix(24, 48)), perMinute)},
			traffic: []core.Request{from("[fd00:1:2:3::4]:4711", "X-Real-Ip: 198.51.100.7")}, requests: 20,
		},
		{
			phrase: "all of IPv4 is trusted", finding: core.SG102,
			config:  core.Config{Rules: by(keyfuncs.ClientIP("X-Forwarded-For", keyfuncs.TrustedProxies("0.0.0.0/0")), perMinute)},
			traffic: []core.Request{from("198.51.100.7:4711")},
		},
		{
			phrase: "all of IPv6 is trusted", finding: core.SG102,
			config:  core.Config{Rules: by(keyfuncs.ClientIP("Forwarded", keyfuncs.PrivateNetworks(), keyfuncs.TrustedProxies("2000::/3")), perMinute)},
			traffic: []core.Request{from("198.51.100.7:4711")},
		},
		{
			phrase: "a key that is the same for all clients", finding: core.SG103,
			config:  core.Config{Rules: by(keyfuncs.UserID("user"), perMinute)},
			traffic: peers(10, func(v *visitor) { v.user = "anonymous" }), requests: 100,
		},
		{
			phrase: "a proxy that forwards nothing", finding: core.SG103,
			config:  core.Config{Rules: by(keyfuncs.IP, perMinute)},
			traffic: peers(10, func(v *visitor) { v.headers["User-Agent"], v.peer = []string{"of " + v.peer}, "10.0.0.9:1" }), requests: 100,
		},
		{
			phrase: "a key with the port of the peer", finding: core.SG104,
			config:  core.Config{Rules: by(func(r core.Request) (string, error) { return "peer " + r.Peer(), nil }, perMinute)},
			traffic: []core.Request{from("198.51.100.7:4711")},
		},
		{
			phrase: "a key with a port from a framework's own address", finding: core.SG104,
			config:  core.Config{Rules: by(func(r core.Request) (string, error) { return r.Peer() + ":4711", nil }, perMinute)},
			traffic: []core.Request{from("198.51.100.7")},
		},
		{
			phrase: "a key with a port from a header", finding: core.SG104,
			config:  core.Config{Rules: by(byHeader("X-Forwarded-For"), perMinute)},
			traffic: []core.Request{from("10.0.0.9:1", "X-Forwarded-For: 198.51.100.7:4711")},
		},
		{
			phrase: "quotas that were swapped", finding: core.SG105,
			config: core.Config{Rules: by(keyfuncs.IP, core.PerSecond(100), core.PerMinute(10))},
		},
		{
			phrase: "a cost above the quota", finding: core.SG106,
			config: core.Config{Rules: []core.Rule{{
				Key: keyfuncs.Global, Limits: []core.Limit{core.PerMinute(10), core.PerHour(100)},
				Cost: func(core.Request) (int64, error) { return 11, nil },
			}}},
			traffic: []core.Request{from("198.51.100.7:4711")},
		},
		{
			phrase: "a cost above the burst", finding: core.SG106,
			config: core.Config{Rules: []core.Rule{{
				Key: keyfuncs.Global, Limits: []core.Limit{core.PerMinute(10).Bucket(3)},
				Cost: func(core.Request) (int64, error) { return 4, nil },
			}}},
			traffic: []core.Request{from("198.51.100.7:4711")},
		},
		{
			phrase: "one limiter twice", finding: core.SG107,
			config: core.Config{Rules: by(keyfuncs.Global, perMinute)},
			after: func(l *core.Limiter) {
				h := core.HeaderMap{}
				for range 2 {
					l.Again(h)
					d, _ := l.Check(from("198.51.100.7:4711"))
					d.SetHeaders(h)
				}
			},
		},
		{
			phrase: "a limiter in a handler", finding: core.SG108,
			config: core.Config{Rules: by(keyfuncs.Global, perMinute)},
			make:   inHandler,
		},
		{
			phrase: "two limiters with rules of one name", finding: core.SG109,
			config: core.Config{Rules: by(keyfuncs.Global, perMinute), Store: storeOfAnother()},
		},
		{
			phrase: "a store that waits longer than the server", finding: core.SG110,
			config:  core.Config{Rules: by(keyfuncs.Global, perMinute), Store: &slowStore{Memory: &core.Memory{}}},
			traffic: []core.Request{&visitor{stubRequest: get(), timeout: time.Second}},
		},
	}
}

// peers returns requests of different clients.
func peers(n int, change func(*visitor)) []core.Request {
	var all []core.Request
	for i := range n {
		v := from(fmt.Sprintf("198.51.100.%d:4711", i+1))
		if change != nil {
			change(v)
		}
		all = append(all, v)
	}
	return all
}

// inHandler makes a limiter while a request is served.
func inHandler(c core.Config) (l *core.Limiter, err error) {
	handler := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { l, err = core.New(c) })
	handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
	return l, err
}

// storeOfAnother returns a store in which another limiter counts.
func storeOfAnother() *core.Memory {
	m := &core.Memory{}
	core.MustNew(core.Config{Rules: by(keyfuncs.IP, core.PerMinute(5)), Store: m})
	return m
}

// A slowStore is a memory that says that it may take a second.
type slowStore struct{ *core.Memory }

func (*slowStore) Timeout() time.Duration { return time.Second }

// play makes the limiter and runs the traffic. It returns the first error.
func (m malady) play() error {
	construct := core.New
	if m.make != nil {
		construct = m.make
	}
	l, err := construct(m.config)
	if err != nil {
		return err
	}
	for range max(1, m.requests) {
		for _, r := range m.traffic {
			_, failure := l.Check(r)
			err = errors.Join(err, failure)
		}
	}
	if m.after != nil {
		m.after(l)
	}
	return err
}

func TestDoctorTellsEachFindingOnce(t *testing.T) {
	tried := map[core.Finding]bool{}
	for _, m := range maladies() {
		tried[m.finding] = true
		t.Run(m.phrase, func(t *testing.T) {
			c := &chart{}
			m.config.Doctor = c.doctor()
			m.requests *= 2
			if err := m.play(); err != nil {
				t.Fatal(err)
			}
			if got := c.codes(); got != string(m.finding) {
				t.Fatalf("found %q, want %s once", got, m.finding)
			}
			r := c.records[0]
			if r["level"] != "WARN" || r["message"] == "" || r["remedy"] == "" {
				t.Errorf("the record is %v; want a warning with a message and a remedy", r)
			}
			if text := fmt.Sprint(r); strings.Contains(text, "198.51.100") || strings.Contains(text, "anonymous") {
				t.Errorf("the record tells of the client: %s", text)
			}
		})
	}
	if len(tried) != 10 {
		t.Errorf("%d findings are tried, want all 10", len(tried))
	}
}

func TestStrictDoctorMakesErrorsOfFindings(t *testing.T) {
	for _, m := range maladies() {
		t.Run(m.phrase, func(t *testing.T) {
			m.config.Doctor = core.Doctor{Strict: true}
			after := m.after
			m.after = nil
			err := m.play()
			if after != nil { // the error comes with the next request
				l := core.MustNew(m.config)
				l.MountedTwice()
				_, err = l.Check(from("198.51.100.7:4711"))
			}
			if !errors.Is(err, core.ErrDoctor) || !strings.Contains(err.Error(), string(m.finding)) {
				t.Fatalf("got %v, want %s as core.ErrDoctor", err, m.finding)
			}
			if got := strings.Count(err.Error(), "SG"); got != 1 {
				t.Errorf("%d findings are told, want one: %v", got, err)
			}
			if p := core.ProblemOf(err); p.Status != 500 || strings.Contains(p.Detail, "SG") {
				t.Errorf("the client is told %+v; want status 500 and nothing of the finding", p)
			}
		})
	}
}

func TestDoctorLooksForNothingThatIsOff(t *testing.T) {
	for _, m := range maladies() {
		t.Run(m.phrase, func(t *testing.T) {
			c := &chart{}
			m.config.Doctor = c.doctor()
			m.config.Doctor.Off = []core.Finding{m.finding}
			m.config.Doctor.Strict = true
			if err := m.play(); err != nil {
				t.Errorf("got %v, want nothing", err)
			}
		})
	}
}

func TestDoctorOffNamesFindings(t *testing.T) {
	_, err := core.New(core.Config{
		Rules:  by(keyfuncs.IP, core.PerMinute(1)),
		Doctor: core.Doctor{Off: []core.Finding{core.SG101, "SG999"}},
	})
	if !errors.Is(err, core.ErrConfig) || !strings.Contains(err.Error(), `"SG999"`) {
		t.Errorf("got %v, want a fault of the configuration that names SG999", err)
	}
}

// A strict doctor's finding is no half decision: nothing is charged, and the
// request after it is decided on.
func TestStrictDoctorChargesNothing(t *testing.T) {
	g := newGateOf(t, core.Config{
		Rules: []core.Rule{
			{Name: "rule", Key: keyfuncs.Global, Limits: []core.Limit{core.PerMinute(5)}},
			core.By(keyfuncs.IP, core.PerMinute(5)),
		},
		Doctor: core.Doctor{Strict: true},
	})
	r := from("127.0.0.1:4711", "X-Forwarded-For: 198.51.100.7")
	if d, err := g.Check(r); !errors.Is(err, core.ErrDoctor) || d.Allowed {
		t.Fatalf("got %v, %v; want core.ErrDoctor", d.Allowed, err)
	}
	if got := g.remaining("global"); got != 5 {
		t.Errorf("%d remain after the finding, want 5", got)
	}
	if d := g.check(r); !d.Allowed {
		t.Error("the next request is denied, want it admitted")
	}
}

// A finding on a request that is refused or skipped for another reason is not
// lost.
func TestStrictDoctorLosesNoFinding(t *testing.T) {
	everybody := keyfuncs.ClientIP("X-Forwarded-For", keyfuncs.TrustedProxies("0.0.0.0/0"))
	t.Run("the request has no key", func(t *testing.T) {
		l := core.MustNew(core.Config{Rules: by(everybody, core.PerMinute(5)), Doctor: core.Doctor{Strict: true}})
		if _, err := l.Check(from("@")); !errors.Is(err, core.ErrDoctor) {
			t.Errorf("got %v, want the finding", err)
		}
		if _, err := l.Check(from("@")); !errors.Is(err, core.ErrNoKey) {
			t.Errorf("got %v, want a missing key the next time", err)
		}
	})
	t.Run("the request is skipped", func(t *testing.T) {
		skip := true
		l := core.MustNew(core.Config{
			Rules: by(keyfuncs.IP, core.PerMinute(5)), Doctor: core.Doctor{Strict: true},
			Skip: func(r core.Request) bool {
				_, _ = everybody(r)
				return skip
			},
		})
		if d, err := l.Check(from("198.51.100.7")); err != nil || !d.Allowed {
			t.Errorf("got %v, %v; want the request skipped", d.Allowed, err)
		}
		skip = false
		if _, err := l.Check(from("198.51.100.7")); !errors.Is(err, core.ErrDoctor) {
			t.Errorf("got %v, want the finding on the next request", err)
		}
	})
}

func TestDoctorLooksAtTheFirstRequestsOnly(t *testing.T) {
	c := &chart{}
	kinds := map[string]int{}
	key := func(r core.Request) (string, error) {
		kinds[fmt.Sprintf("%T", r)]++
		return r.Peer(), nil
	}
	l := core.MustNew(core.Config{Rules: by(key, core.PerMinute(1_000_000)), Doctor: c.doctor()})
	for range 1000 {
		_, _ = l.Check(from("198.51.100.7"))
	}
	for range 500 {
		_, _ = l.Check(from("198.51.100.7:4711"))
	}
	if got := c.codes(); got != "" {
		t.Errorf("found %s after the first 1,000 requests, want nothing", got)
	}
	if kinds["*core_test.visitor"] != 500 {
		t.Errorf("key functions were handed %v; want 500 requests as they are", kinds)
	}
}

// What a key function sees of an examined request is the request.
func TestDoctorHandsRequestsOnAsTheyAre(t *testing.T) {
	r := httptest.NewRequest(http.MethodPost, "/items/42", nil)
	r.Host, r.RemoteAddr = "api.example.com", "198.51.100.7:4711"
	r.Header.Add("X-Tag", "a")
	r.Header.Add("X-Tag", "b")
	r.AddCookie(&http.Cookie{Name: "session", Value: "s1"})
	type user struct{}
	r = r.WithContext(context.WithValue(r.Context(), user{}, "alice"))
	var seen []string
	tell := func(q core.Request) (string, error) {
		cookie, ok := q.Cookie("session")
		seen = append(seen, fmt.Sprint(q.Method(), q.Path(), q.Route(), q.Host(), q.Peer(), q.HeaderValues("X-Tag"), cookie, ok,
			q.Value(user{}), q.Context() == r.Context(), q.Native() == any(r), nethttp.Request(q) == r))
		return "key", nil
	}
	handler := nethttp.Limit(core.By(tell, core.PerMinute(2000)))(http.NotFoundHandler())
	for range 1001 {
		handler.ServeHTTP(httptest.NewRecorder(), r)
	}
	if first, last := seen[0], seen[1000]; first != last || !strings.HasSuffix(last, "true true true") {
		t.Errorf("the first request is seen as\n%s\nand one that is not examined as\n%s", first, last)
	}
}

// Requests of tests are often made of a nil core.Request and one method.
func TestDoctorSurvivesRequestsWithFewMethods(t *testing.T) {
	l := core.MustNew(core.Config{Rules: by(func(r core.Request) (string, error) { return r.Peer(), nil }, core.PerMinute(5))})
	d, err := l.Check(peerOnly{})
	if err != nil || !d.Allowed {
		t.Errorf("got %v, %v; want the request admitted", d.Allowed, err)
	}
}

type peerOnly struct{ core.Request }

func (peerOnly) Context() context.Context { return context.Background() }
func (peerOnly) Peer() string             { return "192.0.2.1" }

func TestDoctorIsSafeForConcurrentUse(t *testing.T) {
	c := &chart{}
	l := core.MustNew(core.Config{
		Rules:  by(keyfuncs.IP, core.PerMinute(1_000_000)),
		Doctor: c.doctor(),
	})
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			for range 200 {
				_, _ = l.Check(from("127.0.0.1:4711", "X-Forwarded-For: 198.51.100.7"))
				l.MountedTwice()
			}
		})
	}
	group.Wait()
	if got := c.codes(); got != "SG101 SG107" && got != "SG107 SG101" {
		t.Errorf("found %q, want SG101 and SG107 once each", got)
	}
}

// Each finding has a section in docs/doctor.md that says what the record says.
func TestDoctorsPageExplainsEachFinding(t *testing.T) {
	page, err := os.ReadFile("../docs/doctor.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range maladies() {
		c := &chart{}
		m.config.Doctor = c.doctor()
		if err := m.play(); err != nil || len(c.records) == 0 {
			t.Errorf("%s: %v, %v", m.phrase, c.records, err)
			continue
		}
		code, r := string(m.finding), c.records[0]
		_, rest, found := strings.Cut(string(page), "\n## "+code+"\n")
		section, _, _ := strings.Cut(rest, "\n## ")
		cause := strings.TrimPrefix(r["message"], "slidegate: ")
		if !found || !strings.Contains(section, "**Cause:** "+cause+".") {
			t.Errorf("the section %s does not have the cause %q", code, cause)
		}
		if !strings.Contains(section, "**Remedy:** "+r["remedy"]) {
			t.Errorf("the section %s does not have the remedy %q", code, r["remedy"])
		}
		if !strings.HasSuffix(r["see"], "/docs/doctor.md#"+strings.ToLower(code)) {
			t.Errorf("%s: the record refers to %s", code, r["see"])
		}
	}
}
