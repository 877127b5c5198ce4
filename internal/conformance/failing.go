package conformance

import (
	"context"
	"errors"
	"time"

	"github.com/slidegate/slidegate/core"
)

var errDown = errors.New("connection refused at a secret address")

// A downStore is a store that has failed.
type downStore struct{}

var _ core.Store = downStore{}

func (downStore) Check([]core.Limit) error { return nil }
func (downStore) Decide(context.Context, []core.Ask) (time.Time, error) {
	return time.Time{}, errDown
}
func (downStore) Peek(context.Context, *core.Ask) (time.Time, error) { return time.Time{}, errDown }
func (downStore) Reset(context.Context, string, string) error        { return errDown }
func (downStore) Refund(context.Context, []core.Ask) error           { return errDown }

// failing is a rule whose functions fail as the field X-Fail says.
func failing() core.Rule {
	says := func(r core.Request, what string) bool {
		values := r.HeaderValues("X-Fail")
		return len(values) == 1 && values[0] == what
	}
	secret := errors.New("a secret of the server")
	rule := byClient(core.PerMinute(2))
	byKey := rule.Key
	rule.Name = `the "one" rule`
	rule.Key = func(r core.Request) (string, error) {
		if says(r, "key") {
			return "", secret
		}
		return byKey(r)
	}
	rule.Cost = func(r core.Request) (int64, error) {
		switch {
		case says(r, "cost"):
			return 1, secret
		case says(r, "negative cost"):
			return -1, nil
		}
		return 1, nil
	}
	rule.LimitsFor = func(r core.Request) ([]core.Limit, error) {
		switch {
		case says(r, "limits"):
			return nil, secret
		case says(r, "invalid limits"):
			return []core.Limit{core.PerMinute(-1)}, nil
		}
		return nil, nil
	}
	return rule
}

func fail(what string) request {
	return request{header: [][2]string{{"X-Fail", what}}}
}
