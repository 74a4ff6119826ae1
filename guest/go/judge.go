// SPDX-License-Identifier: MIT
// The harness where a program and its test are one process: the tests run one after the other, and it says how they
// ended. The program is in package main beside the test; this package, with split_assert.go, is one of its own, so what
// stands here is initialised before the first variable of the program's.
//
// stdin:  the secret of this run, 32 bytes.
// stdout: what the program prints, and once "\n" secret " passed 0\n", or " failed N\n" and N bytes of reason.
//
// The secret stays unread in the pipe until the tests have ended, and both descriptors are moved away before any code of
// the program runs. Who leaves by os.Exit never comes back here. A third file has `key`, a hash of the unit: only the
// test's file holds it, too, and a program cannot hold a hash of itself.
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
	lock sync.Mutex // the test may have goroutines; held by the one that has something to say
}

func init() {
	syscall.Dup3(0, secretFrom, syscall.O_CLOEXEC)
	syscall.Dup3(1, messageTo, syscall.O_CLOEXEC)
	syscall.Close(0)
	syscall.Open("/dev/null", syscall.O_RDONLY, 0)
}

// Does not return: the test gets no chance to recover. One write, which no output of a goroutine's falls into.
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

// Does not return either, so the program's main never runs. In a goroutine, as in package testing: the one that runs
// init holds a thread for itself, which makes channels slow.
func Judge(with string, tests []Test) {
	if with != key {
		say("failed", "the program called the harness")
	}
	go func() {
		for i := range tests {
			judgeOne(&tests[i])
		}
		state.lock.Lock()
		say("passed", "")
	}()
	select {}
}
