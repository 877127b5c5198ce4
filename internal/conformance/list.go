package conformance

import (
	"fmt"
	"strconv"
	"strings"
)

// An item is one of a list field in the form of draft 11: a name in quotes and
// parameters that are integers.
type item struct {
	name   string
	params map[string]int64
}

// parseList reads a list field. It accepts only what is canonical in RFC 9651.
func parseList(text string) ([]item, error) {
	var items []item
	for rest := text; ; {
		next, after, err := parseItem(rest)
		if err != nil {
			return nil, fmt.Errorf("%w in %q", err, text)
		}
		items = append(items, next)
		if after == "" {
			return items, nil
		}
		var found bool
		if rest, found = strings.CutPrefix(after, ", "); !found {
			return nil, fmt.Errorf("no comma and space before %q in %q", after, text)
		}
	}
}

func parseItem(text string) (item, string, error) {
	name, rest, err := parseString(text)
	it := item{name: name, params: map[string]int64{}}
	for err == nil && strings.HasPrefix(rest, ";") {
		key, after, found := strings.Cut(rest[1:], "=")
		if !found || key == "" || it.params[key] != 0 {
			return it, rest, fmt.Errorf("bad parameter at %q", rest)
		}
		end := strings.IndexAny(after+",", ";,")
		it.params[key], err = parseInteger(after[:end])
		rest = after[end:]
	}
	return it, rest, err
}

func parseString(text string) (value, rest string, err error) {
	var b strings.Builder
	for i := 1; i < len(text) && text[0] == '"'; i++ {
		switch c := text[i]; {
		case c == '"':
			return b.String(), text[i+1:], nil
		case c == '\\' && i+1 < len(text):
			i++
		case c < ' ' || c > '~':
			return "", "", fmt.Errorf("byte %#x", c)
		}
		b.WriteByte(text[i])
	}
	return "", "", fmt.Errorf("no string at %q", text)
}

// parseInteger reads an Integer of at most fifteen digits.
func parseInteger(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || len(text) > 15 || text != strconv.FormatInt(n, 10) || n < 0 {
		return 0, fmt.Errorf("bad integer %q", text)
	}
	return n, nil
}
