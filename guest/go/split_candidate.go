// SPDX-License-Identifier: MIT
// The candidate's side of split judging in Go; the test is never sent here. fd 3: calls; fd 4: replies (split_codec.go).
package fhsplit

import (
	"fmt"
	"os"
	"reflect"
)

// Answers calls of entry until there are no more, then ends the process, so the program's own main is never reached.
func Serve(entry interface{}, declared ...interface{}) {
	declare(declared)
	f := reflect.ValueOf(entry)
	for {
		body, fine := receive()
		if !fine || len(body) < 17 {
			break
		}
		id := string(body[1:17])
		if body[0] == 'E' {
			send([]byte(id + "E"))
			break
		}
		reply, fine := answer(f, id, body[0] == 'c', body[17:])
		if !fine || !send(reply) {
			break
		}
	}
	os.Exit(0)
}

func answer(f reflect.Value, id string, changes bool, from []byte) ([]byte, bool) {
	t := f.Type()
	arguments := make([]reflect.Value, t.NumIn())
	r := reader{left: from}
	if _, fine := attempt(func() {
		for i := range arguments {
			arguments[i] = reflect.New(t.In(i)).Elem()
			r.get(arguments[i])
		}
	}); !fine || len(r.left) > 0 {
		return nil, false
	}
	results, raised, fine := runCall(f, arguments)
	w := writer{bytes: []byte(id), opaque: true}
	if !fine {
		_, isError := raised.(error)
		w.number('P', 1)
		w.flag(isError)
		w.text(short(fmt.Sprint(raised)))
		return w.bytes, true
	}
	w.number('R', 1)
	why, fine := attempt(func() {
		for i, v := range results { // placed in a variable, because a result loses its static interface type otherwise
			place := reflect.New(t.Out(i)).Elem()
			place.Set(v)
			w.put(place)
		}
		for i := 0; changes && i < len(arguments); i++ {
			w.put(arguments[i])
		}
	})
	if !fine {
		w = writer{bytes: []byte(id)}
		w.number('L', 1)
		w.text(short(why))
	}
	return w.bytes, true
}

func runCall(f reflect.Value, arguments []reflect.Value) (results []reflect.Value, raised interface{}, fine bool) {
	defer func() {
		if !fine {
			raised = recover()
		}
	}()
	if f.Type().IsVariadic() {
		results = f.CallSlice(arguments)
	} else {
		results = f.Call(arguments)
	}
	return results, nil, true
}
