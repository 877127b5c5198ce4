package main

import (
	"errors"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestMain lets the test binary be a server, as the program is.
func TestMain(m *testing.M) {
	if addr := os.Getenv(redisOfServer); addr != "" {
		exitOn(serve(addr))
		return
	}
	os.Exit(m.Run())
}

func TestTwoServersShareOneQuota(t *testing.T) {
	if _, err := exec.LookPath("redis-server"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("redis-server is not installed, and in CI it must be")
		}
		t.Skip("redis-server is not installed")
	}
	var out strings.Builder
	if err := run(t.Context(), &out, 400); err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`together +100 +300 +0`).MatchString(out.String()) {
		t.Errorf("want 100 admitted and 300 denied by both servers together:\n%s", out.String())
	}
}

func TestWithoutRedisItSaysWhatToInstall(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if err := run(t.Context(), &strings.Builder{}, 400); !errors.Is(err, errNoRedis) {
		t.Errorf("got %v, want %v", err, errNoRedis)
	}
}

func TestTooFewRequestsAreRefused(t *testing.T) {
	if err := run(t.Context(), &strings.Builder{}, 1); err == nil || !strings.Contains(err.Error(), "-requests 1") {
		t.Errorf("got %v, want an error that names the flag", err)
	}
}
