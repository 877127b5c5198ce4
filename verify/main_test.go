package verify_test

import (
	"flag"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
)

// steps counts the requests, clock moves, refunds and resets of all random
// histories, and enoughSteps is how many a full run has at least.
var steps atomic.Int64

const enoughSteps = 100_000

// TestMain makes the random histories longer than rapid's own defaults, unless
// flags say otherwise, and fails a full run that tried too little.
func TestMain(m *testing.M) {
	flag.Parse()
	setDefault("rapid.checks", "800")
	setDefault("rapid.steps", "100")
	code := m.Run()
	full := !testing.Short() && flag.Lookup("test.run").Value.String() == "" && flag.Lookup("test.list").Value.String() == ""
	fmt.Printf("%d random steps\n", steps.Load())
	if full && code == 0 && steps.Load() < enoughSteps {
		fmt.Printf("a full run must have at least %d\n", enoughSteps)
		code = 1
	}
	os.Exit(code)
}

func setDefault(name, value string) {
	if f := flag.Lookup(name); f.Value.String() == f.DefValue {
		if err := f.Value.Set(value); err != nil {
			panic(err)
		}
	}
}
