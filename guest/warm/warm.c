/* SPDX-License-Identifier: MIT */
#include "warm.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/prctl.h>
#include <stdarg.h>

struct fh_warm_start fh_warm_start;
bool fh_warm_waiting;

static const struct fh_warm_interpreter *const interpreters[] = {
	&fh_warm_python, &fh_warm_node, &fh_warm_bash, &fh_warm_perl, &fh_warm_ruby, &fh_warm_lua, &fh_warm_php,
};
static const struct fh_warm_interpreter none_in_particular = { .name = "" };

extern void *dlsym(void *restrict handle, const char *restrict name) __attribute__((weak));

/* glibc and musl use the same values for RTLD_DEFAULT and RTLD_NEXT. */
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

/* Removes a variable from the environment. Returns its value, which stays in memory, or NULL. */
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

/* Records the environment of programs: all variables but the zygote's own, which come last. */
static void note_environment(char **env, const char *own)
{
	static char *copy[FH_WARM_ARGV_MAX + 1];
	uint32_t count = 0, last = 0;
	while (env[count])
		count++;
	for (; own && *own >= '0' && *own <= '9' && last < FH_WARM_ARGV_MAX; own++)
		last = last * 10 + (uint32_t)(*own - '0');
	fh_warm_start.env = copy;
	fh_warm_start.has_own_environment = last > 0;
	for (; fh_warm_start.env_count + last < count && fh_warm_start.env_count < FH_WARM_ARGV_MAX;
	     fh_warm_start.env_count++)
		copy[fh_warm_start.env_count] = env[fh_warm_start.env_count];
}

/* Records MAIN as an absolute path too, since some interpreters open that. */
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
	/* glibc passes envp and may not have set environ yet; musl has set environ and passes nothing */
	char **env = environ ? environ : envp;
	const char *socket = take_variable(env, FH_ZYGOTE_ENV_SOCKET);
	if (!socket)
		return;
	const char *file = take_variable(env, FH_ZYGOTE_ENV_FILE), *preload = take_variable(env, FH_ZYGOTE_ENV_PRELOAD);
	const char *own = take_variable(env, FH_ZYGOTE_ENV_OWN);
	(void)take_variable(env, "LD_PRELOAD");
	(void)take_variable(env, "LD_BIND_NOW");
	/* the zygote's capabilities are for itself; a program that it executes gets none */
	fh_sys(__NR_prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	fh_sys(__NR_close, FH_ZYGOTE_LIBRARY);
	/* moves the descriptor out of the way, because programs number theirs from 3 */
	long moved = fh_sys(__NR_fcntl, FH_ZYGOTE_SOCKET, F_DUPFD_CLOEXEC, 900);
	if (moved < 0)
		moved = fh_sys(__NR_fcntl, FH_ZYGOTE_SOCKET, F_DUPFD_CLOEXEC, 100);
	fh_sys(__NR_close, FH_ZYGOTE_SOCKET);
	if (moved < 0 || !file || !*file)
		return;
	fh_warm_start.socket = (int)moved;
	note_path(file);
	fh_text_set(fh_warm_start.preload, sizeof(fh_warm_start.preload), preload ? preload : "");
	note_arguments();
	note_environment(env, own);
	interpreter = which_interpreter();
	if (interpreter->variable) { /* the own variables take the place of those that were removed */
		while (*env)
			env++;
		env[0] = interpreter->variable;
		env[1] = NULL;
	}
	fh_warm_waiting = true;
}

/* ------------------------------------------------------------------------------------------------- the stopped call */

static bool is_main(const char *path)
{
	return fh_text_equal(path, fh_warm_start.file) || fh_text_equal(path, fh_warm_start.path);
}

static const char *test_main; /* in a self-test: the file to open instead of MAIN */

static const struct fh_warm_run *serve(void)
{
	fh_warm_waiting = false;
	const struct fh_warm_run *run = fh_warm_serve(interpreter);
	bool by_itself = interpreter->point &&
	                 !(interpreter->calls & FH_CALL_FOPEN); /* the interpreter's source() returned the file to open */
	test_main = run && run->self_test && !by_itself && !(interpreter->calls & FH_CALL_READ) ? run->main : NULL;
	return run;
}

/* Called at each intercepted call. At the warm point, serves; in a child, returns the run whose program the call is to
 * open. NULL: not the warm point, so the call is passed on. */
static const struct fh_warm_run *warm_point(enum fh_warm_call call, const char *path)
{
	if (!fh_warm_waiting || !path || (interpreter->calls && !(interpreter->calls & call)))
		return NULL;
	if (interpreter->point ? !fh_text_equal(path, interpreter->point) : !is_main(path))
		return NULL;
	if (interpreter->calls & FH_CALL_READ) /* where the warm point is a read, see main_file */
		return NULL;
	return serve();
}

static int fail(int error)
{
	if (__errno_location)
		*__errno_location() = error;
	return -1;
}

/* Called in a run after the stopped call was made, successful or not. Keeps errno. */
static void go_on(const char *path, void *file)
{
	int error = __errno_location ? *__errno_location() : 0;
	if (interpreter->run)
		interpreter->run(path, file);
	if (__errno_location)
		*__errno_location() = error;
}

/* Replaces MAIN once: a self-test that opens its own file again gets MAIN. */
static const char *instead_of(const char *path)
{
	if (!test_main || !path || !is_main(path))
		return path;
	path = test_main;
	test_main = NULL;
	return path;
}

/* For interpreters whose warm point is a read: the descriptor on which it comes. */
static struct {
	int fd, flags;
	unsigned reads;
} main_file = { -1, 0, 0 };

static void note_main(const char *path, int fd, int flags)
{
	if (!fh_warm_waiting || fd < 0 || !path || !(interpreter->calls & FH_CALL_READ) || !is_main(path))
		return;
	main_file.fd = fd;
	main_file.flags = flags;
}

int fh_warm_main_fd(void)
{
	return main_file.fd;
}

/* Opens the run's MAIN at the number of the zygote's. A run with further descriptors is refused: the interpreter may
 * use numbers from 3 on itself. */
bool fh_warm_take_main(const struct fh_warm_run *run, char *why)
{
	const char *path = run->self_test ? run->main : fh_warm_start.file;
	long fd = run->extra_count ? -1 : fh_sys(__NR_openat, AT_FDCWD, path, main_file.flags & ~O_CREAT, 0);
	long r = fd < 0 ? fd : fh_sys(__NR_dup3, fd, main_file.fd, main_file.flags & O_CLOEXEC);
	if (fd >= 0)
		fh_sys(__NR_close, fd);
	if (r < 0)
		fh_text_set(why, FH_ZYGOTE_WHY_MAX,
		            run->extra_count ? "the run has descriptors that this interpreter uses itself"
		                             : "the program's file cannot be opened");
	return r >= 0;
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
	path = instead_of(path);
	int fd = (*real)(path, flags, mode);
	if (run)
		go_on(path, NULL);
	note_main(path, fd, flags);
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
	path = instead_of(path);
	int fd = (*real)(dir, path, flags, mode);
	if (run)
		go_on(path, NULL);
	note_main(path, fd, flags);
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
/* glibc's headers use these for open() without a mode in programs built with _FORTIFY_SOURCE */
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

typedef long read_fn(int, void *, size_t);
FH_EXPORT long read(int fd, void *to, size_t size);

long read(int fd, void *to, size_t size)
{
	static read_fn *real;
	if (!real)
		real = (read_fn *)fh_next("read");
	if (fh_warm_waiting && fd == main_file.fd) {
		size_t n = main_file.reads++ == 0 && interpreter->lead ? strlen(interpreter->lead) : 0;
		if (main_file.reads == interpreter->reads) {
			if (serve())
				go_on(fh_warm_start.file, NULL);
		} else if (n <= size) {
			memcpy(to, interpreter->lead, n);
			return (long)n;
		}
	}
	return real ? real(fd, to, size) : fail(ENOSYS);
}

/* A program's parent is its sandbox's init, process 1. The parent of a program forked from a zygote is outside its pid
 * namespace, so the kernel returns 0. */
FH_EXPORT int getppid(void);

int getppid(void)
{
	long parent = fh_sys(__NR_getppid);
	return parent ? (int)parent : 1;
}

typedef void *fopen_fn(const char *, const char *);

static void *source_file(const struct fh_warm_run *run)
{
	void *(*as_file)(int, const char *) = (void *(*)(int, const char *))fh_symbol("fdopen");
	int fd = as_file ? interpreter->source(run) : fail(ENOSYS);
	return fd < 0 ? NULL : as_file(fd, "r");
}

static void *fopen_by(const char *name, fopen_fn **real, const char *path, const char *mode)
{
	if (!*real)
		*real = (fopen_fn *)fh_next(name);
	const struct fh_warm_run *run = warm_point(FH_CALL_FOPEN, path);
	if (!*real) {
		fail(ENOSYS);
		return NULL;
	}
	if (run && interpreter->point)
		return source_file(run);
	path = instead_of(path);
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
