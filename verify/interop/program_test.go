package interop_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// patience bounds everything here that waits for a client or a server.
const patience = time.Minute

// output returns what a program prints.
func output(ctx context.Context, program string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), "NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1")
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s%s", program, strings.Join(args, " "), err, out, &complaints)
	}
	return out, nil
}

// runScript runs a script of the folder clients and decodes what it prints.
func runScript(t *testing.T, result any, script string, args ...string) {
	t.Helper()
	need(t, "node")
	if _, err := os.Stat("node_modules"); errors.Is(err, fs.ErrNotExist) {
		lacking(t, "the clients are not installed: run npm ci in verify/interop")
	}
	out, err := output(t.Context(), "node", append([]string{filepath.Join("clients", script)}, args...)...)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out, result); err != nil {
		t.Fatalf("%s printed %q: %v", script, out, err)
	}
}

func need(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		lacking(t, "this machine has no "+program)
	}
}

// lacking skips the test on a developer's machine. In CI everything must run.
func lacking(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal(what)
	}
	t.Skip(what)
}
