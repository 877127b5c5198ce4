package core_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/slidegate/slidegate/core"
)

func TestRefundOfASkippedRequestAsksNoStore(t *testing.T) {
	l := core.MustNew(core.Config{
		Rules: []core.Rule{core.By(byNobody, core.PerHour(1))},
		Skip:  func(core.Request) bool { return true },
		Store: goneStore{},
	})
	d, err := l.Check(contextOnly{})
	if err != nil || !d.Allowed {
		t.Fatalf("Check = %v, %v; want allowed", d.Allowed, err)
	}
	if err := l.Refund(context.Background(), &d); err != nil {
		t.Errorf("Refund = %v, want nil", err)
	}
}

type contextOnly struct{ core.Request }

func (contextOnly) Context() context.Context { return context.Background() }

// goneStore fails in every call that a limiter in use makes.
type goneStore struct{ core.Store }

func (goneStore) Check([]core.Limit) error                 { return nil }
func (goneStore) Refund(context.Context, []core.Ask) error { return errors.New("gone") }

func TestWaitOfAContextThatIsDoneChargesNothing(t *testing.T) {
	l := core.MustNew(core.Config{Rules: []core.Rule{{Name: "r", Key: byNobody, Limits: []core.Limit{core.PerHour(1)}}}})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if d, err := l.Wait(ctx, "u"); !errors.Is(err, context.Canceled) || d.Allowed {
		t.Errorf("Wait = %v, %v; want a denial and context.Canceled", d.Allowed, err)
	}
	states, err := l.Peek(context.Background(), "r", "u")
	if err != nil || states[0].Remaining != 1 {
		t.Errorf("remaining = %v, %v; want 1", states, err)
	}
}

func TestAFaultyFailureOfTheConfigIsToldOnce(t *testing.T) {
	_, err := core.New(core.Config{
		Rules:   []core.Rule{core.By(byNobody, core.PerHour(1)), core.By(byNobody, core.PerHour(2))},
		Failure: 9,
	})
	if err == nil || strings.Count(err.Error(), "\n") > 0 {
		t.Errorf("New = %v, want one fault", err)
	}
}

func TestTheDoctorFindsNamedRulesThatEraseEachOthersCounts(t *testing.T) {
	for _, c := range []struct {
		phrase string
		second core.Limit
		found  bool
	}{
		{"another window", core.PerHour(3), true},
		{"another quota, as of a limiter that replaces the first", core.PerMinute(5), false},
	} {
		store := &core.Memory{}
		config := func(l core.Limit) core.Config {
			return core.Config{
				Rules:  []core.Rule{{Name: "api", Key: byNobody, Limits: []core.Limit{l}}},
				Store:  store,
				Doctor: core.Doctor{Strict: true},
			}
		}
		core.MustNew(config(core.PerMinute(3)))
		if _, err := core.New(config(c.second)); errors.Is(err, core.ErrDoctor) != c.found {
			t.Errorf("%s: %v, found should be %t", c.phrase, err, c.found)
		}
	}
}
