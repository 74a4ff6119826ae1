/* SPDX-License-Identifier: MIT */
/* Helpers that read or change one file. */
#include "init/helpers/helpers.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include "fumehood/session.h"

#ifndef AT_EMPTY_PATH
#define AT_EMPTY_PATH 0x1000
#endif

enum { CHUNK = 128 * 1024, VALUE_MAX = 64 * 1024 };
static char chunk[CHUNK], path_copy[2][FH_HELPER_PATH_MAX];

/* --------------------------------------------------------------------------------------------------------- paths */

/* ---- Links are followed by reading their text, component by component. So a magic link of /proc is never followed to
 * an open file, and openat2, which the seccomp filter refuses, is not needed. Only to tell where a link leads is one
 * followed by the kernel (fh_out_link_end). ---- */

static char walked[3 * FH_HELPER_PATH_MAX], target[FH_HELPER_PATH_MAX];

/* Puts a link's text in front of the rest of the path. */
static long expand(long size, const char *rest)
{
	size_t left = strlen(rest) + 1;
	if (size < 0)
		return size;
	if ((size_t)size >= sizeof(target) || (size_t)size + 1 + left > sizeof(walked))
		return -ENAMETOOLONG;
	/* copies the end first if source and destination overlap */
	if (walked + size + 1 > rest)
		for (size_t i = left; i-- > 0;)
			walked[(size_t)size + 1 + i] = rest[i];
	else
		memcpy(walked + size + 1, rest, left);
	memcpy(walked, target, (size_t)size);
	walked[size] = '/';
	if (left == 1) /* nothing follows the link in the path, so no slash is added, which would demand a folder */
		walked[size] = 0;
	return 0;
}

static long start_of(int dir, const char *path)
{
	return fh_sys(__NR_openat, dir, *path == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
}

/* Opens the last component. -EAGAIN: it is a link to follow; its text is in target, with length *ret_size. */
static long open_last(int at, const char *name, uint64_t flags, uint32_t mode, long *ret_size)
{
	struct stat st;
	long fd = fh_sys(__NR_openat, at, name, flags | O_NOFOLLOW, mode);
	if (flags & O_NOFOLLOW)
		return fd;
	int may_be_link = fd == -ELOOP || fd == -ENOTDIR ||
	                  (fd >= 0 && flags & O_PATH && fh_sys(__NR_fstat, fd, &st) == 0 && S_ISLNK(st.st_mode));
	if (!may_be_link)
		return fd;
	if (fd >= 0)
		fh_sys(__NR_close, fd);
	*ret_size = fh_sys(__NR_readlinkat, at, name, target, sizeof(target));
	return *ret_size == -EINVAL ? (fd < 0 ? fd : -ELOOP) : -EAGAIN;
}

static char *end_of_part(char *p)
{
	while (*p && *p != '/')
		p++;
	return p;
}

static char *skip_slashes(char *p)
{
	while (*p == '/')
		p++;
	return p;
}

long fh_open_path(int dir, const char *path, uint64_t flags, uint32_t mode)
{
	enum { LINKS_MAX = 40 };
	size_t n = strlen(path);
	/* O_NONBLOCK, so that opening a FIFO does not wait */
	flags |= O_CLOEXEC | (flags & O_PATH ? 0 : O_NOCTTY | O_NONBLOCK);
	if (n == 0)
		return -ENOENT;
	if (n >= FH_HELPER_PATH_MAX)
		return -ENAMETOOLONG;
	memcpy(walked, path, n + 1);
	long at = start_of(dir, walked), r = at;
	char *p = walked;
	for (int links = 0; at >= 0;) {
		char *part = skip_slashes(p), *end = end_of_part(part), *rest = skip_slashes(end);
		int is_last = *rest == 0, folder = *end == '/';
		long size = -EINVAL;
		if (*part == 0) { /* the path is "/" */
			r = fh_sys(__NR_openat, at, ".", flags & ~(uint64_t)O_NOFOLLOW, mode);
			break;
		}
		*end = 0;
		if (is_last) {
			r = open_last((int)at, part, flags | (folder ? O_DIRECTORY : 0), mode, &size);
			if (r != -EAGAIN)
				break;
		} else {
			struct stat st;
			r = fh_sys(__NR_openat, at, part, O_PATH | O_NOFOLLOW | O_CLOEXEC, 0);
			long e = r < 0 ? r : fh_sys(__NR_fstat, r, &st);
			if (e == 0 && !S_ISLNK(st.st_mode)) {
				fh_sys(__NR_close, at);
				at = r;
				p = rest;
				continue;
			}
			size = e < 0 ? e : fh_sys(__NR_readlinkat, r, "", target, sizeof(target));
			if (r >= 0)
				fh_sys(__NR_close, r);
			if (size < 0) {
				r = size;
				break;
			}
		}
		r = ++links > LINKS_MAX ? -ELOOP : size == 0 ? -ENOENT : expand(size, rest);
		if (r < 0)
			break;
		p = walked;
		if (*walked == '/') {
			fh_sys(__NR_close, at);
			at = r = start_of(AT_FDCWD, "/");
		}
	}
	if (at >= 0 && at != r)
		fh_sys(__NR_close, at);
	return r;
}

long fh_open_below(int dir, char *path)
{
	long at = fh_sys(__NR_openat, dir, ".", O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
	for (char *part = skip_slashes(path), *rest; at >= 0 && *part; part = rest) {
		char *end = end_of_part(part);
		rest = skip_slashes(end);
		*end = 0;
		long next = fh_sys(__NR_openat, at, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
		fh_sys(__NR_close, at);
		at = next;
	}
	return at;
}

static char *copy_path(int which, const char *path)
{
	size_t n = strlen(path);
	if (n == 0 || n >= FH_HELPER_PATH_MAX)
		return 0;
	memcpy(path_copy[which], path, n + 1);
	return path_copy[which];
}

static long next_folder(long at, const char *part, int make)
{
	if (make)
		fh_sys(__NR_mkdirat, at, part, 0755); /* a folder that cannot be read gives an error at once, here */
	long next = fh_open_path((int)at, part, O_PATH | O_DIRECTORY, 0);
	fh_sys(__NR_close, at);
	return next;
}

long fh_open_folder_of(char *path, int parents, const char **ret_last)
{
	size_t n = strlen(path);
	while (n > 1 && path[n - 1] == '/')
		path[--n] = 0;
	char *last = path + n;
	while (last > path && last[-1] != '/')
		last--;
	if (*last == 0 || fh_is_dots(last))
		return -EINVAL;
	*ret_last = last;
	long at = fh_open_path(AT_FDCWD, *path == '/' ? "/" : ".", O_PATH | O_DIRECTORY, 0);
	if (!parents) { /* a last folder is made by a single call, without looking it up first */
		if (at < 0 || last == path || last == path + 1)
			return at;
		last[-1] = 0;
		return next_folder(at, path, 0);
	}
	for (char *part = path, *p = path; at >= 0 && p < last; p++) {
		if (*p != '/')
			continue;
		*p = 0;
		if (*part)
			at = next_folder(at, part, 1);
		part = p + 1;
	}
	return at;
}

/* enum fh_file_type */
static unsigned type_of(uint32_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return FH_FILE_REGULAR;
	case S_IFDIR:
		return FH_FILE_FOLDER;
	case S_IFLNK:
		return FH_FILE_LINK;
	case S_IFIFO:
		return FH_FILE_FIFO;
	case S_IFSOCK:
		return FH_FILE_SOCKET;
	case S_IFCHR:
		return FH_FILE_CHARACTER;
	default:
		return FH_FILE_BLOCK;
	}
}

static uint64_t in_ns(const struct timespec *t)
{
	return (uint64_t)((int64_t)t->tv_sec * 1000000000 + t->tv_nsec);
}

void fh_out_entry(const char *name, const struct stat *st, int dir, const char *path)
{
	static char text[FH_HELPER_PATH_MAX];
	fh_out_begin(FH_HELPER_ENTRY);
	fh_out_text(FH_HELPER_NAME, name);
	fh_out_number(FH_HELPER_TYPE, type_of(st->st_mode));
	fh_out_number(FH_HELPER_MODE, st->st_mode & 07777);
	fh_out_number(FH_HELPER_UID, st->st_uid);
	fh_out_number(FH_HELPER_GID, st->st_gid);
	fh_out_number(FH_HELPER_LINKS, st->st_nlink);
	fh_out_number(FH_HELPER_SIZE, (uint64_t)st->st_size);
	fh_out_number(FH_HELPER_INODE, st->st_ino);
	fh_out_number(FH_HELPER_MTIME, in_ns(&st->st_mtim));
	fh_out_number(FH_HELPER_ATIME, in_ns(&st->st_atim));
	fh_out_number(FH_HELPER_CTIME, in_ns(&st->st_ctim));
	if (S_ISLNK(st->st_mode)) {
		long n = fh_sys(__NR_readlinkat, dir, path, text, sizeof(text));
		if (n >= 0)
			fh_out_bytes(FH_HELPER_TARGET, text, (size_t)n);
	}
}

void fh_out_link_end(const struct stat *st, int dir, const char *path)
{
	static char text[FH_HELPER_PATH_MAX];
	struct stat end;
	/* The kernel follows it, as stat(2) does: a list has thousands of links, and forty in a row with long texts, read
	 * component by component, take a second. Nothing is read or written through this descriptor. */
	long fd = S_ISLNK(st->st_mode) ? fh_sys(__NR_openat, dir, path, O_PATH | O_CLOEXEC, 0) : -EINVAL;
	if (fd < 0)
		return;
	if (fh_sys(__NR_fstat, fd, &end) == 0) {
		char name[FH_FD_PATH_MAX];
		fh_out_number(FH_HELPER_END_TYPE, type_of(end.st_mode));
		fh_out_number(FH_HELPER_END_MODE, end.st_mode & 07777);
		long n =
		    end.st_nlink ? fh_sys(__NR_readlinkat, AT_FDCWD, fh_fd_path((int)fd, name), text, sizeof(text)) : -ENOENT;
		if (n > 0 && text[0] == '/')
			fh_out_bytes(FH_HELPER_END, text, (size_t)n);
	}
	fh_sys(__NR_close, fd);
}

/* --------------------------------------------------------------------------------------------------- look, make */

/* Opens path with O_PATH. */
static long open_for(const char *path, int64_t flags)
{
	if (strlen(path) >= FH_HELPER_PATH_MAX)
		return -ENAMETOOLONG;
	return fh_open_path(AT_FDCWD, path, O_PATH | (flags & FH_FILES_NOFOLLOW ? O_NOFOLLOW : 0), 0);
}

long fh_helper_stat(const char *const *argv, uint64_t *ret_count)
{
	struct stat st;
	long fd = open_for(argv[1], fh_argument_number(argv[0]));
	long r = fd < 0 ? fd : fh_sys(__NR_fstat, fd, &st);
	if (r < 0)
		return r;
	fh_out_entry(argv[1], &st, (int)fd, "");
	fh_out_link_end(&st, AT_FDCWD, argv[1]);
	fh_out_end();
	*ret_count = 1;
	return 0;
}

long fh_helper_mkdir(const char *const *argv, uint64_t *ret_count)
{
	const char *last;
	int parents = argv[0][0] == '1';
	char *path = copy_path(0, argv[2]);
	if (!path)
		return -ENAMETOOLONG;
	long at = fh_open_folder_of(path, parents, &last);
	if (at < 0)
		return at;
	long r = fh_sys(__NR_mkdirat, at, last, (uint32_t)fh_argument_number(argv[1]));
	*ret_count = r == 0;
	if (r == -EEXIST && parents) {
		long fd = fh_open_path((int)at, last, O_PATH | O_DIRECTORY, 0);
		r = fd < 0 ? fd : 0;
	}
	return r;
}

long fh_helper_rename(const char *const *argv, uint64_t *ret_count)
{
	const char *from, *to;
	char *from_path = copy_path(0, argv[0]), *to_path = copy_path(1, argv[1]);
	(void)ret_count;
	if (!from_path || !to_path)
		return -ENAMETOOLONG;
	long old = fh_open_folder_of(from_path, 0, &from), new = old < 0 ? old : fh_open_folder_of(to_path, 0, &to);
	return new < 0 ? new : fh_sys(__NR_renameat2, old, from, new, to, 0);
}

long fh_helper_link(const char *const *argv, uint64_t *ret_count)
{
	const char *last;
	char *path = copy_path(0, argv[2]);
	(void)ret_count;
	if (!path)
		return -ENAMETOOLONG;
	long at = fh_open_folder_of(path, 0, &last);
	if (at < 0)
		return at;
	if (argv[0][0] == '1')
		return fh_sys(__NR_symlinkat, argv[1], at, last);
	const char *old_last;
	char *old = copy_path(1, argv[1]);
	long from = old ? fh_open_folder_of(old, 0, &old_last) : -ENAMETOOLONG;
	return from < 0 ? from : fh_sys(__NR_linkat, from, old_last, at, last, 0);
}

static struct timespec time_of(int64_t ns)
{
	struct timespec t = { .tv_nsec = UTIME_OMIT };
	if (ns == INT64_MIN)
		return t;
	t.tv_sec = ns / 1000000000;
	t.tv_nsec = ns % 1000000000;
	if (t.tv_nsec < 0) {
		t.tv_nsec += 1000000000;
		t.tv_sec--;
	}
	return t;
}

/* Changes mode, owner, size and times of an entry. It is named by its folder and name, because the owner and times of a
 * link itself cannot be changed through a descriptor alone. */
static long change(int at, const char *name, int link_flag, const char *const *argv)
{
	int64_t mode = fh_argument_number(argv[0]), uid = fh_argument_number(argv[1]), gid = fh_argument_number(argv[2]);
	int64_t size = fh_argument_number(argv[3]);
	const struct timespec times[2] = { time_of(fh_argument_number(argv[5])), time_of(fh_argument_number(argv[4])) };
	long r = 0;
	if (size != INT64_MIN) {
		long fd = fh_open_path(at, name, (uint64_t)O_WRONLY | (link_flag ? O_NOFOLLOW : 0), 0);
		r = fd < 0 ? fd : fh_sys(__NR_ftruncate, fd, size);
		if (fd >= 0)
			fh_sys(__NR_close, fd);
	}
	if (r == 0 && (uid != INT64_MIN || gid != INT64_MIN))
		r = fh_sys(__NR_fchownat, at, name, uid == INT64_MIN ? -1 : (int)uid, gid == INT64_MIN ? -1 : (int)gid,
		           link_flag);
	if (r == 0 && mode != INT64_MIN) { /* comes last, because changing the owner clears set-ID bits */
		struct stat st;
		r = fh_sys(__NR_newfstatat, at, name, &st, link_flag);
		if (r == 0 && S_ISLNK(st.st_mode))
			r = -EOPNOTSUPP;
		if (r == 0) /* follows a link: if the name has become one meanwhile, the same user made it */
			r = fh_sys(__NR_fchmodat, at, name, (uint32_t)mode);
	}
	if (r == 0 && (times[0].tv_nsec != UTIME_OMIT || times[1].tv_nsec != UTIME_OMIT))
		r = fh_sys(__NR_utimensat, at, name, times, link_flag);
	return r;
}

long fh_helper_change(const char *const *argv, uint64_t *ret_count)
{
	const char *last;
	char *path = copy_path(0, argv[7]);
	(void)ret_count;
	if (!path)
		return -ENAMETOOLONG;
	long at = fh_open_folder_of(path, 0, &last);
	if (at == -EINVAL) { /* the path is "." or "/" */
		at = AT_FDCWD;
		last = argv[7];
	}
	if (at < 0 && at != AT_FDCWD)
		return at;
	return change((int)at, last, fh_argument_number(argv[0]) & FH_FILES_NOFOLLOW ? AT_SYMLINK_NOFOLLOW : 0, argv + 1);
}

long fh_helper_space(const char *const *argv, uint64_t *ret_count)
{
	struct statfs fs;
	long fd = open_for(argv[0], 0), r = fd < 0 ? fd : fh_sys(__NR_fstatfs, fd, &fs);
	(void)ret_count;
	if (r < 0)
		return r;
	fh_out_begin(FH_HELPER_ENTRY);
	fh_out_text(FH_HELPER_NAME, argv[0]);
	fh_out_number(FH_HELPER_TOTAL, (uint64_t)fs.f_blocks * (uint64_t)fs.f_bsize);
	fh_out_number(FH_HELPER_FREE, (uint64_t)fs.f_bfree * (uint64_t)fs.f_bsize);
	fh_out_end();
	return 0;
}

/* ------------------------------------------------------------------------------------------- extended attributes */

/* Before Linux 6.13 these calls accept no O_PATH descriptor, and a path would follow magic links. So the helper changes
 * to the file's folder and uses the name alone. */
static long enter_folder_of(const char *whole, const char **ret_last)
{
	char *path = copy_path(0, whole);
	if (!path)
		return -ENAMETOOLONG;
	long at = fh_open_folder_of(path, 0, ret_last);
	if (at == -EINVAL)
		*ret_last = whole;
	return at == -EINVAL ? 0 : at < 0 ? at : fh_sys(__NR_fchdir, at);
}

long fh_helper_get_attribute(const char *const *argv, uint64_t *ret_count)
{
	const char *last;
	long r = enter_folder_of(argv[1], &last);
	if (r == 0)
		r = fh_sys(__NR_getxattr, last, argv[0], chunk, VALUE_MAX);
	if (r < 0)
		return r;
	fh_out_plain(FH_HELPER_VALUE, chunk, (size_t)r);
	*ret_count = (uint64_t)r;
	return 0;
}

long fh_helper_list_attributes(const char *const *argv, uint64_t *ret_count)
{
	const char *last;
	long r = enter_folder_of(argv[0], &last);
	if (r == 0)
		r = fh_sys(__NR_listxattr, last, chunk, VALUE_MAX);
	if (r < 0)
		return r;
	fh_out_plain(FH_HELPER_VALUE, chunk, (size_t)r);
	*ret_count = (uint64_t)r;
	return 0;
}

long fh_helper_set_attribute(const char *const *argv, uint64_t *ret_count)
{
	const char *last;
	size_t n = 0;
	long r = 1;
	(void)ret_count;
	while (r > 0 && n <= FH_ATTRIBUTE_MAX) {
		r = fh_sys(__NR_read, 0, chunk + n, CHUNK - n);
		r = r == -EINTR ? 1 : r;
		n += r > 0 ? (size_t)r : 0;
	}
	if (n > FH_ATTRIBUTE_MAX)
		return -E2BIG;
	r = enter_folder_of(argv[1], &last);
	return r < 0 ? r : fh_sys(__NR_setxattr, last, argv[0], chunk, n, 0);
}

long fh_helper_remove_attribute(const char *const *argv, uint64_t *ret_count)
{
	const char *last;
	long r = enter_folder_of(argv[1], &last);
	(void)ret_count;
	return r < 0 ? r : fh_sys(__NR_removexattr, last, argv[0]);
}

/* ----------------------------------------------------------------------------------------------- reading, writing */

/* Writes the ENTRY of a regular file that was opened. */
static long announce(long fd, const char *name)
{
	struct stat st;
	long r = fh_sys(__NR_fstat, fd, &st);
	if (r < 0)
		return r;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	fh_out_entry(name, &st, (int)fd, "");
	fh_out_end();
	return 0;
}

long fh_helper_read(const char *const *argv, uint64_t *ret_count)
{
	int64_t flags = fh_argument_number(argv[0]), at = fh_argument_number(argv[1]), left = fh_argument_number(argv[2]);
	if (strlen(argv[3]) >= FH_HELPER_PATH_MAX)
		return -ENAMETOOLONG;
	long fd = fh_open_path(AT_FDCWD, argv[3], O_RDONLY | (flags & FH_OPEN_NOFOLLOW ? O_NOFOLLOW : 0), 0);
	long r = fd < 0 ? fd : announce(fd, argv[3]);
	while (r == 0 && (left || argv[2][0] == '0')) {
		size_t want = argv[2][0] != '0' && left < CHUNK ? (size_t)left : CHUNK;
		long n = fh_sys(__NR_pread64, fd, fh_out_room(want), want, at);
		if (n == -EINTR)
			continue;
		if (n <= 0)
			return n;
		fh_out_filled(FH_HELPER_DATA, (size_t)n);
		if ((size_t)n == want) /* a short read is the last: its record is flushed together with DONE */
			fh_out_flush();
		at += n;
		left -= n;
		*ret_count += (uint64_t)n;
	}
	return r;
}

static long open_to_write(const char *whole, int64_t flags, uint32_t mode)
{
	uint64_t f = (uint64_t)O_WRONLY | (flags & FH_OPEN_NOFOLLOW ? O_NOFOLLOW : 0);
	if (!(flags & FH_OPEN_CREATE))
		return fh_open_path(AT_FDCWD, whole, f | (flags & FH_OPEN_APPEND ? O_APPEND : 0), 0);
	f |= O_CREAT | (flags & FH_OPEN_EXCLUSIVE ? O_EXCL : 0) | (flags & FH_OPEN_APPEND ? O_APPEND : 0);
	const char *last;
	char *path = copy_path(0, whole);
	if (!path)
		return -ENAMETOOLONG;
	if (path[strlen(path) - 1] == '/')
		return -EISDIR;
	long at = fh_open_folder_of(path, !!(flags & FH_OPEN_PARENTS), &last);
	return at == -EINVAL ? -EISDIR : at < 0 ? at : fh_open_path((int)at, last, f, mode);
}

long fh_helper_write(const char *const *argv, uint64_t *ret_count)
{
	int64_t flags = fh_argument_number(argv[0]), at = fh_argument_number(argv[2]);
	if (strlen(argv[3]) >= FH_HELPER_PATH_MAX)
		return -ENAMETOOLONG;
	long fd = open_to_write(argv[3], flags, (uint32_t)fh_argument_number(argv[1]));
	struct stat st;
	long r = fd < 0 ? fd : fh_sys(__NR_fstat, fd, &st);
	if (r == 0 && S_ISREG(st.st_mode) && flags & FH_OPEN_TRUNCATE &&
	    st.st_size) /* only a regular file is truncated; a device, for example, is not */
		r = fh_sys(__NR_ftruncate, fd, 0);
	/* An invalid id makes setfsuid and setfsgid return the current id: the user's, which a helper has for files alone.
	 * Setting the owner tells a watcher of the change even where the owner stays the same. */
	if (r == 0 && flags & FH_OPEN_OWN)
		(void)fh_sys(__NR_fchown, fd, fh_sys(__NR_setfsuid, -1), fh_sys(__NR_setfsgid, -1));
	if (r == 0)
		r = announce(fd, argv[3]);
	if (r < 0)
		return r;
	fh_out_flush();
	if (!(flags & FH_OPEN_APPEND) && at)
		r = fh_sys(__NR_lseek, fd, at, SEEK_SET);
	while (r >= 0) {
		long n = fh_sys(__NR_read, 0, chunk, CHUNK);
		if (n == -EINTR)
			continue;
		if (n <= 0)
			return n;
		r = fh_write_full((int)fd, chunk, (size_t)n);
		*ret_count += r < 0 ? 0 : (uint64_t)n;
	}
	return r;
}
