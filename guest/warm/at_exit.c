// SPDX-License-Identifier: MIT
/*
 * Whether a program has had anything done at the process's exit, below its interpreter: libc's exit() then has more to
 * do than to end. With libraries of any size it is dear in a forked process (OpenSSL alone gives back, and so copies,
 * hundreds of pages), and nobody can tell when only libraries of the zygote have something to do there.
 */
#include "warm.h"

struct fh_warm_at_exit fh_warm_at_exit;

/* What atexit() and C++ objects come to, in glibc and musl. */
FH_EXPORT int __cxa_atexit(void (*function)(void *), void *argument, void *library);

int __cxa_atexit(void (*function)(void *), void *argument, void *library)
{
	static int (*real)(void (*)(void *), void *, void *);
	fh_warm_at_exit.handler = true;
	if (!real)
		real = (int (*)(void (*)(void *), void *, void *))fh_next("__cxa_atexit");
	return real ? real(function, argument, library) : -1;
}

/* A call in tail position, which leaves no trace of us: dlopen looks at who has called it (RUNPATH). */
FH_EXPORT void *dlopen(const char *path, int mode);

void *dlopen(const char *path, int mode)
{
	static void *(*real)(const char *, int);
	fh_warm_at_exit.library = true;
	if (!real)
		real = (void *(*)(const char *, int))fh_next("dlopen");
	return real ? real(path, mode) : NULL;
}
