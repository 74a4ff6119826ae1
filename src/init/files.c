/* SPDX-License-Identifier: MIT */
/*
 * Moves files in and out. Runs in a forked child that has the sandbox's user id, so it can do nothing that the program
 * could not. No link on a path is followed: what a program may have put there (a link, a FIFO, a replaced folder) makes
 * the transfer fail.
 */
#include "init/init.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

enum { CHUNK = 64 * 1024 };
static char chunk[CHUNK];

/* Opens one component of a path below the folder dir; fails if it is a link. */
static long open_part(int dir, const char *part, uint64_t flags, uint32_t mode)
{
	long fd;
	do
		fd = fh_sys(__NR_openat, dir, part, flags | O_NOFOLLOW | O_CLOEXEC, mode);
	while (fd == -EINTR);
	return fd;
}

/* Opens the folder of that name below dir; a link, even one to a folder, fails with -ELOOP. */
static long open_folder_part(int dir, const char *part)
{
	struct stat st;
	long fd = open_part(dir, part, O_PATH, 0);
	long r = fd < 0 ? fd : fh_sys(__NR_fstat, fd, &st);
	if (r >= 0 && !S_ISDIR(st.st_mode))
		r = S_ISLNK(st.st_mode) ? -ELOOP : -ENOTDIR;
	if (r < 0 && fd >= 0)
		fh_sys(__NR_close, fd);
	return r < 0 ? r : fd;
}

/* Opens path (absolute or relative; with O_PATH a folder) beneath the folder dir, component by component, because the
 * seccomp filter has no openat2. The descriptor of each folder is held while the next is opened, so renaming one
 * meanwhile cannot lead outside. ".." could, and is refused. The last component may not be a link either: -ELOOP. */
static long open_beneath(int dir, const char *path, uint64_t flags, uint32_t mode)
{
	char part[256];
	long at = dir;
	for (;;) {
		size_t n = 0;
		while (*path == '/')
			path++;
		while (path[n] && path[n] != '/')
			n++;
		const char *next = path + n;
		while (*next == '/')
			next++;
		long r = n >= sizeof(part) ? -ENAMETOOLONG : n == 2 && path[0] == '.' && path[1] == '.' ? -EXDEV : 0;
		if (r == 0) {
			memcpy(part, n ? path : ".", n ? n : 1);
			part[n ? n : 1] = 0;
			/* neither waits for a FIFO's other end nor makes a terminal our own */
			r = *next || flags & O_PATH ? open_folder_part((int)at, part)
			                            : open_part((int)at, part, flags | O_NOCTTY | O_NONBLOCK, mode);
		}
		if (at != dir)
			fh_sys(__NR_close, at);
		if (r < 0 || !*next)
			return r;
		at = r;
		path = next;
	}
}

static uint32_t refusal(long error)
{
	switch (error) {
	case -ENOENT:
	case -ENOTDIR:
		return FH_REFUSED_MISSING;
	case -ELOOP:
	case -EXDEV:
		return FH_REFUSED_LINK;
	case -EACCES:
	case -EPERM:
		return FH_REFUSED_DENIED;
	case -EISDIR:
	case -ENXIO:
		return FH_REFUSED_NOT_REGULAR;
	default:
		return FH_REFUSED_ERROR;
	}
}

static void refuse(struct fh_init_done *ret, long error)
{
	ret->refused = refusal(error);
	ret->error = (int32_t)-error;
}

void fh_init_get(const struct fh_init_get *m, int pipe, struct fh_init_done *ret)
{
	long root = fh_sys(__NR_openat, AT_FDCWD, "/", O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
	long fd = root < 0 ? root : open_beneath((int)root, m->path, O_RDONLY, 0);
	if (fd < 0) {
		refuse(ret, fd);
		return;
	}
	struct stat st;
	long r = fh_sys(__NR_fstat, fd, &st);
	if (r < 0) {
		refuse(ret, r);
		return;
	}
	if (!S_ISREG(st.st_mode)) {
		ret->refused = FH_REFUSED_NOT_REGULAR;
		return;
	}
	if ((uint64_t)st.st_size > m->max_bytes) {
		ret->refused = FH_REFUSED_TOO_LARGE;
		ret->size = (uint64_t)st.st_size;
		return;
	}
	/* Copies as many bytes as the file had when it was opened, because it may grow or shrink meanwhile. */
	uint64_t left = (uint64_t)st.st_size;
	while (left) {
		long n = fh_sys(__NR_read, fd, chunk, left < CHUNK ? left : CHUNK);
		if (n == -EINTR)
			continue;
		if (n < 0) {
			refuse(ret, n);
			return;
		}
		if (n == 0)
			break;
		r = fh_write_full(pipe, chunk, (size_t)n);
		if (r < 0) {
			refuse(ret, r);
			return;
		}
		left -= (uint64_t)n;
	}
	ret->size = (uint64_t)st.st_size - left;
}

/* Makes the folders of path, all but its last component, below dir; returns a descriptor of the last folder. */
static long open_parent(int dir, char *path, char **ret_last)
{
	long at = open_beneath(dir, ".", O_PATH, 0);
	char *part = path;
	for (char *p = path; at >= 0; p++) {
		if (*p == 0)
			break;
		if (*p != '/')
			continue;
		*p = 0;
		if (*part) {
			long r = fh_sys(__NR_mkdirat, at, part, 0755);
			long next = r < 0 && r != -EEXIST ? r : open_beneath((int)at, part, O_PATH, 0);
			fh_sys(__NR_close, at);
			at = next;
		}
		part = p + 1;
	}
	*ret_last = part;
	return at;
}

static long put_entry(int root, int base, int pipe, const struct fh_init_entry *e, char *path)
{
	char *last;
	long parent = open_parent(path[0] == '/' ? root : base, path, &last);
	if (parent < 0)
		return parent;
	long fd = open_beneath((int)parent, last, (uint64_t)O_WRONLY | O_CREAT | (e->append ? O_APPEND : O_TRUNC), 0600);
	fh_sys(__NR_close, parent);
	if (fd < 0)
		return fd;
	struct stat st;
	long r = fh_sys(__NR_fstat, fd, &st);
	if (r == 0 && !S_ISREG(st.st_mode))
		r = -EISDIR;
	for (uint64_t left = e->size; r == 0 && left;) {
		size_t n = left < CHUNK ? (size_t)left : CHUNK;
		int got = fh_read_full(pipe, chunk, n);
		r = got == 1 ? fh_write_full((int)fd, chunk, n) : got == 0 ? -EIO : got;
		left -= n;
	}
	if (r == 0)
		r = fh_sys(__NR_fchmod, fd, e->mode);
	fh_sys(__NR_close, fd);
	return r;
}

void fh_init_put(const char *base_path, int pipe, struct fh_init_done *ret)
{
	static char path[FH_INIT_PATH_MAX];
	long root = fh_sys(__NR_openat, AT_FDCWD, "/", O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
	long base = root < 0 ? root : open_beneath((int)root, base_path, O_PATH, 0);
	if (base < 0) {
		refuse(ret, base);
		return;
	}
	struct fh_init_entry e;
	for (;; ret->size++) {
		int got = fh_read_full(pipe, &e, sizeof(e));
		if (got == 0)
			return;
		long r = got < 0 ? got : e.path_size == 0 || e.path_size >= sizeof(path) ? -EINVAL : 0;
		if (r == 0 && (got = fh_read_full(pipe, path, e.path_size)) != 1)
			r = got < 0 ? got : -EIO;
		if (r == 0) {
			path[e.path_size] = 0;
			r = put_entry((int)root, (int)base, pipe, &e, path);
		}
		if (r < 0) {
			refuse(ret, r);
			return;
		}
	}
}
