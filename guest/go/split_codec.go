// SPDX-License-Identifier: MIT
// How values cross between the two programs of split judging in Go. Each has a package main, which contains the task's
// declaration or the candidate's program, and this package fhsplit, in whose scope nothing of main is. The package is the
// codec (with split_types.go) and one side: split_judge.go, split_assert.go and split_assertions.go, or split_candidate.go.
//
// Calls:    length (4 bytes), word (C: call, c: call after which the arguments are sent back, E: end), id (16), the arguments.
// Replies:  length (4 bytes), id (16), word. R: the results and, after c, the arguments. P: a panic: whether its value was an
//           error, and its text. L: the reason why a result cannot cross. E: the answer to E.
//
// Numbers are little-endian. Both ends know the types from the signature, and encode values accordingly; within an interface,
// the dynamic type precedes the value. Decoding only makes values of Go's own types, of types that the task's declaration
// defines, and of types composed of these.
package fhsplit

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"reflect"
)

const (
	frameMax = 8 << 20
	depthMax = 500
	costMax  = 64 << 20 // maximum bytes of memory for the values of one frame
	typesMax = 256      // maximum number of types that are composed while decoding
	arrayMax = 1 << 20  // maximum bytes of an array within an interface
	textMax  = 900
)

// The value of the codec's own panics: why a value cannot cross, or what is invalid.
type refused string

func refuse(format string, arguments ...interface{}) {
	panic(refused(fmt.Sprintf(format, arguments...)))
}

// Calls a function that may panic with `refused`. Any other panic (a key that cannot be hashed) counts as a refusal too.
func attempt(f func()) (why string, fine bool) {
	defer func() {
		if r := recover(); r != nil {
			why, fine = fmt.Sprint(r), false
		}
	}()
	f()
	return "", true
}

func short(text string) string {
	if len(text) > textMax {
		return text[:textMax]
	}
	return text
}

// ----------------------------------------------------------------------------------------------------------- encoding

type writer struct {
	bytes       []byte
	opaque      bool // values in an interface{} that have no codec cross as their type's name
	depth, cost int
}

func (w *writer) number(n uint64, size int) {
	for i := 0; i < size; i++ {
		w.bytes = append(w.bytes, byte(n>>(8*uint(i))))
	}
	if len(w.bytes) > frameMax {
		refuse("more than %d bytes", frameMax)
	}
}

func (w *writer) flag(b bool) bool {
	if b {
		w.number(1, 1)
	} else {
		w.number(0, 1)
	}
	return b
}

func (w *writer) text(s string) {
	if len(s) > frameMax {
		refuse("more than %d bytes", frameMax)
	}
	w.number(uint64(len(s)), 4)
	w.bytes = append(w.bytes, s...)
}

func (w *writer) takes(n int, size uintptr) {
	if size > 0 && uint64(n) > uint64(costMax-w.cost)/uint64(size) {
		refuse("more than %d bytes of memory", costMax)
	}
	w.cost += n * int(size)
}

// The description of a dynamic type; false: it has no codec.
func describe(t reflect.Type, depth int) ([]byte, bool) {
	if depth > 8 {
		return nil, false
	}
	if known := declaredTypes[t.Name()]; known == t && t.Name() != "" {
		return append([]byte{'N', byte(len(t.Name()))}, t.Name()...), len(t.Name()) < 256
	}
	for i, known := range basicTypes {
		if known == t {
			return []byte{'B', byte(i)}, true
		}
	}
	if t == emptyInterface {
		return []byte{'I'}, true
	}
	if t.Name() != "" {
		return nil, false
	}
	var head []byte
	switch t.Kind() {
	case reflect.Slice:
		head = []byte{'S'}
	case reflect.Ptr:
		head = []byte{'P'}
	case reflect.Array:
		if t.Len() > 0xffff || t.Size() > arrayMax {
			return nil, false
		}
		head = []byte{'A', byte(t.Len()), byte(t.Len() >> 8)}
	case reflect.Map:
		key, fine := describe(t.Key(), depth+1)
		if !fine {
			return nil, false
		}
		head = append([]byte{'M'}, key...)
	default:
		return nil, false
	}
	item, fine := describe(t.Elem(), depth+1)
	return append(head, item...), fine
}

func (w *writer) put(v reflect.Value) {
	if w.depth++; w.depth > depthMax {
		refuse("values nested deeper than %d", depthMax)
	}
	switch v.Kind() {
	case reflect.Bool:
		w.flag(v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		w.number(uint64(v.Int()), 8)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		w.number(v.Uint(), 8)
	case reflect.Float32:
		w.number(uint64(math.Float32bits(float32(v.Float()))), 4)
	case reflect.Float64:
		w.number(math.Float64bits(v.Float()), 8)
	case reflect.Complex64:
		w.number(uint64(math.Float32bits(float32(real(v.Complex())))), 4)
		w.number(uint64(math.Float32bits(float32(imag(v.Complex())))), 4)
	case reflect.Complex128:
		w.number(math.Float64bits(real(v.Complex())), 8)
		w.number(math.Float64bits(imag(v.Complex())), 8)
	case reflect.String:
		w.takes(v.Len(), 1)
		w.text(v.String())
	case reflect.Slice:
		if w.flag(!v.IsNil()) {
			w.takes(v.Len(), v.Type().Elem().Size())
			w.number(uint64(v.Len()), 4)
			w.items(v)
		}
	case reflect.Array:
		if v.Len() == 0 {
			w.flag(false)
		}
		w.items(v)
	case reflect.Map:
		if w.flag(!v.IsNil()) {
			w.takes(v.Len(), v.Type().Key().Size()+v.Type().Elem().Size()+16)
			w.number(uint64(v.Len()), 4)
			for i := v.MapRange(); i.Next(); {
				w.put(i.Key())
				w.put(i.Value())
			}
		}
	case reflect.Ptr:
		if w.flag(!v.IsNil()) {
			w.takes(1, v.Type().Elem().Size())
			w.put(v.Elem())
		}
	case reflect.Struct:
		w.flag(true)
		v = placed(v)
		for i := 0; i < v.NumField(); i++ {
			w.put(field(v, i))
		}
	case reflect.Interface:
		w.dynamic(v)
	default:
		refuse("a value of type %s", v.Type())
	}
	w.depth--
}

func (w *writer) items(v reflect.Value) {
	for i := 0; i < v.Len(); i++ {
		w.put(v.Index(i))
	}
}

func (w *writer) dynamic(v reflect.Value) {
	if v.IsNil() {
		w.number('0', 1)
		return
	}
	in := v.Elem()
	if head, fine := describe(in.Type(), 0); fine {
		w.takes(1, in.Type().Size())
		w.number('T', 1)
		w.bytes = append(w.bytes, head...)
		w.put(in)
	} else if e, is := in.Interface().(error); is {
		w.number('E', 1)
		w.text(e.Error())
	} else if w.opaque && v.Type().NumMethod() == 0 {
		w.number('X', 1)
		w.text(short(in.Type().String()))
	} else {
		refuse("a value of type %s", in.Type())
	}
}

// ----------------------------------------------------------------------------------------------------------- decoding

// Stands for a value of a type without a codec; equal to nothing but itself, because a function equals nothing.
type opaqueValue struct {
	name   string
	unlike func()
}

func (o *opaqueValue) String() string   { return "a value of type " + o.name }
func (o *opaqueValue) GoString() string { return o.String() }

type reader struct {
	left        []byte
	depth, cost int
}

func (r *reader) take(n int) []byte {
	if n > len(r.left) {
		refuse("half a value")
	}
	now := r.left[:n]
	r.left = r.left[n:]
	return now
}

func (r *reader) number(size int) uint64 {
	n := uint64(0)
	for i, b := range r.take(size) {
		n |= uint64(b) << (8 * uint(i))
	}
	return n
}

var notFinite bool // one of the decoded values was NaN or an infinity

func noted(f float64) float64 {
	notFinite = notFinite || math.IsNaN(f) || math.IsInf(f, 0)
	return f
}

func (r *reader) float32() float64 { return noted(float64(math.Float32frombits(uint32(r.number(4))))) }
func (r *reader) float64() float64 { return noted(math.Float64frombits(r.number(8))) }

func (r *reader) flag() bool {
	n := r.number(1)
	if n > 1 {
		refuse("neither true nor false")
	}
	return n == 1
}

// Reads a number of items, each of which takes at least `least` bytes in the frame and `size` bytes in memory.
func (r *reader) count(least int, size uintptr) int {
	n := r.number(4)
	if n > uint64(len(r.left)/least) {
		refuse("more items than bytes")
	}
	r.takes(int(n), size)
	return int(n)
}

func (r *reader) takes(n int, size uintptr) {
	if size > 0 && uint64(n) > uint64(costMax-r.cost)/uint64(size) {
		refuse("more than %d bytes of memory", costMax)
	}
	r.cost += n * int(size)
}

func (r *reader) text() string {
	return string(r.take(r.count(1, 1)))
}

// The types that were composed while decoding.
var madeTypes = map[string]reflect.Type{}

func (r *reader) described(depth int) reflect.Type {
	if depth > 8 {
		refuse("a type without end")
	}
	var made reflect.Type
	switch r.number(1) {
	case 'B':
		if i := int(r.number(1)); i < len(basicTypes) {
			return basicTypes[i]
		}
	case 'I':
		return emptyInterface
	case 'N':
		if t := declaredTypes[string(r.take(int(r.number(1))))]; t != nil {
			return t
		}
	case 'S':
		made = reflect.SliceOf(r.described(depth + 1))
	case 'P':
		made = reflect.PtrTo(r.described(depth + 1))
	case 'A':
		n := int(r.number(2))
		item := r.described(depth + 1)
		if item.Size() > 0 && uintptr(n) > arrayMax/item.Size() {
			refuse("an array that is too large")
		}
		made = reflect.ArrayOf(n, item)
	case 'M':
		key := r.described(depth + 1)
		if !key.Comparable() {
			refuse("a map of no keys")
		}
		made = reflect.MapOf(key, r.described(depth+1))
	}
	if made == nil {
		refuse("an unknown type")
	}
	if madeTypes[made.String()] = made; len(madeTypes) > typesMax {
		refuse("too many types")
	}
	return made
}

// Reads a value of v's type into v, which must be new.
func (r *reader) get(v reflect.Value) {
	if r.depth++; r.depth > depthMax {
		refuse("values nested deeper than %d", depthMax)
	}
	t := v.Type()
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(r.flag())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n := int64(r.number(8))
		if v.OverflowInt(n) {
			refuse("a number out of range")
		}
		v.SetInt(n)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		n := r.number(8)
		if v.OverflowUint(n) {
			refuse("a number out of range")
		}
		v.SetUint(n)
	case reflect.Float32:
		v.SetFloat(r.float32())
	case reflect.Float64:
		v.SetFloat(r.float64())
	case reflect.Complex64:
		re := r.float32()
		v.SetComplex(complex(re, r.float32()))
	case reflect.Complex128:
		re := r.float64()
		v.SetComplex(complex(re, r.float64()))
	case reflect.String:
		v.SetString(r.text())
	case reflect.Slice:
		if r.flag() {
			n := r.count(leastBytes(t.Elem()), t.Elem().Size())
			v.Set(reflect.MakeSlice(t, n, n))
			r.items(v)
		}
	case reflect.Array:
		if v.Len() == 0 {
			r.flag()
		}
		r.items(v)
	case reflect.Map:
		if r.flag() {
			r.pairs(v)
		}
	case reflect.Ptr:
		if r.flag() {
			r.takes(1, t.Elem().Size())
			v.Set(reflect.New(t.Elem()))
			r.get(v.Elem())
		}
	case reflect.Struct:
		r.flag()
		for i := 0; i < v.NumField(); i++ {
			r.get(field(v, i))
		}
	case reflect.Interface:
		r.dynamic(v)
	default:
		refuse("a value of type %s", t)
	}
	r.depth--
}

func (r *reader) items(v reflect.Value) {
	for i := 0; i < v.Len(); i++ {
		r.get(v.Index(i))
	}
}

func (r *reader) pairs(v reflect.Value) {
	t := v.Type()
	n := r.count(leastBytes(t.Key())+leastBytes(t.Elem()), t.Key().Size()+t.Elem().Size()+16)
	v.Set(reflect.MakeMap(t))
	for i := 0; i < n; i++ {
		key, item := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
		r.get(key)
		r.get(item)
		v.SetMapIndex(key, item)
	}
	if v.Len() != n {
		refuse("a key twice")
	}
}

func (r *reader) dynamic(v reflect.Value) {
	var in reflect.Value
	switch r.number(1) {
	case '0':
		return
	case 'T':
		t := r.described(0)
		r.takes(1, t.Size())
		in = reflect.New(t).Elem()
		r.get(in)
	case 'E':
		in = reflect.ValueOf(errors.New(r.text()))
	case 'X':
		if v.Type().NumMethod() != 0 {
			refuse("a value of another type")
		}
		in = reflect.ValueOf(&opaqueValue{r.text(), func() {}})
	default:
		refuse("an unknown tag")
	}
	if !in.Type().AssignableTo(v.Type()) {
		refuse("a value of another type")
	}
	v.Set(in)
}

// ------------------------------------------------------------------------------------------------------------- frames

// Global, because a file without references is closed.
var fromOther, toOther = os.NewFile(3, "calls"), os.NewFile(4, "replies")

func send(body []byte) bool {
	n := len(body)
	_, e := toOther.Write(append([]byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)}, body...))
	return e == nil
}

// nil and true: the stream ended between two frames. nil and false: it ended within a frame.
func receive() (body []byte, fine bool) {
	var size [4]byte
	if n, e := io.ReadFull(fromOther, size[:]); e != nil {
		return nil, n == 0
	}
	n := uint32(size[0]) | uint32(size[1])<<8 | uint32(size[2])<<16 | uint32(size[3])<<24
	if n > frameMax {
		return nil, false
	}
	body = make([]byte, n)
	if _, e := io.ReadFull(fromOther, body); e != nil {
		return nil, false
	}
	return body, true
}
