package conformance

import (
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/slidegate/slidegate/core"
)

// scripts returns the scenarios that are a limit, instants and answers. Most
// come twice: for the default of two counters, and for the exact log, which
// differ in when the oldest request stops counting.
func scripts() []script {
	return slices.Concat(edgeScripts(), boundaryScripts(), waitScripts(), clockScripts(), costScripts(), chainScripts())
}

func by(limits ...core.Limit) core.Config {
	return core.Config{Rules: []core.Rule{byClient(limits...)}}
}

func edgeScripts() []script {
	return []script{
		{"RL-002 the last unit is served and counted before it is told, counters", by(core.PerMinute(3)), []step{
			{at: 0, want: "200 r=2"},
			{at: 0, want: "200 r=1"},
			{at: 0, want: "200 r=0"},
			{at: 0, want: "429 r=0 retry=80", times: 2},
		}},
		{"RL-002 the last unit is served and counted before it is told, exact", by(core.PerMinute(3).Exact()), []step{
			{at: 0, want: "200 r=2"},
			{at: 0, want: "200 r=1"},
			{at: 0, want: "200 r=0"},
			{at: 0, want: "429 r=0 retry=60", times: 2},
		}},
		{"RL-003 a quota of 0 denies all and promises nothing", by(core.PerMinute(0)), []step{
			{at: 0, want: "429 r=0 t=- never", times: 3},
		}},
		{"RL-004 a large quota loses nothing to rounding", by(core.PerSecond(65535)), tenthsOfTwoSeconds()},
		{"RL-007 a window below a second, counters", by(core.Per(2, 500*time.Millisecond)), []step{
			{at: 0, want: "200 r=1"}, {at: 0.1, want: "200 r=0"}, {at: 0.2, want: "429 retry=1"}, {at: 1, want: "200 r=1"},
		}},
		{"RL-007 a window below a second, exact", by(core.Per(2, 500*time.Millisecond).Exact()), []step{
			{at: 0, want: "200 r=1"}, {at: 0.1, want: "200 r=0"}, {at: 0.2, want: "429 retry=1"}, {at: 1, want: "200 r=1"},
		}},
		{"RL-009 a long quiet time leaves the whole quota", by(core.PerDay(1_000_000)), []step{
			{at: 0, cost: "1000000", want: "200 r=0"},
			{at: 36 * 3600, cost: "500000", want: "200 r=0"},
			{at: 36 * 3600, cost: "1", want: "429 r=0 retry=1"},
			{at: 72 * 3600, cost: "1000000", want: "200 r=0"},
		}},
	}
}

// tenthsOfTwoSeconds are twenty requests: in the second second the first
// second's ten leave one by one, as the counters see it.
func tenthsOfTwoSeconds() []step {
	var steps []step
	for i := range 20 {
		remaining := max(65534-i, 65524)
		steps = append(steps, step{at: float64(i) / 10, want: "200 r=" + strconv.Itoa(remaining)})
	}
	return steps
}

func boundaryScripts() []script {
	five, ten, three := core.Per(5, 10*time.Second), core.Per(10, 10*time.Second), core.Per(3, 10*time.Second)
	five60, five180 := core.PerMinute(5), core.Per(5, 180*time.Second)
	return []script{
		{
			"RL-016 a client that keeps asking is let in again, counters", by(five),
			everySecond(0, 1, 2, 3, 4, 12, 14, 16, 18),
		},
		{
			"RL-016 a client that keeps asking is let in again, exact", by(five.Exact()),
			everySecond(0, 1, 2, 3, 4, 10, 11, 12, 13, 14),
		},
		{"RL-018 no double quota around a boundary, counters", by(five60), []step{
			{at: 59.9, want: "200", times: 5}, {at: 60.1, want: "429 retry=12", times: 5},
		}},
		{"RL-018 no double quota around a boundary, exact", by(five60.Exact()), []step{
			{at: 59.9, want: "200", times: 5}, {at: 60.1, want: "429 retry=60", times: 5},
		}},
		{"RL-020 a jump of many windows forgets, counters", by(ten), []step{
			{at: 5, want: "200", times: 10},
			{at: 5.5, want: "429 retry=6"},
			{at: 25, want: "200 r=9"},
			{at: 5_000_000, want: "200 r=9"},
		}},
		{"RL-020 a jump of many windows forgets, exact", by(ten.Exact()), []step{
			{at: 5, want: "200", times: 10},
			{at: 5.5, want: "429 retry=10"},
			{at: 25, want: "200 r=9"},
			{at: 5_000_000, want: "200 r=9"},
		}},
		{"RL-023 the window is half open, counters", by(three), slices.Concat(
			threeByTwo(), []step{
				{at: 2, client: "a", want: "429 retry=12"},
				{at: 10, client: "b", want: "429 retry=4"},
				{at: 14, client: "a", want: "200"},
			})},
		{"RL-023 the window is half open, exact", by(three.Exact()), slices.Concat(
			threeByTwo(), []step{
				{at: 2, client: "a", want: "429 retry=8"},
				{at: 9.999999999, client: "b", want: "429 retry=1"},
				{at: 10, client: "b", want: "200"},
				{at: 10, client: "a", want: "200"},
			})},
		{"RL-025 the first request after a silence is served", by(core.Per(1, 10*time.Second)), []step{
			{at: 0, want: "200 r=0"}, {at: 100, want: "200 r=0"},
		}},
		{"RL-025 the first request after a silence is served, a larger quota", by(core.Per(150, 200*time.Second)), []step{
			{at: 0, cost: "150", want: "200 r=0"}, {at: 2000, want: "200 r=149"},
		}},
		{"RL-027 each key has its own window, counters", by(five180), []step{
			{at: 0, client: "a", want: "200", times: 5},
			{at: 179, client: "b", want: "200", times: 5},
			{at: 181, client: "b", want: "429 retry=35"},
			{at: 360, client: "a", want: "200"},
		}},
		{"RL-027 each key has its own window, exact", by(five180.Exact()), []step{
			{at: 0, client: "a", want: "200", times: 5},
			{at: 179, client: "b", want: "200", times: 5},
			{at: 181, client: "b", want: "429 retry=178"},
			{at: 360, client: "a", want: "200"},
		}},
	}
}

// everySecond asks once a second for twenty seconds.
func everySecond(served ...float64) []step {
	var steps []step
	for at := range 20 {
		want := "429"
		if slices.Contains(served, float64(at)) {
			want = "200"
		}
		steps = append(steps, each(want, float64(at))...)
	}
	return steps
}

func threeByTwo() []step {
	var steps []step
	for at := range 3 {
		for _, client := range []string{"a", "b"} {
			steps = append(steps, step{at: float64(at), client: client, want: "200"})
		}
	}
	return steps
}

func waitScripts() []script {
	ten, two, one := core.PerMinute(10), core.PerMinute(2), core.PerMinute(1)
	legacy := func(l core.Limit) core.Config {
		c := by(l)
		c.LegacyHeaders = true
		return c
	}
	served := each("200", 0, 2, 4, 6, 8, 10, 12, 14, 16, 18)
	return []script{
		{
			"RL-029 the wait is the real one, counters", by(ten),
			slices.Concat(served, each("429 retry=46", 20), each("429 retry=36", 30)),
		},
		{
			"RL-029 the wait is the real one, exact", by(ten.Exact()),
			slices.Concat(served, each("429 retry=40", 20), each("429 retry=30", 30)),
		},
		{
			"RL-030 the wait is enough and no longer, counters", by(two),
			slices.Concat(each("200", 0, 10), each("429 retry=70", 20), each("429 retry=1", 89), each("200", 90)),
		},
		{
			"RL-030 the wait is enough and no longer, exact", by(two.Exact()),
			slices.Concat(each("200", 0, 10), each("429 retry=40", 20), each("429 retry=1", 59), each("200", 60)),
		},
		{
			"RL-031 the last moment of a wait is a second, counters", by(one),
			slices.Concat(each("200 r=0", 0), each("429 retry=1", 119.5), each("200", 120.5)),
		},
		{
			"RL-031 the last moment of a wait is a second, exact", by(one.Exact()),
			slices.Concat(each("200 r=0", 0), each("429 retry=1", 59.5), each("200", 60.5)),
		},
		{"RL-034 the reset is always told, counters", by(two), []step{
			{at: 0, want: "200 r=1 t=60"},
			{at: 1, want: "200 r=0 t=89"},
			{at: 2, want: "429 r=0 t=88 retry=88"},
			{at: 90, want: "200 r=0 t=30"},
		}},
		{"RL-034 the reset is always told, exact", by(two.Exact()), []step{
			{at: 0, want: "200 r=1 t=60"},
			{at: 1, want: "200 r=0 t=59"},
			{at: 2, want: "429 r=0 t=58 retry=58"},
			{at: 60, want: "200 r=0 t=1"},
		}},
		{"RL-035 waits are delays and the legacy reset an instant, counters", legacy(two), []step{
			{at: 28_800, want: "200"}, {at: 28_800, want: "200"}, {at: 28_800, want: "429 t=90 retry=90 epoch=28890"},
		}},
		{"RL-035 waits are delays and the legacy reset an instant, exact", legacy(two.Exact()), []step{
			{at: 28_800, want: "200"}, {at: 28_800, want: "200"}, {at: 28_800, want: "429 t=60 retry=60 epoch=28860"},
		}},
	}
}

func clockScripts() []script {
	limit := core.Per(3, 10*time.Second)
	steps := slices.Concat(each("200", 100, 100, 100), each("429", 99.9999, 100.1))
	return []script{
		{"RL-040 a clock that is read early frees nothing, counters", by(limit), steps},
		{"RL-040 a clock that is read early frees nothing, exact", by(limit.Exact()), steps},
		{"RL-040 a clock that is read early frees nothing, strict", by(limit.Strict(10)), steps},
		{"RL-040 a clock that is read early frees nothing, bucket", by(limit.Bucket(3)), steps},
	}
}

func costScripts() []script {
	largest := strconv.FormatInt(math.MaxInt64, 10)
	return []script{
		{"RL-045 a cost above the quota is told to be hopeless", by(core.PerMinute(5)), []step{
			{at: 0, cost: "10", want: "429 r=5 t=- never"}, {at: 0, cost: "1", want: "200 r=4"},
		}},
		{"RL-047 a cost of 0 takes nothing and tells nothing", by(core.PerMinute(2)), []step{
			{at: 0, cost: "0", want: "200 none", times: 10},
			{at: 0, want: "200 r=1"},
			{at: 0, want: "200 r=0"},
			{at: 0, want: "429 r=0"},
			{at: 0, cost: "0", want: "200 none"},
		}},
		{"RL-048 costs of 32 and 63 bits do not wrap", by(core.PerMinute(10)), []step{
			{at: 0, want: "200 r=9"},
			{at: 0, cost: largest, want: "429 r=9 never"},
			{at: 0, cost: "4294967297", want: "429 r=9 never"},
			{at: 0, cost: "9", want: "200 r=0"},
		}},
		{"RL-048 costs of 32 and 63 bits do not wrap in a bucket", by(core.PerMinute(10).Bucket(10)), []step{
			{at: 0, want: "200 r=9"},
			{at: 0, cost: largest, want: "429 r=9 never"},
			{at: 0, cost: "4294967297", want: "429 r=9 never"},
			{at: 0, cost: "9", want: "200 r=0"},
		}},
		{"RL-091 HEAD counts as one, like GET", by(core.PerMinute(3)), []step{
			{at: 0, want: "200 r=2"},
			{at: 0, method: "HEAD", want: "200 r=1"},
			{at: 0, want: "200 r=0"},
			{at: 0, method: "HEAD", want: "429 r=0 retry=80"},
		}},
	}
}

func chainScripts() []script {
	a, b := core.PerMinute(2), core.PerSecond(1)
	return []script{
		{"RL-094 a request that one limit refuses is taken from no other", by(core.PerMinute(10), core.Per(30, 30*time.Minute)), []step{
			{at: 0, times: 9, want: "200"},
			{at: 0, want: "200 r=0,20"},
			{at: 0, times: 10, want: "429"},
			{at: 120, times: 9, want: "200"},
			{at: 120, want: "200 r=0,10"},
			{at: 120, times: 10, want: "429"},
			{at: 240, times: 9, want: "200"},
			{at: 240, want: "200 r=0,0"},
			{at: 240, times: 10, want: "429"},
			{at: 360, times: 20, want: "429 r=0"},
		}},
		{"RL-095 the order of limits changes nothing, the longer first", by(a, b), []step{
			{at: 0, want: "200 r=1,0"},
			{at: 0, times: 2, want: "429 r=0"},
			{at: 5, want: "200 r=0,0"},
			{at: 5, want: "429"},
		}},
		{"RL-095 the order of limits changes nothing, the shorter first", by(b, a), []step{
			{at: 0, want: "200 r=0,1"},
			{at: 0, times: 2, want: "429 r=0"},
			{at: 5, want: "200 r=0,0"},
			{at: 5, want: "429"},
		}},
		{
			"RL-095 the order of rules changes nothing, the longer first",
			core.Config{Rules: []core.Rule{byClient(a), byClient(b)}},
			[]step{
				{at: 0, want: "200 r=1,0"},
				{at: 0, times: 2, want: "429 r=0"},
				{at: 5, want: "200 r=0,0"},
				{at: 5, want: "429"},
			},
		},
		{
			"RL-095 the order of rules changes nothing, the shorter first",
			core.Config{Rules: []core.Rule{byClient(b), byClient(a)}},
			[]step{
				{at: 0, want: "200 r=0,1"},
				{at: 0, times: 2, want: "429 r=0"},
				{at: 5, want: "200 r=0,0"},
				{at: 5, want: "429"},
			},
		},
	}
}
