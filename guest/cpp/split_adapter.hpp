// SPDX-License-Identifier: MIT
// Precedes the adapter of a C++ program whose function differs from its declaration (src/judge/languages/cpp_adapter.h), in the
// program's own unit and after its text. The program may have defined macros with names that are needed here.
#undef auto
#undef bool
#undef char
#undef class
#undef const
#undef constexpr
#undef decltype
#undef double
#undef else
#undef extern
#undef float
#undef if
#undef int
#undef long
#undef namespace
#undef return
#undef short
#undef signed
#undef static_assert
#undef static_cast
#undef struct
#undef template
#undef typedef
#undef typename
#undef unsigned
#undef using
#undef void
#include <type_traits>
#include <utility>

extern "C" void fh_split_misfit();

// Converts the function's result to the declared type. A result of another arithmetic type must be representable in it, as a
// comparison would show: 7.5 is no int, and a pointer is no bool. A double may lose its last digits as a float.
template <class R, class V> R fh_split_fit(V &&v)
{
	typedef typename ::std::decay<V>::type from;
	static_assert(!::std::is_arithmetic<R>::value || !::std::is_pointer<from>::value, "no value of the declared type");
	if constexpr (::std::is_arithmetic<R>::value && ::std::is_arithmetic<from>::value) {
		R r = static_cast<R>(v);
		if (!(::std::is_floating_point<R>::value && ::std::is_floating_point<from>::value) && !(static_cast<from>(r) == v))
			fh_split_misfit();
		return r;
	} else {
		return ::std::forward<V>(v);
	}
}
