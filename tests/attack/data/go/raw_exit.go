// SPDX-License-Identifier: MIT
// Leaves by a system call, on a thread of its own, while the function sleeps.
// class: exits
// task: total
import (
	"runtime"
	"syscall"
	"time"
)

func total(numbers []int) int {
	go func() {
		runtime.LockOSThread()
		syscall.RawSyscall(syscall.SYS_EXIT_GROUP, 0, 0, 0)
	}()
	time.Sleep(time.Second)
	return 0
}
