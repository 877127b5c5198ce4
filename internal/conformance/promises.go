package conformance

import (
	"fmt"
	"math/big"
	"net/http"
	"strconv"
	"strings"

	"github.com/slidegate/slidegate/core"
)

// brokenPromises returns a sentence for each thing that no response may say whose
// budget fields are all by limiters.
func (r response) brokenPromises() []string {
	var broken []string
	promise := func(kept bool, format string, args ...any) {
		if !kept {
			broken = append(broken, fmt.Sprintf(format, args...))
		}
	}
	for name, values := range r.header {
		if !isBudget(name) {
			continue
		}
		promise(len(values) == 1, "%s stands there %d times: %q", name, len(values), values)
		promise(exposed(name), "%s is not in core.ExposedHeaders", name)
	}
	retry := r.header.Get(fieldRetry)
	seconds, err := strconv.Atoi(retry)
	promise(retry == "" || err == nil && seconds >= 1, "Retry-After is %q, not whole seconds of at least 1", retry)
	if r.status == http.StatusOK {
		promise(retry == "", "an allowed request is told to retry after %s", retry)
	}
	if r.status == http.StatusTooManyRequests {
		promise(r.header.Get("Cache-Control") == "no-store", "a denial may be cached")
	}
	if strings.Contains(r.header.Get(fieldPolicy), `"`) {
		broken = append(broken, r.brokenLists(seconds)...)
	}
	return broken
}

func isBudget(name string) bool {
	name = strings.ToLower(name)
	return strings.HasPrefix(name, "ratelimit") || strings.HasPrefix(name, "x-ratelimit") || name == "retry-after"
}

func exposed(name string) bool {
	return strings.Contains(", "+strings.ToLower(core.ExposedHeaders)+", ", ", "+strings.ToLower(name)+", ")
}

// brokenLists looks at the list form: what RateLimit says of each policy must
// fit the policy, and the longest wait must be the Retry-After.
func (r response) brokenLists(retry int) []string {
	policies, err := parseList(r.header.Get(fieldPolicy))
	if err != nil {
		return []string{"RateLimit-Policy is not a canonical list: " + err.Error()}
	}
	limits, err := parseList(r.header.Get(fieldLimit))
	if err != nil {
		return []string{"RateLimit is not a canonical list: " + err.Error()}
	}
	var broken []string
	named, longest := map[string]item{}, int64(0)
	for _, p := range policies {
		if _, twice := named[p.name]; twice {
			broken = append(broken, fmt.Sprintf("two policies are called %q", p.name))
		}
		named[p.name] = p
	}
	for _, l := range limits {
		p, known := named[l.name]
		if !known {
			broken = append(broken, fmt.Sprintf("no policy is called %q", l.name))
			continue
		}
		longest = max(longest, l.params["t"])
		if r.status == http.StatusOK {
			broken = append(broken, brokenPace(p, l)...)
		}
	}
	if r.status == http.StatusTooManyRequests && int64(retry) != longest && retry > 0 {
		broken = append(broken, fmt.Sprintf("Retry-After is %d, but the longest t is %d", retry, longest))
	}
	return broken
}

// brokenPace looks at an admitted request's limit: to spend what remains in t
// keeps within the quota's pace, and t is within the window. Where nothing
// remains, t is a wait, which may be longer; where more than a quota does, as in a
// bucket, t is the window.
func brokenPace(policy, limit item) []string {
	q, r, t := policy.params["q"], limit.params["r"], limit.params["t"]
	w := max(1, policy.params["w"])
	kept := t >= 1 && (r == 0 || r >= q && t == w || t <= w && product(r, w).Cmp(product(q, t)) <= 0)
	if !kept {
		return []string{fmt.Sprintf("r=%d and t=%d do not fit q=%d and w=%d", r, t, q, w)}
	}
	return nil
}

func product(a, b int64) *big.Int {
	return new(big.Int).Mul(big.NewInt(a), big.NewInt(b))
}
