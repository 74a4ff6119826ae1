// SPDX-License-Identifier: MIT
// Compiled beside guest/go/split_codec.go and split_types.go as package main: what programs give comes back as it was, and what nobody gives is
// read or refused, in bounded time and memory. The argument is how many seconds to try.
package main

import (
	"fmt"
	"math/rand"
	"os"
	"reflect"
	"runtime"
	"strconv"
	"time"
)

type Point struct {
	X, y int
	Next *Point
	Data map[string]interface{}
}

var values = []interface{}{
	&[]interface{}{1, "a", nil, 2.5, 'x', int8(-1), uint64(1 << 63), true, complex64(complex(1, 2)), []byte("x"), [0]int{},
		[]interface{}{map[string]int{"a": 1}, [2]int{1, 2}, &Point{X: 1, y: 2}, Point{}}, []string(nil), []string{}},
	&map[interface{}]Point{1: {X: 2, Next: &Point{}}, "a": {}, 2.5: {Data: map[string]interface{}{"z": int8(3)}}},
	&[3]*Point{nil, {X: 1}, nil},
	&[]map[float64][2]string{{1: {"a", "b"}}, nil},
	&[]struct{}{{}, {}},
	&[]error{nil, fmt.Errorf("no")},
}

func fail(format string, arguments ...interface{}) {
	fmt.Printf(format+"\n", arguments...)
	os.Exit(1)
}

func alter(b []byte, r *rand.Rand) []byte {
	for n := 1 + r.Intn(6); n > 0; n-- {
		i := r.Intn(len(b) + 1)
		head, tail := b[:i:i], b[i:]
		switch r.Intn(5) {
		case 0:
			if i < len(b) {
				b[i] = byte(r.Intn(256))
			}
		case 1:
			b = append(append(head, "TSIBAMNPEX0\x05\x00\x01\xff"[r.Intn(15):]...), tail...)
		case 2:
			b = head
		case 3:
			b = append(append(head, b[r.Intn(i+1):i]...), tail...)
		case 4:
			b = append(b, make([]byte, r.Intn(1<<uint(r.Intn(18))))...)
		}
	}
	return b
}

func main() {
	declare([]interface{}{(*Point)(nil)})
	frames := make([][]byte, len(values))
	for i, v := range values {
		w := writer{}
		if why, fine := attempt(func() { w.put(reflect.ValueOf(v).Elem()) }); !fine {
			fail("value %d does not cross: %s", i, why)
		}
		frames[i] = w.bytes
		r, back := reader{left: w.bytes}, reflect.New(reflect.TypeOf(v).Elem())
		if why, fine := attempt(func() { r.get(back.Elem()) }); !fine || len(r.left) > 0 {
			fail("value %d does not arrive: %s", i, why)
		}
		if i < len(values)-1 && !reflect.DeepEqual(v, back.Interface()) {
			fail("value %d is another: %#v", i, back.Elem())
		}
	}
	seconds, _ := strconv.Atoi(os.Args[1])
	random, end := rand.New(rand.NewSource(time.Now().UnixNano())), time.Now().Add(time.Duration(seconds)*time.Second)
	var memory runtime.MemStats
	var worst time.Duration
	counts := map[bool]int{}
	for time.Now().Before(end) {
		i := random.Intn(len(values))
		r := reader{left: alter(append([]byte{}, frames[i]...), random)}
		start := time.Now()
		_, fine := attempt(func() { r.get(reflect.New(reflect.TypeOf(values[i]).Elem()).Elem()) })
		if took := time.Since(start); took > worst {
			worst = took
		}
		counts[fine]++
	}
	runtime.ReadMemStats(&memory)
	fmt.Printf("%d read, %d refused, the longest took %s, %d MiB\n", counts[true], counts[false], worst, memory.Sys>>20)
	if worst > 10*time.Second || memory.Sys > 1<<30 || counts[true] == 0 || counts[false] == 0 {
		os.Exit(1)
	}
}
