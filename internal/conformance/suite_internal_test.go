package conformance

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/slidegate/slidegate/core"
)

// A wrong adapter has one fault.
type wrong struct {
	continues    bool // runs the handler after a denial
	opens        bool // runs the handler after an error
	adds         bool // adds fields where it should set them
	forgets      bool // does not notice that it is mounted twice
	late         bool // sets fields after the handler
	early        bool // calls OnDenied before it sets fields
	locks        bool // holds a lock while the handler runs
	hides        bool // hides what the writer can do
	asksTwice    bool // decides twice
	leavesPanics bool // does not settle after a panic
	settlesAll   bool // refunds what was denied
	exposes      bool // exposes the decision unasked
	silent       bool // leaves the body out
	trusts       bool // takes the peer from a field of the request
	spells       bool // takes the path for the route
	shortens     bool // sees one line of a field
	accepts      bool // accepts what is nil

	mu sync.Mutex
}

func TestSuiteNoticesWrongAdapters(t *testing.T) {
	for _, c := range []struct {
		fault    string
		adapter  *wrong
		scenario string
	}{
		{"runs the handler after a denial", &wrong{continues: true}, "RL-084 the handler does not run after a denial, the adapter's own answer"},
		{"runs the handler after a custom denial", &wrong{continues: true}, "RL-084 the handler does not run after a denial, an answer of OnDenied"},
		{"runs the handler after an error", &wrong{opens: true}, "golden failing functions of a rule"},
		{"adds fields where it should set them", &wrong{adds: true}, "RL-096 fields of stacked limiters stand there once"},
		{"does not notice that it is mounted twice", &wrong{forgets: true}, "RL-100 one limiter on the application and a group counts once"},
		{"sets fields after the handler", &wrong{late: true}, "RL-002 the last unit is served and counted before it is told, exact"},
		{"calls OnDenied before it sets fields", &wrong{early: true}, "golden OnDenied answers in its own words"},
		{"holds a lock while the handler runs", &wrong{locks: true}, "RL-013 a slow handler holds no other request up"},
		{"hides what the writer can do", &wrong{hides: true}, "RL-089 the first event arrives before the handler ends"},
		{"decides twice", &wrong{asksTwice: true}, "every request is observed once"},
		{"does not settle after a panic", &wrong{leavesPanics: true}, "RefundIf is told 500 where the handler panics"},
		{"refunds what was denied", &wrong{settlesAll: true}, "a denied request is not refunded"},
		{"exposes the decision unasked", &wrong{exposes: true}, "the decision is not exposed unless asked for"},
		{"leaves the body out", &wrong{silent: true}, "golden headers of draft 11"},
		{"takes the peer from a field of the request", &wrong{trusts: true}, "RL-059 header fields do not change who the client is"},
		{"takes the path for the route", &wrong{spells: true}, "RL-054 spellings that one handler serves share one bucket"},
		{"sees one line of a field", &wrong{shortens: true}, "a key function sees the request as the client sent it"},
		{"accepts what is nil", &wrong{accepts: true}, "RL-092 nil functions are faults when they are handed over"},
	} {
		t.Run(c.fault, func(t *testing.T) {
			if failures := try(t, c.scenario, (&wrong{}).adapter(), patience); len(failures) > 0 && !c.adapter.accepts {
				t.Errorf("without the fault: %q", failures)
			}
			if failures := try(t, c.scenario, c.adapter.adapter(), 300*time.Millisecond); len(failures) == 0 {
				t.Errorf("the scenario %q did not notice it", c.scenario)
			}
		})
	}
}

// A recorder keeps failures to itself.
type recorder struct {
	testing.TB
	hasty    time.Duration
	mu       sync.Mutex
	failures []string
}

func (r *recorder) patience() time.Duration { return r.hasty }

func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

func (r *recorder) Error(args ...any) { r.Errorf("%s", fmt.Sprint(args...)) }
func (r *recorder) Fatal(args ...any) { r.Fatalf("%s", fmt.Sprint(args...)) }
func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

// try plays one scenario and returns its failures.
func try(t *testing.T, name string, a Adapter, hasty time.Duration) []string {
	t.Helper()
	r := &recorder{TB: t, hasty: hasty}
	for _, sc := range scenarios() {
		if sc.name != name {
			continue
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			sc.run(r, a)
		}()
		<-done
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.failures
	}
	t.Fatalf("there is no scenario %q", name)
	return nil
}

func (a *wrong) adapter() Adapter {
	mux := Mux{Limit: a.limit, DecisionFrom: core.DecisionFrom}
	return Adapter{
		Serve: mux.Serve, UserKey: MuxUserKey(),
		GroupRoute: "/api/", ItemRoute: "/api/items/{id}",
		Spellings: []string{"/login", "/%6cogin", "/login?a"},
		NilFunctions: map[string]func(){
			"Key": func() {}, "OnDenied": func() {}, "OnError": func() {}, "RefundIf": func() {},
		},
	}
}

func (a *wrong) limit(l *core.Limiter, s Setup) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { a.serve(l, s, next, w, r) })
	}
}

func (a *wrong) serve(l *core.Limiter, s Setup, next http.Handler, w http.ResponseWriter, r *http.Request) {
	header := core.HeaderMap(w.Header())
	if l.Again(header) && !a.forgets {
		next.ServeHTTP(w, r)
		return
	}
	if a.asksTwice {
		_, _ = l.Check(view{r, a})
	}
	d, err := l.Check(view{r, a})
	if err != nil {
		a.refuse(s, w, err)
		if a.opens {
			next.ServeHTTP(w, r)
		}
		return
	}
	if !d.Allowed {
		a.deny(l, s, w, d)
		if a.continues {
			next.ServeHTTP(w, r)
		}
		return
	}
	if !a.late {
		a.set(w, d)
	}
	if a.locks {
		a.mu.Lock()
		defer a.mu.Unlock()
	}
	if s.ExposeDecision || a.exposes {
		r = r.WithContext(core.WithDecision(r.Context(), d))
	}
	a.run(l, s, next, w, r, d)
	if a.late {
		a.set(w, d)
	}
}

func (a *wrong) run(l *core.Limiter, s Setup, next http.Handler, w http.ResponseWriter, r *http.Request, d core.Decision) {
	if a.hides {
		w = struct{ http.ResponseWriter }{w}
	}
	if s.RefundIf != nil {
		defer func() {
			if p := recover(); p != nil {
				if !a.leavesPanics {
					l.Settle(context.Background(), &d, 500, s.RefundIf)
				}
				panic(p)
			}
			l.Settle(context.Background(), &d, 200, s.RefundIf)
		}()
	}
	next.ServeHTTP(w, r)
}

func (a *wrong) set(w http.ResponseWriter, d core.Decision) {
	if !a.adds {
		d.SetHeaders(core.HeaderMap(w.Header()))
		return
	}
	fresh := http.Header{}
	d.SetHeaders(core.HeaderMap(fresh))
	for name, values := range fresh {
		w.Header()[name] = append(w.Header()[name], values...)
	}
}

func (a *wrong) refuse(s Setup, w http.ResponseWriter, err error) {
	w.Header().Set("Cache-Control", "no-store")
	if s.OnError != nil {
		WriteReply(w, s.OnError(err))
		return
	}
	a.answer(w, core.ProblemOf(err))
}

func (a *wrong) deny(l *core.Limiter, s Setup, w http.ResponseWriter, d core.Decision) {
	if a.settlesAll {
		_ = l.Reset(context.Background(), "rule-1", "a")
	}
	if s.OnDenied != nil {
		if !a.early {
			a.set(w, d)
		}
		WriteReply(w, s.OnDenied(d, w.Header().Get))
		return
	}
	header := core.HeaderMap(w.Header())
	d.SetHeaders(header)
	a.answer(w, d.Problem())
}

func (a *wrong) answer(w http.ResponseWriter, p core.Problem) {
	w.Header().Set("Content-Type", core.ContentTypeProblem)
	w.WriteHeader(p.Status)
	if !a.silent {
		_, _ = w.Write(p.JSON())
	}
}

// A view is the neutral view of a request with the adapter's fault.
type view struct {
	r *http.Request
	a *wrong
}

func (v view) Context() context.Context { return v.r.Context() }
func (v view) Method() string           { return v.r.Method }
func (v view) Path() string             { return v.r.URL.Path }
func (v view) Host() string             { return v.r.Host }
func (v view) Value(key any) any        { return v.r.Context().Value(key) }
func (v view) Native() any              { return v.r }

func (v view) Peer() string {
	if forged := v.r.Header.Get("X-Forwarded-For"); v.a.trusts && forged != "" {
		return forged
	}
	return v.r.RemoteAddr
}

func (v view) Route() string {
	if v.a.spells {
		return v.r.RequestURI
	}
	return strings.TrimPrefix(v.r.Pattern, "GET ")
}

func (v view) HeaderValues(name string) []string {
	values := v.r.Header.Values(name)
	if v.a.shortens && len(values) > 1 {
		return values[:1]
	}
	return values
}

func (v view) Cookie(name string) (string, bool) {
	cookie, err := v.r.Cookie(name)
	if err != nil {
		return "", false
	}
	return cookie.Value, true
}
