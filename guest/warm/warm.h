/* SPDX-License-Identifier: MIT */
/*
 * The warm library, which turns an unmodified interpreter into a zygote (protocol: init/zygote.h).
 *
 * It is loaded with LD_PRELOAD. Its constructor finds out which interpreter it is in. Its open, openat, fopen … take
 * the place of the C library's and wait until the main program file (MAIN) is opened. That moment is the *warm point*:
 * the interpreter has done everything that comes before the program's own code. The library then takes over: it imports
 * modules, tests itself in a forked child, sends READY and serves. Each forked child isolates itself and parks. When
 * RUN comes, it gives the process the state that a fresh start would have; then the stopped call continues and returns
 * the file that was really opened, and the interpreter runs the program with its own code.
 *
 * Invariants:
 *   - Freestanding: raw system calls; no malloc, no stdio, no lock of a C library. Loads under glibc and musl.
 * Functions of the C library and the interpreter are looked up by name at run time, so that none of them has to exist.
 *   - Until the fork there is one thread; state is static and unguarded.
 *   - Foreign code (an interpreter's fork handlers, modules) runs in a child only after the child is isolated.
 *   - Without FUMEHOOD_ZYGOTE in the environment, and in every run, the library only forwards calls.
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

/* A run, as received with RUN. All pointers stay valid. */
struct fh_warm_run {
	const char *cwd;
	char **argv;
	uint32_t argc;
	char **env;
	uint32_t env_count;
	uint32_t extra_count; /* descriptors beyond the first three */
	bool self_test;
	const char *main; /* for a self-test: the file that the stopped call opens instead of MAIN */
};

/* How the zygote was started. */
struct fh_warm_start {
	char file[FH_WARM_PATH_MAX]; /* MAIN as in argv */
	char path[FH_WARM_PATH_MAX]; /* MAIN as an absolute path */
	char preload[FH_ZYGOTE_PRELOAD_MAX + 1];
	char **argv; /* the zygote's */
	uint32_t argc;
	char **env; /* without the library's own variables */
	uint32_t env_count;
	bool has_own_environment; /* FH_ZYGOTE_ENV_OWN was set, so environ has more than `env` */
	int socket;
};
extern struct fh_warm_start fh_warm_start;

enum fh_warm_call { FH_CALL_OPEN = 1, FH_CALL_FOPEN = 2, FH_CALL_READ = 4 };

/* What is special about an interpreter; there is one file for each. Without any of these functions, the library stops
 * the interpreter when it opens MAIN, and forks; a child refuses a run whose environment or arguments differ from the
 * zygote's, and otherwise continues. Any function may be NULL. `why` has FH_ZYGOTE_WHY_MAX bytes; a function that fails
 * fills it and returns false. */
struct fh_warm_interpreter {
	const char *name;
	const char *symbol; /* a symbol that no other interpreter has */
	/* enum fh_warm_call: the calls whose opening of MAIN is the warm point; 0: open and fopen; with FH_CALL_READ, the
	 * warm point is the read number `reads` from MAIN instead */
	unsigned calls;
	unsigned reads;                 /* earlier reads return `lead` first, then nothing */
	const char *lead;               /* text that the interpreter skips at the start of a program; NULL: none */
	char *variable;                 /* "NAME=value", set in the zygote's environment and hidden from programs */
	const char *point;              /* a path whose opening is the warm point, instead of MAIN's */
	const unsigned char *self_test; /* a program that prints "ok" */
	const unsigned long *self_test_size;
	/* 0: the zygote must have one thread; else the limit, which includes idle helper threads that a fork may lose */
	unsigned threads;
	bool renews; /* holds pipes, eventfds or epoll sets that each program replaces (descriptors.c) */
	/* prefixes of variables read at start-up: a run in which these differ from the zygote's is refused */
	const char *const *settings;
	bool (*load)(char *why); /* looks up the functions that it calls; called once, at the warm point */
	bool (*preload)(const char *names, char *why); /* imports modules; in a branch, the additional ones */
	void (*ready)(void);                           /* called last before serving: tidies memory */
	void (*fork)(void);                            /* the interpreter's own way to fork, which calls fork() */
	void (*before_fork)(void);
	void (*after_fork)(void);                                      /* called in the zygote */
	void (*child)(void);                                           /* called in the child, after it is isolated */
	bool (*environment)(const struct fh_warm_run *run, char *why); /* makes the interpreter use the run's environment */
	/* makes the interpreter use the run's arguments, those after argv[main] */
	bool (*arguments)(const struct fh_warm_run *run, uint32_t main, char *why);
	/* sets all else that differs in a fresh start: random seeds, times */
	bool (*begin)(const struct fh_warm_run *run, char *why);
	/* Called after the stopped call was made. path: what was opened; file: the FILE of an fopen, or NULL if it failed,
	 * which the interpreter reports itself. May end the process. */
	void (*run)(const char *path, void *file);
	/* with `point`: returns a descriptor of what the stopped call opens */
	int (*source)(const struct fh_warm_run *run);
	int (*substitute)(const char *path); /* a descriptor to return for an open of another path; -1: not replaced */
};

extern const struct fh_warm_interpreter fh_warm_python, fh_warm_node, fh_warm_bash, fh_warm_perl, fh_warm_ruby,
    fh_warm_lua, fh_warm_php;

/* serve.c: serves requests for programs. Returns only in a child that is to run a program. NULL: the process continues
 * as if the library were not there. */
const struct fh_warm_run *fh_warm_serve(const struct fh_warm_interpreter *i);
/* Forks; flags and cgroup as for clone3. In the child, `first` (may be NULL) is called before anything else, the
 * interpreter's code after a fork included. The fork handlers of the C library and of libraries are not called in the
 * child; fh_warm_forked() does that. Returns as fork does; -errno on failure. */
long fh_warm_fork(const struct fh_warm_interpreter *i, uint64_t flags, int cgroup, int *ret_pidfd, void (*first)(void));
/* To be called in a child once it is isolated: replaces what it shares with the zygote. `socket`: the child's own, or
 * -1. False: something shared would remain. */
bool fh_warm_forked(const struct fh_warm_interpreter *i, int socket);

/* descriptors.c: objects that a program would share with its zygote */
/* Called in the zygote before READY: whether a child can replace everything that the zygote holds. main_fd: descriptor
 * of MAIN, or -1. */
bool fh_warm_account(const struct fh_warm_interpreter *i, int main_fd, char *why);
bool fh_warm_renew(int socket); /* in a forked child: replaces everything that is still the zygote's */
int fh_warm_main_fd(void);      /* warm.c: the descriptor of MAIN if the warm point is a read (FH_CALL_READ), else -1 */

/* isolate.c: enters the sandbox; `namespaces` has one descriptor for each bit of m->namespaces. 0, or -errno with
 * *ret_step. */
int fh_warm_isolate(const struct fh_zygote_fork *m, const void *seal, const int *namespaces, int landlock,
                    const int *tasks, uint32_t *ret_step);

/* begin.c: sets up the process as RUN says, and fills *run. fds: stdin, stdout, stderr and further ones. */
int fh_warm_begin(const struct fh_zygote_run *m, size_t size, int *fds, int fd_count, struct fh_warm_run *run,
                  struct fh_zygote_failed *ret);
/* Gives the interpreter the state that a fresh one would have at this point. */
bool fh_warm_become(const struct fh_warm_interpreter *i, const struct fh_warm_run *run, char *why);
/* warm.c: opens the run's MAIN at the number of the zygote's, if the warm point is a read (FH_CALL_READ) */
bool fh_warm_take_main(const struct fh_warm_run *run, char *why);
/* For interpreters whose programs read the environment or the arguments of the process themselves: these functions do
 * nothing. */
bool fh_warm_live_environment(const struct fh_warm_run *run, char *why);
bool fh_warm_live_arguments(const struct fh_warm_run *run, uint32_t main, char *why);
/* Whether folder/name exists, where folder has n bytes. Used for files that an interpreter looked for before the
 * fork. */
bool fh_warm_is_there(const char *folder, size_t n, const char *name);
const char *fh_warm_variable(const char *name_and_equals); /* value in the zygote's environment, or NULL */
bool fh_warm_settings_differ(const struct fh_warm_interpreter *i, const struct fh_warm_run *run, char *why);

/* test.c: runs the self-test in a child. Returns the run in that child; in the zygote NULL, with `why` if it failed. */
const struct fh_warm_run *fh_warm_self_test(const struct fh_warm_interpreter *i, char *why);

/* atfork.c: calls the handlers that libraries registered with pthread_atfork, as a raw fork has to. */
void fh_atfork_prepare(void);
void fh_atfork_parent(void);
void fh_atfork_child(void);

/* at_exit.c: set when, since these were last cleared, a function was registered for exit(), or a library was opened.
 * (Through a library's handle, functions can be registered unseen.) */
extern struct fh_warm_at_exit {
	bool handler, library;
} fh_warm_at_exit;

/* text.c */
bool fh_text_equal(const char *a, const char *b);
bool fh_text_begins(const char *s, const char *with);
void fh_text_set(char *to, size_t size, const char *text); /* truncates */
void fh_text_add(char *to, size_t size, const char *text); /* appends, truncates */
void fh_text_add_number(char *to, size_t size, uint64_t n);
/* the number in a line of /proc/self/status such as "Threads:"; 0 if there is none */
uint64_t fh_status_number(const char *name);

extern bool fh_warm_waiting; /* true from the constructor to the warm point, while intercepted calls are examined */

int fh_running_threads(void); /* threads of this process, this one included */

uint64_t fh_random(void);                                            /* from the kernel */
int fh_memory_file(const char *name, const void *data, size_t size); /* its descriptor, at offset 0; -1: failed */

/* Looks up a symbol in the process, or (fh_next) the one that ours replaces; NULL if there is none. */
void *fh_symbol(const char *name);
void *fh_next(const char *name);
/* Fills a table of function pointers. False, with `why`, if one that is not optional is missing. */
struct fh_symbol_wanted {
	const char *name;
	void *to; /* the address of the function pointer to set */
	bool optional;
};
bool fh_symbols(const struct fh_symbol_wanted *wanted, size_t count, char *why);

/* May be missing in the C library. */
extern char **environ __attribute__((weak));
extern int *__errno_location(void) __attribute__((weak));
