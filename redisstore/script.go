package redisstore

import (
	"context"
	"crypto/sha1"
	_ "embed" // the scripts
	"encoding/hex"
	"strings"
)

// A script is a Lua script and the name that a server knows it by.
type script struct{ source, sha string }

func newScript(parts ...string) *script {
	source := strings.Join(parts, "\n")
	sum := sha1.Sum([]byte(source))
	return &script{source, hex.EncodeToString(sum[:])}
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
	decideScript = newScript(luaCommon, luaDecide)
	refundScript = newScript(luaCommon, luaRefund)
	resetScript  = newScript(luaReset)
	probeScript  = newScript(luaProbe)
)
