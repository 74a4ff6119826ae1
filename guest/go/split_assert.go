// SPDX-License-Identifier: MIT
// What tests in Go use besides the function under test and package testing (split_testing.go): the parts of testify's packages
// assert and require that tests of functions need. src/judge/languages/go_units.c replaces the imports by variables of type
// Assert. Equality is as in testify. A test that needs more does not compile, which is noticed before any candidate's program
// is run.
package fhsplit

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"strings"
)

// The first argument of assert and require.
type reporter interface {
	Errorf(format string, arguments ...interface{})
}

// A text that is computed when it is needed, with the lock held: the text of a value may come from code of the program's, and if
// that ends the goroutine, the test must not pass.
type late func() string

func (l late) String() string { return l() }

// -------------------------------------------------------------------------------------------------------- conditions

type anything = interface{}

func objectsAreEqual(want, got anything) bool {
	if want == nil || got == nil {
		return want == got
	}
	w, isBytes := want.([]byte)
	if !isBytes {
		return reflect.DeepEqual(want, got)
	}
	g, isBytes := got.([]byte)
	if !isBytes {
		return false
	}
	if w == nil || g == nil {
		return w == nil && g == nil
	}
	return bytes.Equal(w, g)
}

func isNumeric(t reflect.Type) bool {
	return t.Kind() >= reflect.Int && t.Kind() <= reflect.Complex128
}

func objectsAreEqualValues(want, got anything) bool {
	if objectsAreEqual(want, got) {
		return true
	}
	w, g := reflect.ValueOf(want), reflect.ValueOf(got)
	if !w.IsValid() || !g.IsValid() || !w.Type().ConvertibleTo(g.Type()) {
		return false
	}
	if !isNumeric(w.Type()) || !isNumeric(g.Type()) {
		return reflect.DeepEqual(w.Convert(g.Type()).Interface(), got)
	}
	// Converts the smaller type to the larger one; otherwise a value that overflows could become equal.
	if w.Type().Size() >= g.Type().Size() {
		return g.Type().ConvertibleTo(w.Type()) && g.Convert(w.Type()).Interface() == want
	}
	return w.Convert(g.Type()).Interface() == got
}

func isNil(v anything) bool {
	if v == nil {
		return true
	}
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Chan, reflect.Func, reflect.Map, reflect.Ptr,
		reflect.Slice, reflect.UnsafePointer:
		return r.IsNil()
	}
	return false
}

func isEmpty(v anything) bool {
	if v == nil {
		return true
	}
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Chan, reflect.Map, reflect.Slice:
		return r.Len() == 0
	case reflect.Ptr:
		return r.IsNil() || isEmpty(r.Elem().Interface())
	default:
		return reflect.DeepEqual(v, reflect.Zero(r.Type()).Interface())
	}
}

func isList(v anything) bool {
	k := reflect.ValueOf(v).Kind()
	return k == reflect.Slice || k == reflect.Array
}

func floatOf(v anything) (float64, bool) {
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return float64(r.Int()), true
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return float64(r.Uint()), true
	case reflect.Float32, reflect.Float64:
		return r.Float(), true
	}
	return 0, false
}

// fine: container is of a type that can contain items.
func contains(container, item anything) (holds, fine bool) {
	c := reflect.ValueOf(container)
	switch c.Kind() {
	case reflect.String:
		i := reflect.ValueOf(item)
		return i.Kind() == reflect.String && strings.Contains(c.String(), i.String()), i.Kind() == reflect.String
	case reflect.Map:
		for _, key := range c.MapKeys() {
			if objectsAreEqual(key.Interface(), item) {
				return true, true
			}
		}
		return false, true
	case reflect.Slice, reflect.Array:
		for i := 0; i < c.Len(); i++ {
			if objectsAreEqual(c.Index(i).Interface(), item) {
				return true, true
			}
		}
		return false, true
	}
	return false, false
}

// The items of list for which other has no equal item left.
func extraOf(list, other anything) []anything {
	l, o := reflect.ValueOf(list), reflect.ValueOf(other)
	taken, extra := make([]bool, o.Len()), []anything{}
next:
	for i := 0; i < l.Len(); i++ {
		for k := 0; k < o.Len(); k++ {
			if !taken[k] && objectsAreEqual(l.Index(i).Interface(), o.Index(k).Interface()) {
				taken[k] = true
				continue next
			}
		}
		extra = append(extra, l.Index(i).Interface())
	}
	return extra
}

// Returns -1, 0 or 1; fine: both are of the same ordered type, and neither is NaN, which has no order.
func orderOf(a, b anything) (order int, fine bool) {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	if !x.IsValid() || !y.IsValid() || x.Type() != y.Type() {
		return 0, false
	}
	less, more := false, false
	switch x.Kind() {
	case reflect.String:
		less, more = x.String() < y.String(), x.String() > y.String()
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		less, more = x.Int() < y.Int(), x.Int() > y.Int()
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		less, more = x.Uint() < y.Uint(), x.Uint() > y.Uint()
	case reflect.Float32, reflect.Float64:
		less, more = x.Float() < y.Float(), x.Float() > y.Float()
		if !less && !more && x.Float() != y.Float() {
			return 0, false
		}
	default:
		return 0, false
	}
	if less {
		return -1, true
	}
	if more {
		return 1, true
	}
	return 0, true
}

func panicOf(f func()) (did bool, value anything) {
	did = true
	defer func() {
		if did {
			value = recover()
		}
	}()
	f()
	return false, nil
}

func show(v anything) string {
	s := fmt.Sprintf("%#v", v)
	if len(s) > 200 {
		s = s[:200] + "…"
	}
	return s
}

// ------------------------------------------------------------------------------------------------------------- assert

// Replaces the packages assert and require.
type Assert struct{}

func hold(t reporter, holds bool, message []anything, format string, values ...anything) bool {
	if holds {
		return true
	}
	t.Errorf("%s", late(func() string { return tell(message, format, values) }))
	return false
}

func tell(message []anything, format string, values []anything) string {
	shown := make([]anything, len(values))
	for i, v := range values {
		shown[i] = show(v)
	}
	text := fmt.Sprintf(format, shown...)
	if len(message) == 1 {
		text += fmt.Sprintf(" (%v)", message[0])
	} else if len(message) > 1 {
		text += fmt.Sprintf(" ("+fmt.Sprint(message[0])+")", message[1:]...)
	}
	return text
}

func isFunc(v anything) bool {
	return v != nil && reflect.TypeOf(v).Kind() == reflect.Func
}

func (Assert) ObjectsAreEqual(want, got anything) bool {
	return objectsAreEqual(want, got)
}
func (Assert) ObjectsAreEqualValues(want, got anything) bool {
	return objectsAreEqualValues(want, got)
}

func (Assert) Equal(t reporter, want, got anything, m ...anything) bool {
	fine := !isFunc(want) && !isFunc(got)
	return hold(t, fine && objectsAreEqual(want, got), m, "not equal: expected %s, actual %s", want, got)
}
func (Assert) NotEqual(t reporter, want, got anything, m ...anything) bool {
	fine := !isFunc(want) && !isFunc(got)
	return hold(t, fine && !objectsAreEqual(want, got), m, "should not be: %s", got)
}
func (Assert) EqualValues(t reporter, want, got anything, m ...anything) bool {
	return hold(t, objectsAreEqualValues(want, got), m, "not equal: expected %s, actual %s", want, got)
}
func (Assert) NotEqualValues(t reporter, want, got anything, m ...anything) bool {
	return hold(t, !objectsAreEqualValues(want, got), m, "should not be: %s", got)
}
func (Assert) Exactly(t reporter, want, got anything, m ...anything) bool {
	same := reflect.TypeOf(want) == reflect.TypeOf(got)
	return hold(t, same && objectsAreEqual(want, got), m, "not equal: expected %s, actual %s", want, got)
}
func (Assert) True(t reporter, value bool, m ...anything) bool {
	return hold(t, value, m, "should be true")
}
func (Assert) False(t reporter, value bool, m ...anything) bool {
	return hold(t, !value, m, "should be false")
}
func (Assert) Nil(t reporter, v anything, m ...anything) bool {
	return hold(t, isNil(v), m, "expected nil, but got %s", v)
}
func (Assert) NotNil(t reporter, v anything, m ...anything) bool {
	return hold(t, !isNil(v), m, "expected a value that is not nil")
}
func (Assert) Empty(t reporter, v anything, m ...anything) bool {
	return hold(t, isEmpty(v), m, "should be empty, but was %s", v)
}
func (Assert) NotEmpty(t reporter, v anything, m ...anything) bool {
	return hold(t, !isEmpty(v), m, "should not be empty, but was %s", v)
}
func (Assert) Zero(t reporter, v anything, m ...anything) bool {
	zero := v == nil || reflect.DeepEqual(v, reflect.Zero(reflect.TypeOf(v)).Interface())
	return hold(t, zero, m, "should be zero, but was %s", v)
}
func (Assert) NotZero(t reporter, v anything, m ...anything) bool {
	zero := v == nil || reflect.DeepEqual(v, reflect.Zero(reflect.TypeOf(v)).Interface())
	return hold(t, !zero, m, "should not be zero, but was %s", v)
}
func (Assert) Len(t reporter, v anything, n int, m ...anything) bool {
	fine := false
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Chan, reflect.Map, reflect.Slice, reflect.Array, reflect.String:
		fine = r.Len() == n
	}
	return hold(t, fine, m, "%s should have %s items", v, n)
}
func (Assert) Contains(t reporter, container, item anything, m ...anything) bool {
	holds, fine := contains(container, item)
	return hold(t, holds && fine, m, "%s does not contain %s", container, item)
}
func (Assert) NotContains(t reporter, container, item anything, m ...anything) bool {
	holds, fine := contains(container, item)
	return hold(t, !holds && fine, m, "%s should not contain %s", container, item)
}
func (Assert) ElementsMatch(t reporter, a, b anything, m ...anything) bool {
	if isEmpty(a) && isEmpty(b) {
		return true
	}
	match := isList(a) && isList(b) && len(extraOf(a, b)) == 0 && len(extraOf(b, a)) == 0
	return hold(t, match, m, "elements differ: %s and %s", a, b)
}
func (Assert) InDelta(t reporter, want, got anything, delta float64, m ...anything) bool {
	w, isW := floatOf(want)
	g, isG := floatOf(got)
	near := w-g >= -delta && w-g <= delta || math.IsNaN(w) && math.IsNaN(g)
	return hold(t, isW && isG && near, m, "max difference between %s and %s allowed is %s", want, got, delta)
}
func (a Assert) InDeltaSlice(t reporter, want, got anything, delta float64, m ...anything) bool {
	if !isList(want) || !isList(got) {
		return hold(t, false, m, "%s and %s should be slices", want, got)
	}
	w, g := reflect.ValueOf(want), reflect.ValueOf(got)
	if w.Len() != g.Len() {
		return hold(t, false, m, "%s and %s should be of one length", want, got)
	}
	for i := 0; i < w.Len(); i++ {
		if !a.InDelta(t, w.Index(i).Interface(), g.Index(i).Interface(), delta, m...) {
			return false
		}
	}
	return true
}
func (Assert) InEpsilon(t reporter, want, got anything, epsilon float64, m ...anything) bool {
	w, isW := floatOf(want)
	g, isG := floatOf(got)
	near := w != 0 && math.Abs(w-g)/math.Abs(w) <= epsilon || math.IsNaN(w) && math.IsNaN(g)
	return hold(t, isW && isG && near, m, "max relative difference between %s and %s allowed is %s", want, got, epsilon)
}
func (Assert) NoError(t reporter, e error, m ...anything) bool {
	return hold(t, e == nil, m, "received an unexpected error: %s", textOf(e))
}
func (Assert) Error(t reporter, e error, m ...anything) bool {
	return hold(t, e != nil, m, "an error is expected but got nil")
}
func (Assert) EqualError(t reporter, e error, text string, m ...anything) bool {
	return hold(t, e != nil && e.Error() == text, m, "error message not equal: expected %s, actual %s", text, textOf(e))
}
func (Assert) ErrorContains(t reporter, e error, text string, m ...anything) bool {
	return hold(t, e != nil && strings.Contains(e.Error(), text), m, "error %s does not contain %s", textOf(e), text)
}
func (Assert) ErrorIs(t reporter, e, target error, m ...anything) bool {
	return hold(t, errors.Is(e, target), m, "%s should be in the chain of %s", textOf(target), textOf(e))
}
func (Assert) ErrorAs(t reporter, e error, target anything, m ...anything) bool {
	return hold(t, errors.As(e, target), m, "no such error in the chain of %s", textOf(e))
}
func textOf(e error) string {
	if e == nil {
		return "nil"
	}
	return e.Error()
}
func (Assert) Panics(t reporter, f func(), m ...anything) bool {
	did, _ := panicOf(f)
	return hold(t, did, m, "the function should panic")
}
func (Assert) NotPanics(t reporter, f func(), m ...anything) bool {
	did, value := panicOf(f)
	return hold(t, !did, m, "the function should not panic: %s", value)
}
func (Assert) PanicsWithValue(t reporter, want anything, f func(), m ...anything) bool {
	did, value := panicOf(f)
	return hold(t, did && objectsAreEqual(value, want), m, "the function should panic with %s, not %s", want, value)
}
func (Assert) PanicsWithError(t reporter, text string, f func(), m ...anything) bool {
	_, value := panicOf(f)
	e, is := value.(error)
	return hold(t, is && e.Error() == text, m, "the function should panic with the error %s, not %s", text, value)
}
func (Assert) Greater(t reporter, a, b anything, m ...anything) bool {
	order, fine := orderOf(a, b)
	return hold(t, fine && order > 0, m, "%s is not greater than %s", a, b)
}
func (Assert) GreaterOrEqual(t reporter, a, b anything, m ...anything) bool {
	order, fine := orderOf(a, b)
	return hold(t, fine && order >= 0, m, "%s is not greater than or equal to %s", a, b)
}
func (Assert) Less(t reporter, a, b anything, m ...anything) bool {
	order, fine := orderOf(a, b)
	return hold(t, fine && order < 0, m, "%s is not less than %s", a, b)
}
func (Assert) LessOrEqual(t reporter, a, b anything, m ...anything) bool {
	order, fine := orderOf(a, b)
	return hold(t, fine && order <= 0, m, "%s is not less than or equal to %s", a, b)
}
func (Assert) IsType(t reporter, want, got anything, m ...anything) bool {
	same := reflect.TypeOf(want) == reflect.TypeOf(got)
	return hold(t, same, m, "%s and %s are of different types", want, got)
}
func (Assert) Regexp(t reporter, rx, s anything, m ...anything) bool {
	r, is := rx.(*regexp.Regexp)
	if !is {
		r = regexp.MustCompile(fmt.Sprint(rx))
	}
	return hold(t, r.MatchString(fmt.Sprint(s)), m, "%s does not match %s", s, r.String())
}
func (Assert) Fail(t reporter, text string, m ...anything) bool {
	return hold(t, false, m, "%s", text)
}
func (Assert) FailNow(t reporter, text string, m ...anything) bool {
	return hold(t, false, m, "%s", text)
}
func (Assert) New(t reporter) *Assertions { return &Assertions{t: t} }
