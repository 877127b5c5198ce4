//go:build unix

package redistest

import (
	"bufio"
	"fmt"
	"net"
	"regexp"
	"strings"
	"time"
)

// inScript matches what MONITOR says of a command of a script, and its key.
var inScript = regexp.MustCompile(`(?i)^\+[0-9.]+ \[[0-9]+ lua\] "(?:get|set|del|[p]?expire|[p]?ttl)" "([^"]*)"`)

// Watch listens to all commands. The function that it returns ends that, and
// returns the keys that scripts touched, all of which must be printable.
func (s *Server) Watch() (touched func() map[string]bool) {
	s.t.Helper()
	conn, err := net.Dial("tcp", s.Addr)
	if err != nil {
		s.t.Fatal(err)
	}
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	lines := bufio.NewScanner(conn)
	lines.Buffer(nil, 1<<20)
	if _, err := fmt.Fprint(conn, "MONITOR\r\n"); err != nil || !lines.Scan() {
		s.t.Fatalf("MONITOR: %v, %v", err, lines.Err())
	}
	return func() map[string]bool {
		defer conn.Close()
		const last = "end of watching"
		s.Do("ECHO", last)
		keys := map[string]bool{}
		for lines.Scan() {
			line := lines.Text()
			if strings.Contains(line, last) {
				return keys
			}
			if match := inScript.FindStringSubmatch(line); match != nil {
				keys[match[1]] = true
			}
		}
		s.t.Fatalf("MONITOR ended: %v", lines.Err())
		return nil
	}
}
