// SPDX-License-Identifier: MIT
// The assertions of split_assert.go in testify's other two forms: as methods of what assert.New(t) returns, and with a message
// that has a format (Equalf).
package fhsplit

// The same assertions, with t given once.
type Assertions struct {
	assert Assert
	t      reporter
}

func (by *Assertions) Equal(want, got anything, m ...anything) bool {
	return by.assert.Equal(by.t, want, got, m...)
}
func (a Assert) Equalf(t reporter, want, got anything, format string, m ...anything) bool {
	return a.Equal(t, want, got, append([]anything{format}, m...)...)
}
func (by *Assertions) Equalf(want, got anything, format string, m ...anything) bool {
	return by.assert.Equalf(by.t, want, got, format, m...)
}
func (by *Assertions) NotEqual(want, got anything, m ...anything) bool {
	return by.assert.NotEqual(by.t, want, got, m...)
}
func (a Assert) NotEqualf(t reporter, want, got anything, format string, m ...anything) bool {
	return a.NotEqual(t, want, got, append([]anything{format}, m...)...)
}
func (by *Assertions) NotEqualf(want, got anything, format string, m ...anything) bool {
	return by.assert.NotEqualf(by.t, want, got, format, m...)
}
func (by *Assertions) EqualValues(want, got anything, m ...anything) bool {
	return by.assert.EqualValues(by.t, want, got, m...)
}
func (by *Assertions) NotEqualValues(want, got anything, m ...anything) bool {
	return by.assert.NotEqualValues(by.t, want, got, m...)
}
func (by *Assertions) Exactly(want, got anything, m ...anything) bool {
	return by.assert.Exactly(by.t, want, got, m...)
}
func (by *Assertions) True(value bool, m ...anything) bool {
	return by.assert.True(by.t, value, m...)
}
func (a Assert) Truef(t reporter, value bool, format string, m ...anything) bool {
	return a.True(t, value, append([]anything{format}, m...)...)
}
func (by *Assertions) Truef(value bool, format string, m ...anything) bool {
	return by.assert.Truef(by.t, value, format, m...)
}
func (by *Assertions) False(value bool, m ...anything) bool {
	return by.assert.False(by.t, value, m...)
}
func (a Assert) Falsef(t reporter, value bool, format string, m ...anything) bool {
	return a.False(t, value, append([]anything{format}, m...)...)
}
func (by *Assertions) Falsef(value bool, format string, m ...anything) bool {
	return by.assert.Falsef(by.t, value, format, m...)
}
func (by *Assertions) Nil(v anything, m ...anything) bool {
	return by.assert.Nil(by.t, v, m...)
}
func (a Assert) Nilf(t reporter, v anything, format string, m ...anything) bool {
	return a.Nil(t, v, append([]anything{format}, m...)...)
}
func (by *Assertions) Nilf(v anything, format string, m ...anything) bool {
	return by.assert.Nilf(by.t, v, format, m...)
}
func (by *Assertions) NotNil(v anything, m ...anything) bool {
	return by.assert.NotNil(by.t, v, m...)
}
func (a Assert) NotNilf(t reporter, v anything, format string, m ...anything) bool {
	return a.NotNil(t, v, append([]anything{format}, m...)...)
}
func (by *Assertions) NotNilf(v anything, format string, m ...anything) bool {
	return by.assert.NotNilf(by.t, v, format, m...)
}
func (by *Assertions) Empty(v anything, m ...anything) bool {
	return by.assert.Empty(by.t, v, m...)
}
func (by *Assertions) NotEmpty(v anything, m ...anything) bool {
	return by.assert.NotEmpty(by.t, v, m...)
}
func (by *Assertions) Zero(v anything, m ...anything) bool {
	return by.assert.Zero(by.t, v, m...)
}
func (by *Assertions) NotZero(v anything, m ...anything) bool {
	return by.assert.NotZero(by.t, v, m...)
}
func (by *Assertions) Len(v anything, n int, m ...anything) bool {
	return by.assert.Len(by.t, v, n, m...)
}
func (a Assert) Lenf(t reporter, v anything, n int, format string, m ...anything) bool {
	return a.Len(t, v, n, append([]anything{format}, m...)...)
}
func (by *Assertions) Lenf(v anything, n int, format string, m ...anything) bool {
	return by.assert.Lenf(by.t, v, n, format, m...)
}
func (by *Assertions) Contains(container, item anything, m ...anything) bool {
	return by.assert.Contains(by.t, container, item, m...)
}
func (a Assert) Containsf(t reporter, container, item anything, format string, m ...anything) bool {
	return a.Contains(t, container, item, append([]anything{format}, m...)...)
}
func (by *Assertions) Containsf(container, item anything, format string, m ...anything) bool {
	return by.assert.Containsf(by.t, container, item, format, m...)
}
func (by *Assertions) NotContains(container, item anything, m ...anything) bool {
	return by.assert.NotContains(by.t, container, item, m...)
}
func (by *Assertions) ElementsMatch(a, b anything, m ...anything) bool {
	return by.assert.ElementsMatch(by.t, a, b, m...)
}
func (by *Assertions) InDelta(want, got anything, delta float64, m ...anything) bool {
	return by.assert.InDelta(by.t, want, got, delta, m...)
}
func (a Assert) InDeltaf(t reporter, want, got anything, delta float64, format string, m ...anything) bool {
	return a.InDelta(t, want, got, delta, append([]anything{format}, m...)...)
}
func (by *Assertions) InDeltaf(want, got anything, delta float64, format string, m ...anything) bool {
	return by.assert.InDeltaf(by.t, want, got, delta, format, m...)
}
func (by *Assertions) InDeltaSlice(want, got anything, delta float64, m ...anything) bool {
	return by.assert.InDeltaSlice(by.t, want, got, delta, m...)
}
func (by *Assertions) InEpsilon(want, got anything, epsilon float64, m ...anything) bool {
	return by.assert.InEpsilon(by.t, want, got, epsilon, m...)
}
func (by *Assertions) NoError(e error, m ...anything) bool {
	return by.assert.NoError(by.t, e, m...)
}
func (a Assert) NoErrorf(t reporter, e error, format string, m ...anything) bool {
	return a.NoError(t, e, append([]anything{format}, m...)...)
}
func (by *Assertions) NoErrorf(e error, format string, m ...anything) bool {
	return by.assert.NoErrorf(by.t, e, format, m...)
}
func (by *Assertions) Error(e error, m ...anything) bool {
	return by.assert.Error(by.t, e, m...)
}
func (a Assert) Errorf(t reporter, e error, format string, m ...anything) bool {
	return a.Error(t, e, append([]anything{format}, m...)...)
}
func (by *Assertions) Errorf(e error, format string, m ...anything) bool {
	return by.assert.Errorf(by.t, e, format, m...)
}
func (by *Assertions) EqualError(e error, text string, m ...anything) bool {
	return by.assert.EqualError(by.t, e, text, m...)
}
func (by *Assertions) ErrorContains(e error, text string, m ...anything) bool {
	return by.assert.ErrorContains(by.t, e, text, m...)
}
func (by *Assertions) ErrorIs(e, target error, m ...anything) bool {
	return by.assert.ErrorIs(by.t, e, target, m...)
}
func (by *Assertions) ErrorAs(e error, target anything, m ...anything) bool {
	return by.assert.ErrorAs(by.t, e, target, m...)
}
func (by *Assertions) Panics(f func(), m ...anything) bool {
	return by.assert.Panics(by.t, f, m...)
}
func (by *Assertions) NotPanics(f func(), m ...anything) bool {
	return by.assert.NotPanics(by.t, f, m...)
}
func (by *Assertions) PanicsWithValue(want anything, f func(), m ...anything) bool {
	return by.assert.PanicsWithValue(by.t, want, f, m...)
}
func (by *Assertions) PanicsWithError(text string, f func(), m ...anything) bool {
	return by.assert.PanicsWithError(by.t, text, f, m...)
}
func (by *Assertions) Greater(a, b anything, m ...anything) bool {
	return by.assert.Greater(by.t, a, b, m...)
}
func (by *Assertions) GreaterOrEqual(a, b anything, m ...anything) bool {
	return by.assert.GreaterOrEqual(by.t, a, b, m...)
}
func (by *Assertions) Less(a, b anything, m ...anything) bool {
	return by.assert.Less(by.t, a, b, m...)
}
func (by *Assertions) LessOrEqual(a, b anything, m ...anything) bool {
	return by.assert.LessOrEqual(by.t, a, b, m...)
}
func (by *Assertions) IsType(want, got anything, m ...anything) bool {
	return by.assert.IsType(by.t, want, got, m...)
}
func (by *Assertions) Regexp(rx, s anything, m ...anything) bool {
	return by.assert.Regexp(by.t, rx, s, m...)
}
func (by *Assertions) Fail(text string, m ...anything) bool {
	return by.assert.Fail(by.t, text, m...)
}
func (by *Assertions) FailNow(text string, m ...anything) bool {
	return by.assert.FailNow(by.t, text, m...)
}
