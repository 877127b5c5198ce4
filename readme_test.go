package slidegate_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every paragraph of a Go snippet in the README stands, line by line, in a file
// that is compiled and tested.
func TestReadmeSnippetsAreCompiledCode(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	sources := goSources(t)
	blocks := fenced(string(readme), "```go\n")
	if len(blocks) == 0 {
		t.Fatal("README.md has no Go snippet")
	}
	for _, block := range strings.Split(strings.Join(blocks, "\n"), "\n\n") {
		found := false
		for _, source := range sources {
			found = found || strings.Contains(source, unindented(block))
		}
		if !found {
			t.Errorf("no Go file contains this snippet of README.md:\n%s", block)
		}
	}
}

// fenced returns the blocks of a Markdown text that begin with a fence.
func fenced(text, fence string) []string {
	var blocks []string
	for {
		_, rest, ok := strings.Cut(text, fence)
		if !ok {
			return blocks
		}
		block, after, _ := strings.Cut(rest, "```")
		blocks, text = append(blocks, block), after
	}
}

func goSources(t *testing.T) []string {
	t.Helper()
	var sources []string
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		source, err := os.ReadFile(path)
		sources = append(sources, unindented(string(source)))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return sources
}

func unindented(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimLeft(line, "\t ")
	}
	return strings.Join(lines, "\n")
}
