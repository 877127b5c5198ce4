package redispeers

import "syscall"

// dieWithParent has the server killed when our process ends, however that
// happens.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
