package redisstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/slidegate/slidegate/core"
)

func TestErrorsAreOutagesOrFaultsOfTheConfiguration(t *testing.T) {
	const outage, config = true, false
	for _, c := range []struct {
		text string
		want bool
	}{
		{"dial tcp 127.0.0.1:6379: connect: connection refused", outage},
		{"context deadline exceeded", outage},
		{"EOF", outage},
		{"redis: connection pool timeout", outage},
		{"LOADING Redis is loading the dataset in memory", outage},
		{"OOM command not allowed when used memory > 'maxmemory'. script: 12, on @user_script:9.", outage},
		{"READONLY You can't write against a read only replica. script: 12, on @user_script:9.", outage},
		{"CLUSTERDOWN Hash slot not served", outage},
		{"MASTERDOWN Link with MASTER is down", outage},
		{"MISCONF Redis is configured to save RDB snapshots", outage},
		{"NOREPLICAS Not enough good replicas to write.", outage},
		{"TRYAGAIN Multiple keys request during rehashing of slot", outage},
		{"BUSY Redis is busy running a script.", outage},
		{"UNKNOWNWORD of a later server", outage},
		{"ERR max number of clients reached", outage},
		{"ERR Error running script (call to f_1): @user_script:9: -OOM command not allowed", outage},
		{"ERR Error running script (call to f_1): @user_script:9: -READONLY You can't write", outage},

		{"WRONGTYPE Operation against a key holding the wrong kind of value", config},
		{"NOPERM User default has no permissions to run the 'evalsha' command", config},
		{"NOAUTH Authentication required.", config},
		{"WRONGPASS invalid username-password pair", config},
		{"CROSSSLOT Keys in request don't hash to the same slot", config},
		{"SLIDEGATE the key holds something else", config},
		{"ERR unknown command 'evalsha'", config},
		{"ERR This Redis command is not allowed from script", config},
		{"The user executing the script can't run this command or subcommand script: 12, on @user_script:9.", config}, // as rueidis has it
		{"unknown command 'evalsha', with args beginning with:", config},
		{"This Redis command is not allowed from script script: 12, on @user_script:9.", config},
		{"max number of clients reached", outage},
		{"Error running script (call to f_1): @user_script:9: -OOM command not allowed", outage},
		{"MOVED 3999 127.0.0.1:6381", config},
		{"ASK 3999 127.0.0.1:6381", config},
	} {
		err := classify(errors.New(c.text), false)
		if got := errors.Is(err, ErrUnavailable); got != c.want || errors.Is(err, core.ErrConfig) == got {
			t.Errorf("%q is %v, want an outage: %t", c.text, err, c.want)
		}
		if word, _, _ := strings.Cut(c.text, " "); !strings.Contains(err.Error(), word) {
			t.Errorf("%q is told as %q, want the cause in it", c.text, err)
		}
	}
}

func TestRedirectionsOfAClientThatFollowsThemAreOutages(t *testing.T) {
	if err := classify(errors.New("MOVED 3999 127.0.0.1:6381"), true); !errors.Is(err, ErrUnavailable) {
		t.Errorf("%v, want an outage: the client gave up following", err)
	}
}

func TestOutagesKeepTheirCause(t *testing.T) {
	for _, cause := range []error{io.EOF, context.DeadlineExceeded} {
		if err := classify(fmt.Errorf("read: %w", cause), false); !errors.Is(err, cause) {
			t.Errorf("%v does not wrap %v", err, cause)
		}
	}
}

func TestFaultsNameTheRemedy(t *testing.T) {
	for text, remedy := range map[string]string{
		"WRONGTYPE Operation against":                        "Config.Prefix",
		"SLIDEGATE the key holds":                            "Config.Prefix",
		"NOPERM this user has no permissions":                "+evalsha",
		"ERR The user executing the script can't run this":   "+pexpire",
		"ERR This Redis command is not allowed from script:": "Config.Now",
		"CROSSSLOT Keys in request":                          "Config.Cluster",
		"MOVED 1 127.0.0.1:1":                                "Config.Cluster",
	} {
		if err := classify(errors.New(text), false); !strings.Contains(err.Error(), remedy) {
			t.Errorf("%q: %v, want it to name %s", text, err, remedy)
		}
	}
}
