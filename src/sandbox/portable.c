/* SPDX-License-Identifier: MIT */
/*
 * What lets one shared library load under glibc and under musl.
 *
 * musl answers to the name libc.so.6 and lays out what we use of libc's structs as glibc does on these machines; what
 * it lacks are some names that glibc's headers bring in: the checked variants of _FORTIFY_SOURCE, C23's readers of
 * numbers, a 64-bit alias, and descriptions of signals and errors. They are here, hidden, in the portable library alone
 * (python/, the wheel).
 *
 * The checks of the checked variants are kept: a write beyond what the compiler knows of the buffer aborts.
 */
/* plain names: the aliases are made here */
#undef _FORTIFY_SOURCE
#undef _FILE_OFFSET_BITS
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HIDDEN __attribute__((visibility("hidden")))

/* jansson compares a FILE that it reads with stdin, for a message; it is never given one here. Its static library is
 * not built for shared ones, where only a variable of our own can be reached so. */
HIDDEN FILE *fh_no_stdin __asm__("stdin");
FILE *fh_no_stdin;

static void check(size_t n, size_t room)
{
	if (n > room)
		abort();
}

HIDDEN void *__memcpy_chk(void *to, const void *from, size_t n, size_t room)
{
	check(n, room);
	return memcpy(to, from, n);
}

HIDDEN void *__memmove_chk(void *to, const void *from, size_t n, size_t room)
{
	check(n, room);
	return memmove(to, from, n);
}

HIDDEN char *__strncpy_chk(char *to, const char *from, size_t n, size_t room)
{
	check(n, room);
	return strncpy(to, from, n);
}

HIDDEN int __vsnprintf_chk(char *to, size_t n, int flag, size_t room, const char *format, va_list args)
{
	(void)flag;
	check(n, room);
	return vsnprintf(to, n, format, args);
}

HIDDEN int __snprintf_chk(char *to, size_t n, int flag, size_t room, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int r = __vsnprintf_chk(to, n, flag, room, format, args);
	va_end(args);
	return r;
}

HIDDEN int __vasprintf_chk(char **ret, int flag, const char *format, va_list args);
HIDDEN int __vasprintf_chk(char **ret, int flag, const char *format, va_list args)
{
	(void)flag;
	return vasprintf(ret, format, args);
}

HIDDEN int fcntl64(int fd, int command, ...)
{
	va_list args;
	va_start(args, command);
	void *value = va_arg(args, void *); /* an int or a pointer: either is one register */
	va_end(args);
	return fcntl(fd, command, value);
}

/* From glibc 2.38 on strtol is called by the name of C23's, which takes 0b1 in base 2 and in a base that it finds out.
 * Nobody here asks for such a base. The plain functions have to be named past the headers, which lead back to these. */
#define READER(type, name)                                                                                             \
	type plain_##name(const char *text, char **end, int base) __asm__(#name);                                          \
	HIDDEN type __isoc23_##name(const char *text, char **end, int base);                                               \
	HIDDEN type __isoc23_##name(const char *text, char **end, int base)                                                \
	{                                                                                                                  \
		return plain_##name(text, end, base);                                                                          \
	}
READER(long, strtol)
READER(long long, strtoll)
READER(unsigned long, strtoul)
READER(unsigned long long, strtoull)

int plain_vfscanf(FILE *f, const char *format, va_list args) __asm__("__isoc99_vfscanf");
HIDDEN int __isoc23_fscanf(FILE *f, const char *format, ...);
HIDDEN int __isoc23_fscanf(FILE *f, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int r = plain_vfscanf(f, format, args);
	va_end(args);
	return r;
}

int plain_vsscanf(const char *text, const char *format, va_list args) __asm__("__isoc99_vsscanf");
HIDDEN int __isoc23_sscanf(const char *text, const char *format, ...);
HIDDEN int __isoc23_sscanf(const char *text, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int r = plain_vsscanf(text, format, args);
	va_end(args);
	return r;
}

static const char *const signal_names[] = {
	[SIGHUP] = "HUP",       [SIGINT] = "INT",   [SIGQUIT] = "QUIT",   [SIGILL] = "ILL",   [SIGTRAP] = "TRAP",
	[SIGABRT] = "ABRT",     [SIGBUS] = "BUS",   [SIGFPE] = "FPE",     [SIGKILL] = "KILL", [SIGUSR1] = "USR1",
	[SIGSEGV] = "SEGV",     [SIGUSR2] = "USR2", [SIGPIPE] = "PIPE",   [SIGALRM] = "ALRM", [SIGTERM] = "TERM",
	[SIGSTKFLT] = "STKFLT", [SIGCHLD] = "CHLD", [SIGCONT] = "CONT",   [SIGSTOP] = "STOP", [SIGTSTP] = "TSTP",
	[SIGTTIN] = "TTIN",     [SIGTTOU] = "TTOU", [SIGURG] = "URG",     [SIGXCPU] = "XCPU", [SIGXFSZ] = "XFSZ",
	[SIGVTALRM] = "VTALRM", [SIGPROF] = "PROF", [SIGWINCH] = "WINCH", [SIGPOLL] = "POLL", [SIGPWR] = "PWR",
	[SIGSYS] = "SYS",
};

HIDDEN const char *sigabbrev_np(int number)
{
	return number > 0 && (size_t)number < sizeof(signal_names) / sizeof(signal_names[0]) ? signal_names[number] : NULL;
}

HIDDEN const char *sigdescr_np(int number)
{
	return sigabbrev_np(number) ? strsignal(number) : NULL;
}

HIDDEN const char *strerrordesc_np(int number)
{
	return strerror(number); /* of a known number both libraries return a constant */
}

/* As scandirat(3) with 64-bit entries, which are the only kind here. */
HIDDEN int fh_scandirat(int at, const char *path, struct dirent ***ret, int (*wanted)(const struct dirent *),
                        int (*order)(const struct dirent **, const struct dirent **)) __asm__("scandirat64");
HIDDEN int fh_scandirat(int at, const char *path, struct dirent ***ret, int (*wanted)(const struct dirent *),
                        int (*order)(const struct dirent **, const struct dirent **))
{
	struct dirent **found = NULL, *e;
	size_t n = 0, room = 0;
	int fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	bool failed = !dir;
	if (fd >= 0 && !dir)
		close(fd);
	while (!failed && (e = readdir(dir))) {
		if (wanted && !wanted(e))
			continue;
		if (n == room) {
			struct dirent **more = realloc(found, (room = room ? 2 * room : 16) * sizeof(*found));
			failed = !more;
			found = more ? more : found;
		}
		struct dirent *copy = failed ? NULL : malloc(e->d_reclen);
		failed = failed || !copy;
		if (!failed)
			found[n++] = memcpy(copy, e, e->d_reclen);
	}
	if (dir)
		closedir(dir);
	if (failed) {
		while (n)
			free(found[--n]);
		free(found);
		return -1;
	}
	if (order && n)
		qsort(found, n, sizeof(*found), (int (*)(const void *, const void *))(void (*)(void))order);
	*ret = found;
	return (int)n;
}
