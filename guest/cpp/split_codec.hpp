// SPDX-License-Identifier: MIT
// Both ends of split judging in C++, in front of what src/judge/languages/cpp_units.c makes from a declaration. The object made
// of it is linked into two programs:
//
//   the judge      test + this: the tested function is a stand-in (weak), whose call() crosses; main is the test's,
//                  reached through __wrap_main (-Wl,--wrap=main,--wrap=__assert_fail). stdin: the seed of chance, sixteen
//                  hexadecimal digits
//   the candidate  program + this: the program's function replaces the stand-in, or there is an adapter that calls it
//                  (src/judge/languages/cpp_adapter.h), and __wrap_main is serve(); a main of the program's is never reached
//
// Both start in __wrap_main: only the judge has descriptor 5.
//
// Calls:    length (4 bytes), word (1: C call, E end), id (16), the arguments.
// Replies:  length (4 bytes), id (16), word (1), and for
//   R  the result, then every argument that the function takes by a reference to what is not const
//   T  a number of `thrown`, and what() as a string: an exception derived from std::exception
//   X  an exception of another type     L  too large to cross     U  no such function     M  no value of the declared type
//   E  the answer to E
// All numbers are this machine's own. Both ends know the types from the signature, so none crosses; a type that has no
// codec fails to compile, when the task is loaded. A reply that no honest program sends ends the judge at once.
//
// fd 3, fd 4: calls and replies. fd 5: the verdict, as split_judge.js describes it.
//
// Containers are known by their members and not by name, so that nothing but <string> has to be included.
//
// A global variable of the program's may have any name that is not reserved: `int read;` would be what this object's calls of
// read() jump to. So whatever serve() needs of libc is called by a reserved name, which no program may use. (gold would
// also give such a variable to the shared libraries, for their own calls: -fvisibility=hidden keeps it from them.)
#include <features.h>
#ifdef __GLIBC__
extern "C" {
using fh_split_size = decltype(sizeof(0));
// For calls that are made by the compiler and by what the standard's headers define, too. (The compiler knows __memcpy_chk:
// by that name it would be memcpy again.)
void *memcpy(void *, const void *, fh_split_size) noexcept __asm__("fh_split_memcpy");
void *memmove(void *, const void *, fh_split_size) noexcept __asm__("fh_split_memmove");
void *memset(void *, int, fh_split_size) noexcept __asm__("fh_split_memset");
int memcmp(const void *, const void *, fh_split_size) noexcept __asm__("fh_split_memcmp");
fh_split_size strlen(const char *) noexcept __asm__("fh_split_strlen");
long fh_split_read(int, void *, fh_split_size) __asm__("__read");
long fh_split_write(int, const void *, fh_split_size) __asm__("__write");
int fh_split_fcntl(int, int, ...) __asm__("__fcntl");
void *fh_split_memcpy_chk(void *, const void *, fh_split_size, fh_split_size) noexcept __asm__("__memcpy_chk");
void *fh_split_memmove_chk(void *, const void *, fh_split_size, fh_split_size) noexcept __asm__("__memmove_chk");
void *fh_split_memset_chk(void *, int, fh_split_size, fh_split_size) noexcept __asm__("__memset_chk");
}
#else
#define fh_split_read ::read
#define fh_split_write ::write
#define fh_split_fcntl ::fcntl
#endif
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#ifdef __GLIBC__
extern "C" {
void *memcpy(void *to, const void *from, size_t n) noexcept
{
	return fh_split_memcpy_chk(to, from, n, SIZE_MAX);
}
void *memmove(void *to, const void *from, size_t n) noexcept
{
	return fh_split_memmove_chk(to, from, n, SIZE_MAX);
}
void *memset(void *to, int c, size_t n) noexcept
{
	return fh_split_memset_chk(to, c, n, SIZE_MAX);
}
int memcmp(const void *a, const void *b, size_t n) noexcept
{
	const unsigned char *p = static_cast<const unsigned char *>(a), *q = static_cast<const unsigned char *>(b);
	while (n > 0 && *p == *q)
		p++, q++, n--;
	return n > 0 ? *p - *q : 0;
}
size_t strlen(const char *s) noexcept
{
	size_t n = 0;
	while (s[n])
		n++;
	return n;
}
}
#endif

namespace fh_split {

constexpr size_t frame_max = 8u << 20;
constexpr unsigned depth_max = 64; // of any in any
constexpr size_t id_size = 16;

struct broken {}; // thrown by the decoder, never seen by a test

struct writer {
	std::string bytes;
	bool full = false; // what cannot cross was put
	unsigned depth = 0;
	void raw(const void *p, size_t n)
	{
		if (n > frame_max - bytes.size())
			full = true;
		else
			bytes.append(static_cast<const char *>(p), n);
	}
	void count(size_t n)
	{
		uint32_t k = n > frame_max ? frame_max : n;
		full = full || n > frame_max;
		raw(&k, sizeof(k));
	}
};

struct reader {
	const char *p;
	size_t left;
	unsigned depth = 0;
	void raw(void *to, size_t n)
	{
		if (n > left)
			throw broken();
		memcpy(to, p, n);
		p += n;
		left -= n;
	}
	// Every item takes at least one byte.
	size_t count()
	{
		uint32_t k;
		raw(&k, sizeof(k));
		if (k > left)
			throw broken();
		return k;
	}
};

// ---------------------------------------------------------------------------------------------------------- codecs

template <class T, class = void> struct codec; // a type without codec cannot cross

template <class T> void put(writer &w, const T &v)
{
	codec<T>::put(w, v);
}
template <class T> T get(reader &r)
{
	return codec<T>::get(r);
}

template <> struct codec<bool> {
	static void put(writer &w, bool v)
	{
		unsigned char c = v;
		w.raw(&c, 1);
	}
	static bool get(reader &r)
	{
		unsigned char c;
		r.raw(&c, 1);
		if (c > 1)
			throw broken();
		return c;
	}
};

template <class T> struct codec<T, std::enable_if_t<std::is_arithmetic<T>::value && !std::is_same<T, bool>::value>> {
	static void put(writer &w, T v)
	{
		w.raw(&v, sizeof(v));
	}
	static T get(reader &r)
	{
		T v;
		r.raw(&v, sizeof(v));
		return v;
	}
};

template <class C, class Traits, class A> struct codec<std::basic_string<C, Traits, A>> {
	using T = std::basic_string<C, Traits, A>;
	static void put(writer &w, const T &v)
	{
		w.count(v.size());
		w.raw(v.data(), v.size() * sizeof(C));
	}
	static T get(reader &r)
	{
		size_t n = r.count();
		if (n > r.left / sizeof(C))
			throw broken();
		T v(n, C());
		r.raw(&v[0], n * sizeof(C));
		return v;
	}
};

// Text that somebody else owns: what arrives is kept for the life of the process.
template <> struct codec<const char *> {
	static void put(writer &w, const char *v)
	{
		codec<bool>::put(w, v != nullptr);
		if (v)
			codec<std::string>::put(w, v);
	}
	static const char *get(reader &r)
	{
		if (!codec<bool>::get(r))
			return nullptr;
		return (new std::string(codec<std::string>::get(r)))->c_str();
	}
};

#if __cplusplus >= 201703L
template <class C, class Traits> struct codec<std::basic_string_view<C, Traits>> {
	using T = std::basic_string_view<C, Traits>;
	static void put(writer &w, const T &v)
	{
		codec<std::basic_string<C, Traits>>::put(w, std::basic_string<C, Traits>(v));
	}
	static T get(reader &r)
	{
		return *new std::basic_string<C, Traits>(codec<std::basic_string<C, Traits>>::get(r));
	}
};
#endif

template <class A, class B> struct codec<std::pair<A, B>> {
	using First = std::remove_const_t<A>;
	static void put(writer &w, const std::pair<A, B> &v)
	{
		codec<First>::put(w, v.first);
		codec<B>::put(w, v.second);
	}
	static std::pair<A, B> get(reader &r)
	{
		First first = codec<First>::get(r);
		return std::pair<A, B>(std::move(first), codec<B>::get(r));
	}
};

template <class...> using void_t = void;
template <class T, class = void> struct is_string : std::false_type {};
template <class T> struct is_string<T, void_t<typename T::traits_type>> : std::true_type {};

// vector, deque, list, forward_list, set, map and their like: a value_type, iterators, and a way to put one in.
template <class T, class = void> struct is_container : std::false_type {};
template <class T>
struct is_container<T, void_t<typename T::value_type, typename T::allocator_type, decltype(std::declval<T &>().begin())>>
    : std::integral_constant<bool, !is_string<T>::value> {};

template <class T, class = void> struct has_push_back : std::false_type {};
template <class T>
struct has_push_back<T, void_t<decltype(std::declval<T &>().push_back(std::declval<typename T::value_type>()))>>
    : std::true_type {};
template <class T, class = void> struct has_push_front : std::false_type {};
template <class T>
struct has_push_front<T, void_t<decltype(std::declval<T &>().push_front(std::declval<typename T::value_type>()))>>
    : std::true_type {};

template <class T> struct codec<T, std::enable_if_t<is_container<T>::value>> {
	using item = typename T::value_type;
	static void put(writer &w, const T &v)
	{
		size_t n = 0;
		for (auto i = v.begin(); i != v.end(); ++i)
			n++;
		w.count(n);
		for (auto i = v.begin(); i != v.end() && !w.full; ++i)
			codec<item>::put(w, *i);
	}
	static void add(T &v, item &&i, std::true_type)
	{
		v.push_back(std::move(i));
	}
	static void add(T &v, item &&i, std::false_type)
	{
		add_other(v, std::move(i), has_push_front<T>());
	}
	static void add_other(T &v, item &&i, std::true_type)
	{
		v.push_front(std::move(i));
	}
	static void add_other(T &v, item &&i, std::false_type)
	{
		v.insert(std::move(i));
	}
	static void turn(T &v, std::true_type)
	{
		v.reverse(); // what has only a front was filled from the back
	}
	static void turn(T &, std::false_type) {}
	static T get(reader &r)
	{
		T v;
		for (size_t n = r.count(); n > 0; n--)
			add(v, codec<item>::get(r), has_push_back<T>());
		turn(v, std::integral_constant<bool, !has_push_back<T>::value && has_push_front<T>::value>());
		return v;
	}
};

// optional
template <class T>
struct codec<T, void_t<typename T::value_type, decltype(std::declval<T &>().has_value()), decltype(*std::declval<T &>()),
                       decltype(std::declval<T &>().emplace(std::declval<typename T::value_type>()))>> {
	static void put(writer &w, const T &v)
	{
		codec<bool>::put(w, v.has_value());
		if (v.has_value())
			codec<typename T::value_type>::put(w, *v);
	}
	static T get(reader &r)
	{
		T v;
		if (codec<bool>::get(r))
			v.emplace(codec<typename T::value_type>::get(r));
		return v;
	}
};

// tuple and array: a size known to the compiler
template <class T, class = void> struct is_sized : std::false_type {};
template <class T> struct is_sized<T, void_t<decltype(std::tuple_size<T>::value)>> : std::true_type {};
template <class T> struct is_pair : std::false_type {};
template <class A, class B> struct is_pair<std::pair<A, B>> : std::true_type {};

template <class T> struct codec<T, std::enable_if_t<is_sized<T>::value && !is_pair<T>::value>> {
	template <size_t... I> static void put_all(writer &w, const T &v, std::index_sequence<I...>)
	{
		using std::get;
		int order[] = { 0, (codec<std::tuple_element_t<I, T>>::put(w, get<I>(v)), 0)... };
		(void)order;
	}
	template <size_t... I> static T get_all(reader &r, std::index_sequence<I...>)
	{
		return T{ codec<std::tuple_element_t<I, T>>::get(r)... }; // braces: from left to right
	}
	static void put(writer &w, const T &v)
	{
		put_all(w, v, std::make_index_sequence<std::tuple_size<T>::value>());
	}
	static T get(reader &r)
	{
		return get_all(r, std::make_index_sequence<std::tuple_size<T>::value>());
	}
};

// complex
template <class T>
struct codec<T, std::enable_if_t<!std::is_arithmetic<T>::value && std::is_same<decltype(std::declval<T &>().imag()),
                                                                              typename T::value_type>::value>> {
	static void put(writer &w, const T &v)
	{
		codec<typename T::value_type>::put(w, v.real());
		codec<typename T::value_type>::put(w, v.imag());
	}
	static T get(reader &r)
	{
		auto real = codec<typename T::value_type>::get(r);
		return T(real, codec<typename T::value_type>::get(r));
	}
};

// ---------------------------------------------------------------------------------------------------------- frames

inline bool read_all(int fd, void *to, size_t n)
{
	char *p = static_cast<char *>(to);
	while (n > 0) {
		ssize_t r = fh_split_read(fd, p, n);
		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			return false;
		p += r;
		n -= r;
	}
	return true;
}

inline bool write_all(int fd, const void *from, size_t n)
{
	const char *p = static_cast<const char *>(from);
	while (n > 0) {
		ssize_t r = fh_split_write(fd, p, n);
		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return false;
		p += r;
		n -= r;
	}
	return true;
}

inline bool send(const std::string &body)
{
	uint32_t n = body.size();
	std::string frame(reinterpret_cast<const char *>(&n), sizeof(n));
	frame += body;
	return write_all(4, frame.data(), frame.size());
}

// ----------------------------------------------------------------------------------------------------------- judge

inline bool &serving()
{
	static bool value = false;
	return value;
}
inline unsigned &calls()
{
	static unsigned value = 0;
	return value;
}

[[noreturn]] inline void say(const char *word, const std::string &reason)
{
	std::string text = reason.substr(0, 900);
	std::string message = std::string(word) + " " + std::to_string(calls()) + " " + std::to_string(text.size()) + "\n" + text;
	fflush(nullptr);
	write_all(5, message.data(), message.size());
	_exit(strcmp(word, "passed") == 0 ? 0 : 1);
}

// In the order in which they are asked for: a class before those that it is derived from.
enum thrown : unsigned char {
	out_of_range, invalid_argument, length_error, domain_error, logic_error, range_error, overflow_error, underflow_error,
	runtime_error, bad_alloc, exception, thrown_count
};

inline unsigned char type_of(const std::exception &e)
{
	const std::exception *p = &e;
	const bool is[] = { dynamic_cast<const std::out_of_range *>(p) != nullptr, dynamic_cast<const std::invalid_argument *>(p) != nullptr,
		dynamic_cast<const std::length_error *>(p) != nullptr, dynamic_cast<const std::domain_error *>(p) != nullptr,
		dynamic_cast<const std::logic_error *>(p) != nullptr, dynamic_cast<const std::range_error *>(p) != nullptr,
		dynamic_cast<const std::overflow_error *>(p) != nullptr, dynamic_cast<const std::underflow_error *>(p) != nullptr,
		dynamic_cast<const std::runtime_error *>(p) != nullptr, dynamic_cast<const std::bad_alloc *>(p) != nullptr };
	unsigned char i = 0;
	while (i < sizeof(is) && !is[i])
		i++;
	return i;
}

struct plain_exception : std::exception {
	std::string text;
	explicit plain_exception(std::string t) : text(std::move(t)) {}
	const char *what() const noexcept override
	{
		return text.c_str();
	}
};

[[noreturn]] inline void raise(unsigned char type, const std::string &what)
{
	switch (type) {
	case out_of_range: throw std::out_of_range(what);
	case invalid_argument: throw std::invalid_argument(what);
	case length_error: throw std::length_error(what);
	case domain_error: throw std::domain_error(what);
	case logic_error: throw std::logic_error(what);
	case range_error: throw std::range_error(what);
	case overflow_error: throw std::overflow_error(what);
	case underflow_error: throw std::underflow_error(what);
	case runtime_error: throw std::runtime_error(what);
	case bad_alloc: throw std::bad_alloc();
	default: throw plain_exception(what);
	}
}

// The whole reply to a call that was sent, without its id; its word is checked by the caller.
inline std::string receive_reply(const unsigned char *id)
{
	uint32_t n;
	unsigned char begin[id_size];
	if (!read_all(3, &n, sizeof(n)))
		say("gone", "the program ended and gave no answer");
	if (n < id_size + 1 || n > frame_max)
		say("tampered", "a reply that no program gives: a frame of " + std::to_string(n) + " bytes");
	std::string body(n, '\0');
	if (!read_all(3, &body[0], n))
		say("tampered", "a reply that no program gives: half a frame");
	memcpy(begin, body.data(), id_size);
	if (memcmp(begin, id, id_size) != 0)
		say("tampered", "a reply to no call");
	return body.substr(id_size);
}

inline std::string exchange(char word, const std::string &arguments)
{
	unsigned char id[id_size];
	if (getrandom(id, sizeof(id), 0) != sizeof(id))
		_exit(3);
	std::string body(1, word);
	body.append(reinterpret_cast<const char *>(id), sizeof(id));
	body += arguments;
	if (body.size() > frame_max)
		say("unfit", "an argument cannot cross: it is too large");
	if (!send(body))
		say("gone", "the program ended before it was called");
	return receive_reply(id);
}

template <class P> struct is_changed
    : std::integral_constant<bool, std::is_lvalue_reference<P>::value && !std::is_const<std::remove_reference_t<P>>::value> {};

template <class P> using plain_t = std::remove_cv_t<std::remove_reference_t<P>>;

template <class P, class A> void take_back(reader &r, A &argument, std::true_type)
{
	argument = codec<plain_t<P>>::get(r);
}
template <class P, class A> void take_back(reader &, A &, std::false_type) {}

template <class R> struct result {
	plain_t<R> value;
	explicit result(reader &r) : value(codec<plain_t<R>>::get(r)) {}
	plain_t<R> take()
	{
		return std::move(value);
	}
};
template <> struct result<void> {
	explicit result(reader &) {}
	void take() {}
};

inline void decline(const std::string &reply)
{
	switch (reply[0]) {
	case 'X': say("failed", "the program threw what is no std::exception");
	case 'L': say("failed", "what the program returned is too large to cross, or of a type that does not");
	case 'M': say("failed", "what the program returned is no value of the declared type");
	case 'U': say("failed", "the program does not define the function with the declared signature");
	default: say("tampered", "a reply of no known kind");
	}
}

// The stand-in's body. The first argument only says the types.
template <class R, class... P, class... A> R call(R (*)(P...), A &...arguments)
{
	static_assert(!std::is_reference<R>::value && sizeof...(P) == sizeof...(A), "such a function cannot cross");
	writer w;
	int order[] = { 0, (codec<plain_t<P>>::put(w, arguments), 0)... };
	(void)order;
	if (w.full)
		say("unfit", "an argument cannot cross");
	std::string reply = exchange('C', w.bytes);
	reader r{ reply.data() + 1, reply.size() - 1 };
	unsigned char type = thrown_count;
	std::string what;
	try {
		if (reply[0] == 'R') {
			result<R> value(r);
			int back[] = { 0, (take_back<P>(r, arguments, is_changed<P>()), 0)... };
			(void)back;
			if (r.left != 0)
				throw broken();
			calls()++;
			return value.take();
		}
		if (reply[0] != 'T')
			decline(reply);
		r.raw(&type, 1);
		what = codec<std::string>::get(r);
		if (type >= thrown_count || r.left != 0)
			throw broken();
	} catch (...) {
		say("tampered", "a reply that no program gives: it has no such value");
	}
	calls()++;
	raise(type, what);
}

[[noreturn]] inline void uncaught()
{
	try {
		if (std::current_exception())
			std::rethrow_exception(std::current_exception());
	} catch (const std::exception &e) {
		static const char *const names[] = { "std::out_of_range", "std::invalid_argument", "std::length_error",
			"std::domain_error", "std::logic_error", "std::range_error", "std::overflow_error", "std::underflow_error",
			"std::runtime_error", "std::bad_alloc", "std::exception" };
		say("failed", std::string("uncaught exception: ") + names[type_of(e)] + ": " + e.what());
	} catch (...) {
	}
	say("failed", "uncaught exception");
}

[[noreturn]] inline void finish(int status)
{
	if (status != 0)
		say("failed", "main returned a status other than 0");
	if (calls() == 0)
		say("broken", "the test called nothing");
	std::string reply = exchange('E', "");
	if (reply != "E")
		say("tampered", "a reply to no call");
	say("passed", "");
}

// ------------------------------------------------------------------------------------------------------- candidate

inline std::string &request_id()
{
	static std::string *value = new std::string;
	return *value;
}

inline void answer(char word, const std::string &payload)
{
	send(request_id() + word + payload);
}

[[noreturn]] inline void undefined()
{
	answer('U', "");
	_exit(0);
}

[[noreturn]] inline void misfit()
{
	answer('M', "");
	_exit(0);
}

template <class P> struct pass {
	static plain_t<P> &&as(plain_t<P> &v)
	{
		return std::move(v);
	}
};
template <class P> struct pass<P &> {
	static P &as(plain_t<P &> &v)
	{
		return v;
	}
};

template <class R> struct invoke {
	template <class F, class... A> static void run(writer &w, F f, A &&...a)
	{
		codec<plain_t<R>>::put(w, f(std::forward<A>(a)...));
	}
};
template <> struct invoke<void> {
	template <class F, class... A> static void run(writer &, F f, A &&...a)
	{
		f(std::forward<A>(a)...);
	}
};

template <class T> void give_back(writer &w, const T &v, std::true_type)
{
	codec<T>::put(w, v);
}
template <class T> void give_back(writer &, const T &, std::false_type) {}

// One slot for each parameter; a base for each, since two may have one type.
template <size_t I, class P> struct slot {
	plain_t<P> value;
	explicit slot(reader &r) : value(codec<plain_t<P>>::get(r)) {}
};
template <class I, class... P> struct slots;
template <size_t... I, class... P> struct slots<std::index_sequence<I...>, P...> : slot<I, P>... {
	explicit slots(reader &r) : slot<I, P>(r)...
	{
		(void)r;
	}
	template <class R> void run(writer &w, R (*f)(P...))
	{
		invoke<R>::run(w, f, pass<P>::as(static_cast<slot<I, P> &>(*this).value)...);
		int back[] = { 0, (give_back(w, static_cast<slot<I, P> &>(*this).value, is_changed<P>()), 0)... };
		(void)back;
	}
};

template <class R, class... P> void answer_call(R (*f)(P...), reader &r)
{
	writer w;
	try {
		slots<std::index_sequence_for<P...>, P...> arguments(r);
		arguments.template run<R>(w, f);
	} catch (const std::exception &e) {
		writer thrown;
		unsigned char type = type_of(e);
		thrown.raw(&type, 1);
		codec<std::string>::put(thrown, std::string(e.what()).substr(0, 2000));
		return answer('T', thrown.bytes);
	} catch (...) {
		return answer('X', "");
	}
	if (w.full || w.bytes.size() > frame_max - id_size - 1)
		return answer('L', "");
	answer('R', w.bytes);
}

template <class R, class... P> int serve(R (*f)(P...))
{
	serving() = true;
	uint32_t n;
	while (read_all(3, &n, sizeof(n)) && n >= 1 + id_size && n <= frame_max) {
		std::string body(n, '\0');
		if (!read_all(3, &body[0], n))
			break;
		request_id() = body.substr(1, id_size);
		if (body[0] == 'E') {
			answer('E', "");
			break;
		}
		reader r{ body.data() + 1 + id_size, n - 1 - id_size };
		answer_call(f, r);
	}
	return 0;
}

} // namespace fh_split

// Chance on the judge's side. Its generators begin at numbers that only this process has: a candidate that draws from its own
// gets other ones. A number in the test seeds as it does anywhere; the time, which the candidate can read as well, does not.
extern "C" void __real_srand(unsigned) __attribute__((weak));
extern "C" void __real_srandom(unsigned) __attribute__((weak));
extern "C" void __real_srand48(long) __attribute__((weak));

namespace fh_split {

inline bool is_judge()
{
	return fh_split_fcntl(5, F_GETFD) >= 0;
}
inline uint64_t &chance()
{
	static uint64_t state = 0;
	return state;
}
inline uint64_t drawn() // splitmix64
{
	uint64_t z = __atomic_add_fetch(&chance(), 0x9e3779b97f4a7c15u, __ATOMIC_RELAXED);
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}
// In any unit of either clock, as 32 bits or more of them are given, which may have lost the upper ones.
inline bool is_time(uint64_t seed, int bits)
{
	for (clockid_t clock : { CLOCK_REALTIME, CLOCK_MONOTONIC }) {
		struct timespec t;
		clock_gettime(clock, &t);
		const uint64_t now = uint64_t(t.tv_sec) * 1000000000u + uint64_t(t.tv_nsec);
		for (uint64_t unit : { 1u, 1000u, 1000000u, 1000000000u }) {
			uint64_t distance = now / unit - seed;
			if (bits < 64)
				distance &= (uint64_t(1) << bits) - 1;
			// A clock of nanoseconds has gone round four billion in four seconds: a tenth of a second is what is sure.
			if (distance <= (unit == 1 && bits < 64 ? 100000000u : 1000000000u) / unit)
				return true;
		}
	}
	return false;
}
inline uint64_t own_seed(uint64_t seed, int bits)
{
	return is_time(seed, bits) ? drawn() : seed;
}
__attribute__((constructor(101))) static void begin_chance()
{
	if (!is_judge())
		return;
	char digits[17] = "";
	for (size_t n = 0; n < 16;) {
		const long got = fh_split_read(0, digits + n, 16 - n);
		if (got <= 0)
			break;
		n += size_t(got);
	}
	chance() = strtoull(digits, nullptr, 16);
	if (__real_srandom)
		__real_srandom(unsigned(drawn()));
	if (__real_srand48)
		__real_srand48(long(drawn()));
}

} // namespace fh_split

extern "C" void __wrap_srand(unsigned seed)
{
	__real_srand(unsigned(fh_split::own_seed(seed, 32)));
}
extern "C" void __wrap_srandom(unsigned seed)
{
	__real_srandom(unsigned(fh_split::own_seed(seed, 32)));
}
extern "C" void __wrap_srand48(long seed)
{
	__real_srand48(long(fh_split::own_seed(uint64_t(seed), 64)));
}
// For the standard library's engines (guest/cpp/split_engines.hpp); `usual` is what they begin with when no seed is given.
extern "C" unsigned long fh_split_engine_seed(unsigned long seed, unsigned long usual)
{
	return seed == usual ? fh_split::drawn() : fh_split::own_seed(seed, 64);
}

extern "C" int fh_split_serve();
extern "C" int __real_main(int, char **, char **) __attribute__((weak));
extern "C" int __wrap_main(int argc, char **argv, char **envp)
{
	if (!fh_split::is_judge())
		return fh_split_serve();
	signal(SIGPIPE, SIG_IGN); // a candidate that is gone is told by read() and write()
	std::set_terminate(fh_split::uncaught);
	fh_split::finish(__real_main(argc, argv, envp));
}
extern "C" [[noreturn]] void __wrap___assert_fail(const char *assertion, const char *file, unsigned line, const char *)
{
	fh_split::say("failed", std::string("assertion failed: ") + assertion + " [" + file + ":" + std::to_string(line) + "]");
}
