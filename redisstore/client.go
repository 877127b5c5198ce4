package redisstore

import (
	"context"
	"reflect"
)

// A Client is what a [Store] needs of a Redis client: two methods, by the shape
// that every client of go-redis v9 gives them (*redis.Client, of a single server
// or by Sentinel, *redis.ClusterClient, redis.UniversalClient). R is inferred.
// Its methods must be safe for concurrent use.
type Client[R Reply] interface {
	// Eval runs a script by its source.
	Eval(ctx context.Context, script string, keys []string, args ...any) R
	// EvalSha runs a script by the SHA-1 of its source, in hexadecimal. Where
	// the server does not know it, the error's text begins with NOSCRIPT.
	EvalSha(ctx context.Context, sha1 string, keys []string, args ...any) R
}

// A Reply is what a [Client] returns: *redis.Cmd is one. An array is a []any, an
// integer an int64, and the text of an error of the server is as it came, or
// without ERR.
type Reply interface {
	Result() (any, error)
}

// A Func is a [Client] made of a function, for clients of another shape. It runs
// one command, EVALSHA or EVAL:
//
//	command script numkeys key [key …] arg [arg …]
//
// where numkeys is len(keys), and returns what [Reply] says. With rueidis:
//
//	redisstore.Func(func(ctx context.Context, command, script string, keys, args []string) (any, error) {
//		b := client.B().Arbitrary(command, script, strconv.Itoa(len(keys)))
//		return client.Do(ctx, b.Keys(keys...).Args(args...).Build()).ToAny()
//	})
type Func func(ctx context.Context, command, script string, keys, args []string) (any, error)

// Eval implements [Client].
func (f Func) Eval(ctx context.Context, script string, keys []string, args ...any) FuncReply {
	return f.reply(ctx, commandEval, script, keys, args)
}

// EvalSha implements [Client].
func (f Func) EvalSha(ctx context.Context, sha1 string, keys []string, args ...any) FuncReply {
	return f.reply(ctx, commandEvalSha, sha1, keys, args)
}

// The names of the commands that a store uses.
const (
	commandEval    = "EVAL"
	commandEvalSha = "EVALSHA"
)

func (f Func) reply(ctx context.Context, command, script string, keys []string, args []any) FuncReply {
	texts := make([]string, len(args))
	for i, arg := range args {
		texts[i], _ = arg.(string) // a store passes strings only
	}
	value, err := f(ctx, command, script, keys, texts)
	return FuncReply{value, err}
}

// A FuncReply is the [Reply] of a [Func].
type FuncReply struct {
	value any
	err   error
}

// Result returns what the function returned.
func (r FuncReply) Result() (any, error) { return r.value, r.err }

// evaluate runs a script of one of the two commands with a client whose type is
// no longer known.
type evaluate func(ctx context.Context, command, script string, keys []string, args []any) (any, error)

func evaluateWith[R Reply](client Client[R]) evaluate {
	return func(ctx context.Context, command, script string, keys []string, args []any) (any, error) {
		if command == commandEval {
			return client.Eval(ctx, script, keys, args...).Result()
		}
		return client.EvalSha(ctx, script, keys, args...).Result()
	}
}

// isNil reports whether a client is a nil interface, pointer or function.
func isNil(client any) bool {
	v := reflect.ValueOf(client)
	return !v.IsValid() || (v.Kind() == reflect.Pointer || v.Kind() == reflect.Func) && v.IsNil()
}

// known is what can be told of a client without importing its package.
type known struct {
	cluster bool // it belongs to a Redis Cluster, or chooses a server by key itself
	obeys   bool // it returns when a deadline has passed
}

// knownOf looks at what only clients of go-redis have: methods of its cluster
// client and of its ring, and an option.
func knownOf(client any) known {
	if isNil(client) {
		return known{}
	}
	_, cluster := client.(interface{ ReloadState(context.Context) })
	_, ring := client.(interface{ SetAddrs(map[string]string) })
	return known{cluster: cluster || ring, obeys: option(client, "ContextTimeoutEnabled")}
}

// option returns a boolean field of what the method Options of a client returns
// a pointer to.
func option(client any, name string) bool {
	options := reflect.ValueOf(client).MethodByName("Options")
	if !options.IsValid() || options.Type().NumIn() != 0 || options.Type().NumOut() != 1 {
		return false
	}
	v := options.Call(nil)[0]
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return false
	}
	field := v.Elem().FieldByName(name)
	return field.IsValid() && field.Kind() == reflect.Bool && field.Bool()
}
