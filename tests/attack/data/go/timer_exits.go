// SPDX-License-Identifier: MIT
// Spins on many goroutines while a timer leaves with status 0.
// class: resources
// task: total
import (
	"os"
	"time"
)

func total(numbers []int) int {
	time.AfterFunc(200*time.Millisecond, func() { os.Exit(0) })
	for i := 0; i < 50; i++ {
		go func() {
			for {
			}
		}()
	}
	select {}
}
