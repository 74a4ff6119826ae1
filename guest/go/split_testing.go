// SPDX-License-Identifier: MIT
// The parts of package testing that tests of functions need; src/judge/languages/go_units.c puts this package's name in the
// place of its own. The first assertion that does not hold ends the judgement: nothing after it can change the verdict.
// split_judge.go runs the tests and reports, or judge.go if the program is in the same process.
//
// A benchmark only has to compile. Of a fuzz test the inputs that it adds by itself are run, as `go test` does.
package fhsplit

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"strings"
	"time"
)

type common struct {
	name     string
	cleanups []func()
	context  context.Context
}

func (c *common) Errorf(format string, arguments ...interface{}) {
	state.lock.Lock()
	say("failed", c.name+": "+fmt.Sprintf(format, arguments...))
}
func (c *common) Error(arguments ...interface{}) {
	c.Errorf("%s", late(func() string { return strings.TrimSpace(fmt.Sprintln(arguments...)) }))
}
func (c *common) Fatalf(format string, arguments ...interface{}) {
	c.Errorf(format, arguments...)
}
func (c *common) Fatal(arguments ...interface{})               { c.Error(arguments...) }
func (c *common) Fail()                                        { c.Errorf("it failed") }
func (c *common) FailNow()                                     { c.Errorf("it failed") }
func (c *common) Failed() bool                                 { return false }
func (c *common) Helper()                                      {}
func (c *common) Log(arguments ...interface{})                 {}
func (c *common) Logf(format string, arguments ...interface{}) {}
func (c *common) Name() string                                 { return c.name }
func (c *common) Cleanup(f func())                             { c.cleanups = append(c.cleanups, f) }
func (c *common) Skipped() bool                                { return false }

// Ends the test by a panic with the test's own address, which a program that panics cannot have.
func (c *common) SkipNow()                                      { panic(c) }
func (c *common) Skip(arguments ...interface{})                 { c.SkipNow() }
func (c *common) Skipf(format string, arguments ...interface{}) { c.SkipNow() }

func (c *common) Context() context.Context {
	if c.context == nil {
		var cancel context.CancelFunc
		c.context, cancel = context.WithCancel(context.Background())
		c.Cleanup(cancel)
	}
	return c.context
}

func (c *common) Setenv(name, value string) {
	before, was := os.LookupEnv(name)
	os.Setenv(name, value)
	c.Cleanup(func() {
		if was {
			os.Setenv(name, before)
		} else {
			os.Unsetenv(name)
		}
	})
}

func (c *common) TempDir() string {
	path, e := os.MkdirTemp("", "test")
	if e != nil {
		c.Fatalf("TempDir: %v", e)
	}
	c.Cleanup(func() { os.RemoveAll(path) })
	return path
}

func (c *common) cleanUp() {
	for len(c.cleanups) > 0 {
		last := c.cleanups[len(c.cleanups)-1]
		c.cleanups = c.cleanups[:len(c.cleanups)-1]
		last()
	}
}

// What helpers of tests and benchmarks take.
type TB interface {
	Cleanup(f func())
	Context() context.Context
	Error(arguments ...interface{})
	Errorf(format string, arguments ...interface{})
	Fail()
	FailNow()
	Failed() bool
	Fatal(arguments ...interface{})
	Fatalf(format string, arguments ...interface{})
	Helper()
	Log(arguments ...interface{})
	Logf(format string, arguments ...interface{})
	Name() string
	Setenv(name, value string)
	Skip(arguments ...interface{})
	SkipNow()
	Skipf(format string, arguments ...interface{})
	Skipped() bool
	TempDir() string
}

func Short() bool       { return false }
func Verbose() bool     { return false }
func Testing() bool     { return true }
func CoverMode() string { return "" }

// ------------------------------------------------------------------------------------------------------------------ tests

type T struct{ common }

func (t *T) Parallel()                   {}
func (t *T) Deadline() (time.Time, bool) { return time.Time{}, false }
func (t *T) Run(name string, f func(t *T)) bool {
	run(t.name+"/"+strings.ReplaceAll(name, " ", "_"), f)
	return true
}

type Test struct {
	Name string
	Run  func(t *T)
}

// Returns whether the test skipped itself. It may end its goroutine by runtime.Goexit, without a panic to recover from.
func run(name string, f func(t *T)) (skipped bool) {
	t, done := &T{common{name: name}}, false
	defer func() {
		if done {
			return
		}
		value := recover()
		if c, is := value.(*common); is && c == &t.common {
			skipped = true
			t.cleanUp()
			return
		}
		if value == nil {
			say("failed", name+": its goroutine ended")
		}
		say("failed", name+": panic: "+fmt.Sprint(value))
	}()
	f(t)
	t.cleanUp()
	done = true
	return false
}

// Returns whether one of them did not skip itself.
func judgeAll(tests []Test) bool {
	any := false
	for _, test := range tests {
		any = !run(test.Name, test.Run) || any
	}
	return any
}

// ----------------------------------------------------------------------------------------------------------------- others

type F struct {
	*T
	seeds [][]reflect.Value
}

func (f *F) Add(values ...interface{}) {
	seed := []reflect.Value{}
	for _, v := range values {
		seed = append(seed, reflect.ValueOf(v))
	}
	f.seeds = append(f.seeds, seed)
}

func (f *F) Fuzz(tried interface{}) {
	for i, seed := range f.seeds {
		run(f.name+"/seed#"+strconv.Itoa(i), func(t *T) {
			reflect.ValueOf(tried).Call(append([]reflect.Value{reflect.ValueOf(t)}, seed...))
		})
	}
}

// Makes a test of a fuzz test.
func Seeds(fuzz func(f *F)) func(t *T) {
	return func(t *T) {
		fuzz(&F{T: t})
	}
}

type B struct {
	common
	N int
}
type PB struct{}

func (pb *PB) Next() bool                        { return false }
func (b *B) Elapsed() time.Duration              { return 0 }
func (b *B) Loop() bool                          { return false }
func (b *B) ReportAllocs()                       {}
func (b *B) ReportMetric(n float64, unit string) {}
func (b *B) ResetTimer()                         {}
func (b *B) Run(name string, f func(b *B)) bool  { return true }
func (b *B) RunParallel(body func(pb *PB))       {}
func (b *B) SetBytes(n int64)                    {}
func (b *B) SetParallelism(p int)                {}
func (b *B) StartTimer()                         {}
func (b *B) StopTimer()                          {}
