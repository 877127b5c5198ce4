package core

import (
	"errors"
	"fmt"
)

// What an error of this package can be, for errors.Is. A denial is not an
// error: it is a [Decision].
var (
	// ErrConfig is every fault of a configuration that [New], [Limit.Validate]
	// and [ParseLimit] find.
	ErrConfig = errors.New("slidegate: invalid configuration")
	// ErrNoKey is returned by a [KeyFunc] that finds no key in the request, and
	// by a limiter whose rule refuses such requests.
	ErrNoKey = errors.New("slidegate: request has no key")
	// ErrKey is a key function that failed for another reason than [ErrNoKey].
	ErrKey = errors.New("slidegate: key function failed")
	// ErrCost is a cost below zero, or a failing cost function.
	ErrCost = errors.New("slidegate: invalid cost")
	// ErrLimits is a failing LimitsFor function, or limits from it that are
	// not valid.
	ErrLimits = errors.New("slidegate: invalid limits for the request")
	// ErrStore is a store that failed where the rules say to refuse then.
	ErrStore = errors.New("slidegate: store failed")
	// ErrCostExceedsLimit comes from Allow, AllowN and Wait beside a denial that
	// no wait can end: the cost is above what a limit ever admits.
	ErrCostExceedsLimit = errors.New("slidegate: cost exceeds the limit")
	// ErrMisuse is a call that the limiter's rules do not allow: with a rule
	// that it has not, with more or fewer keys than rules, or for a rule whose
	// limits depend on a request.
	ErrMisuse = errors.New("slidegate: wrong call")
)

// fault returns an error that wraps [ErrConfig].
func fault(format string, args ...any) error {
	return &configError{text: fmt.Sprintf(format, args...)}
}

// misuse returns an error that wraps [ErrMisuse].
func misuse(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrMisuse, fmt.Sprintf(format, args...))
}

// A configError keeps "invalid configuration" out of the text of each fault, so
// that many of them joined read as a list.
type configError struct{ text string }

func (e *configError) Error() string { return "slidegate: " + e.text }
func (e *configError) Unwrap() error { return ErrConfig }

// A RuleError says which rule could not be asked about a request, and why. The
// key is never in its text.
type RuleError struct {
	// Rule is the name of the rule.
	Rule string
	// Kind is ErrNoKey, ErrKey, ErrCost, ErrLimits or ErrStore.
	Kind error
	// Err is what the rule's function or the store returned; nil where Kind
	// says it all.
	Err error
}

// Error names the rule, the kind and the cause.
func (e *RuleError) Error() string {
	if e.Err == nil || e.Err == e.Kind {
		return fmt.Sprintf("%v (rule %q)", e.Kind, e.Rule)
	}
	return fmt.Sprintf("%v (rule %q): %v", e.Kind, e.Rule, e.Err)
}

// Unwrap returns the kind and the cause.
func (e *RuleError) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Err}
}
