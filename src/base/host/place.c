/* SPDX-License-Identifier: MIT */
#include "base/host/place.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"

enum { PATH_SIZE = 4096, LINKS_MAX = 40, NAMES_MAX = 100 };

bool fh_place_has_ranges(void)
{
	char text[128];
	fh_auto_close int fd = open("/proc/self/uid_map", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	unsigned inside, outside, count;
	text[FH_MAX(n, 0)] = 0;
	return geteuid() == 0 && sscanf(text, "%u %u %u", &inside, &outside, &count) == 3 && inside == 0 && outside == 0 &&
	       count == UINT32_MAX;
}

/* -------------------------------------------------------------------------------------------------------- walking */

static bool made_inside(const struct stat *link, bool ranges)
{
	return ranges ? link->st_uid != 0 : link->st_uid == geteuid();
}

/* Puts the link's text in front of the rest of the path. */
static int splice_link(int link, char rest[PATH_SIZE])
{
	char text[PATH_SIZE];
	ssize_t n = readlinkat(link, "", text, sizeof(text) - 1);
	if (n < 0)
		return -errno;
	size_t tail = strlen(rest);
	if ((size_t)n + 1 + tail >= PATH_SIZE)
		return -ENAMETOOLONG;
	memmove(rest + n + 1, rest, tail + 1);
	memcpy(rest, text, (size_t)n);
	rest[n] = '/';
	return 0;
}

/* Removes the first component from *rest and returns it. */
static int take_part(char rest[PATH_SIZE], char part[256])
{
	char *p = rest + strspn(rest, "/");
	size_t n = strcspn(p, "/");
	if (n >= 256)
		return -ENAMETOOLONG;
	memcpy(part, p, n);
	part[n] = 0;
	memmove(rest, p + n, strlen(p + n) + 1);
	return n ? 1 : 0;
}

static int walk(const char *path, bool ranges)
{
	char rest[PATH_SIZE], part[256];
	size_t size = strlen(path) + 1;
	if (size > sizeof(rest))
		return -ENAMETOOLONG;
	memcpy(rest, path, size);
	fh_auto_close int at = open(rest[0] == '/' ? "/" : ".", O_PATH | O_CLOEXEC);
	int r;
	for (int links = 0; at >= 0 && (r = take_part(rest, part)) != 0;) {
		struct stat st;
		fh_auto_close int next = r < 0 ? r : openat(at, part, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		if (r < 0)
			return r;
		if (next < 0 || fstat(next, &st) < 0)
			return -errno;
		if (S_ISLNK(st.st_mode)) {
			r = links++ == LINKS_MAX || made_inside(&st, ranges) ? -ELOOP : splice_link(next, rest);
			if (r < 0)
				return r;
			if (rest[0] != '/')
				continue;
			next = (close(next), open("/", O_PATH | O_CLOEXEC));
		}
		close(at);
		at = FH_TAKE_FD(next);
	}
	return at < 0 ? -errno : FH_TAKE_FD(at);
}

int fh_place_open(const char *path, bool ranges)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS };
	int fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
	return fd >= 0 ? fd : errno == ELOOP || errno == ENOSYS ? walk(path, ranges) : -errno;
}

/* -------------------------------------------------------------------------------------------------------- writing */

void fh_place_hint(int error, struct fh_error *err)
{
	if (error == ELOOP)
		fh_error_hint(err, "a symbolic link on the path may have been made by a program in a sandbox, so it is not "
		                   "followed: name its target");
}

static int cannot_open(const char *path, int error, struct fh_error *err)
{
	int r = fh_error_sys(err, error, "cannot open %s", path);
	fh_place_hint(error, err);
	return r;
}

char *fh_place_real(const char *path)
{
	char self[40], text[PATH_SIZE];
	fh_auto_close int fd = fh_place_open(path, fh_place_has_ranges());
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	ssize_t n = fd < 0 ? -1 : readlink(self, text, sizeof(text) - 1);
	if (n > 0 && text[0] == '/')
		return fh_xstrndup(text, (size_t)n);
	if (fd >= 0)
		return realpath(path, NULL); /* there is no /proc */
	errno = -fd;
	return NULL;
}

/* Whether the folder is /dev or lies in /proc: there root would put a file in the place of a name such as /dev/stdout,
 * which leads to a regular file where the shell sent standard output to one. */
static bool holds_devices(int folder)
{
	struct statfs fs;
	struct stat st, dev;
	return (fstatfs(folder, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC) ||
	       (fstat(folder, &st) == 0 && stat("/dev", &dev) == 0 && st.st_dev == dev.st_dev && st.st_ino == dev.st_ino);
}

int fh_place_prepare(const char *path, const char *name, struct fh_place *ret, struct fh_error *err)
{
	bool ranges = fh_place_has_ranges();
	struct stat st;
	fh_auto_close int there = fh_place_open(path, ranges);
	if (there >= 0 && fstat(there, &st) == 0 && S_ISDIR(st.st_mode)) {
		*ret = (struct fh_place){ .folder = FH_TAKE_FD(there), .name = fh_xstrdup(name) };
		ret->shown = fh_path_join(path, name);
		return 0;
	}
	const char *last = fh_path_base(path);
	if (there >= 0 && !S_ISREG(st.st_mode))
		return fh_error_set(err, FH_E_ARGUMENT, "cannot write %s: it exists and is not a regular file", path);
	fh_auto_free char *parent = fh_xstrndup(path, strlen(path) - strlen(last));
	fh_auto_close int folder = fh_place_open(parent[0] ? parent : ".", ranges);
	if (folder < 0 || !last[0] || fh_streq(last, ".") || fh_streq(last, ".."))
		return cannot_open(path, folder < 0 ? -folder : EISDIR, err);
	if (fstat(folder, &st) < 0 || !S_ISDIR(st.st_mode))
		return cannot_open(parent, ENOTDIR, err);
	if (holds_devices(folder))
		return fh_error_set(err, FH_E_ARGUMENT, "cannot write %s: it is the system's, and not a regular file", path);
	if (faccessat(folder, ".", W_OK, AT_EACCESS) < 0)
		return fh_error_sys(err, errno, "cannot write %s", path);
	*ret = (struct fh_place){ .folder = FH_TAKE_FD(folder), .name = fh_xstrdup(last), .shown = fh_xstrdup(path) };
	return 0;
}

static int create_beside(const struct fh_place *p, mode_t mode, char name[64])
{
	for (int i = 0; i < NAMES_MAX; i++) {
		uint64_t random;
		if (getrandom(&random, sizeof(random), 0) != sizeof(random))
			return -1;
		snprintf(name, 64, ".fumehood-%016llx.tmp", (unsigned long long)random);
		int fd = openat(p->folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
		if (fd >= 0 || errno != EEXIST)
			return fd;
	}
	return -1;
}

int fh_place_write(const struct fh_place *p, const void *data, size_t n, mode_t mode, struct fh_error *err)
{
	struct stat st;
	char name[64];
	if (fstatat(p->folder, p->name, &st, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode))
		return fh_error_set(err, FH_E_ARGUMENT, "cannot write %s: it exists and is not a regular file", p->shown);
	fh_auto_close int fd = create_beside(p, mode, name);
	if (fd < 0)
		return fh_error_sys(err, errno, "cannot write %s", p->shown);
	if (fh_write_all(fd, data, n) < 0 || fsync(fd) < 0 || renameat(p->folder, name, p->folder, p->name) < 0) {
		int sys = errno;
		(void)unlinkat(p->folder, name, 0);
		return fh_error_sys(err, sys, "cannot write %s", p->shown);
	}
	return 0;
}

void fh_place_release(struct fh_place *p)
{
	if (p->folder >= 0)
		close(p->folder);
	free(p->name);
	free(p->shown);
	*p = (struct fh_place)FH_PLACE_INIT;
}
