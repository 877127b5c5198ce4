package core

// A Rule is one key function and the limits that share its keys. [By] makes the
// usual one. The zero Rule is not valid: it needs Key, and Limits or LimitsFor.
type Rule struct {
	// Name calls the rule in errors, events and stores: printable ASCII,
	// unique in a limiter. Empty means rule-1, rule-2, … by its place. A store
	// keeps counts under the name and the key: renaming a rule starts it
	// afresh.
	Name string
	// Key gives the key of a request.
	Key KeyFunc
	// Limits are checked together: a request is charged to all or to none.
	Limits []Limit
	// LimitsFor, if set, gives the limits of a request, such as a plan for
	// each customer. Where it gives none, Limits stand; where there are none
	// either, the rule is left out for the request. Counts are kept across a
	// change of limits where [Limit.SameCounts] holds; a limit for which it does
	// not starts empty, so what the limits depend on must not be the client's to
	// choose from one request to the next. A failure is [ErrLimits].
	LimitsFor func(Request) ([]Limit, error)
	// Cost, if set, gives the units that a request takes, else 1. A cost of 0
	// leaves the rule out for the request; a failure, or a cost below 0, is
	// [ErrCost].
	Cost func(Request) (int64, error)
	// When, if set, says whether the rule applies to a request.
	When func(Request) bool
	// OnMissing says what to do with a request that has no key.
	OnMissing OnMissing
	// Failure says what to do when the store fails; zero means as the
	// limiter's Config says.
	Failure Failure
	// DryRun makes every limit of the rule a dry run, those of LimitsFor too.
	DryRun bool
}

// By returns the rule that counts requests by a key under limits.
func By(key KeyFunc, limits ...Limit) Rule {
	return Rule{Key: key, Limits: limits}
}

// OnMissing says what a rule does with a request that has no key.
type OnMissing uint8

const (
	// RefuseRequest refuses the request as a bad one (status 400).
	RefuseRequest OnMissing = iota
	// SkipRule leaves the rule out for the request, which is then not limited
	// by it: right where another rule catches such requests.
	SkipRule
)

// Failure says what happens to requests while the store fails. The zero value
// stands for the next wider setting: a rule takes its limiter's, and a limiter
// [Degrade].
type Failure uint8

const (
	_ Failure = iota
	// Degrade counts in this process until the store is back, from what this
	// process has admitted so far. Each process does so for itself: together
	// they admit at most as many times the quota as there are processes, or
	// the quota, rounded up, where a [SharedStore] tells how many share it.
	Degrade
	// FailOpen lets requests pass uncounted.
	FailOpen
	// FailClosed refuses requests with [ErrStore] (status 503).
	FailClosed
)
