/* SPDX-License-Identifier: MIT */
/* Perl 5 with ithreads, as distributions build it. Its warm point is the first read of the program: @ARGV and %ENV are
 * set by then, and nothing has been parsed. rand() reads its seed from the kernel when it is first called. */
#include "warm.h"

#include "selftest.h"

static struct {
	void *(*array)(void *my, const char *name, int flags);
	void *(*scalar)(void *my, const char *name, int flags);
	void (*clear)(void *my, void *array);
	void (*push)(void *my, void *array, void *value);
	void *(*text)(void *my, const char *s, size_t size);
	void (*set_number)(void *my, void *scalar, long value);
	/* exists only in builds whose functions take the interpreter as first parameter; the key gives that */
	unsigned *thread_key;
	void *(*of_thread)(unsigned key);
} perl;

static const struct fh_symbol_wanted wanted[] = {
	{ "PL_thr_key", &perl.thread_key }, { "pthread_getspecific", &perl.of_thread }, { "Perl_get_av", &perl.array },
	{ "Perl_get_sv", &perl.scalar },    { "Perl_av_clear", &perl.clear },           { "Perl_av_push", &perl.push },
	{ "Perl_newSVpv", &perl.text },     { "Perl_sv_setiv_mg", &perl.set_number },
};

static bool load(char *why)
{
	return fh_symbols(wanted, sizeof(wanted) / sizeof(wanted[0]), why);
}

/* Replaces Perl_get_context, which is not exported since 5.38. */
static void *interpreter(void)
{
	return perl.of_thread(*perl.thread_key);
}

static bool set_arguments(const struct fh_warm_run *run, uint32_t main, char *why)
{
	void *my = interpreter(), *list = perl.array(my, "ARGV", 1);
	for (uint32_t i = 0; i < fh_warm_start.env_count; i++)
		if (fh_text_begins(fh_warm_start.env[i], "PERL_UNICODE=")) {
			fh_text_set(why, FH_ZYGOTE_WHY_MAX, "PERL_UNICODE may say how arguments are read");
			return false;
		}
	perl.clear(my, list);
	for (uint32_t i = main + 1; i < run->argc; i++)
		perl.push(my, list, perl.text(my, run->argv[i], 0)); /* length 0: up to the terminating zero */
	return true;
}

/* Sets $^T, the time at which the script began. */
static bool begin(const struct fh_warm_run *run, char *why)
{
	void *my = interpreter();
	struct {
		int64_t s, ns;
	} now;
	(void)run, (void)why;
	fh_sys(__NR_clock_gettime, 0 /* CLOCK_REALTIME */, &now);
	perl.set_number(my, perl.scalar(my, "\024", 1), now.s);
	return true;
}

const struct fh_warm_interpreter fh_warm_perl = {
	.name = "perl",
	.symbol = "PL_thr_key",
	.calls = FH_CALL_OPEN | FH_CALL_READ,
	.reads = 1,
	.self_test = fh_selftest_perl,
	.self_test_size = &fh_selftest_perl_size,
	.load = load,
	.arguments = set_arguments,
	.begin = begin,
};
