/* SPDX-License-Identifier: MIT */
/*
 * Ruby 3. It opens the program and reads its first block for a #! line; only then it loads RubyGems and what belongs to
 * that (most of its start), and it reads on when it parses. So the warm point is the second read. The first read
 * returns a byte order mark, which the parser skips: an empty program would not be read any further. A program with a
 * #! line, which may hold options, or with a mark of its own is started fresh.
 */
#include "warm.h"

#include <fcntl.h>

#include "selftest.h"

#define MARK "\xef\xbb\xbf"

typedef unsigned long value;

static struct {
	int (*has_lock)(void);
	void *(*with_lock)(void *(*)(void *), void *);
	value (*protect)(value (*)(value), value, int *ret_state);
	value (*call)(value object, value name, int count, ...);
	value (*name)(const char *);
	value *process; /* the module Process */
	value (*error)(void);
	void (*set_error)(value);
	value (*arguments)(void);
	value (*clear)(value list);
	value (*push)(value list, value item);
	value (*text)(const char *);
	value (*freeze)(value);
	value (*collect)(void);
} ruby;

static const struct fh_symbol_wanted wanted[] = {
	{ "ruby_thread_has_gvl_p", &ruby.has_lock },
	{ "rb_thread_call_with_gvl", &ruby.with_lock },
	{ "rb_protect", &ruby.protect },
	{ "rb_funcall", &ruby.call },
	{ "rb_intern", &ruby.name },
	{ "rb_mProcess", &ruby.process },
	{ "rb_errinfo", &ruby.error },
	{ "rb_set_errinfo", &ruby.set_error },
	{ "rb_get_argv", &ruby.arguments },
	{ "rb_ary_clear", &ruby.clear },
	{ "rb_ary_push", &ruby.push },
	{ "rb_external_str_new_cstr", &ruby.text },
	{ "rb_obj_freeze", &ruby.freeze },
	{ "rb_gc_start", &ruby.collect },
};

static bool load(char *why)
{
	return fh_symbols(wanted, sizeof(wanted) / sizeof(wanted[0]), why);
}

/* Calls a function with Ruby's lock, which Ruby releases while it reads. */
static void locked(void *(*function)(void *), void *argument)
{
	(void)(ruby.has_lock() ? function(argument) : ruby.with_lock(function, argument));
}

/* Collects garbage several times, so that the remaining objects become old: a collection in a run then writes to few of
 * them. */
static void *collect(void *nothing)
{
	enum { OLD_AFTER = 4 };
	for (int i = 0; i < OLD_AFTER; i++)
		(void)ruby.collect();
	return nothing;
}

static void ready(void)
{
	locked(collect, NULL);
}

static value fork_protected(value nothing)
{
	(void)nothing;
	return ruby.call(*ruby.process, ruby.name("fork"), 0);
}

static void *fork_locked(void *nothing)
{
	value before = ruby.error();
	int state = 0;
	(void)ruby.protect(fork_protected, 0, &state);
	if (state)
		ruby.set_error(before);
	return nothing;
}

/* Forks by Ruby's own method, which handles its timer, its threads' locks and its random numbers. */
static void fork_by_ruby(void)
{
	locked(fork_locked, NULL);
}

struct arguments {
	char *const *list;
	uint32_t count;
};

static void *fill_arguments(void *given)
{
	const struct arguments *a = given;
	value list = ruby.arguments();
	ruby.clear(list);
	for (uint32_t i = 0; i < a->count; i++)
		ruby.push(list, ruby.freeze(ruby.text(a->list[i])));
	return NULL;
}

static bool set_arguments(const struct fh_warm_run *run, uint32_t main, char *why)
{
	struct arguments a = { run->argv + main + 1, run->argc - main - 1 };
	(void)why;
	locked(fill_arguments, &a);
	return true;
}

/* Whether the user has gems, for which RubyGems looked before the fork. */
static bool has_gems(void)
{
	const char *home = fh_warm_variable("HOME=");
	return home &&
	       (fh_warm_is_there(home, strlen(home), ".gem") || fh_warm_is_there(home, strlen(home), ".local/share/gem"));
}

static bool begin(const struct fh_warm_run *run, char *why)
{
	char first[3] = "";
	if (!run->self_test && has_gems()) {
		fh_text_set(why, FH_ZYGOTE_WHY_MAX, "there are gems of the user's own, for which Ruby looks before the fork");
		return false;
	}
	long fd = run->self_test ? -1 : fh_sys(__NR_openat, AT_FDCWD, fh_warm_start.file, O_RDONLY | O_CLOEXEC, 0);
	if (fd >= 0) {
		fh_sys(__NR_read, fd, first, sizeof(first));
		fh_sys(__NR_close, fd);
	}
	if ((first[0] != '#' || first[1] != '!') && memcmp(first, MARK, sizeof(first)) != 0)
		return true;
	fh_text_set(why, FH_ZYGOTE_WHY_MAX, "the program begins with a #! line or a byte order mark, read before the fork");
	return false;
}

static const char *const settings[] = { "RUBY", "GEM_", "HOME=", "PATH=", NULL };

const struct fh_warm_interpreter fh_warm_ruby = {
	.name = "ruby",
	.symbol = "ruby_run_node",
	.calls = FH_CALL_OPEN | FH_CALL_READ,
	.reads = 2,
	.lead = MARK,
	.self_test = fh_selftest_ruby,
	.self_test_size = &fh_selftest_ruby_size,
	.settings = settings,
	.renews = true,
	.load = load,
	.ready = ready,
	.fork = fork_by_ruby,
	.environment = fh_warm_live_environment,
	.arguments = set_arguments,
	.begin = begin,
};
