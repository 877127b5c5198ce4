package redisstore_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/redisstore"
)

// A cmd has the shape of *redis.Cmd of go-redis, and a client that of
// *redis.Client.
type cmd struct{}

func (*cmd) Result() (any, error) { return admitted, nil }

type client struct{ evals, shas int }

func (c *client) Eval(context.Context, string, []string, ...any) *cmd {
	c.evals++
	return &cmd{}
}

func (c *client) EvalSha(context.Context, string, []string, ...any) *cmd {
	c.shas++
	return &cmd{}
}

// A universal is an interface of more methods, as redis.UniversalClient is.
type universal interface {
	Eval(ctx context.Context, script string, keys []string, args ...any) *cmd
	EvalSha(ctx context.Context, sha1 string, keys []string, args ...any) *cmd
	Close() error
}

func (c *client) Close() error { return nil }

// admitted is the reply for an admitted request under one limit.
var admitted = []any{int64(1_800_000_000_000_000), int64(15), int64(4), int64(1000)}

func oneAsk() []core.Ask {
	return []core.Ask{{Rule: "r", Key: "k", Cost: 1, Limits: []core.Limit{core.PerMinute(5).Named("m")}, States: make([]core.State, 1)}}
}

func TestNewTakesClientsByTheirShape(t *testing.T) {
	c := &client{}
	var u universal = c
	for phrase, s := range map[string]*redisstore.Store{
		"a pointer": redisstore.New(c), "an interface": redisstore.New(u),
		"a function": redisstore.New(redisstore.Func(func(context.Context, string, string, []string, []string) (any, error) { return admitted, nil })),
	} {
		asks := oneAsk()
		if _, err := s.Decide(context.Background(), asks); err != nil || asks[0].States[0].Remaining != 4 {
			t.Errorf("%s: %v, %+v", phrase, err, asks[0].States)
		}
	}
	if c.shas != 2 || c.evals != 0 {
		t.Errorf("%d calls by name and %d by source, want 2 and 0", c.shas, c.evals)
	}
}

func TestNilClientsAreFaults(t *testing.T) {
	var c *client
	var u universal
	var f redisstore.Func
	for phrase, s := range map[string]*redisstore.Store{"a nil pointer": redisstore.New(c), "a nil interface": redisstore.New(u), "a nil function": redisstore.New(f)} {
		if err := s.Check(nil); !errors.Is(err, core.ErrConfig) {
			t.Errorf("%s: %v, want a fault", phrase, err)
		}
	}
}

func TestScriptsAreSentInFullOnlyToServersThatDoNotKnowThem(t *testing.T) {
	var commands []string
	var source string
	knows := false
	s := redisstore.New(redisstore.Func(func(_ context.Context, command, script string, keys, args []string) (any, error) {
		commands = append(commands, command)
		switch {
		case command == "EVAL":
			knows, source = true, script
		case len(script) != 40:
			t.Errorf("EVALSHA of %q, want a digest", script)
		case !knows:
			return nil, errors.New("NOSCRIPT No matching script. Please use EVAL.")
		}
		if len(keys) != 1 || len(args) != 2 {
			t.Errorf("%s with keys %q and %d arguments", command, keys, len(args))
		}
		return admitted, nil
	}))
	for range 3 {
		if _, err := s.Decide(context.Background(), oneAsk()); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"EVALSHA", "EVAL", "EVALSHA", "EVALSHA"}; !slices.Equal(commands, want) {
		t.Errorf("commands %v, want %v", commands, want)
	}
	knows = false // SCRIPT FLUSH
	if _, err := s.Decide(context.Background(), oneAsk()); err != nil || !knows || source == "" {
		t.Errorf("after the server forgot its scripts: %v", err)
	}
}
