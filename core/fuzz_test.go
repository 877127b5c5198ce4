package core_test

import (
	"context"
	"encoding/json"
	"errors"
	"math/big"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/slidegate/slidegate/core"
)

// FuzzParseLimit: no text panics, a refused one is a fault of configuration,
// and an accepted one is a valid limit that comes back equal from every way of
// writing it.
func FuzzParseLimit(f *testing.F) {
	for _, text := range []string{
		"100/minute", "10/s", "1000 per hour", "5/15m", "20/7d", "0/d",
		`5000/hour strict(60) "plan" dry-run`, "3/1h30m0.5s exact", "1/1ms fixed",
		`999999999999999/3653d bucket(999999999999999) "a\"b\\c"`, "1/1d smooth(1000)",
		"", "/", " per ", "+1/s", "1/+1s", "-1/s", "1/s strict", "1/s bucket(0)", `1/s "`, `1/s "\`,
		"1/65535d", "1/9223372036854775807ns", "1/s smooth(1) smooth(1)", "1 per /s", "1/0.001s", "1/\x00",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		limit, err := core.ParseLimit(text)
		if err != nil {
			if !errors.Is(err, core.ErrConfig) || limit != (core.Limit{}) {
				t.Fatalf("ParseLimit(%q) = %v, %v; a fault must wrap ErrConfig and come with no limit", text, limit, err)
			}
			return
		}
		if err := limit.Validate(); err != nil {
			t.Fatalf("ParseLimit(%q) accepts what Validate refuses: %v", text, err)
		}
		if again, err := core.ParseLimit(limit.String()); again != limit {
			t.Fatalf("ParseLimit(%q) = %v, which reads back as %v, %v", text, limit, again, err)
		}
		checkMarshals(t, limit)
	})
}

func checkMarshals(t *testing.T, limit core.Limit) {
	t.Helper()
	var plain, quoted core.Limit
	text, err := limit.MarshalText()
	if err != nil || plain.UnmarshalText(text) != nil || plain != limit {
		t.Fatalf("%v marshals to %q, %v and comes back as %v", limit, text, err, plain)
	}
	document, err := json.Marshal(limit)
	if err != nil || json.Unmarshal(document, &quoted) != nil || quoted != limit {
		t.Fatalf("%v is %s in JSON, %v, and comes back as %v", limit, document, err, quoted)
	}
}

// A handClock is moved by hand. The zero one stands at the Unix epoch.
type handClock struct{ at int64 }

func (c *handClock) now() time.Time { return time.Unix(0, c.at) }

// fields is a header as SetHeaders sees one.
type fields map[string]string

func (h fields) Get(name string) string { return h[strings.ToLower(name)] }
func (h fields) Set(name, value string) { h[strings.ToLower(name)] = value }

// A headerCase is what FuzzSetHeaders makes of its arguments: a limiter, and
// decisions from it.
type headerCase struct {
	limiter *core.Limiter
	clock   handClock
	format  core.HeaderFormat
}

// FuzzSetHeaders: whatever the names, quotas and states, the fields are
// printable ASCII and well-formed, no Integer has more than fifteen digits, the
// seconds are those that are promised, and no header of others panics.
func FuzzSetHeaders(f *testing.F) {
	f.Add("burst", int64(10), int64(time.Second), byte(0), int64(1), int64(100), byte(0), []byte{0, 1, 2, 3}, "", "")
	f.Add(`a"b\c`, int64(3), int64(1500*time.Millisecond), byte(1), int64(7), int64(0), byte(4), []byte{9, 9, 200, 9}, `"burst";q=1`, "5")
	f.Add("", int64(0), int64(time.Millisecond), byte(2), int64(1), int64(1), byte(1), []byte{255}, `"minute";q=1;w=60, "minute-2";q=5`, "Wed, 21 Oct 2015 07:28:00 GMT")
	f.Add("x", int64(core.MaxQuota), int64(core.MaxWindow), byte(3), int64(1), int64(core.MaxQuota), byte(2), []byte{254, 128, 0}, `"a`, "-1")
	f.Add("b", int64(7), int64(time.Hour), byte(4), int64(90), int64(2), byte(6), []byte{80, 80, 80}, ",,\x00", "99999999999999999999")
	f.Fuzz(func(t *testing.T, name string, quota, window int64, kind byte, grain, second int64, format byte, costs []byte, garbage, retryAfter string) {
		quota, window = within(quota, 0, core.MaxQuota), within(window, int64(core.MinWindow), int64(core.MaxWindow))
		limit := limitOf(core.Per(quota, time.Duration(window)), kind, within(grain, 1, core.MaxSlots)).Named(printable(name))
		c := headerCase{format: core.HeaderFormat(format % 4), clock: handClock{at: window * 3}}
		limiter, err := core.New(core.Config{
			Rules:         []core.Rule{{Name: "one", Key: noKey, Limits: []core.Limit{limit}}, {Name: "two", Key: noKey, Limits: []core.Limit{core.PerMinute(within(second, 0, core.MaxQuota))}}},
			Headers:       c.format,
			LegacyHeaders: format&4 != 0,
			Now:           c.clock.now,
		})
		if err != nil {
			return // an exact limit of a large quota, or a bucket that takes a century to fill
		}
		c.limiter = limiter
		for _, cost := range costs[:min(len(costs), 32)] {
			d := c.decide(t, cost, limit.Burst())
			c.checkAlone(t, d)
			c.checkStacked(t, d)
			checkAmidGarbage(t, d, garbage, retryAfter)
		}
	})
}

// within folds a number into a range, most of which stays as it is.
func within(n, lo, hi int64) int64 {
	if n >= lo && n <= hi {
		return n
	}
	return lo + int64(uint64(n)%uint64(hi-lo+1))
}

// printable folds text into what a name may be.
func printable(text string) string {
	folded := []byte(text)
	for i, b := range folded {
		if b < ' ' || b > '~' {
			folded[i] = ' ' + b%('~'-' '+1)
		}
	}
	return string(folded)
}

func noKey(core.Request) (string, error) { return "", core.ErrNoKey }

// limitOf chooses an algorithm and its number.
func limitOf(l core.Limit, kind byte, grain int64) core.Limit {
	switch kind % 5 {
	case 0:
		return l.Smooth(int(grain))
	case 1:
		return l.Strict(int(grain))
	case 2:
		return l.Exact()
	case 3:
		return l.Fixed()
	}
	return l.Bucket(grain)
}

// decide makes a decision: the byte says what share of the limit it costs, 255
// more than it ever admits, and how far the clock goes before.
func (c *headerCase) decide(t *testing.T, b byte, burst int64) core.Decision {
	t.Helper()
	c.clock.at += int64(b) * int64(b) * int64(time.Millisecond)
	cost := max(1, burst*int64(b)/254)
	d, err := c.limiter.AllowN(context.Background(), cost, "key", "key")
	if err != nil && !errors.Is(err, core.ErrCostExceedsLimit) {
		t.Fatalf("AllowN(%d): %v", cost, err)
	}
	return d
}

// checkAlone checks what one limiter says in a header of its own.
func (c *headerCase) checkAlone(t *testing.T, d core.Decision) {
	t.Helper()
	h := fields{}
	d.SetHeaders(h)
	for name, value := range h {
		checkValue(t, name, value)
	}
	longest := int64(0)
	if c.format == core.HeadersDraft11 {
		longest = checkLists(t, d, h)
	} else {
		checkSingles(t, h)
		longest = wholeSeconds(d.RetryAfter)
	}
	want := ""
	if !d.Allowed && !d.Never {
		want = strconv.FormatInt(longest, 10)
	}
	if got := h.Get("Retry-After"); got != want {
		t.Fatalf("Retry-After = %q, want %q, the longest wait of the limits that denied: %v %v", got, want, d, h)
	}
}

var (
	quotedText = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	longDigits = regexp.MustCompile(`[0-9]{16}`)
)

func checkValue(t *testing.T, name, value string) {
	t.Helper()
	for i := range len(value) {
		if value[i] < ' ' || value[i] > '~' {
			t.Fatalf("%s: %q is not printable ASCII", name, value)
		}
	}
	if longDigits.MatchString(quotedText.ReplaceAllString(value, "")) {
		t.Fatalf("%s: %s has an Integer of more than fifteen digits", name, value)
	}
}

var (
	policyItem = regexp.MustCompile(`^("(?:[^"\\]|\\["\\])+");q=([0-9]+)(?:;w=([0-9]+))?$`)
	limitItem  = regexp.MustCompile(`^("(?:[^"\\]|\\["\\])+");r=([0-9]+)(?:;t=([0-9]+))?$`)
)

// checkLists checks the draft-11 Lists against the decision's states and
// returns the largest t of those that denied.
func checkLists(t *testing.T, d core.Decision, h fields) (longest int64) {
	t.Helper()
	policies, limits := items(h.Get("RateLimit-Policy")), items(h.Get("RateLimit"))
	for i, s := range d.States() {
		if i >= len(policies) || !policyItem.MatchString(policies[i]) {
			t.Fatalf("RateLimit-Policy %q has no well-formed item for limit %d, %v", policies, i, s.Limit)
		}
		if !d.Allowed && !s.Denied {
			continue
		}
		if len(limits) == 0 || !limitItem.MatchString(limits[0]) {
			t.Fatalf("RateLimit %q has no well-formed item for limit %d, %v", h.Get("RateLimit"), i, s.Limit)
		}
		seconds := checkState(t, s, limits[0])
		limits = limits[1:]
		if s.Denied {
			longest = max(longest, seconds)
		}
	}
	if len(policies) != len(d.States()) || len(limits) != 0 {
		t.Fatalf("more items than limits: %v", h)
	}
	return longest
}

// checkState checks r and t of one item and returns t.
func checkState(t *testing.T, s core.LimitState, item string) int64 {
	t.Helper()
	part := limitItem.FindStringSubmatch(item)
	if part[2] != strconv.FormatInt(s.Remaining, 10) {
		t.Fatalf("%s: r must be %d", item, s.Remaining)
	}
	if s.Never {
		if part[3] != "" {
			t.Fatalf("%s promises a wait for what can never be admitted", item)
		}
		return 0
	}
	want := max(1, wholeSeconds(s.RetryAfter))
	if !s.Denied {
		want = promisedSeconds(s)
	}
	if part[3] != strconv.FormatInt(want, 10) {
		t.Fatalf("%s: t must be %d for %+v", item, want, s)
	}
	return want
}

// promisedSeconds is t on an allowed response: the true wait for one more unit
// where nothing remains, else min(w, max(that wait, ceil(r·w/q))).
func promisedSeconds(s core.LimitState) int64 {
	if s.Remaining == 0 {
		return max(1, wholeSeconds(s.Next))
	}
	w := wholeSeconds(s.Limit.Window())
	product := new(big.Int).Mul(big.NewInt(s.Remaining), big.NewInt(w))
	product.Add(product, big.NewInt(s.Limit.Quota()-1))
	pace := product.Div(product, big.NewInt(s.Limit.Quota()))
	if pace.Cmp(big.NewInt(w)) >= 0 {
		return w
	}
	return min(w, max(wholeSeconds(s.Next), pace.Int64()))
}

func wholeSeconds(d time.Duration) int64 {
	return int64((d + time.Second - 1) / time.Second)
}

// items splits a List at the commas outside of quotes.
func items(list string) []string {
	if list == "" {
		return nil
	}
	masked := quotedText.ReplaceAllStringFunc(list, func(s string) string { return strings.Repeat("x", len(s)) })
	var all []string
	for start := 0; ; {
		next := strings.Index(masked[start:], ", ")
		if next < 0 {
			return append(all, list[start:])
		}
		all = append(all, list[start:start+next])
		start += next + 2
	}
}

// singleFields are the forms of the fields that speak of one limit.
var singleFields = map[string]*regexp.Regexp{
	"ratelimit":             regexp.MustCompile(`^limit=[0-9]+, remaining=[0-9]+, reset=[0-9]+$`),
	"ratelimit-policy":      regexp.MustCompile(`^[0-9]+;w=[0-9]+(, [0-9]+;w=[0-9]+)*$`),
	"ratelimit-limit":       regexp.MustCompile(`^[0-9]+$`),
	"ratelimit-remaining":   regexp.MustCompile(`^[0-9]+$`),
	"ratelimit-reset":       regexp.MustCompile(`^[0-9]+$`),
	"x-ratelimit-limit":     regexp.MustCompile(`^[0-9]+$`),
	"x-ratelimit-remaining": regexp.MustCompile(`^[0-9]+$`),
	"x-ratelimit-reset":     regexp.MustCompile(`^-?[0-9]+$`),
	"retry-after":           regexp.MustCompile(`^[1-9][0-9]*$`),
	"cache-control":         regexp.MustCompile(`^no-store$`),
}

func checkSingles(t *testing.T, h fields) {
	t.Helper()
	for name, value := range h {
		if form := singleFields[name]; form == nil || !form.MatchString(value) {
			t.Fatalf("%s: %q is not of the form %v", name, value, form)
		}
	}
}

// checkStacked checks that a second limiter's policies join the list of the
// first under names of their own.
func (c *headerCase) checkStacked(t *testing.T, d core.Decision) {
	t.Helper()
	if c.format != core.HeadersDraft11 {
		return
	}
	h := fields{}
	d.SetHeaders(h)
	d.SetHeaders(h)
	policies := items(h.Get("RateLimit-Policy"))
	if len(policies) != 2*len(d.States()) {
		t.Fatalf("two limiters' policies must make one list: %q", policies)
	}
	names := map[string]bool{}
	for _, item := range policies {
		part := policyItem.FindStringSubmatch(item)
		if part == nil || names[part[1]] {
			t.Fatalf("%q: item %q is not well-formed or its name is taken", policies, item)
		}
		names[part[1]] = true
	}
}

// checkAmidGarbage checks that what others left in the header does no harm, and
// that a longer Retry-After of theirs is kept.
func checkAmidGarbage(t *testing.T, d core.Decision, garbage, retryAfter string) {
	t.Helper()
	h := fields{}
	for _, name := range []string{"RateLimit", "RateLimit-Policy", "RateLimit-Remaining", "X-RateLimit-Remaining"} {
		h.Set(name, garbage)
	}
	h.Set("Retry-After", retryAfter)
	d.SetHeaders(h)
	theirs, err := strconv.ParseInt(retryAfter, 10, 64)
	if ours, _ := strconv.ParseInt(h.Get("Retry-After"), 10, 64); err == nil && ours < theirs {
		t.Fatalf("Retry-After fell from %d to %d", theirs, ours)
	}
}

// FuzzDecide: bytes choose a limit of each algorithm and then drive requests,
// clock and refunds. What every decision promises holds after every step.
func FuzzDecide(f *testing.F) {
	f.Add([]byte{31, 5, 30, 7, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 2, 9, 0, 0, 7, 0, 0})
	f.Add([]byte{1, 1, 0, 1, 0, 0, 0, 0, 7, 0, 0, 3, 200, 0, 0, 0, 5, 0, 0, 0, 7, 0, 0})
	f.Add([]byte{2, 255, 255, 255, 255, 1, 255, 1, 128, 4, 0, 1, 128, 7, 255, 4, 1, 0, 1, 0})
	f.Add([]byte{16, 3, 1, 0, 6, 0, 0, 0, 0, 2, 100, 6, 0, 1, 3, 8, 50, 0, 0, 7, 0, 0})
	f.Add([]byte{16, 1, 255, 255, 255, 15, 15, 128, 0, 1, 255, 255, 9, 0, 0, 1, 4, 4, 9, 255, 0, 9, 128, 0})
	f.Add([]byte{12, 100, 60, 59, 0, 0, 0, 4, 0, 0, 9, 6, 0, 6, 0, 7, 2, 5, 9, 0, 1})
	for seed := range uint64(200) { // so that a plain test run tries much already
		f.Add(randomScript(rand.New(rand.NewPCG(seed, 0))))
	}
	f.Fuzz(func(t *testing.T, script []byte) {
		run := newScriptRun(t, script)
		for steps := 0; len(run.script) > 0 && steps < 100; steps++ {
			run.step()
		}
	})
}

func randomScript(r *rand.Rand) []byte {
	script := make([]byte, 150)
	for i := range script {
		script[i] = byte(r.Uint32())
	}
	script[1] %= 16 // a small quota, which is soon spent
	return script
}

// A scriptRun is a limiter under test and the bytes that are still to drive it.
type scriptRun struct {
	t       *testing.T
	script  []byte
	clock   handClock
	limiter *core.Limiter
	limits  []core.Limit
	keys    []string
	window  int64
	last    *core.Decision
}

func newScriptRun(t *testing.T, script []byte) *scriptRun {
	r := &scriptRun{t: t, script: script}
	mask, quota := r.next(), r.next()
	r.window = int64(time.Millisecond) + r.next()*r.next()*r.next()*9_973
	grain := 1 + r.next()*r.next()%core.MaxSlots
	r.clock.at = r.window*(20+r.next()) + r.next()
	var rules []core.Rule
	for kind := range byte(5) {
		if mask>>kind&1 == 1 || mask&31 == 0 {
			limit := limitOf(core.Per(quota, time.Duration(r.window)), kind, grain)
			r.limits, r.keys = append(r.limits, limit), append(r.keys, "key")
			rules = append(rules, core.By(noKey, limit))
		}
	}
	limiter, err := core.New(core.Config{Rules: rules, Now: r.clock.now})
	if err != nil {
		t.Fatal(err)
	}
	r.limiter = limiter
	return r
}

// next takes a byte; there is always another.
func (r *scriptRun) next() int64 {
	if len(r.script) == 0 {
		return 0
	}
	b := r.script[0]
	r.script = r.script[1:]
	return int64(b)
}

func (r *scriptRun) step() {
	switch r.next() % 10 {
	case 0:
		r.decide(1)
	case 1:
		r.decide(1 + r.next()*r.next()/8)
	case 2:
		r.clock.at += r.next()
	case 3:
		r.clock.at += r.window / 128 * r.next()
	case 4:
		r.toBoundary(r.next())
	case 5:
		r.clock.at += r.window * r.next()
	case 6:
		r.refund()
	case 7:
		r.obey(r.decide(1 + r.next()/16))
	case 8:
		r.clock.at -= r.next()
	case 9:
		r.clock.at = (r.next() - 128) << 56 // anywhere that 64 bits reach
	}
}

// toBoundary moves to where a slot of some length begins, or the tick before.
func (r *scriptRun) toBoundary(b int64) {
	slots := max(1, int64(r.limits[b%int64(len(r.limits))].Slots()))
	slot := (r.clock.at*slots/r.window + 1 + b/16)
	r.clock.at = (slot*r.window+slots-1)/slots - b%2
}

func (r *scriptRun) decide(cost int64) (core.Decision, int64) {
	r.t.Helper()
	before := r.peek()
	d, err := r.limiter.AllowN(context.Background(), cost, r.keys...)
	if never := errors.Is(err, core.ErrCostExceedsLimit); err != nil && !never || never != d.Never {
		r.t.Fatalf("AllowN(%d) = %+v, %v", cost, d.States(), err)
	}
	after := r.peek()
	for i, s := range d.States() {
		r.checkState(s)
		if after[i].Remaining != s.Remaining || after[i].Next != s.Next {
			r.t.Fatalf("the decision says %+v, a look at the same instant %+v", s, after[i])
		}
		if room := before[i].Remaining - s.Remaining; d.Allowed && room != cost || !d.Allowed && room != 0 {
			r.t.Fatalf("a cost of %d, allowed %v, took %d from %v", cost, d.Allowed, room, s.Limit)
		}
	}
	if d.Allowed {
		r.last = &d
	}
	return d, cost
}

func (r *scriptRun) peek() []core.LimitState {
	r.t.Helper()
	var all []core.LimitState
	for i := range r.limits {
		states, err := r.limiter.Peek(context.Background(), "rule-"+strconv.Itoa(i+1), "key")
		if err != nil {
			r.t.Fatal(err)
		}
		all = append(all, states...)
	}
	return all
}

func (r *scriptRun) checkState(s core.LimitState) {
	r.t.Helper()
	burst := s.Limit.Burst()
	waits := s.RetryAfter > 0
	switch {
	case s.Remaining < 0 || s.Remaining > burst:
		r.t.Fatalf("Remaining %d is not within 0 and %d: %v", s.Remaining, burst, s.Limit)
	case s.Denied != (waits || s.Never), waits && s.Never, s.RetryAfter < 0:
		r.t.Fatalf("denied %v, never %v, but RetryAfter is %d: %v", s.Denied, s.Never, s.RetryAfter, s.Limit)
	case s.Next < 0, s.Next > 0 && s.Remaining == burst, s.Next == 0 && s.Remaining < burst:
		r.t.Fatalf("Next is %d with %d of %d remaining: %v", s.Next, s.Remaining, burst, s.Limit)
	}
}

// obey waits as long as a denial says: it still holds a nanosecond before, and
// then ends.
func (r *scriptRun) obey(d core.Decision, cost int64) {
	r.t.Helper()
	const nearTheEnd = 1 << 62 // a clock further on is taken to stand still
	if d.Allowed || d.Never || r.clock.at+int64(d.RetryAfter) > nearTheEnd || r.clock.at < -1<<59 {
		return
	}
	r.clock.at += int64(d.RetryAfter) - 1
	if early, _ := r.decide(cost); early.Allowed || early.RetryAfter != 1 {
		r.t.Fatalf("1 ns before the retry time: %+v", early.States())
	}
	r.clock.at++
	if due, _ := r.decide(cost); !due.Allowed {
		r.t.Fatalf("denied at the retry time: %+v", due.States())
	}
}

// refund gives the last admitted request back, twice: the second time nothing
// must happen.
func (r *scriptRun) refund() {
	r.t.Helper()
	if r.last == nil {
		return
	}
	before := r.peek()
	if err := r.limiter.Refund(context.Background(), r.last); err != nil {
		r.t.Fatal(err)
	}
	once := r.peek()
	if err := r.limiter.Refund(context.Background(), r.last); err != nil {
		r.t.Fatal(err)
	}
	for i, twice := range r.peek() {
		r.checkState(twice)
		if twice != once[i] || twice.Remaining < before[i].Remaining {
			r.t.Fatalf("remaining %d before a refund, %d after, %d after a second one: %v", before[i].Remaining, once[i].Remaining, twice.Remaining, twice.Limit)
		}
	}
	r.last = nil
}
