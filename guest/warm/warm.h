/* SPDX-License-Identifier: MIT */
/*
 * The warm library: makes a stock interpreter a zygote (protocol: init/zygote.h).
 *
 * It is preloaded. Its constructor finds out which interpreter it is in; its own open, openat, fopen … stand before the
 * C library's and wait for the main program file. At that moment, the *warm point*, the interpreter has done all that
 * it does before any code of the program, and the library takes over: it prepares (imports modules), tests itself in a
 * forked child, says READY and serves. In a forked child it isolates the process, parks, and when RUN came makes the
 * process what a fresh start would have made it; then the call that was stopped goes on, the really opened file is what
 * it returns, and the interpreter runs the program by its own code.
 *
 * What always holds:
 *   - Freestanding: raw system calls; no malloc, no stdio, no lock of a C library. Loads under glibc and musl; what it
 *     wants of them and of the interpreter is looked up by name, so that none of it need be there.
 *   - Until the fork there is one thread; state is static and unguarded.
 *   - Code that is not ours (an interpreter's at-fork hooks, modules) runs in a child only after it is isolated.
 *   - Without FUMEHOOD_ZYGOTE in the environment, and in every run, the library only passes calls on.
 */
#pragma once
#include <stdbool.h>

#include "init/init.h"
#include "init/zygote.h"

#define FH_EXPORT __attribute__((visibility("default")))

enum {
	FH_WARM_ARGV_MAX = 4096,
	FH_WARM_PATH_MAX = FH_INIT_PATH_MAX,
};

/* A run as RUN gave it; all pointers are into memory that stays. */
struct fh_warm_run {
	const char *cwd;
	char **argv;
	uint32_t argc;
	char **env;
	uint32_t env_count;
	uint32_t extra_count; /* descriptors beside the first three */
	bool self_test;
	const char *main; /* self_test: what the stopped call is to open instead of MAIN */
};

/* How the zygote was started. */
struct fh_warm_start {
	char file[FH_WARM_PATH_MAX]; /* MAIN as argv has it */
	char path[FH_WARM_PATH_MAX]; /* and absolute */
	char preload[FH_ZYGOTE_PRELOAD_MAX + 1];
	char **argv; /* of the process */
	uint32_t argc;
	char **env; /* without the library's own variables */
	uint32_t env_count;
	bool has_own_environment; /* FH_ZYGOTE_ENV_OWN: environ holds more than env */
	int socket;
};
extern struct fh_warm_start fh_warm_start;

enum fh_warm_call { FH_CALL_OPEN = 1, FH_CALL_FOPEN = 2, FH_CALL_READ = 4 };

/* What an interpreter needs beyond the general way, which is: stop when MAIN is opened; fork; in the child refuse a run
 * whose environment or arguments are others than the zygote's own; go on. One file for each; any function may be NULL.
 * `why` has FH_ZYGOTE_WHY_MAX bytes; a function that fails fills it and returns false. */
struct fh_warm_interpreter {
	const char *name;
	const char *symbol;             /* that only it has */
	unsigned calls;                 /* enum fh_warm_call: opening MAIN by these is the warm point; 0: both; with
	                                 * FH_CALL_READ it is a later one, the read number `reads` from it */
	unsigned reads;                 /* those before give `lead`, then nothing */
	const char *lead;               /* what an interpreter skips at the start of a program; NULL: nothing */
	char *variable;                 /* of the zygote's environment: "NAME=value"; programs do not see it */
	const char *point;              /* another path whose opening is the warm point instead of MAIN's */
	const unsigned char *self_test; /* a program that prints "ok" */
	const unsigned long *self_test_size;
	unsigned threads; /* 0: only one may be; else its own idle helpers are counted in, which a fork may lose */
	bool renews;      /* has pipes, eventfds or epolls of its own, which each program makes anew (descriptors.c) */
	const char *const
	    *settings;           /* prefixes of variables that it reads when it starts: a run whose own differ is refused */
	bool (*load)(char *why); /* looks up what it calls; once, at the warm point */
	bool (*preload)(const char *names, char *why); /* imports modules; also in a branch, with the further ones */
	void (*ready)(void);                           /* last thing before serving: compact memory */
	void (*fork)(void);                            /* its own way, which calls fork() */
	void (*before_fork)(void);
	void (*after_fork)(void);                                      /* in the zygote */
	void (*child)(void);                                           /* in the child, isolated */
	bool (*environment)(const struct fh_warm_run *run, char *why); /* makes what it has read of another one its own */
	bool (*arguments)(const struct fh_warm_run *run, uint32_t main, char *why); /* so, with those after argv[main] */
	bool (*begin)(const struct fh_warm_run *run, char *why); /* else what a fresh start would have; chance anew */
	/* After the stopped call was made: path is what was opened, file the FILE of an fopen, NULL when it failed (then
	 * the interpreter is to say so). May end the process itself. */
	void (*run)(const char *path, void *file);
	int (*source)(const struct fh_warm_run *run); /* for `point`: a descriptor of what the stopped call opens */
	int (*substitute)(const char *path);          /* a descriptor for an open of something else; -1: pass it on */
};

extern const struct fh_warm_interpreter fh_warm_python, fh_warm_node, fh_warm_bash, fh_warm_perl, fh_warm_ruby,
    fh_warm_lua, fh_warm_php;

/* serve.c: returns in a child that is to run a program, and there only. NULL when no more is served: the process is to
 * go on as if nothing had been. */
const struct fh_warm_run *fh_warm_serve(const struct fh_warm_interpreter *i);
/* Forks; flags and cgroup as for clone3. In the child `first` (may be NULL) comes before all else, the interpreter's
 * own code after a fork included. The C library's and libraries' own at-fork handlers of the child are left to
 * fh_warm_forked(). Returns as fork, -errno on failure. */
long fh_warm_fork(const struct fh_warm_interpreter *i, uint64_t flags, int cgroup, int *ret_pidfd, void (*first)(void));
/* In the child, once it is isolated. `socket`: its own, -1 for none. False: it shares with the zygote what it must not.
 */
bool fh_warm_forked(const struct fh_warm_interpreter *i, int socket);

/* descriptors.c: what a program could share with its zygote */
/* In the zygote, before it says READY: whether all that it holds can be made anew. main_fd: of MAIN, or -1. */
bool fh_warm_account(const struct fh_warm_interpreter *i, int main_fd, char *why);
bool fh_warm_renew(int socket); /* in a fork of it: whatever of that is still the zygote's */
int fh_warm_main_fd(void);      /* warm.c, for FH_CALL_READ; -1 */

/* isolate.c: fds in the order of the message; namespaces: one for each bit of m->namespaces. 0, or -errno with
 * *ret_step. */
int fh_warm_isolate(const struct fh_zygote_fork *m, const void *seal, const int *namespaces, int landlock,
                    const int *tasks, uint32_t *ret_step);

/* begin.c: makes the process what RUN says; fills *run. Descriptors: stdio and extras. */
int fh_warm_begin(const struct fh_zygote_run *m, size_t size, int *fds, int fd_count, struct fh_warm_run *run,
                  struct fh_zygote_failed *ret);
/* Makes the interpreter what a fresh one would be at this point. */
bool fh_warm_become(const struct fh_warm_interpreter *i, const struct fh_warm_run *run, char *why);
bool fh_warm_take_main(const struct fh_warm_run *run, char *why); /* warm.c, for FH_CALL_READ: opens it in its place */
/* For an interpreter whose program asks the process itself, which is right already. */
bool fh_warm_live_environment(const struct fh_warm_run *run, char *why);
bool fh_warm_live_arguments(const struct fh_warm_run *run, uint32_t main, char *why);
/* Whether there is folder/name; `n`: of folder's bytes. For what an interpreter has looked for before the fork. */
bool fh_warm_is_there(const char *folder, size_t n, const char *name);
const char *fh_warm_variable(const char *name_and_equals); /* of the zygote's environment; NULL */
bool fh_warm_settings_differ(const struct fh_warm_interpreter *i, const struct fh_warm_run *run, char *why);

/* test.c: runs the self-test in a child. In that child it returns the run; in the zygote NULL, with why. */
const struct fh_warm_run *fh_warm_self_test(const struct fh_warm_interpreter *i, char *why);

/* atfork.c: the handlers that libraries registered with pthread_atfork; a raw fork has to call them itself. */
void fh_atfork_prepare(void);
void fh_atfork_parent(void);
void fh_atfork_child(void);

/* at_exit.c: since it was cleared, a function was registered to be called by exit(), or a library was opened, by
 * whatever handle one of those can be registered unseen. */
extern struct fh_warm_at_exit {
	bool handler, library;
} fh_warm_at_exit;

/* text.c */
bool fh_text_equal(const char *a, const char *b);
bool fh_text_begins(const char *s, const char *with);
void fh_text_set(char *to, size_t size, const char *text); /* cut where it does not fit */
void fh_text_add(char *to, size_t size, const char *text); /* appended */
void fh_text_add_number(char *to, size_t size, uint64_t n);
uint64_t fh_status_number(const char *name); /* a line of /proc/self/status: "Threads:"; 0 when there is none */

extern bool fh_warm_waiting; /* from the constructor to the warm point: calls are looked at, not only passed on */

int fh_running_threads(void); /* of this process, this one included */

uint64_t fh_random(void);                                            /* the kernel's */
int fh_memory_file(const char *name, const void *data, size_t size); /* at its start; -1: none to be had */

/* A symbol of the process, and the one behind ours; NULL when there is none. */
void *fh_symbol(const char *name);
void *fh_next(const char *name);
/* Fills a table of functions; false, with why, when one that is needed is missing. */
struct fh_symbol_wanted {
	const char *name;
	void *to; /* a function pointer */
	bool optional;
};
bool fh_symbols(const struct fh_symbol_wanted *wanted, size_t count, char *why);

/* C library symbols that may be missing. */
extern char **environ __attribute__((weak));
extern int *__errno_location(void) __attribute__((weak));
