//go:build unix

package verify_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/redisstore"
	"github.com/slidegate/slidegate/verify/internal/redistest"
)

// sharedQuota is what processes share, under each algorithm.
const sharedQuota = 1000

// TestEightProcessesShareOneQuota has eight processes with four callers each ask
// for more than twice a quota, all at once. Exactly the quota is admitted.
func TestEightProcessesShareOneQuota(t *testing.T) {
	server := redistest.Start(t)
	var processes []*process
	for range 8 {
		processes = append(processes, startProcess(t, server.Addr))
	}
	for _, p := range processes {
		p.begin()
	}
	limits := yearly(sharedQuota)
	totals := make([]int64, len(limits))
	for _, p := range processes {
		for i, admitted := range p.result(t, len(limits)) {
			totals[i] += admitted
		}
	}
	for i, l := range limits {
		if totals[i] != sharedQuota {
			t.Errorf("%v: %d admitted by eight processes, want exactly %d", l, totals[i], sharedQuota)
		}
	}
	noImmortalKeys(t, server, 0, limits...)
}

// yearly returns a limit of each algorithm under which nothing comes back while a
// test runs, and no boundary is near.
func yearly(quota int64) []core.Limit {
	l := core.Per(quota, 365*24*time.Hour)
	return []core.Limit{l, l.Smooth(7), l.Strict(7), l.Exact(), l.Fixed(), l.Bucket(quota)}
}

// A process is this test binary once more, running TestOneProcessOfEight.
type process struct {
	cmd   *exec.Cmd
	out   strings.Builder
	begin func() // lets it ask
}

// addrOfRedis is the variable that tells a process where Redis is.
const addrOfRedis = "SLIDEGATE_VERIFY_REDIS"

func startProcess(t *testing.T, addr string) *process {
	t.Helper()
	p := &process{cmd: exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestOneProcessOfEight$", "-test.timeout=60s")}
	p.cmd.Env = append(os.Environ(), addrOfRedis+"="+addr)
	p.cmd.Stdout, p.cmd.Stderr = &p.out, os.Stderr
	gate, err := p.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.begin = func() { _ = gate.Close() }
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// result waits for the end of a process and returns how many requests it has
// admitted under each of so many limits.
func (p *process) result(t *testing.T, limits int) []int64 {
	t.Helper()
	if err := p.cmd.Wait(); err != nil {
		t.Fatalf("a process failed: %v\n%s", err, p.out.String())
	}
	admitted := make([]int64, limits)
	for i := range admitted {
		_, line, found := strings.Cut(p.out.String(), fmt.Sprintf("limit %d admitted ", i))
		if !found {
			t.Fatalf("a process said nothing of limit %d:\n%s", i, p.out.String())
		}
		if _, err := fmt.Sscan(line, &admitted[i]); err != nil {
			t.Fatal(err)
		}
	}
	return admitted
}

// TestOneProcessOfEight is what each of the processes runs.
func TestOneProcessOfEight(t *testing.T) {
	addr := os.Getenv(addrOfRedis)
	if addr == "" {
		t.Skip("TestEightProcessesShareOneQuota runs this in processes of its own")
	}
	store := redisstore.New(newClient(t, addr), redisstore.Config{Timeout: patient})
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil { // until all are there
		t.Fatal(err)
	}
	for i, l := range yearly(sharedQuota) {
		limiter := on(t, store, core.FailClosed, core.Rule{Name: fmt.Sprint(i), Key: byHand, Limits: []core.Limit{l}})
		fmt.Printf("limit %d admitted %d\n", i, admittedOf(t, limiter, 4, 80))
	}
}

// admittedOf has so many callers ask so many times each under one key, and
// returns how often they were admitted.
func admittedOf(t *testing.T, limiter *core.Limiter, callers, times int) int64 {
	var admitted atomic.Int64
	var group sync.WaitGroup
	for range callers {
		group.Go(func() {
			for range times {
				d, err := limiter.Allow(background, "key")
				if err != nil {
					t.Error(err)
				}
				if d.Allowed {
					admitted.Add(1)
				}
			}
		})
	}
	group.Wait()
	return admitted.Load()
}
