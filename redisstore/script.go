package redisstore

import (
	"context"
	"crypto/sha1"
	_ "embed" // the scripts
	"encoding/hex"
	"regexp"
	"strconv"
	"strings"
)

// A script is a Lua script and the name that a server knows it by.
type script struct{ source, sha string }

func newScript(parts ...string) *script {
	source := fieldNames.ReplaceAllStringFunc(strings.Join(parts, "\n"), numbered)
	sum := sha1.Sum([]byte(source))
	return &script{source, hex.EncodeToString(sum[:])}
}

// The tables of a limit and of a key, which the decide script calls l and a, have
// numbered fields: with names they would take the server three times as long.
// The source has the names, which are replaced.
var (
	fieldNames = regexp.MustCompile(`\b[al]\.[a-z]+\b`)
	fields     = map[string]int{
		"l.print": 1, "l.dry": 2, "l.smooth": 3, "l.quota": 4, "l.burst": 5, "l.w": 6, "l.n": 7, "l.span": 8,
		"l.p": 9, "l.into": 10, // the slot of the instant, and how far it lies in it
		"l.newest": 11, "l.units": 12, "l.total": 13, "l.oldest": 14, "l.list": 15,
		"l.at": 9, "l.owed": 11, "l.rest": 12, "l.changed": 13, // of a bucket instead
		"l.left": 16, "l.denied": 17, "l.wait": 18, // the answer

		"a.key": 1, "a.record": 2, "a.at": 3, "a.last": 4, "a.born": 5, "a.tail": 6, "a.new": 7, "a.ttl": 8, "a.cost": 9,
		"a.all": 10, "a.bound": 11, "a.fresh": 12, "a.next": 13, // and then the limits
	}
)

// numbered returns a field by its number.
func numbered(field string) string {
	n, ok := fields[field]
	if !ok {
		panic("redisstore: the scripts have no field " + field)
	}
	return field[:1] + "[" + strconv.Itoa(n) + "]"
}

// run runs the script by its name, and by its source on a server that does not
// know it yet, or no longer.
func (s *script) run(ctx context.Context, with evaluate, keys []string, args []any) (any, error) {
	value, err := with(ctx, commandEvalSha, s.sha, keys, args)
	if err != nil && strings.HasPrefix(err.Error(), "NOSCRIPT") {
		value, err = with(ctx, commandEval, s.source, keys, args)
	}
	return value, err
}

var (
	//go:embed lua/common.lua
	luaCommon string
	//go:embed lua/muldiv.lua
	luaMuldiv string
	//go:embed lua/single.lua
	luaSingle string
	//go:embed lua/decide.lua
	luaDecide string
	//go:embed lua/refund.lua
	luaRefund string
	//go:embed lua/reset.lua
	luaReset string
	//go:embed lua/probe.lua
	luaProbe string
)

// The scripts never change.
var (
	decideScript = newScript(luaCommon, luaSingle, luaMuldiv, luaDecide)
	refundScript = newScript(luaCommon, luaMuldiv, luaRefund)
	resetScript  = newScript(luaReset)
	probeScript  = newScript(luaProbe)
)
