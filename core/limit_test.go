package core_test

import (
	"encoding/json"
	"errors"
	"flag"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/slidegate/slidegate/core"
)

func TestParseLimitReadsWhatPeopleWrite(t *testing.T) {
	for _, c := range []struct {
		text string
		want core.Limit
	}{
		{"100/minute", core.PerMinute(100)},
		{"10/s", core.PerSecond(10)},
		{"10/sec", core.PerSecond(10)},
		{"10/second", core.PerSecond(10)},
		{"5/m", core.PerMinute(5)},
		{"5/min", core.PerMinute(5)},
		{"5/h", core.PerHour(5)},
		{"5/hour", core.PerHour(5)},
		{"5/d", core.PerDay(5)},
		{"5/day", core.PerDay(5)},
		{"1000 per hour", core.PerHour(1000)},
		{"5/15m", core.Per(5, 15*time.Minute)},
		{"5 per 1h30m", core.Per(5, 90*time.Minute)},
		{"20/7d", core.Per(20, 7*24*time.Hour)},
		{"2/500ms", core.Per(2, 500*time.Millisecond)},
		{"2/1.5s", core.Per(2, 1500*time.Millisecond)},
		{"  3 / second  ", core.PerSecond(3)},
		{"0/minute", core.PerMinute(0)},
		{"999999999999999/3653d", core.Per(core.MaxQuota, core.MaxWindow)},
		{"5/hour smooth(10)", core.PerHour(5).Smooth(10)},
		{"5/hour strict(60)", core.PerHour(5).Strict(60)},
		{"5/hour exact", core.PerHour(5).Exact()},
		{"5/hour fixed", core.PerHour(5).Fixed()},
		{"5/hour bucket(7)", core.PerHour(5).Bucket(7)},
		{"5/hour dry-run", core.PerHour(5).DryRun()},
		{`5/hour "plan"`, core.PerHour(5).Named("plan")},
		{`5/hour   "a \"b\" \\ per day"  dry-run   exact`, core.PerHour(5).Exact().Named(`a "b" \ per day`).DryRun()},
		{`5 per hour "a/b"`, core.PerHour(5).Named("a/b")},
	} {
		if got, err := core.ParseLimit(c.text); err != nil || got != c.want {
			t.Errorf("ParseLimit(%q) = %v, %v, want %v", c.text, got, err, c.want)
		}
	}
}

func TestParseLimitSaysWhatIsWrong(t *testing.T) {
	for _, c := range []struct{ text, says string }{
		{"", "quota/window"},
		{"100", "quota/window"},
		{"100 minute", "quota/window"},
		{"per minute", "quota/window"},
		{"/minute", `quota ""`},
		{"ten/minute", `quota "ten"`},
		{"+1/minute", `quota "+1"`},
		{"1.5/minute", `quota "1.5"`},
		{"1e3/minute", `quota "1e3"`},
		{"99999999999999999999/minute", "up to 999999999999999"},
		{"1000000000000000/minute", "from 0 (always denied) to 999999999999999"},
		{"-1/minute", "quota -1"},
		{"5/", `window ""`},
		{"5/fortnight", `window "fortnight"`},
		{"5/minutes", `window "minutes"`},
		{"5/-1m", "window -1m"},
		{"5/0s", "from 1ms"},
		{"5/999us", "from 1ms"},
		{"5/3654d", "ten years"},
		{"5/99999d", "window"},
		{"5/hour sloppy", "sloppy"},
		{"5/hour strict", "strict(slots)"},
		{"5/hour exact(3)", "exact"},
		{"5/hour strict(", "strict(60)"},
		{"5/hour strict(x)", "strict(60)"},
		{"5/hour strict(60", "strict(60)"},
		{"5/hour strict(0)", "from 1 to 1000"},
		{"5/hour smooth(1001)", "from 1 to 1000"},
		{"5/hour bucket(0)", "from 1 to"},
		{"5/hour exact strict(60)", "another algorithm"},
		{`5/hour "a" "b"`, "two names"},
		{`5/hour "a`, "closing quote"},
		{`5/hour "a\`, "closing quote"},
		{`5/hour ""`, "empty"},
		{"5/hour \"\u00e4\"", "printable ASCII"},
		{"10001/hour exact", "at most 10000"},
		{"1/3653d bucket(11)", "hundred years"},
	} {
		l, err := core.ParseLimit(c.text)
		if !errors.Is(err, core.ErrConfig) || l != (core.Limit{}) {
			t.Errorf("ParseLimit(%q) = %v, %v, want the zero Limit and ErrConfig", c.text, l, err)
			continue
		}
		if !strings.Contains(err.Error(), c.says) {
			t.Errorf("ParseLimit(%q): %q does not say %q", c.text, err, c.says)
		}
	}
}

func TestLimitStringComesBackEqual(t *testing.T) {
	for _, c := range []struct {
		limit core.Limit
		want  string
	}{
		{core.PerSecond(1), "1/second"},
		{core.PerMinute(100), "100/minute"},
		{core.PerHour(0), "0/hour"},
		{core.PerDay(7), "7/day"},
		{core.Per(5, 7*24*time.Hour), "5/7d"},
		{core.Per(5, 36*time.Hour), "5/36h"},
		{core.Per(5, 90*time.Minute), "5/1h30m"},
		{core.Per(5, 10*time.Minute), "5/10m"},
		{core.Per(5, 100*time.Second), "5/1m40s"},
		{core.Per(5, 2*time.Hour+5*time.Second), "5/2h0m5s"},
		{core.Per(5, time.Millisecond), "5/1ms"},
		{core.Per(5, 1500*time.Microsecond), "5/1.5ms"},
		{core.Per(5, time.Second+1), "5/1.000000001s"},
		{core.PerMinute(5).Smooth(1), "5/minute"},
		{core.PerMinute(5).Smooth(2), "5/minute smooth(2)"},
		{core.PerMinute(5).Strict(1), "5/minute strict(1)"},
		{core.PerMinute(5).Exact(), "5/minute exact"},
		{core.PerMinute(5).Fixed(), "5/minute fixed"},
		{core.PerMinute(5).Bucket(9), "5/minute bucket(9)"},
		{core.PerMinute(5).DryRun().Named(`say "hi" \o/`).Exact(), `5/minute exact "say \"hi\" \\o/" dry-run`},
	} {
		if got := c.limit.String(); got != c.want {
			t.Errorf("String() = %q, want %q", got, c.want)
		}
		if back, err := core.ParseLimit(c.want); err != nil || back != c.limit {
			t.Errorf("ParseLimit(%q) = %v, %v, want what it was made from", c.want, back, err)
		}
		text, err := c.limit.MarshalText()
		if err != nil || string(text) != c.want {
			t.Errorf("MarshalText() = %q, %v, want %q", text, err, c.want)
		}
	}
}

func TestLimitsGoThroughJSONAndFlags(t *testing.T) {
	type config struct{ Limits []core.Limit }
	want := config{[]core.Limit{core.PerMinute(5), core.PerHour(9).Exact().Named("slow")}}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got config
	if err := json.Unmarshal(text, &got); err != nil || got.Limits[0] != want.Limits[0] || got.Limits[1] != want.Limits[1] {
		t.Errorf("%s came back as %v, %v", text, got, err)
	}
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	l := core.PerSecond(1)
	flags.TextVar(&l, "limit", core.PerMinute(1), "")
	if err := flags.Parse([]string{"-limit", "7/day strict(24)"}); err != nil || l != core.PerDay(7).Strict(24) {
		t.Errorf("a flag gave %v, %v", l, err)
	}
	if err := l.UnmarshalText([]byte("nonsense")); err == nil || l != core.PerDay(7).Strict(24) {
		t.Errorf("a text that is none left %v, %v, want the limit as it was and an error", l, err)
	}
	if text, err := core.PerMinute(-1).MarshalText(); err == nil || text != nil {
		t.Errorf("MarshalText of a limit that is not valid = %q, %v", text, err)
	}
}

func TestMustParseLimitPanicsWithTheError(t *testing.T) {
	if got := core.MustParseLimit("3/second"); got != core.PerSecond(3) {
		t.Errorf("MustParseLimit = %v", got)
	}
	defer func() {
		if err, ok := recover().(error); !ok || !errors.Is(err, core.ErrConfig) {
			t.Errorf("it panicked with %v, want an ErrConfig", err)
		}
	}()
	core.MustParseLimit("3")
}

func TestLimitBounds(t *testing.T) {
	minute := func(quota int64) core.Limit { return core.PerMinute(quota) }
	for _, c := range []struct {
		phrase string
		limit  core.Limit
		valid  bool
	}{
		{"a quota of 0 denies on purpose", minute(0), true},
		{"the largest quota", minute(999_999_999_999_999), true},
		{"one more", minute(1_000_000_000_000_000), false},
		{"a negative quota", minute(-1), false},
		{"the most negative quota", minute(math.MinInt64), false},
		{"the shortest window", core.Per(1, time.Millisecond), true},
		{"a shorter one", core.Per(1, time.Millisecond-1), false},
		{"no window", core.Per(1, 0), false},
		{"a negative window", core.Per(1, -time.Minute), false},
		{"ten years", core.Per(1, 3653*24*time.Hour), true},
		{"more than ten years", core.Per(1, 3653*24*time.Hour+1), false},
		{"the zero Limit", core.Limit{}, false},
		{"a thousand slots", minute(1).Smooth(1000), true},
		{"more slots", minute(1).Smooth(1001), false},
		{"no slots", minute(1).Strict(0), false},
		{"a negative number of slots", minute(1).Strict(-1), false},
		{"the largest log", minute(10_000).Exact(), true},
		{"a larger one", minute(10_001).Exact(), false},
		{"the smallest burst", minute(1).Bucket(1), true},
		{"no burst", minute(1).Bucket(0), false},
		{"the largest burst", core.Per(core.MaxQuota, core.MaxWindow).Bucket(core.MaxQuota), true},
		{"a larger one", minute(core.MaxQuota).Bucket(core.MaxQuota + 1), false},
		{"a bucket of quota 0", minute(0).Bucket(5), true},
		{"a bucket that fills in a hundred years", core.Per(1, core.MaxWindow).Bucket(10), true},
		{"a slower one", core.Per(1, core.MaxWindow).Bucket(11), false},
		{"a product beyond 64 bits that fills in time", core.Per(core.MaxQuota, core.MaxWindow).Bucket(10), true},
		{"a printable name", minute(1).Named(" ~"), true},
		{"a name with a tab", minute(1).Named("a\tb"), false},
		{"a name with DEL", minute(1).Named("\x7f"), false},
		{"a name that is not ASCII", minute(1).Named("läng"), false},
	} {
		err := c.limit.Validate()
		if (err == nil) != c.valid {
			t.Errorf("%s: Validate() = %v, want valid: %t", c.phrase, err, c.valid)
		}
		if err != nil && !errors.Is(err, core.ErrConfig) {
			t.Errorf("%s: %v is not an ErrConfig", c.phrase, err)
		}
	}
}

func TestValidateReportsAllFaultsAtOnce(t *testing.T) {
	err := core.Per(-3, time.Microsecond).Strict(0).Named("\n").Validate()
	for _, want := range []string{"quota -3", "window 1µs", "strict(0)", `name "\n"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not name %s", err, want)
		}
	}
}

func TestLimitMethodsGiveChangedCopies(t *testing.T) {
	l := core.PerMinute(5)
	changed := l.Named("n").Strict(7).DryRun()
	if l != core.PerMinute(5) {
		t.Errorf("the limit itself became %v", l)
	}
	if changed.Name() != "n" || changed.Quota() != 5 || changed.Window() != time.Minute ||
		changed.Algorithm() != core.Strict || changed.Slots() != 7 || !changed.IsDryRun() || changed.Burst() != 5 {
		t.Errorf("the copy is %v", changed)
	}
	for _, c := range []struct {
		limit core.Limit
		slots int
		burst int64
		word  string
	}{
		{l, 1, 5, "smooth"}, {l.Smooth(9), 9, 5, "smooth"}, {l.Strict(60), 60, 5, "strict"},
		{l.Exact(), 0, 5, "exact"}, {l.Fixed(), 1, 5, "fixed"}, {l.Bucket(8), 0, 8, "bucket"},
		{core.PerMinute(0).Bucket(8), 0, 0, "bucket"}, {l.Bucket(8).Fixed(), 1, 5, "fixed"},
	} {
		if c.limit.Slots() != c.slots || c.limit.Burst() != c.burst || c.limit.Algorithm().String() != c.word {
			t.Errorf("%v: %d slots, burst %d, %v, want %d, %d and %s",
				c.limit, c.limit.Slots(), c.limit.Burst(), c.limit.Algorithm(), c.slots, c.burst, c.word)
		}
	}
	if got := core.Algorithm(200).String(); got != "Algorithm(200)" {
		t.Errorf("an algorithm that is none is called %q", got)
	}
}

func TestSameCountsIsWhereCountsMeanTheSame(t *testing.T) {
	l := core.PerMinute(5).Named("n")
	for _, c := range []struct {
		phrase string
		a, b   core.Limit
		want   bool
	}{
		{"itself", l, l, true},
		{"another quota", l, core.PerMinute(6).Named("n"), true},
		{"as a dry run", l, l.DryRun(), true},
		{"another burst", l.Bucket(3), l.Bucket(4), true},
		{"another name", l, l.Named("m"), false},
		{"another window", l, core.PerHour(5).Named("n"), false},
		{"another algorithm", l, l.Fixed(), false},
		{"other slots", l, l.Smooth(2), false},
		{"slots and a bucket", l.Strict(3), l.Bucket(3), false},
	} {
		if got := c.a.SameCounts(c.b); got != c.want {
			t.Errorf("%s: %v and %v: %t, want %t", c.phrase, c.a, c.b, got, c.want)
		}
		if got := c.b.SameCounts(c.a); got != c.want {
			t.Errorf("%s, the other way round: %t, want %t", c.phrase, got, c.want)
		}
	}
}
