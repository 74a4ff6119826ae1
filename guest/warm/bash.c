/* SPDX-License-Identifier: MIT */
/* bash 5. Reads again from the kernel what it read when it started. Its variables, options and traps need no change,
 * because it has not read a line yet. */
#include "warm.h"

#include "selftest.h"

struct words; /* WORD_LIST */

static struct {
	int *pid, *group, *first_group;
	long *start_time;
	struct {
		long s, us;
	} * start;
	void (*seed)(unsigned long);
	void (*set_parent)(void);
	void (*set_arguments)(struct words *, int destructive);
	struct words *(*word_list)(void *word, struct words *next);
	void *(*word)(const char *);
} sh;

static const struct fh_symbol_wanted wanted[] = {
	{ "dollar_dollar_pid", &sh.pid },     { "shell_pgrp", &sh.group },
	{ "original_pgrp", &sh.first_group }, { "shell_start_time", &sh.start_time },
	{ "shellstart", &sh.start },          { "sbrand", &sh.seed },
	{ "set_ppid", &sh.set_parent },       { "remember_args", &sh.set_arguments },
	{ "make_word_list", &sh.word_list },  { "make_bare_word", &sh.word },
};

static bool load(char *why)
{
	return fh_symbols(wanted, sizeof(wanted) / sizeof(wanted[0]), why);
}

/* The arguments can be set because the rest of main() takes them from its own argv only if that has some, and the
 * zygote's has none. */
static bool set_arguments(const struct fh_warm_run *run, uint32_t main, char *why)
{
	struct words *list = NULL;
	(void)why;
	for (uint32_t i = run->argc; i-- > main + 1;)
		list = sh.word_list(sh.word(run->argv[i]), list);
	sh.set_arguments(list, 1);
	return true;
}

static bool begin(const struct fh_warm_run *run, char *why)
{
	struct {
		int64_t s, ns;
	} now;
	(void)run, (void)why;
	*sh.pid = (int)fh_sys(__NR_getpid);
	*sh.group = *sh.first_group = (int)fh_sys(__NR_getpgid, 0);
	sh.set_parent();
	fh_sys(__NR_clock_gettime, 0 /* CLOCK_REALTIME */, &now);
	*sh.start_time = now.s;
	sh.start->s = now.s;
	sh.start->us = now.ns / 1000;
	sh.seed((unsigned long)fh_random() & 0x7fffffff);
	return true;
}

const struct fh_warm_interpreter fh_warm_bash = {
	.name = "bash",
	.symbol = "dollar_dollar_pid",
	.calls = FH_CALL_OPEN,
	.self_test = fh_selftest_bash,
	.self_test_size = &fh_selftest_bash_size,
	.load = load,
	.arguments = set_arguments,
	.begin = begin,
};
