//go:build unix

package verify_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/redisstore"
	"github.com/slidegate/slidegate/verify/internal/redistest"
)

// TestScriptsMultiplyAndDivideExactly runs the scripts' own function on numbers
// of up to 52 bits, whose products no double holds, and on those near to which
// a rounded quotient changes.
func TestScriptsMultiplyAndDivideExactly(t *testing.T) {
	function, err := os.ReadFile("../redisstore/lua/muldiv.lua")
	if err != nil {
		t.Fatal(err)
	}
	const triples = 2000
	source := "local floor = math.floor\n" + string(function) + `
		local reply = {}
		for i = 1, #ARGV, 3 do
			local q, r = muldiv(ARGV[i] + 0, ARGV[i + 1] + 0, ARGV[i + 2] + 0)
			reply[#reply + 1], reply[#reply + 2] = q, r
		end
		return reply`
	client, r := newClient(t, redistest.Start(t).Addr), rand.New(rand.NewPCG(1, 2))
	corrected := 0
	for range 20 {
		var args []any
		var factors [][3]int64
		for range triples {
			f := triple(r)
			factors = append(factors, f)
			args = append(args, f[0], f[1], f[2])
		}
		got, err := client.Eval(background, source, nil, args...).Int64Slice()
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range factors {
			q, rest := new(big.Int).DivMod(new(big.Int).Mul(big.NewInt(f[0]), big.NewInt(f[1])), big.NewInt(f[2]), new(big.Int))
			if got[2*i] != q.Int64() || got[2*i+1] != rest.Int64() {
				t.Fatalf("%d · %d / %d is %d, rest %d; by the script %d, rest %d", f[0], f[1], f[2], q, rest, got[2*i], got[2*i+1])
			}
			if int64(float64(f[0])*float64(f[1])/float64(f[2])) != q.Int64() {
				corrected++
			}
		}
	}
	if corrected < 100 {
		t.Errorf("only %d quotients of doubles were wrong: the numbers were too easy", corrected)
	}
}

// triple returns factors and a divisor whose quotient is below 2^52.
func triple(r *rand.Rand) [3]int64 {
	for {
		a, b, d := 1+r.Int64N(1<<(1+r.IntN(51))), 1+r.Int64N(1<<(1+r.IntN(51))), 1+r.Int64N(1<<(1+r.IntN(50)))
		if r.IntN(2) == 0 { // a quotient that is whole, or almost
			q := new(big.Int).Div(new(big.Int).Mul(big.NewInt(a), big.NewInt(b)), big.NewInt(d))
			if q.IsInt64() && q.Int64() > 0 && q.Int64() < 1<<51 {
				a, b = d, q.Int64()
			}
			a = max(1, a-r.Int64N(2))
		}
		q := new(big.Int).Div(new(big.Int).Mul(big.NewInt(a), big.NewInt(b)), big.NewInt(d))
		if q.IsInt64() && q.Int64() < 1<<52 {
			return [3]int64{a, b, d}
		}
	}
}

// TestClockFarAheadIsHeldAtTheLatestInstant sets a clock to where instants and
// waits no longer add up exactly.
func TestClockFarAheadIsHeldAtTheLatestInstant(t *testing.T) {
	client := newClient(t, redistest.Start(t).Addr)
	for _, year := range []int{2140, 2255, 2500, 9999} {
		at := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
		store := redisstore.New(client, redisstore.Config{Prefix: freshPrefix(), Timeout: patient, Now: func() time.Time { return at }})
		for i, l := range []core.Limit{core.PerMinute(2), core.PerMinute(2).Smooth(7), core.PerMinute(2).Exact(), core.Per(2, core.MaxWindow).Bucket(2)} {
			a := []core.Ask{{Rule: fmt.Sprint(i), Key: "key", Cost: 2, Limits: []core.Limit{l.Named("limit")}, States: make([]core.State, 1)}}
			for _, admitted := range []bool{true, false} {
				now, err := store.Decide(background, a)
				s := a[0].States[0]
				if err != nil || s.Denied == admitted || s.Remaining != 0 || s.Next <= 0 || now.Year() > 2134 {
					t.Errorf("%v in %d: at %v %+v, %v; want admitted: %t", l, year, now, s, err, admitted)
				}
			}
		}
	}
}
