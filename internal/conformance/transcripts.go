package conformance

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/keyfuncs"
)

func transcripts() []transcript {
	return slices.Concat(formatTranscripts(), answerTranscripts(), stackTranscripts(), ruleTranscripts())
}

// onGroup serves one limiter on the group.
func onGroup(c core.Config) func(*stage) Setup {
	return func(s *stage) Setup { return Setup{Group: []*core.Limiter{s.limiter(c)}} }
}

// at returns one plain request at each instant.
func at(instants ...float64) []timed {
	var all []timed
	for _, t := range instants {
		all = append(all, timed{at: t})
	}
	return all
}

// now returns requests at the instant 0.
func now(requests ...request) []timed {
	var all []timed
	for _, q := range requests {
		all = append(all, timed{request: q})
	}
	return all
}

func formatTranscripts() []transcript {
	twoLimits := by(core.PerSecond(2), core.PerMinute(3))
	with := func(format core.HeaderFormat, legacy bool, limits ...core.Limit) core.Config {
		c := by(limits...)
		c.Headers, c.LegacyHeaders = format, legacy
		return c
	}
	instants := at(0, 0, 0, 1.5, 1.5, 3.25)
	oneQuota := []core.Limit{core.PerSecond(2), core.PerMinute(2)}
	return []transcript{
		{"headers of draft 11", onGroup(twoLimits), instants},
		{"headers of draft 7", onGroup(with(core.HeadersDraft7, false, core.PerSecond(2), core.PerMinute(3))), instants},
		{"headers of draft 6", onGroup(with(core.HeadersDraft6, false, core.PerSecond(2), core.PerMinute(3))), instants},
		{"headers none", onGroup(with(core.HeadersNone, false, core.PerSecond(2), core.PerMinute(3))), instants},
		{"headers of draft 11 and legacy", onGroup(with(core.HeadersDraft11, true, core.PerSecond(2), core.PerMinute(3))), instants},
		{"headers none but legacy", onGroup(with(core.HeadersNone, true, core.PerSecond(2), core.PerMinute(3))), instants},
		{"headers of draft 7, two limits of one quota", onGroup(with(core.HeadersDraft7, false, oneQuota...)), instants},
		{"headers of draft 6, two limits of one quota", onGroup(with(core.HeadersDraft6, false, oneQuota...)), instants},
		{"a policy name with quotes", onGroup(by(core.PerMinute(1).Named(`say "hi", \o/; q=9`))), at(0, 0)},
		{"a window below a second", onGroup(by(core.Per(1, 250*time.Millisecond))), at(0, 0)},
		{"a window of no whole seconds", onGroup(by(core.Per(2, 1500*time.Millisecond))), at(0, 0, 0)},
		{
			"the largest quota and window", onGroup(by(core.Per(core.MaxQuota, core.MaxWindow))),
			now(request{}, request{cost: strconv.Itoa(core.MaxQuota - 1)}, request{}),
		},
		{"each algorithm", onGroup(by(
			core.PerMinute(3).Smooth(4).Named("smooth"), core.PerMinute(3).Strict(4).Named("strict"),
			core.PerMinute(3).Exact().Named("exact"), core.PerMinute(3).Fixed().Named("fixed"),
			core.PerMinute(3).Bucket(6).Named("bucket"),
		)), at(15, 20, 25, 30, 60, 100)},
	}
}

func answerTranscripts() []transcript {
	down := func(f core.Failure) core.Config {
		c := by(core.PerMinute(1))
		c.Store, c.Failure = downStore{}, f
		return c
	}
	two := by(core.PerMinute(2))
	return []transcript{
		{"HEAD", onGroup(by(core.PerMinute(1))), now(request{method: "HEAD"}, request{method: "HEAD"})},
		{"no key", onGroup(two), now(request{client: "-"}, request{}, request{})},
		{
			"failing functions of a rule", onGroup(core.Config{Rules: []core.Rule{failing()}}),
			now(fail("key"), fail("cost"), fail("negative cost"), fail("limits"), fail("invalid limits"), request{}),
		},
		{
			"a cost that can never be admitted", onGroup(by(core.PerMinute(2), core.PerHour(5))),
			now(request{cost: "6"}, request{cost: "2"}, request{cost: "3"}, request{}),
		},
		{"RL-114 store down, fail closed", onGroup(down(core.FailClosed)), at(0, 0, 0)},
		{"RL-114 store down, fail open", onGroup(down(core.FailOpen)), at(0, 0, 0)},
		{"OnDenied answers in its own words", func(s *stage) Setup {
			return Setup{Group: []*core.Limiter{s.limiter(two)}, OnDenied: ownDenial}
		}, at(0, 0, 0)},
		{"OnError answers in its own words", func(s *stage) Setup {
			return Setup{Group: []*core.Limiter{s.limiter(two)}, OnError: ownError}
		}, now(request{client: "-"}, request{})},
		{"statuses of the handler", func(s *stage) Setup {
			return Setup{Group: []*core.Limiter{s.limiter(by(core.PerMinute(5)))}, Handle: statusOfClient}
		}, now(request{client: "201"}, request{client: "404"}, request{client: "500"}, request{client: "503"})},
		{"POST", onGroup(two), now(request{method: "POST"}, request{method: "POST"}, request{method: "POST"})},
	}
}

// ownDenial tells what the decision and the header say by then.
func ownDenial(d core.Decision, header func(string) string) Reply {
	body := "denied by " + d.States()[0].Limit.Name() + " for " + d.RetryAfter.String() + "\n" +
		header("RateLimit-Policy") + "\n" + header("RateLimit") + "\n" + header("Retry-After") + "\n"
	return plain(http.StatusServiceUnavailable, body)
}

func ownError(err error) Reply {
	return plain(core.ProblemOf(err).Status+18, err.Error()+"\n")
}

// statusOfClient answers with the status that is the client's name.
func statusOfClient(c Call) Reply {
	status, _ := strconv.Atoi(c.Header("X-Client"))
	r := plain(status, "the handler's own words\n")
	r.Header = append(r.Header, [2]string{"Cache-Control", "private"})
	return r
}

func stackTranscripts() []transcript {
	stack := func(format core.HeaderFormat, legacy bool) func(*stage) Setup {
		return func(s *stage) Setup {
			level := func(limits ...core.Limit) []*core.Limiter {
				c := by(limits...)
				c.Headers, c.LegacyHeaders = format, legacy
				return []*core.Limiter{s.limiter(c)}
			}
			return Setup{App: level(core.PerMinute(100)), Group: level(core.PerMinute(4), core.PerHour(50)), Route: level(core.PerMinute(2))}
		}
	}
	item, hello := request{path: "/api/items/42"}, request{}
	requests := now(request{path: "/open"}, item, item, item, hello, hello)
	later := append(now(hello), timed{at: 60, request: item}, timed{at: 150, request: item})
	return []transcript{
		{"RL-096 stacked limiters, draft 11", stack(core.HeadersDraft11, false), append(requests, later...)},
		{"RL-096 stacked limiters, draft 7", stack(core.HeadersDraft7, false), append(requests, later...)},
		{"RL-096 stacked limiters, draft 6 and legacy", stack(core.HeadersDraft6, true), append(requests, later...)},
		{"RL-096 stacked limiters, no fields", stack(core.HeadersNone, false), append(requests, later...)},
		{"RL-096 outer 100 and inner 2, draft 6", func(s *stage) Setup {
			outer, inner := by(core.PerMinute(100)), by(core.PerMinute(2))
			outer.Headers, inner.Headers = core.HeadersDraft6, core.HeadersDraft6
			return Setup{App: []*core.Limiter{s.limiter(outer)}, Route: []*core.Limiter{s.limiter(inner)}}
		}, now(item, item, item)},
		{"two limiters of one quota, draft 6", oneQuotaTwice(core.HeadersDraft6), append(now(item, item), timed{at: 100, request: item})},
		{"two limiters of one quota, draft 7", oneQuotaTwice(core.HeadersDraft7), append(now(item, item), timed{at: 100, request: item})},
		{
			"the outer limiter is the tighter, draft 6 and legacy", tightOutside(core.HeadersDraft6),
			now(item, request{path: "/api/items/42", cost: "5"}),
		},
		{
			"the outer limiter is the tighter, draft 7", tightOutside(core.HeadersDraft7),
			now(item, request{path: "/api/items/42", cost: "5"}),
		},
		{"RL-100 one limiter on every level", func(s *stage) Setup {
			l := []*core.Limiter{s.limited(core.PerMinute(2))}
			return Setup{App: l, Group: l, Route: l}
		}, now(item, item, item)},
		{"RL-100 two limiters of one text", func(s *stage) Setup {
			return Setup{App: []*core.Limiter{s.limited(core.PerMinute(2))}, Group: []*core.Limiter{s.limited(core.PerMinute(2))}}
		}, now(hello, hello, hello)},
		{"fields of other middleware", func(s *stage) Setup {
			return Setup{Group: []*core.Limiter{s.limited(core.PerMinute(2))}, Preset: [][2]string{
				{"RateLimit-Policy", `"minute";q=9;w=60`}, {"RateLimit", `"minute";r=8;t=60`},
			}}
		}, at(0, 0, 0)},
		{"a longer wait of other middleware stays", waiting("7200"), at(0)},
		{"a longer wait of other middleware stays, as a date", waiting("Fri, 15 Jan 2027 12:00:00 GMT"), at(0)},
		{"a shorter wait of other middleware goes", waiting("3"), at(0)},
		{"a wait of other middleware that is none goes", waiting("soon"), at(0)},
	}
}

// oneQuotaTwice serves two limiters whose limits differ only in their windows,
// which formats with one limit cannot both list.
func oneQuotaTwice(format core.HeaderFormat) func(*stage) Setup {
	return func(s *stage) Setup {
		outer, inner := by(core.PerMinute(2)), by(core.PerHour(2))
		outer.Headers, inner.Headers = format, format
		return Setup{App: []*core.Limiter{s.limiter(outer)}, Route: []*core.Limiter{s.limiter(inner)}}
	}
}

// tightOutside serves a limiter of requests around one of units, which has more
// left even when it denies.
func tightOutside(format core.HeaderFormat) func(*stage) Setup {
	return func(s *stage) Setup {
		outer := core.Config{Rules: []core.Rule{core.By(keyfuncs.Header("X-Client"), core.PerMinute(2))}}
		inner := by(core.PerHour(5))
		outer.Headers, outer.LegacyHeaders = format, format == core.HeadersDraft6
		inner.Headers, inner.LegacyHeaders = outer.Headers, outer.LegacyHeaders
		return Setup{App: []*core.Limiter{s.limiter(outer)}, Route: []*core.Limiter{s.limiter(inner)}}
	}
}

// waiting serves a limiter whose client a has used its quota, behind middleware
// that sets a Retry-After.
func waiting(retryAfter string) func(*stage) Setup {
	return func(s *stage) Setup {
		l := s.limited(core.PerMinute(1))
		if _, err := l.Allow(context.Background(), "a"); err != nil {
			s.tb.Fatal(err)
		}
		return Setup{Group: []*core.Limiter{l}, Preset: [][2]string{{fieldRetry, retryAfter}}}
	}
}

func ruleTranscripts() []transcript {
	isPost := func(r core.Request) bool { return r.Method() == http.MethodPost }
	when := byClient(core.PerMinute(1))
	when.When = isPost
	optional := core.By(keyfuncs.Header("X-Token"), core.PerMinute(1))
	optional.OnMissing = core.SkipRule
	skip := by(core.PerMinute(1))
	skip.Skip = isPost
	plans := byClient(core.PerMinute(1))
	plans.LimitsFor = planOf
	post := request{method: "POST"}
	token := request{header: [][2]string{{"X-Token", "t"}}}
	pro := request{header: [][2]string{{"X-Plan", "pro"}}}
	return []transcript{
		{"Skip takes requests out of limiting", onGroup(skip), now(request{}, request{}, post, post)},
		{
			"When leaves a rule out", onGroup(core.Config{Rules: []core.Rule{when, byClient(core.PerHour(4))}}),
			now(request{}, post, post, request{}, request{}),
		},
		{"OnMissing leaves a rule out", onGroup(core.Config{Rules: []core.Rule{optional}}), now(request{}, token, token, request{})},
		{"DryRun denies and tells nothing", onGroup(by(core.PerMinute(1).DryRun(), core.PerHour(3))), at(0, 0, 0, 0)},
		{
			"LimitsFor gives each plan its limits and keeps the counts", onGroup(core.Config{Rules: []core.Rule{plans}}),
			now(request{}, request{}, pro, pro, request{}),
		},
		{"rules of several keys", onGroup(core.Config{Rules: []core.Rule{
			{Name: "client", Key: keyfuncs.Header("X-Client"), Limits: []core.Limit{core.PerMinute(2)}},
			{Name: "all", Key: keyfuncs.Global, Limits: []core.Limit{core.PerMinute(3), core.PerHour(100).Named("budget")}},
		}}), now(request{}, request{}, request{}, request{client: "b"}, request{client: "b"})},
	}
}

// planOf gives three a minute to clients of the plan pro.
func planOf(r core.Request) ([]core.Limit, error) {
	if values := r.HeaderValues("X-Plan"); len(values) == 1 && values[0] == "pro" {
		return []core.Limit{core.PerMinute(3)}, nil
	}
	return nil, nil
}
