package redisstore

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/slidegate/slidegate/core"
)

// ErrUnavailable is a Redis that cannot be counted in at the moment: it does not
// answer in time, refuses the connection, or says that it cannot serve. The
// limiter then does what [core.Failure] says.
var ErrUnavailable = errors.New("redisstore: Redis is unavailable")

// errSilent is the cause where Redis did not answer in time.
var errSilent = errors.New("no answer in time")

// errCrowded is the cause where too many calls have not come back.
var errCrowded = errors.New("too many calls are under way")

func unavailable(cause error) error { return fmt.Errorf("%w: %w", ErrUnavailable, cause) }

// A configError is a fault that only a change of the configuration mends, here
// or on the server. It is never taken for an outage.
type configError struct{ text string }

func (e *configError) Error() string { return "redisstore: " + e.text }
func (e *configError) Unwrap() error { return core.ErrConfig }

func fault(format string, args ...any) error {
	return &configError{fmt.Sprintf(format, args...)}
}

// configCodes are the first words of error replies that no waiting ends. All
// others, and what is no reply at all, are outages: LOADING, OOM, READONLY,
// CLUSTERDOWN, MISCONF, NOREPLICAS, MASTERDOWN, TRYAGAIN, BUSY, a refused
// connection, the end of one.
var configCodes = []string{"WRONGTYPE", "NOPERM", "NOAUTH", "WRONGPASS", "NOPROTO", "CROSSSLOT", "SLIDEGATE", "ERR"}

// passingFaults are outages that are worded as ERR. Before version 7 a server
// words whatever goes wrong within a script like this.
var passingFaults = []string{
	"max number of clients", "-OOM ", "-READONLY ", "-MISCONF ", "-NOREPLICAS ", "-MASTERDOWN ", "-CLUSTERDOWN ", "-LOADING ", "-BUSY ",
}

// worded are faults that some clients, rueidis for one, tell without the ERR that
// stood before them.
var worded = regexp.MustCompile("@user_script|user executing the script|allowed from script|unknown command|max number of clients")

// classify returns what a client's error means to the store: a configError, or
// an error that wraps ErrUnavailable. A client that does not follow redirections
// cannot be used with a cluster.
func classify(err error, follows bool) error {
	text := err.Error()
	code, _, _ := strings.Cut(text, " ")
	if code != strings.ToUpper(code) && worded.MatchString(text) {
		code, text = "ERR", "ERR "+text
	}
	moved := code == "MOVED" || code == "ASK"
	passing := func(part string) bool { return strings.Contains(text, part) }
	switch {
	case moved && !follows:
		return fault("the server is part of a cluster and sent the call elsewhere (%s), which this client does not follow; use a cluster client, and set Config.Cluster unless it is of go-redis", code)
	case code == "ERR" && slices.ContainsFunc(passingFaults, passing):
	case slices.Contains(configCodes, code):
		return fault("%s%s", strings.TrimRight(text, "."), remedy(text))
	}
	return unavailable(err)
}

// remedy returns what to do about an error reply, for those that are known.
func remedy(text string) string {
	switch {
	case strings.HasPrefix(text, "NOPERM"), strings.Contains(text, "-NOPERM"), strings.Contains(text, "user executing the script"):
		return "; the user needs ~prefix* +eval +evalsha +get +set +del +time +pttl +pexpire"
	case strings.Contains(text, "not allowed from script"):
		return "; if this is about TIME, set Config.Now to time.Now"
	case strings.HasPrefix(text, "WRONGTYPE"), strings.HasPrefix(text, "SLIDEGATE"):
		return "; choose another Config.Prefix"
	case strings.HasPrefix(text, "CROSSSLOT"):
		return "; set Config.Cluster"
	}
	return ""
}

// isCrossSlot reports whether a server has refused keys of different slots.
func isCrossSlot(err error) bool {
	var fault *configError
	return errors.As(err, &fault) && strings.HasPrefix(fault.text, "CROSSSLOT")
}
