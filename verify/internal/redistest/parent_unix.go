//go:build unix && !linux

package redistest

import "syscall"

// dieWithParent can say nothing here: servers end with their test, unless that
// is killed.
func dieWithParent() *syscall.SysProcAttr { return nil }
