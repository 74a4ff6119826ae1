// SPDX-License-Identifier: MIT
// Which types have values that can cross between the two programs of split judging in Go (split_codec.go), and what the
// codec has to know of a type.
package fhsplit

import (
	"reflect"
	"unsafe"
)

// The types that the declaration defines, by name. They are passed as pointers.
var declaredTypes = map[string]reflect.Type{}

func declare(pointers []interface{}) {
	for _, p := range pointers {
		t := reflect.TypeOf(p).Elem()
		if t.Kind() != reflect.Interface && unfitType(t, map[reflect.Type]bool{}) == "" {
			declaredTypes[t.Name()] = t
		}
	}
}

// The reason why values of a type cannot cross; "": they can.
func unfitType(t reflect.Type, seen map[reflect.Type]bool) string {
	if seen[t] {
		return ""
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Slice, reflect.Array, reflect.Ptr:
		return unfitType(t.Elem(), seen)
	case reflect.Map:
		if why := unfitType(t.Key(), seen); why != "" {
			return why
		}
		return unfitType(t.Elem(), seen)
	case reflect.Struct:
		if t.PkgPath() != "" && t.PkgPath() != "main" {
			return "values of type " + t.String()
		}
		for i := 0; i < t.NumField(); i++ {
			if why := unfitType(t.Field(i).Type, seen); why != "" {
				return why
			}
		}
	case reflect.Func, reflect.Chan, reflect.UnsafePointer, reflect.Uintptr:
		return "values of type " + t.String()
	}
	return ""
}

func unfitShape(t reflect.Type) string {
	seen := map[reflect.Type]bool{}
	for i := 0; i < t.NumIn(); i++ {
		if why := unfitType(t.In(i), seen); why != "" {
			return why
		}
	}
	for i := 0; i < t.NumOut(); i++ {
		if why := unfitType(t.Out(i), seen); why != "" {
			return why
		}
	}
	return ""
}

// Go's predeclared types.
var basicTypes = []reflect.Type{
	reflect.TypeOf(false), reflect.TypeOf(int(0)), reflect.TypeOf(int8(0)), reflect.TypeOf(int16(0)),
	reflect.TypeOf(int32(0)), reflect.TypeOf(int64(0)), reflect.TypeOf(uint(0)), reflect.TypeOf(uint8(0)),
	reflect.TypeOf(uint16(0)), reflect.TypeOf(uint32(0)), reflect.TypeOf(uint64(0)),
	reflect.TypeOf(float32(0)), reflect.TypeOf(float64(0)), reflect.TypeOf(complex64(0)),
	reflect.TypeOf(complex128(0)), reflect.TypeOf(""), reflect.TypeOf((*error)(nil)).Elem(),
}

var emptyInterface = reflect.TypeOf((*interface{})(nil)).Elem()

// The minimum bytes of a value of a type in a frame. At least 1, so that counts are bounded by the bytes that are left.
func leastBytes(t reflect.Type) int {
	switch t.Kind() {
	case reflect.Float32, reflect.String:
		return 4
	case reflect.Complex128:
		return 16
	case reflect.Bool, reflect.Slice, reflect.Map, reflect.Ptr, reflect.Interface:
		return 1
	case reflect.Array:
		least := leastBytes(t.Elem())
		if t.Len() == 0 {
			return 1
		}
		if t.Len() > frameMax/least {
			return frameMax
		}
		return t.Len() * least
	case reflect.Struct:
		least := 1
		for i := 0; i < t.NumField(); i++ {
			least += leastBytes(t.Field(i).Type)
		}
		return least
	}
	return 8
}

// A field that may be read and set even if it is not exported; s must be addressable.
func field(s reflect.Value, i int) reflect.Value {
	f := s.Field(i)
	return reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem()
}

// A copy of the value that is addressable.
func placed(v reflect.Value) reflect.Value {
	if v.CanAddr() {
		return v
	}
	p := reflect.New(v.Type()).Elem()
	p.Set(v)
	return p
}
