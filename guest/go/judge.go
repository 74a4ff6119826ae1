// SPDX-License-Identifier: MIT
// The harness for a program and its test in one process: it runs the tests one after another and reports how they ended. The
// program is in package main, together with the test. This package, with split_testing.go and split_assert.go, is separate, so it is initialised
// before the first variable of the program.
//
// stdin:  the secret of this run, 32 bytes.
// stdout: what the program prints, and once "\n" secret " passed 0\n", or " failed N\n" and N bytes of reason.
//
// The secret stays unread in the pipe until the tests have ended, and both descriptors are moved before any code of the
// program runs. A program that calls os.Exit has reported nothing. A third file has `key`, a hash of the unit: otherwise only
// the test's file contains it, since a program cannot contain a hash of itself.
package fhsplit

import (
	"strconv"
	"sync"
	"syscall"
)

const (
	secretFrom = 900
	messageTo  = 901
	secretSize = 32
	reasonMax  = 900
)

var state struct {
	lock sync.Mutex // held by the goroutine that reports the result, because the test may have several
}

func init() {
	syscall.Dup3(0, secretFrom, syscall.O_CLOEXEC)
	syscall.Dup3(1, messageTo, syscall.O_CLOEXEC)
	syscall.Close(0)
	syscall.Open("/dev/null", syscall.O_RDONLY, 0)
}

// Does not return, so the test cannot recover. Uses one write, so that no goroutine's output can interleave.
func say(word, reason string) {
	var secret [secretSize]byte
	for have := 0; have < secretSize; {
		n, e := syscall.Read(secretFrom, secret[have:])
		if e == syscall.EINTR {
			continue
		}
		if n <= 0 {
			syscall.Exit(3)
		}
		have += n
	}
	if len(reason) > reasonMax {
		reason = reason[:reasonMax]
	}
	message := []byte("\n" + string(secret[:]) + " " + word + " " + strconv.Itoa(len(reason)) + "\n" + reason)
	for len(message) > 0 {
		n, e := syscall.Write(messageTo, message)
		if e == syscall.EINTR {
			continue
		}
		if n <= 0 {
			syscall.Exit(3)
		}
		message = message[n:]
	}
	if word == "passed" {
		syscall.Exit(0)
	}
	syscall.Exit(1)
}

// Does not return either, so the program's main never runs. Runs tests in a goroutine, like package testing: the one that runs
// init is locked to its thread, which makes channels slow.
func Judge(with string, tests []Test) {
	if with != key {
		say("failed", "the program called the harness")
	}
	go func() {
		any := judgeAll(tests)
		state.lock.Lock()
		if !any {
			say("failed", "every test skips itself")
		}
		say("passed", "")
	}()
	select {}
}
