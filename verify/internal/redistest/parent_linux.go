package redistest

import "syscall"

// dieWithParent has a process killed when the one of the tests ends, however
// that happens: a test that times out cleans nothing up.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
