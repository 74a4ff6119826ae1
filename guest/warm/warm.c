// SPDX-License-Identifier: MIT
#include "warm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>

struct fh_warm_start fh_warm_start;
bool fh_warm_waiting;

static const struct fh_warm_interpreter *const interpreters[] = {
	&fh_warm_python,
	&fh_warm_node,
};
static const struct fh_warm_interpreter none_in_particular = { .name = "" };

extern void *dlsym(void *restrict handle, const char *restrict name) __attribute__((weak));
extern int *__errno_location(void) __attribute__((weak));

/* RTLD_DEFAULT and RTLD_NEXT are the same in glibc and musl. */
void *fh_symbol(const char *name)
{
	return dlsym ? dlsym(NULL, name) : NULL;
}

void *fh_next(const char *name)
{
	return dlsym ? dlsym((void *)-1L, name) : NULL;
}

bool fh_symbols(const struct fh_symbol_wanted *wanted, size_t count, char *why)
{
	for (size_t i = 0; i < count; i++) {
		void *f = fh_symbol(wanted[i].name);
		if (!f && !wanted[i].optional) {
			fh_text_set(why, FH_ZYGOTE_WHY_MAX, "the interpreter does not have ");
			fh_text_add(why, FH_ZYGOTE_WHY_MAX, wanted[i].name);
			return false;
		}
		memcpy(wanted[i].to, &f, sizeof(f));
	}
	return true;
}

/* ----------------------------------------------------------------------------------------------------------- start */

/* Takes a variable out of the environment; its value, which stays where it is, or NULL. */
static const char *take_variable(char **env, const char *name)
{
	size_t n = strlen(name);
	const char *value = NULL;
	char **to = env;
	for (char **from = env; *from; from++) {
		if (fh_text_begins(*from, name) && (*from)[n] == '=')
			value = *from + n + 1;
		else
			*to++ = *from;
	}
	*to = NULL;
	return value;
}

static const struct fh_warm_interpreter *which_interpreter(void)
{
	for (size_t i = 0; i < sizeof(interpreters) / sizeof(interpreters[0]); i++)
		if (fh_symbol(interpreters[i]->symbol))
			return interpreters[i];
	return &none_in_particular;
}

static void note_arguments(void)
{
	static char text[32768], *argv[FH_WARM_ARGV_MAX + 1];
	long fd = fh_sys(__NR_openat, AT_FDCWD, "/proc/self/cmdline", O_RDONLY | O_CLOEXEC, 0);
	long n = fd < 0 ? 0 : fh_sys(__NR_read, fd, text, sizeof(text) - 1);
	if (fd >= 0)
		fh_sys(__NR_close, fd);
	fh_warm_start.argv = argv;
	for (char *p = text; p < text + n && fh_warm_start.argc < FH_WARM_ARGV_MAX; p += strlen(p) + 1)
		argv[fh_warm_start.argc++] = p;
}

static void note_environment(char **env)
{
	static char *copy[FH_WARM_ARGV_MAX + 1];
	fh_warm_start.env = copy;
	for (; env[fh_warm_start.env_count] && fh_warm_start.env_count < FH_WARM_ARGV_MAX; fh_warm_start.env_count++)
		copy[fh_warm_start.env_count] = env[fh_warm_start.env_count];
}

/* MAIN as an absolute path: some interpreters open that. */
static void note_path(const char *file)
{
	struct fh_warm_start *s = &fh_warm_start;
	fh_text_set(s->file, sizeof(s->file), file);
	s->path[0] = 0;
	if (file[0] != '/' && fh_sys(__NR_getcwd, s->path, sizeof(s->path)) > 0)
		fh_text_add(s->path, sizeof(s->path), s->path[1] ? "/" : "");
	fh_text_add(s->path, sizeof(s->path), file);
}

static const struct fh_warm_interpreter *interpreter;

__attribute__((constructor)) static void start(int argc, char **argv, char **envp)
{
	/* glibc passes them and may not have set environ yet; musl has set environ, and passes nothing */
	char **env = environ ? environ : envp;
	const char *socket = take_variable(env, FH_ZYGOTE_ENV_SOCKET);
	if (!socket)
		return;
	const char *file = take_variable(env, FH_ZYGOTE_ENV_FILE), *preload = take_variable(env, FH_ZYGOTE_ENV_PRELOAD);
	(void)take_variable(env, "LD_PRELOAD");
	fh_sys(__NR_close, FH_ZYGOTE_LIBRARY);
	long moved = fh_sys(__NR_fcntl, FH_ZYGOTE_SOCKET, F_DUPFD_CLOEXEC, 900); /* programs count from 3 */
	if (moved < 0)
		moved = fh_sys(__NR_fcntl, FH_ZYGOTE_SOCKET, F_DUPFD_CLOEXEC, 100);
	fh_sys(__NR_close, FH_ZYGOTE_SOCKET);
	if (moved < 0 || !file || !*file)
		return;
	fh_warm_start.socket = (int)moved;
	note_path(file);
	fh_text_set(fh_warm_start.preload, sizeof(fh_warm_start.preload), preload ? preload : "");
	note_arguments();
	note_environment(env);
	interpreter = which_interpreter();
	fh_warm_waiting = true;
}

/* ------------------------------------------------------------------------------------------------- the stopped call */

static bool is_main(const char *path)
{
	return fh_text_equal(path, fh_warm_start.file) || fh_text_equal(path, fh_warm_start.path);
}

/* At the warm point: serves, and in a child gives the run whose program the call is to open. NULL: pass it on. */
static const struct fh_warm_run *warm_point(enum fh_warm_call call, const char *path)
{
	if (!fh_warm_waiting || !path || (interpreter->calls && !(interpreter->calls & call)))
		return NULL;
	if (interpreter->point ? !fh_text_equal(path, interpreter->point) : !is_main(path))
		return NULL;
	fh_warm_waiting = false;
	return fh_warm_serve(interpreter);
}

static int fail(int error)
{
	if (__errno_location)
		*__errno_location() = error;
	return -1;
}

/* In a run, after the file was opened or not: errno is that of the call. */
static void go_on(const char *path, void *file)
{
	int error = __errno_location ? *__errno_location() : 0;
	if (interpreter->run)
		interpreter->run(path, file);
	if (__errno_location)
		*__errno_location() = error;
}

typedef int open_fn(const char *, int, ...);
typedef int openat_fn(int, const char *, int, ...);

static int open_by(const char *name, open_fn **real, const char *path, int flags, int mode)
{
	if (!*real)
		*real = (open_fn *)fh_next(name);
	int instead = interpreter && interpreter->substitute ? interpreter->substitute(path) : -1;
	if (instead >= 0)
		return instead;
	const struct fh_warm_run *run = warm_point(FH_CALL_OPEN, path);
	if (run && interpreter->point)
		return interpreter->source(run);
	if (!*real)
		return fail(ENOSYS);
	path = run && run->self_test ? run->main : path;
	int fd = (*real)(path, flags, mode);
	if (run)
		go_on(path, NULL);
	return fd;
}

static int openat_by(const char *name, openat_fn **real, int dir, const char *path, int flags, int mode)
{
	if (!*real)
		*real = (openat_fn *)fh_next(name);
	int instead = interpreter && interpreter->substitute ? interpreter->substitute(path) : -1;
	if (instead >= 0)
		return instead;
	const struct fh_warm_run *run = warm_point(FH_CALL_OPEN, path);
	if (run && interpreter->point)
		return interpreter->source(run);
	if (!*real)
		return fail(ENOSYS);
	path = run && run->self_test ? run->main : path;
	int fd = (*real)(dir, path, flags, mode);
	if (run)
		go_on(path, NULL);
	return fd;
}

static int mode_of(int flags, va_list list)
{
	return flags & (O_CREAT | __O_TMPFILE) ? va_arg(list, int) : 0;
}

#define OPEN(name)                                                                                                     \
	FH_EXPORT int name(const char *path, int flags, ...);                                                              \
	int name(const char *path, int flags, ...)                                                                         \
	{                                                                                                                  \
		static open_fn *real;                                                                                          \
		va_list list;                                                                                                  \
		va_start(list, flags);                                                                                         \
		int mode = mode_of(flags, list);                                                                               \
		va_end(list);                                                                                                  \
		return open_by(#name, &real, path, flags, mode);                                                               \
	}
#define OPENAT(name)                                                                                                   \
	FH_EXPORT int name(int dir, const char *path, int flags, ...);                                                     \
	int name(int dir, const char *path, int flags, ...)                                                                \
	{                                                                                                                  \
		static openat_fn *real;                                                                                        \
		va_list list;                                                                                                  \
		va_start(list, flags);                                                                                         \
		int mode = mode_of(flags, list);                                                                               \
		va_end(list);                                                                                                  \
		return openat_by(#name, &real, dir, path, flags, mode);                                                        \
	}
/* what glibc's headers make of open() without a mode when a program is built with _FORTIFY_SOURCE */
#define OPEN_2(name)                                                                                                   \
	FH_EXPORT int name(const char *path, int flags);                                                                   \
	int name(const char *path, int flags)                                                                              \
	{                                                                                                                  \
		static open_fn *real;                                                                                          \
		return open_by(#name, &real, path, flags, 0);                                                                  \
	}

OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)
OPEN_2(__open_2)
OPEN_2(__open64_2)

typedef void *fopen_fn(const char *, const char *);

static void *fopen_by(const char *name, fopen_fn **real, const char *path, const char *mode)
{
	if (!*real)
		*real = (fopen_fn *)fh_next(name);
	const struct fh_warm_run *run = warm_point(FH_CALL_FOPEN, path);
	if (!*real) {
		fail(ENOSYS);
		return NULL;
	}
	path = run && run->self_test ? run->main : path;
	void *file = (*real)(path, mode);
	if (run)
		go_on(path, file);
	return file;
}

#define FOPEN(name)                                                                                                    \
	FH_EXPORT void *name(const char *path, const char *mode);                                                          \
	void *name(const char *path, const char *mode)                                                                     \
	{                                                                                                                  \
		static fopen_fn *real;                                                                                         \
		return fopen_by(#name, &real, path, mode);                                                                     \
	}

FOPEN(fopen)
FOPEN(fopen64)
