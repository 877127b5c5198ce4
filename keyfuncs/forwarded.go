package keyfuncs

import "strings"

// A form is how a header names addresses.
type form uint8

const (
	lone      form = iota // X-Real-IP: one address
	list                  // X-Forwarded-For: addresses with commas between
	forwarded             // Forwarded, of RFC 7239
)

func formOf(header string) form {
	switch name := strings.ToLower(header); {
	case name == "forwarded":
		return forwarded
	case strings.HasSuffix(name, "forwarded-for"):
		return list
	}
	return lone
}

// elements are what the lines of a header list, read from the right: what a
// client wrote further left cannot change how that is read which proxies added.
type elements struct {
	form  form
	lines []string // not begun
	rest  string   // of the line that is being read
	begun bool
}

// previous returns the address in the next element to the left, and false where
// that names none, or there is no more.
func (e *elements) previous() (address, bool) {
	if e.form == lone {
		if len(e.lines) != 1 {
			return address{}, false
		}
		return parseAddress(trim(e.lines[0]))
	}
	if !e.begun {
		if len(e.lines) == 0 {
			return address{}, false
		}
		last := len(e.lines) - 1
		e.rest, e.lines, e.begun = e.lines[last], e.lines[:last], true
	}
	if e.form == list {
		return parseAddress(e.cut(strings.LastIndexByte(e.rest, ',')))
	}
	return parseForwarded(e.cut(lastComma(e.rest)))
}

// cut takes the element after a comma off the line, or all if there is none.
func (e *elements) cut(comma int) string {
	element := e.rest[comma+1:]
	if e.begun = comma >= 0; e.begun {
		e.rest = e.rest[:comma]
	}
	return trim(element)
}

func trim(text string) string { return strings.Trim(text, " \t") }

// lastComma returns the index of the last comma that is not in a quoted string,
// or -1.
func lastComma(text string) int {
	quoted := false
	for i := len(text) - 1; i >= 0; i-- {
		switch {
		case text[i] == '"':
			quoted = !quoted || escaped(text[:i])
		case text[i] == ',' && !quoted:
			return i
		}
	}
	return -1
}

// escaped reports whether what follows the text is escaped by a backslash.
func escaped(text string) bool {
	return (len(text)-len(strings.TrimRight(text, `\`)))%2 == 1
}

// parseForwarded returns the address in an element of RFC 7239 (section 4):
//
//	for="[2001:db8::1]:4711";proto=https;by=203.0.113.43
//
// It also takes what is often written though it should be quoted, such as
// for=192.0.2.1:4711, and spaces around the semicolons.
func parseForwarded(element string) (a address, ok bool) {
	found := false
	for rest := element; rest != ""; {
		var name, value string
		if name, value, rest, ok = cutPair(rest); !ok {
			return address{}, false
		}
		if strings.EqualFold(name, "for") {
			if found {
				return address{}, false // a parameter stands once in an element
			}
			found = true
			if a, ok = parseAddress(value); !ok {
				return address{}, false
			}
		}
	}
	return a, found
}

// cutPair takes the first pair of a name and a value off an element. An empty
// pair is one without a name.
func cutPair(text string) (name, value, rest string, ok bool) {
	text = strings.TrimLeft(text, " \t")
	if text == "" || text[0] == ';' {
		return "", "", text[min(1, len(text)):], true
	}
	name, value, found := strings.Cut(text, "=")
	if !found || !isToken(name) {
		return "", "", "", false
	}
	if strings.HasPrefix(value, `"`) {
		value, rest, ok = cutQuoted(value[1:])
		rest = strings.TrimLeft(rest, " \t")
		if !ok || rest != "" && rest[0] != ';' {
			return "", "", "", false
		}
		return name, value, rest[min(1, len(rest)):], true
	}
	value, rest, _ = strings.Cut(value, ";")
	value = trim(value)
	return name, value, rest, value != "" && !strings.ContainsAny(value, "\" \t")
}

// isToken reports whether a text is a token of RFC 9110 (section 5.6.2), as the
// names of headers and of parameters are.
func isToken(text string) bool {
	for i := range len(text) {
		c := text[i]
		if c <= ' ' || c > '~' || strings.IndexByte(`()<>@,;:\"/[]?={}`, c) >= 0 {
			return false
		}
	}
	return text != ""
}

// cutQuoted takes a quoted string, whose first quote is off already.
func cutQuoted(text string) (value, rest string, ok bool) {
	for i := range len(text) {
		switch text[i] {
		case '\\':
			return cutEscaped(text, i)
		case '"':
			return text[:i], text[i+1:], true
		}
	}
	return "", "", false
}

// cutEscaped is cutQuoted for a string that has its first backslash at an index.
func cutEscaped(text string, backslash int) (value, rest string, ok bool) {
	var b strings.Builder
	b.WriteString(text[:backslash])
	for i := backslash; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return b.String(), text[i+1:], true
		case c == '\\' && i+1 < len(text):
			i++
		}
		b.WriteByte(text[i])
	}
	return "", "", false
}
