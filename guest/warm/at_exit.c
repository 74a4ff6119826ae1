/* SPDX-License-Identifier: MIT */
/*
 * Notes whether a program, or a library that it loaded, registered functions to be called at exit. If so, the process
 * has to end through libc's exit(). If not, it can end at once: exit() is costly in a forked process with large
 * libraries (OpenSSL alone frees, and thereby copies, hundreds of pages), and skipping it cannot be noticed when only
 * libraries of the zygote have registered functions.
 */
#include "warm.h"

struct fh_warm_at_exit fh_warm_at_exit;

/* In glibc and musl, both atexit() and the destructors of C++ objects are registered through this function. */
FH_EXPORT int __cxa_atexit(void (*function)(void *), void *argument, void *library);

int __cxa_atexit(void (*function)(void *), void *argument, void *library)
{
	static int (*real)(void (*)(void *), void *, void *);
	fh_warm_at_exit.handler = true;
	if (!real)
		real = (int (*)(void (*)(void *), void *, void *))fh_next("__cxa_atexit");
	return real ? real(function, argument, library) : -1;
}

/* Must be a tail call, which leaves no frame of this library: dlopen looks at its caller (RUNPATH). */
FH_EXPORT void *dlopen(const char *path, int mode);

void *dlopen(const char *path, int mode)
{
	static void *(*real)(const char *, int);
	fh_warm_at_exit.library = true;
	if (!real)
		real = (void *(*)(const char *, int))fh_next("dlopen");
	return real ? real(path, mode) : NULL;
}
