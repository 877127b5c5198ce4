package conformance

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/keyfuncs"
)

func doctorPlays() []scenario {
	return []scenario{
		{"the doctor sees a proxy that nobody trusts", unknownProxy},
		{"the doctor sees one limiter twice", seenTwice},
		{"the doctor sees a limiter that is made in a handler", madeInHandler},
		{"a strict doctor answers with 500", strictDoctor},
	}
}

// A journal is what the doctor logs. Servers write to it from several goroutines.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(b)
}

func (j *journal) doctor() core.Doctor {
	return core.Doctor{Logger: slog.New(slog.NewTextHandler(j, nil))}
}

// wants checks that the journal holds one finding, and its text nothing of the
// client.
func (j *journal) wants(tb testing.TB, code core.Finding) {
	tb.Helper()
	j.mu.Lock()
	defer j.mu.Unlock()
	text := j.text.String()
	if strings.Count(text, "code=") != 1 || !strings.Contains(text, "code="+string(code)) {
		tb.Errorf("the doctor says %q, want %s once", text, code)
	}
	if strings.Contains(text, "198.51.100.7") {
		tb.Errorf("the doctor tells of the client: %s", text)
	}
}

func unknownProxy(tb testing.TB, a Adapter) {
	s, j := newStage(tb), &journal{}
	s.serve(a, Setup{Group: []*core.Limiter{s.limiter(core.Config{
		Rules: []core.Rule{core.By(keyfuncs.IP, core.PerMinute(5))}, Doctor: j.doctor(),
	})}})
	for range 3 {
		s.expect(request{header: [][2]string{{"X-Forwarded-For", "198.51.100.7"}}}, "200")
	}
	j.wants(tb, core.SG101)
}

func seenTwice(tb testing.TB, a Adapter) {
	s, j := newStage(tb), &journal{}
	c := by(core.PerMinute(5))
	c.Doctor = j.doctor()
	l := []*core.Limiter{s.limiter(c)}
	s.serve(a, Setup{App: l, Group: l})
	s.expect(request{}, "200 r=4")
	s.expect(request{}, "200 r=3")
	j.wants(tb, core.SG107)
}

func madeInHandler(tb testing.TB, a Adapter) {
	s, j := newStage(tb), &journal{}
	var failed error
	s.serve(a, Setup{Handle: func(Call) Reply {
		c := by(core.PerMinute(5))
		c.Doctor = j.doctor()
		_, err := core.New(c)
		failed = errors.Join(failed, err)
		return plain(http.StatusOK, "ok\n")
	}})
	s.expect(request{path: "/open"}, "200")
	if failed != nil {
		tb.Error(failed)
	}
	j.wants(tb, core.SG108)
}

func strictDoctor(tb testing.TB, a Adapter) {
	s, j := newStage(tb), &journal{}
	strict := j.doctor()
	strict.Strict = true
	s.serve(a, Setup{Group: []*core.Limiter{s.limiter(core.Config{
		Rules: []core.Rule{core.By(keyfuncs.IP, core.PerMinute(5))}, Doctor: strict,
	})}})
	s.expect(request{header: [][2]string{{"X-Forwarded-For", "198.51.100.7"}}}, "500 none")
	s.expect(request{}, "200 r=4")
	if text := j.text.String(); text != "" {
		tb.Errorf("a strict doctor logs %q, want nothing", text)
	}
}
