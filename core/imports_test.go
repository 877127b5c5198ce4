package core_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestImports: the core stands on the standard library alone, without net/http;
// its tests on the standard library and this module.
func TestImports(t *testing.T) {
	const module = "github.com/slidegate/slidegate/"
	packages := imports(t, "{{.ImportPath}}")
	for _, forbidden := range []string{"net/http", "net"} {
		if slices.Contains(packages, forbidden) {
			t.Errorf("core depends on %s", forbidden)
		}
	}
	for _, p := range imports(t, "{{if not .Standard}}{{.ImportPath}}{{end}}") {
		if p != module+"core" {
			t.Errorf("core depends on %s", p)
		}
	}
	for _, p := range imports(t, "{{if not .Standard}}{{.ImportPath}}{{end}}", "-test") {
		if p = strings.TrimPrefix(p, "["); !strings.HasPrefix(p, module) {
			t.Errorf("core's tests depend on %s", p)
		}
	}
}

// imports returns what the package depends on, itself included, as the go
// command lists it.
func imports(t *testing.T, format string, flags ...string) []string {
	t.Helper()
	command := exec.Command("go", append(append([]string{"list", "-deps", "-f", format}, flags...), ".")...)
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%v: %v", command, err)
	}
	return strings.Fields(string(out))
}
