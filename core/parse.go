package core

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

const day = 24 * time.Hour

// ParseLimit reads a limit as configuration files and flags write it:
//
//	100/minute   10/s   1000 per hour   5/15m   20/7d
//
// The window is second, minute, hour or day, a letter of these, or a duration
// as [time.ParseDuration] reads it, or whole days. Options follow in any order:
// an algorithm, a name in double quotes, and dry-run:
//
//	5000/hour strict(60) "plan" dry-run
//
// The algorithms are smooth(slots), strict(slots), exact, fixed and
// bucket(burst). The limit is validated; the error wraps [ErrConfig].
func ParseLimit(text string) (Limit, error) {
	l, err := parseLimit(text)
	if err != nil {
		return Limit{}, fault("limit %q: %v", text, err)
	}
	if texts := l.faults(); texts != nil {
		return Limit{}, fault("limit %q: %s", text, strings.Join(texts, "; "))
	}
	return l, nil
}

// MustParseLimit is [ParseLimit] for limits written in the program: it panics
// where ParseLimit returns an error.
func MustParseLimit(text string) Limit {
	l, err := ParseLimit(text)
	if err != nil {
		panic(err)
	}
	return l
}

func parseLimit(text string) (Limit, error) {
	amount, rest, err := cutQuota(strings.Trim(text, " "))
	if err != nil {
		return Limit{}, err
	}
	window, options, _ := strings.Cut(rest, " ")
	length, err := parseWindow(window)
	if err != nil {
		return Limit{}, err
	}
	quota, err := parseInt("quota", amount)
	if err != nil {
		return Limit{}, err
	}
	return parseOptions(Per(quota, length), options)
}

// cutQuota splits at "/" or " per ", whichever comes first.
func cutQuota(text string) (quota, rest string, err error) {
	slash, per := strings.Index(text, "/"), strings.Index(text, " per ")
	switch {
	case slash >= 0 && (per < 0 || slash < per):
		quota, rest = text[:slash], text[slash+1:]
	case per >= 0:
		quota, rest = text[:per], text[per+len(" per "):]
	default:
		return "", "", fmt.Errorf(`write it as quota/window, such as "100/minute"`)
	}
	return strings.Trim(quota, " "), strings.Trim(rest, " "), nil
}

func parseInt(what, text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || text[0] == '+' {
		return 0, fmt.Errorf("%s %q must be a whole number up to %d", what, text, int64(MaxQuota))
	}
	return n, nil
}

func parseWindow(text string) (time.Duration, error) {
	switch text {
	case "s", "sec", "second":
		return time.Second, nil
	case "m", "min", "minute":
		return time.Minute, nil
	case "h", "hour":
		return time.Hour, nil
	case "d", "day":
		return day, nil
	}
	if digits, ok := strings.CutSuffix(text, "d"); ok {
		days, err := strconv.ParseUint(digits, 10, 16)
		if err == nil {
			return time.Duration(days) * day, nil
		}
	}
	length, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("window %q must be second, minute, hour, day or a duration such as 15m or 7d", text)
	}
	return length, nil
}

func parseOptions(l Limit, text string) (Limit, error) {
	counted := false
	for text = strings.TrimLeft(text, " "); text != ""; text = strings.TrimLeft(text, " ") {
		if text[0] == '"' {
			name, rest, err := cutName(text)
			if err != nil {
				return Limit{}, err
			}
			if l.name != "" {
				return Limit{}, fmt.Errorf("it has two names, %q and %q", l.name, name)
			}
			l, text = l.Named(name), rest
			continue
		}
		word, rest, _ := strings.Cut(text, " ")
		text = rest
		if word == "dry-run" {
			l = l.DryRun()
			continue
		}
		if counted {
			return Limit{}, fmt.Errorf("%q follows another algorithm; give one", word)
		}
		counted = true
		var err error
		if l, err = parseAlgorithm(l, word); err != nil {
			return Limit{}, err
		}
	}
	return l, nil
}

// cutName takes the quoted name from the front of text. A backslash makes the
// next character part of the name.
func cutName(text string) (name, rest string, err error) {
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '"':
			if b.Len() == 0 {
				return "", "", fmt.Errorf("the name in quotes is empty; leave it out")
			}
			return b.String(), text[i+1:], nil
		case '\\':
			i++
			if i == len(text) {
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return "", "", fmt.Errorf("the name %s has no closing quote", text)
}

func parseAlgorithm(l Limit, word string) (Limit, error) {
	name, inner, hasGrain := strings.Cut(word, "(")
	var grain int64
	if hasGrain {
		digits, closed := strings.CutSuffix(inner, ")")
		n, err := parseInt("the number of "+name, digits)
		if err != nil || !closed {
			return Limit{}, fmt.Errorf("%q must be an algorithm and a number in parentheses, such as strict(60)", word)
		}
		grain = n
	}
	switch {
	case name == "smooth" && hasGrain:
		return l.counted(Smooth, grain), nil
	case name == "strict" && hasGrain:
		return l.counted(Strict, grain), nil
	case name == "bucket" && hasGrain:
		return l.counted(Bucket, grain), nil
	case name == "exact" && !hasGrain:
		return l.Exact(), nil
	case name == "fixed" && !hasGrain:
		return l.Fixed(), nil
	}
	return Limit{}, fmt.Errorf(`%q must be smooth(slots), strict(slots), exact, fixed, bucket(burst), dry-run or a "name"`, word)
}

// String returns the limit as [ParseLimit] reads it, so that a valid limit
// comes back equal.
func (l Limit) String() string {
	b := strconv.AppendInt(nil, l.quota, 10)
	b = append(b, '/')
	b = append(b, windowName(l.window)...)
	if l.algorithm != Smooth || l.grain != 1 {
		b = append(b, ' ')
		b = append(b, l.algorithm.String()...)
		if l.algorithm != Exact && l.algorithm != Fixed {
			b = fmt.Appendf(b, "(%d)", l.grain)
		}
	}
	if l.name != "" {
		b = append(b, ' ')
		b = appendQuoted(b, l.name)
	}
	if l.dryRun {
		b = append(b, " dry-run"...)
	}
	return string(b)
}

// MarshalText returns [Limit.String], or an error if the limit is not valid.
func (l Limit) MarshalText() ([]byte, error) {
	if err := l.Validate(); err != nil {
		return nil, err
	}
	return []byte(l.String()), nil
}

// UnmarshalText is [ParseLimit], for JSON, YAML and flags.
func (l *Limit) UnmarshalText(text []byte) error {
	parsed, err := ParseLimit(string(text))
	if err != nil {
		return err
	}
	*l = parsed
	return nil
}

// windowName returns the word for a unit, whole days as 7d, and else the
// duration without its empty tail: 15m, 1h30m, 500ms.
func windowName(w time.Duration) string {
	switch w {
	case time.Second:
		return "second"
	case time.Minute:
		return "minute"
	case time.Hour:
		return "hour"
	case day:
		return "day"
	}
	if w > 0 && w%day == 0 {
		return strconv.FormatInt(int64(w/day), 10) + "d"
	}
	s := w.String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return s
}

// appendQuoted appends s as a String of RFC 9651 (section 4.1.6), which for
// printable ASCII is a JSON string too.
func appendQuoted(b []byte, s string) []byte {
	b = append(b, '"')
	for i := range len(s) {
		if s[i] == '"' || s[i] == '\\' {
			b = append(b, '\\')
		}
		b = append(b, s[i])
	}
	return append(b, '"')
}
