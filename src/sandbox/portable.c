/* SPDX-License-Identifier: MIT */
/*
 * Lets one shared library be loaded under glibc and under musl.
 *
 * musl accepts the name libc.so.6, and the structs of libc that we use have the same layout in both on the supported
 * machines. musl lacks some functions that glibc's headers refer to: the checked variants of _FORTIFY_SOURCE, C23's
 * number parsers, a 64-bit alias, and descriptions of signals and errors. They are defined here, with hidden
 * visibility, in the portable library only (python/, the wheel).
 *
 * The checked variants keep their checks: a write beyond the end of a buffer, as known to the compiler, aborts.
 */
/* the plain names are needed, because the aliases are defined here */
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

/* For a message, jansson compares the FILE that it reads with stdin; here it never reads a FILE. Its static library is
 * not built for shared libraries, so it can only refer to a variable within this one. */
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
	void *value = va_arg(args, void *); /* an int or a pointer; each is passed in one register */
	va_end(args);
	return fcntl(fd, command, value);
}

/* Since glibc 2.38 strtol is called by C23's name for it, which accepts 0b1 in base 2 and in a base that it detects. No
 * code here uses such a base. The plain functions are named in assembler, because the headers would redirect to
 * these. */
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
	return strerror(number); /* for a known number, both libraries return a constant */
}

/* scandirat(3) with 64-bit entries, the only kind here. */
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
