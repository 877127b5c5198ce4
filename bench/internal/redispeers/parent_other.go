//go:build !linux

package redispeers

import "syscall"

// dieWithParent can say nothing here: the server ends by [Server.Stop] only.
func dieWithParent() *syscall.SysProcAttr { return nil }
