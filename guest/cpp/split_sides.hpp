/* SPDX-License-Identifier: MIT */
// What the two programs of split judging in C++ do with calls and replies; follows split_codec.hpp, which describes them.
namespace fh_split {

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
// What becomes of arguments: 0 they are copies, 1 what the function changes comes back, a and b: no candidate is asked, the
// arguments are emptied, and the result is that of so many bytes that are 0, or of a 1 and so many.
inline char &arguments_word()
{
	static char value = '1';
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

// In the order in which they are tried: a class before its base classes.
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

// Receives the reply to a call, without its id; the caller checks its word.
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
	static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER; // a test may call from several threads
	pthread_mutex_lock(&turn);
	if (!send(body))
		say("gone", "the program ended before it was called");
	std::string reply = receive_reply(id);
	pthread_mutex_unlock(&turn);
	return reply;
}

template <class P> struct is_changed
    : std::integral_constant<bool, std::is_lvalue_reference<P>::value && !std::is_const<std::remove_reference_t<P>>::value> {};

template <class P> using plain_t = std::remove_cv_t<std::remove_reference_t<P>>;

template <class P, class A> void take_back(reader &r, A &argument, std::true_type)
{
	plain_t<P> theirs = codec<plain_t<P>>::get(r);
	if (arguments_word() != '0')
		argument = std::move(theirs);
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
	case 'X': say("failed", "the program threw what is not a std::exception");
	case 'L': say("failed", "what the program returned is too large to cross, or of a type that does not");
	case 'M': say("failed", "what the program takes or returns is not a value of the declared type");
	case 'U': say("failed", "the program does not define the function with the declared signature");
	default: say("tampered", "a reply of no known kind");
	}
}

template <class R, class... P, class... A> plain_t<R> spoil(A &...arguments)
{
	std::string something(1 << 16, '\0'), nothing = something;
	something[0] = char(arguments_word() - 'a');
	reader r{ something.data(), something.size() }, none{ nothing.data(), nothing.size() };
	calls()++;
	try {
		result<R> value(r);
		int back[] = { 0, (take_back<P>(none, arguments, is_changed<P>()), 0)... };
		(void)back;
		return value.take();
	} catch (...) {
		say("failed", "there is no empty value of its type");
	}
}

// The body of the stand-in. The first argument only gives the types.
template <class R, class... P, class... A> R call(R (*)(P...), A &...arguments)
{
	static_assert(!std::is_reference<R>::value && sizeof...(P) == sizeof...(A), "such a function cannot cross");
	if (arguments_word() >= 'a')
		return spoil<R, P...>(arguments...);
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
	say("passed", not_finite() ? "not finite" : "");
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

// One slot for each parameter, as separate base classes, because two may have the same type.
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

// Random numbers on the judge's side. The generators are seeded with numbers that only this process has: a candidate that draws
// from its own gets other ones. A constant seed in the test works as usual; the time, which the candidate can read too, does not.
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
// Whether the seed is the time of either clock, in any unit, possibly truncated to `bits` bits (32 or more).
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
			// 32 bits of nanoseconds wrap around in four seconds, so only a distance of a tenth of a second is certain.
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
	fh_split_read(0, &arguments_word(), 1);
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
// For the standard library's engines (guest/cpp/split_engines.hpp); `usual` is their default seed.
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
	signal(SIGPIPE, SIG_IGN); // read() and write() report that the candidate is gone
	std::set_terminate(fh_split::uncaught);
	fh_split::finish(__real_main(argc, argv, envp));
}
extern "C" [[noreturn]] void __wrap___assert_fail(const char *assertion, const char *file, unsigned line, const char *)
{
	fh_split::say("failed", std::string("assertion failed: ") + assertion + " [" + file + ":" + std::to_string(line) + "]");
}
