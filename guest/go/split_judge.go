// SPDX-License-Identifier: MIT
// The judge's side of split judging in Go: the stand-in for the function under test, and the verdict. The program is never sent
// here. fd 3: replies; fd 4: calls (split_codec.go); fd 5: the verdict, as split_judge.js describes it. stdin: the seed, sixteen
// hexadecimal digits, and what becomes of arguments: 0 they are copies, 1 changed ones are sent back, a to c: no program is asked,
// they are emptied, and the results are zero values, others, or arguments.
package fhsplit

import (
	"errors"
	"fmt"
	"io"
	"math/rand"
	"os"
	"reflect"
	"strconv"
	"sync"
	"time"
)

var state struct {
	lock    sync.Mutex // the test may use several goroutines
	calls   int
	changes bool // changed arguments are to be sent back
	spoiler byte // a to c, or less
}

// Does not return, so the test cannot recover.
func say(word, reason string) {
	reason = short(reason)
	message := fmt.Sprintf("%s %d %d\n%s", word, state.calls, len(reason), reason)
	_, e := os.NewFile(5, "verdict").Write([]byte(message))
	if e == nil && word == "passed" {
		os.Exit(0)
	}
	os.Exit(1)
}

// Sends a call and returns the part of the reply after the id. Requires the lock.
func exchange(word byte, arguments []byte) []byte {
	random, e := os.Open("/dev/urandom")
	id := make([]byte, 16)
	if e == nil {
		_, e = io.ReadFull(random, id)
		random.Close()
	}
	if e != nil {
		os.Exit(3)
	}
	body := append(append([]byte{word}, id...), arguments...)
	if len(body) > frameMax {
		say("unfit", "an argument cannot cross: it is too large")
	}
	if !send(body) {
		say("gone", "the program ended before it was called")
	}
	reply, fine := receive()
	if !fine {
		say("tampered", "a reply that no program gives: no whole frame")
	}
	if reply == nil {
		say("gone", "the program ended and gave no answer")
	}
	if len(reply) < 17 || string(reply[:16]) != string(id) {
		say("tampered", "a reply to no call")
	}
	return reply[16:]
}

var chance struct {
	lock sync.Mutex
	seed uint64
}

// Seeds math/rand with a number that only this process has: a candidate that draws from its own gets other numbers.
func beginChance(digits string) {
	seed, e := strconv.ParseUint(digits, 16, 64)
	if e != nil {
		say("broken", "no seed came")
	}
	chance.seed = seed
	os.Setenv("GODEBUG", "randseednop=0") // otherwise rand.Seed has no effect since Go 1.24
	rand.Seed(int64(mixed()))
	os.Unsetenv("GODEBUG")
}

// splitmix64
func mixed() uint64 {
	chance.lock.Lock()
	defer chance.lock.Unlock()
	chance.seed += 0x9e3779b97f4a7c15
	z := chance.seed
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Replaces a seed that is the time, which the candidate can read too.
func ownSeed(seed int64) int64 {
	now := time.Now()
	for _, unit := range []int64{1, 1e3, 1e6, 1e9} {
		distance := seed - now.UnixNano()/unit
		if distance < 0 {
			distance = -distance
		}
		if distance <= int64(time.Second)/unit+1 {
			return int64(mixed())
		}
	}
	return seed
}

// Replaces rand.NewSource in the test's text.
func NewSource(seed int64) rand.Source { return rand.NewSource(ownSeed(seed)) }
func Seed(seed int64) {
	os.Setenv("GODEBUG", "randseednop=0")
	rand.Seed(ownSeed(seed))
	os.Unsetenv("GODEBUG")
}

// Makes a stand-in: a function of shape's type, whose calls are sent to the candidate.
func StandIn(shape interface{}, declared ...interface{}) interface{} {
	var given [17]byte
	io.ReadFull(os.Stdin, given[:])
	beginChance(string(given[:16]))
	state.spoiler = given[16]
	state.changes = given[16] == '1'
	declare(declared)
	t := reflect.TypeOf(shape)
	if why := unfitShape(t); why != "" {
		say("unfit", why+" cannot cross")
	}
	return reflect.MakeFunc(t, standIn(t)).Interface()
}

// Empties what a function can reach through an argument.
func empty(v reflect.Value) {
	switch v.Kind() {
	case reflect.Slice:
		for i := 0; i < v.Len(); i++ {
			v.Index(i).Set(reflect.Zero(v.Type().Elem()))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			v.SetMapIndex(key, reflect.Value{})
		}
	case reflect.Ptr:
		if !v.IsNil() {
			v.Elem().Set(reflect.Zero(v.Type().Elem()))
		}
	case reflect.Interface:
		empty(v.Elem())
	}
}

// A value of the type that is not its zero value, where there is one.
func something(t reflect.Type) reflect.Value {
	v := reflect.New(t).Elem()
	one := reflect.ValueOf(1)
	switch t.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString("1")
	case reflect.Slice:
		v.Set(reflect.MakeSlice(t, 1, 1))
	case reflect.Map:
		v.Set(reflect.MakeMap(t))
		v.SetMapIndex(reflect.Zero(t.Key()), reflect.Zero(t.Elem()))
	case reflect.Ptr:
		v.Set(reflect.New(t.Elem()))
	case reflect.Struct, reflect.Array, reflect.Interface, reflect.Func, reflect.Chan:
	default:
		v.Set(one.Convert(t))
	}
	return v
}

// What a program gives that solves nothing and empties what it gets.
func spoil(t reflect.Type, arguments []reflect.Value) []reflect.Value {
	results := make([]reflect.Value, t.NumOut())
	for i := range results {
		results[i] = reflect.Zero(t.Out(i))
		if state.spoiler == 'b' {
			results[i] = something(t.Out(i))
		}
	}
	for _, a := range arguments {
		empty(a)
		for i := range results {
			if state.spoiler == 'c' && a.Type() == t.Out(i) {
				results[i] = a
			}
		}
	}
	state.calls++
	return results
}

func standIn(t reflect.Type) func([]reflect.Value) []reflect.Value {
	return func(arguments []reflect.Value) []reflect.Value {
		state.lock.Lock()
		defer state.lock.Unlock()
		if state.spoiler >= 'a' {
			return spoil(t, arguments)
		}
		word, w := byte('C'), writer{}
		if state.changes {
			word = 'c'
		}
		if why, fine := attempt(func() {
			for _, a := range arguments {
				w.put(placed(a))
			}
		}); !fine {
			say("unfit", "an argument cannot cross: "+why)
		}
		reply := exchange(word, w.bytes)
		r := reader{left: reply[1:]}
		var results []reflect.Value
		var raised interface{}
		why, fine := attempt(func() { results, raised = readReply(&r, reply[0], t, arguments) })
		if fine && len(r.left) > 0 {
			why, fine = "it is too long", false
		}
		if !fine {
			say("tampered", "a reply that no program gives: "+why)
		}
		state.calls++
		if raised != nil {
			panic(raised)
		}
		return results
	}
}

func readReply(r *reader, word byte, t reflect.Type, arguments []reflect.Value) ([]reflect.Value, interface{}) {
	switch word {
	case 'R':
		results := make([]reflect.Value, t.NumOut())
		for i := range results {
			results[i] = reflect.New(t.Out(i)).Elem()
			r.get(results[i])
		}
		for i := 0; state.changes && i < len(arguments); i++ {
			theirs := reflect.New(t.In(i)).Elem()
			r.get(theirs)
			takeBack(placed(arguments[i]), theirs)
		}
		return results, nil
	case 'P':
		isError, text := r.flag(), r.text()
		if isError {
			return nil, errors.New(text)
		}
		return nil, text
	case 'L':
		say("failed", "what the program returned cannot cross: "+r.text())
	}
	refuse("it is of no known kind")
	return nil, nil
}

// Copies back what a function can change through an argument passed by value: the elements and targets it refers to.
func takeBack(mine, theirs reflect.Value) {
	switch mine.Kind() {
	case reflect.Slice:
		if mine.Len() != theirs.Len() {
			refuse("an argument of another length")
		}
		reflect.Copy(mine, theirs)
	case reflect.Map:
		if mine.IsNil() {
			return
		}
		for _, key := range mine.MapKeys() {
			mine.SetMapIndex(key, reflect.Value{})
		}
		for i := theirs.MapRange(); i.Next(); {
			mine.SetMapIndex(i.Key(), i.Value())
		}
	case reflect.Ptr:
		if mine.IsNil() != theirs.IsNil() {
			refuse("an argument that points elsewhere")
		}
		if !mine.IsNil() {
			mine.Elem().Set(theirs.Elem())
		}
	case reflect.Interface:
		if !mine.IsNil() && !theirs.IsNil() && mine.Elem().Type() == theirs.Elem().Type() {
			takeBack(placed(mine.Elem()), placed(theirs.Elem()))
		}
	case reflect.Array:
		for i := 0; i < mine.Len(); i++ {
			takeBack(mine.Index(i), theirs.Index(i))
		}
	case reflect.Struct:
		for i := 0; i < mine.NumField(); i++ {
			takeBack(field(mine, i), field(theirs, i))
		}
	}
}

// Reports the result when the tests have ended.
func finish() {
	state.lock.Lock()
	if state.calls == 0 {
		say("broken", "the test called nothing")
	}
	if string(exchange('E', nil)) != "E" {
		say("tampered", "a reply to no call")
	}
	reason := ""
	if notFinite {
		reason = "not finite"
	}
	say("passed", reason)
}

func Judge(tests []Test) {
	judgeAll(tests)
	finish()
}
