/* SPDX-License-Identifier: MIT */
// Precedes the adapter of a C++ program whose function differs from its declaration (src/judge/languages/cpp_adapter.h), in the
// program's own unit and after its text. The program may have defined words of the language as macros.
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
#undef false
#undef float
#undef for
#undef if
#undef int
#undef long
#undef namespace
#undef new
#undef operator
#undef return
#undef short
#undef sizeof
#undef signed
#undef static_assert
#undef static_cast
#undef struct
#undef template
#undef true
#undef typedef
#undef typename
#undef unsigned
#undef using
#undef void
#include <initializer_list>
#include <iterator>
#include <string>
#include <type_traits>
#include <utility>
#if __cplusplus >= 201703L
#include <string_view>
#endif

extern "C" void fh_split_misfit();

namespace fh_split_fitting {

template <class T> using plain = typename ::std::remove_cv<typename ::std::remove_reference<T>::type>::type;

// An argument that the test gives as a variable.
template <class T> using lvalue = plain<T> &;

// Converts a number, which must be representable in the type, as a comparison would show: 7.5 is no int. A double may lose its
// last digits as a float.
template <class To, class From> To number(From v)
{
	To r = static_cast<To>(v);
	if (!(::std::is_floating_point<To>::value && ::std::is_floating_point<From>::value) && !(static_cast<From>(r) == v))
		fh_split_misfit();
	return r;
}

#if __cplusplus >= 201703L

// A test gives braces and literals, which may become several types: a vector of strings or of string_views, of ints or of
// doubles, or an initializer_list. The value of the declared type that is here instead becomes the same types.
template <class T, class = void> struct is_text : ::std::is_same<T, const char *> {};
template <class T> struct is_text<T, ::std::void_t<typename T::traits_type, decltype(::std::declval<T &>().data())>> : ::std::true_type {};
template <class T, class = void> struct is_list : ::std::false_type {};
template <class T>
struct is_list<T, ::std::void_t<typename T::value_type, decltype(::std::declval<T &>().insert(::std::declval<T &>().end(),
                                                                                              ::std::declval<typename T::value_type>()))>>
    : ::std::bool_constant<!is_text<T>::value> {};
template <class T> struct is_braces : ::std::false_type {};
template <class T> struct is_braces<::std::initializer_list<T>> : ::std::true_type {};
// pair, tuple, array
template <class T, class = void> struct is_sized : ::std::false_type {};
template <class T> struct is_sized<T, ::std::void_t<decltype(::std::tuple_size<T>::value)>> : ::std::true_type {};
template <class T, class = void> struct is_array : ::std::false_type {};
template <class T>
struct is_array<T, ::std::void_t<decltype(::std::tuple_size<T>::value), decltype(::std::declval<T &>().fill(
                                                                            ::std::declval<typename T::value_type>()))>> : ::std::true_type {};
template <class T> using numbers_of = ::std::make_index_sequence<::std::tuple_size<T>::value>;
template <::std::size_t I, class T> using item_of = plain<typename ::std::tuple_element<I, T>::type>;

template <class To, class Items, class = void> struct is_made_of : ::std::false_type {};
template <class To, class... T>
struct is_made_of<To, void(T...), ::std::void_t<decltype(To{ ::std::declval<T>()... })>> : ::std::true_type {};
// Whether braces with these items make the class, as a point is made of {1, 2}.
template <class To, class From, ::std::size_t... I> constexpr bool can_be_made_of(::std::index_sequence<I...>)
{
	return ::std::is_class_v<To> && !is_text<To>::value && is_made_of<To, void(const item_of<I, From> &...)>::value;
}

template <class To, class From> constexpr bool can();
template <class To, class From, ::std::size_t... I> constexpr bool can_each(::std::index_sequence<I...>)
{
	if constexpr (!is_sized<From>::value)
		return (can<item_of<I, To>, typename From::value_type>() && ...);
	else if constexpr (!is_sized<To>::value)
		return (can<typename To::value_type, item_of<I, From>>() && ...);
	else
		return (can<item_of<I, To>, item_of<I, From>>() && ...);
}

template <class To, class From> constexpr bool can()
{
	if constexpr (::std::is_same_v<To, From>)
		return true;
	else if constexpr (::std::is_arithmetic_v<To> && ::std::is_arithmetic_v<From>)
		return ::std::is_same_v<To, bool> == ::std::is_same_v<From, bool>;
	else if constexpr (is_text<To>::value && is_text<From>::value)
		return true;
	else if constexpr (is_sized<To>::value && is_sized<From>::value) {
		constexpr ::std::size_t to = ::std::tuple_size<To>::value, from = ::std::tuple_size<From>::value;
		if constexpr (from == to || (from < to && is_array<To>::value))
			return can_each<To, From>(numbers_of<From>());
		else
			return false;
	}
	else if constexpr (is_sized<To>::value && is_list<From>::value)
		return can_each<To, From>(numbers_of<To>());
	else if constexpr (is_list<To>::value && is_sized<From>::value)
		return can_each<To, From>(numbers_of<From>());
	else if constexpr ((is_list<To>::value || is_braces<To>::value) && (is_list<From>::value || is_braces<From>::value))
		return can<typename To::value_type, typename From::value_type>();
	else if constexpr (!::std::is_arithmetic_v<To> && ::std::is_convertible_v<const From &, To>)
		return true; // a class of the program's, an optional
	else if constexpr (is_sized<From>::value)
		return can_be_made_of<To, From>(numbers_of<From>());
	else
		return false;
}

template <class To, class From> To made(const From &v);
template <class To, class From, ::std::size_t... I> To made_of_sized(const From &v, ::std::index_sequence<I...>)
{
	using ::std::get;
	return To{ made<item_of<I, To>>(get<I>(v))... }; // braces: from left to right
}
template <class To, class From, ::std::size_t... I> To made_of_items(const From &v, ::std::index_sequence<I...>)
{
	using ::std::get;
	return To{ get<I>(v)... };
}
template <class To, class From, ::std::size_t... I> To made_of_list(const From &v, ::std::index_sequence<I...>)
{
	auto at = v.begin();
	return To{ made<item_of<I, To>>(static_cast<const typename From::value_type &>(*at++))... };
}
template <class To, class From, ::std::size_t... I> void add_each(To &list, const From &v, ::std::index_sequence<I...>)
{
	using ::std::get;
	(list.insert(list.end(), made<typename To::value_type>(get<I>(v))), ...);
}
// Fewer items than an array has are as in braces: the others are zeros.
template <class To, class From> To made_array(const From &v)
{
	To array{};
	auto at = array.begin();
	for (const auto &item : v) {
		if (at == array.end())
			fh_split_misfit();
		*at++ = made<typename To::value_type>(static_cast<const typename From::value_type &>(item));
	}
	return array;
}

// Texts and items that the new value only refers to are kept until the program ends.
template <class To, class From> To made(const From &v)
{
	if constexpr (::std::is_same_v<To, From>) {
		return v;
	} else if constexpr (::std::is_arithmetic_v<To>) {
		return number<To>(v);
	} else if constexpr (is_text<To>::value) {
		auto *text = new ::std::string(v);
		if constexpr (::std::is_same_v<To, const char *>)
			return text->c_str();
		else
			return To(text->data(), text->size());
	} else if constexpr (is_sized<To>::value && is_sized<From>::value) {
		return made_of_sized<To>(v, numbers_of<From>());
	} else if constexpr (is_array<To>::value && is_list<From>::value) {
		return made_array<To>(v);
	} else if constexpr (is_sized<To>::value && is_list<From>::value) {
		if (static_cast<::std::size_t>(::std::distance(v.begin(), v.end())) != ::std::tuple_size<To>::value)
			fh_split_misfit();
		return made_of_list<To>(v, numbers_of<To>());
	} else if constexpr (is_list<To>::value && is_sized<From>::value) {
		To list;
		add_each(list, v, numbers_of<From>());
		return list;
	} else if constexpr (is_list<To>::value && (is_list<From>::value || is_braces<From>::value)) {
		To list;
		for (const auto &item : v)
			list.insert(list.end(), made<typename To::value_type>(static_cast<const typename From::value_type &>(item)));
		return list;
	} else if constexpr (!is_braces<To>::value && ::std::is_convertible_v<const From &, To>) {
		return static_cast<To>(v);
	} else if constexpr (!is_braces<To>::value) {
		return made_of_items<To>(v, numbers_of<From>());
	} else {
		using item = typename To::value_type;
		// as libstdc++ and libc++ have it
		struct layout {
			const item *first;
			decltype(sizeof(0)) count;
		} braces = { nullptr, v.size() };
		static_assert(sizeof(layout) == sizeof(To), "another layout");
		item *to = static_cast<item *>(::operator new(v.size() * sizeof(item) + 1));
		braces.first = to;
		for (const auto &from : v)
			::new (static_cast<void *>(to++)) item(made<item>(static_cast<const typename From::value_type &>(from)));
		To list;
		__builtin_memcpy(static_cast<void *>(&list), &braces, sizeof(list));
		return list;
	}
}

// An argument that becomes what the program's function takes.
template <class From> struct argument {
	const From &value;
	template <class To, class = ::std::enable_if_t<can<To, From>()>> operator To() const
	{
		return made<To>(value);
	}
};
template <class P> decltype(auto) given(::std::remove_reference_t<P> &v)
{
	if constexpr (::std::is_arithmetic_v<plain<P>> || (::std::is_lvalue_reference_v<P> && !::std::is_const_v<::std::remove_reference_t<P>>))
		return static_cast<P &&>(v);
	else
		return argument<plain<P>>{ v };
}

// Calls with the declared types, if that is possible or if nothing else is, which tells what is wrong.
template <class... P, class Checked, class Plain> decltype(auto) call(Checked checked, Plain function, ::std::remove_reference_t<P> &...v)
{
	// One question after the other: where the result's type is deduced, the second would compile the function's body for what it asks.
	if constexpr (::std::is_invocable_v<Checked, P &&...>)
		return function(static_cast<P &&>(v)...);
	else if constexpr (::std::is_invocable_v<Checked, decltype(given<P>(v))...>)
		return checked(given<P>(v)...);
	else
		return function(static_cast<P &&>(v)...);
}

#endif

} // namespace fh_split_fitting

// Converts the function's result to the declared type; a pointer is no bool, and a string_view is as good as a string. `items`: whether a list's items are numbers of another
// type because a macro of the program's has changed the meaning of the declared one (`#define int long long`).
template <class R, bool items, class V> R fh_split_fit(V &&v)
{
	typedef typename ::std::decay<V>::type from;
	static_assert(!::std::is_arithmetic<R>::value || !::std::is_pointer<from>::value, "no value of the declared type");
	if constexpr (::std::is_arithmetic<R>::value && ::std::is_arithmetic<from>::value) {
		return fh_split_fitting::number<R>(v);
	} else {
#if __cplusplus >= 201703L
		if constexpr (items && !::std::is_same_v<R, from> && fh_split_fitting::can<R, from>())
			return fh_split_fitting::made<R>(v);
		else if constexpr (::std::is_class_v<R> && fh_split_fitting::is_text<R>::value && fh_split_fitting::is_text<from>::value)
			return R(::std::forward<V>(v));
		else
#endif
			return ::std::forward<V>(v);
	}
}
