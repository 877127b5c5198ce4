package main

import (
	"fmt"
	"strconv"
)

// number writes a value in a unit.
func number(v float64, unit string) string {
	switch unit {
	case "MB":
		return fmt.Sprintf("%.1f MB", v/1e6)
	case "B":
		return fmt.Sprintf("%.0f B", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// text writes a spread: the median, and the least and greatest where they differ
// from it.
func (s spread) text(unit string) string {
	if !s.known {
		return "–"
	}
	middle, least, greatest := number(s.median, unit), number(s.least, unit), number(s.greatest, unit)
	if least == greatest {
		return middle
	}
	return fmt.Sprintf("%s (%s–%s)", middle, least, greatest)
}

// middle writes the median only.
func (s spread) middle(unit string) string {
	if !s.known {
		return "–"
	}
	return number(s.median, unit)
}

func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

// plural writes a count of things.
func plural(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprint(n, " ", thing)
}

// grouped writes a number with commas.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
