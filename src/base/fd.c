/* SPDX-License-Identifier: MIT */
#include "base/fd.h"
#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Waits for a descriptor that another process made non-blocking (a shared terminal), instead of retrying in a loop. */
static bool wait_ready(int fd, short events)
{
	struct pollfd p = { .fd = fd, .events = events };
	return poll(&p, 1, -1) >= 0 || errno == EINTR;
}

int fh_write_all(int fd, const void *p, size_t n)
{
	const char *from = p;
	while (n > 0) {
		ssize_t r = write(fd, from, n);
		if (r >= 0) {
			from += r;
			n -= (size_t)r;
		} else if (errno == EAGAIN) {
			if (!wait_ready(fd, POLLOUT))
				return -FH_E_SYSTEM;
		} else if (errno != EINTR) {
			return -FH_E_SYSTEM;
		}
	}
	return 0;
}

void fh_sigpipe_block(struct fh_sigpipe_guard *g)
{
	sigset_t pipe_only, pending;
	sigemptyset(&pipe_only);
	sigaddset(&pipe_only, SIGPIPE);
	sigpending(&pending);
	g->was_pending = sigismember(&pending, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &pipe_only, &g->before);
}

void fh_sigpipe_restore(const struct fh_sigpipe_guard *g)
{
	int sys = errno;
	sigset_t pipe_only;
	struct timespec now = { 0 };
	sigemptyset(&pipe_only);
	sigaddset(&pipe_only, SIGPIPE);
	if (!g->was_pending)
		while (sigtimedwait(&pipe_only, NULL, &now) < 0 && errno == EINTR)
			;
	pthread_sigmask(SIG_SETMASK, &g->before, NULL);
	errno = sys;
}

ssize_t fh_read_unless(int stop, int fd, void *to, size_t n)
{
	for (;;) {
		struct pollfd p[2] = { { .fd = fd, .events = POLLIN }, { .fd = stop, .events = POLLIN } };
		if (poll(p, 2, -1) < 0 && errno != EINTR)
			return -1;
		if (p[1].revents)
			return -1;
		if (!p[0].revents)
			continue;
		ssize_t r = read(fd, to, n);
		if (r >= 0 || (errno != EINTR && errno != EAGAIN))
			return r;
	}
}

int fh_read_all(int fd, struct fh_buf *out)
{
	const size_t max = out->max ? out->max : FH_BUF_DEFAULT_MAX;
	for (;;) {
		size_t room = FH_MIN(max - out->n, (size_t)65536);
		char probe;
		char *to = room ? fh_buf_reserve(out, room) : &probe;
		ssize_t r = read(fd, to, room ? room : 1);
		if (r == 0)
			return 0;
		if (r > 0 && !room) {
			out->overflowed = true;
			return -FH_E_LIMIT;
		}
		if (r > 0) {
			out->n += (size_t)r;
			out->p[out->n] = '\0';
		} else if (errno == EAGAIN) {
			if (!wait_ready(fd, POLLIN))
				return -FH_E_SYSTEM;
		} else if (errno != EINTR) {
			return -FH_E_SYSTEM;
		}
	}
}

static struct {
	void (*note)(void *context, const char *path);
	void *context;
} observer;

void fh_file_observe(void (*note)(void *context, const char *path), void *context)
{
	observer.note = note;
	observer.context = context;
}

int fh_file_read(const char *path, struct fh_buf *out, struct fh_error *err)
{
	if (observer.note)
		observer.note(observer.context, path);
	/* Non-blocking, so that opening a FIFO returns; it has no effect on regular files. */
	fh_auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 && errno == ENOENT)
		return fh_error_set(err, FH_E_NOT_FOUND, "cannot open %s: no such file", path);
	if (fd < 0)
		return fh_error_sys(err, errno, "cannot open %s", path);
	struct stat st;
	if (fstat(fd, &st) < 0)
		return fh_error_sys(err, errno, "cannot look at %s", path);
	if (S_ISDIR(st.st_mode))
		return fh_error_set(err, FH_E_ARGUMENT, "%s is a directory, not a file", path);
	if (!S_ISREG(st.st_mode))
		return fh_error_set(err, FH_E_ARGUMENT, "%s is not a regular file", path);
	size_t before = out->n;
	int r = fh_read_all(fd, out);
	if (r < 0) {
		int sys = errno;
		fh_buf_truncate(out, before);
		if (r == -FH_E_LIMIT)
			return fh_error_set(err, FH_E_LIMIT, "%s is larger than %zu bytes", path,
			                    out->max ? out->max : FH_BUF_DEFAULT_MAX);
		return fh_error_sys(err, sys, "cannot read %s", path);
	}
	return 0;
}

enum { INPUT_WAIT_MS = 1000 };
static void (*input_waits)(const char *path);

void fh_file_on_wait(void (*waits)(const char *path))
{
	input_waits = waits;
}

/* A FIFO is opened without waiting for its writer, so that the wait, which may be for ever, can be told. */
int fh_file_open_waiting(const char *path)
{
	fh_auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;
	if (fd < 0 || fstat(fd, &st) < 0)
		return -1;
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int ready = S_ISFIFO(st.st_mode) ? poll(&p, 1, INPUT_WAIT_MS) : 1;
	if (ready == 0 && input_waits)
		input_waits(path);
	if (ready == 0)
		ready = poll(&p, 1, -1);
	return ready < 0 || fh_set_nonblock(fd, false) < 0 ? -1 : FH_TAKE_FD(fd);
}

/* Writes to a device or a FIFO, which cannot be replaced. */
static int write_in_place(const char *path, const void *p, size_t n, struct fh_error *err)
{
	struct fh_sigpipe_guard guard;
	fh_auto_close int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return fh_error_sys(err, errno, "cannot open %s", path);
	fh_sigpipe_block(&guard);
	int r = fh_write_all(fd, p, n) < 0 ? fh_error_sys(err, errno, "cannot write %s", path) : 0;
	fh_sigpipe_restore(&guard);
	return r;
}

static int create_beside(const char *path, mode_t mode, char **ret_name)
{
	fh_auto_free char *dir = fh_path_dir(path);
	for (int tries = 0; tries < 100; tries++) {
		uint64_t random;
		if (getrandom(&random, sizeof(random), 0) != sizeof(random))
			return -1;
		fh_auto_free char *name = fh_xasprintf("%s/.fumehood-%016llx.tmp", dir, (unsigned long long)random);
		int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
		if (fd >= 0) {
			*ret_name = FH_TAKE_PTR(name);
			return fd;
		}
		if (errno != EEXIST)
			return -1;
	}
	return -1;
}

/* `shown` is the path as the caller gave it, for errors. */
static int replace(const char *target, const char *shown, const void *p, size_t n, mode_t mode, struct fh_error *err)
{
	fh_auto_free char *name = NULL;
	fh_auto_close int fd = create_beside(target, mode, &name);
	if (fd < 0)
		return fh_error_sys(err, errno, "cannot write %s", shown);
	if (fh_write_all(fd, p, n) < 0 || fsync(fd) < 0 || rename(name, target) < 0) {
		int sys = errno;
		unlink(name);
		return fh_error_sys(err, sys, "cannot write %s", shown);
	}
	return 0;
}

/* Finds the file that a write to path replaces, if it is or would be a regular file; a symbolic link is kept, and its
 * target replaced. *ret is NULL if the path has to be written in place. */
static int find_target(const char *path, char **ret, struct fh_error *err)
{
	struct stat st;
	bool exists = stat(path, &st) == 0;
	*ret = NULL;
	if (exists && S_ISDIR(st.st_mode))
		return fh_error_set(err, FH_E_ARGUMENT, "cannot write %s: it is a directory", path);
	if (exists && !S_ISREG(st.st_mode))
		return 0;
	*ret = exists ? realpath(path, NULL) : NULL;
	if (!*ret)
		*ret = fh_xstrdup(path);
	return 0;
}

int fh_file_write_atomic(const char *path, const void *p, size_t n, mode_t mode, struct fh_error *err)
{
	fh_auto_free char *target = NULL;
	int r = find_target(path, &target, err);
	if (r < 0)
		return r;
	return target ? replace(target, path, p, n, mode, err) : write_in_place(path, p, n, err);
}

int fh_file_try(const char *path, struct fh_error *err)
{
	fh_auto_free char *target = NULL, *name = NULL;
	int r = find_target(path, &target, err);
	if (r < 0)
		return r;
	/* A FIFO is not opened: its reader would take the end of this trial for the end of what is written. */
	if (!target)
		return access(path, W_OK) < 0 ? fh_error_sys(err, errno, "cannot write %s", path) : 0;
	fh_auto_close int fd = create_beside(target, 0600, &name);
	if (fd < 0)
		return fh_error_sys(err, errno, "cannot write %s", path);
	unlink(name);
	return 0;
}

int fh_file_replace(const char *path, const void *p, size_t n, mode_t mode, struct fh_error *err)
{
	struct stat st;
	if (lstat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode))
		return fh_error_set(err, FH_E_ARGUMENT, "cannot write %s: it exists and is not a regular file", path);
	return replace(path, path, p, n, mode, err);
}

int fh_set_nonblock(int fd, bool on)
{
	int flags = fcntl(fd, F_GETFL);
	if (flags < 0)
		return -FH_E_SYSTEM;
	int wanted = on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK;
	if (wanted != flags && fcntl(fd, F_SETFL, wanted) < 0)
		return -FH_E_SYSTEM;
	return 0;
}

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

int fh_memory_program(const char *name, const void *image, size_t size)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_EXEC);
	if (fd < 0 && errno == EINVAL) /* Linux before 6.3 lacks the flag */
		fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -1;
	if (fh_write_all(fd, image, size) == 0 && fchmod(fd, 0555) == 0 &&
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) == 0)
		return fd;
	int why = errno;
	close(fd);
	errno = why;
	return -1;
}
