package core

import "context"

type decisionKey struct{}

// WithDecision returns a context that carries a decision, for adapters that
// were asked to expose it.
func WithDecision(ctx context.Context, d Decision) context.Context {
	return context.WithValue(ctx, decisionKey{}, d)
}

// DecisionFrom returns the decision that a context carries: that of the
// innermost limiter that exposes it.
func DecisionFrom(ctx context.Context) (d Decision, ok bool) {
	d, ok = ctx.Value(decisionKey{}).(Decision)
	return d, ok
}
