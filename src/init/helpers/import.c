/* SPDX-License-Identifier: MIT */
/* The helper that makes the files, folders and links that another helper's export described, below the sandbox's root,
 * as its user. */
#include "init/helpers/helpers.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#include "fumehood/session.h"

/* Set-ID bits have no effect under no_new_privs, and the seccomp filter refuses to set them. */
enum { KEPT_MODE = 01777, OWNER_WRITES = 0200 /* needed to set a file's attributes */ };

static char input[2 * FH_HELPER_RECORD_MAX];
static size_t have, used;

/* Tells every second, while input comes, that there is progress: the client may see none of the input. */
static void tell_progress(void)
{
	static int64_t told_s;
	static uint64_t count;
	struct timespec now;
	count++;
	fh_sys(__NR_clock_gettime, CLOCK_MONOTONIC, &now);
	if (told_s == 0)
		told_s = now.tv_sec;
	if (now.tv_sec == told_s)
		return;
	told_s = now.tv_sec;
	fh_out_begin(FH_HELPER_PROGRESS);
	fh_out_number(FH_HELPER_COUNT, count);
	fh_out_end();
	fh_out_flush();
}

/* The next n bytes of stdin in one piece, valid until the next call; 0: end of file, or fewer than n are left. */
static const char *take(size_t n)
{
	if (n > sizeof(input))
		return 0;
	if (have - used < n) {
		memcpy(input, input + used, have - used); /* memcpy of lib.c copies forwards, so moving down is safe */
		have -= used;
		used = 0;
	}
	while (have < n) {
		long r = fh_sys(__NR_read, 0, input + have, sizeof(input) - have);
		if (r == -EINTR)
			continue;
		if (r <= 0)
			return 0;
		have += (size_t)r;
		tell_progress();
	}
	used += n;
	return input + used - n;
}

struct head {
	uint16_t kind, zero;
	uint32_t size;
};

/* The entry that is being made. */
static struct {
	char name[FH_HELPER_PATH_MAX], other[FH_HELPER_PATH_MAX], target[FH_HELPER_PATH_MAX];
	uint64_t number[FH_HELPER_FREE + 1];
	int same, again, fd; /* fd: descriptor of the regular file that is being written; -1: none */
	int skipped; /* the existing file belongs to the plan and is not replaced, so the entry's contents are skipped */
	uint64_t size, written; /* written: without the zeros that were counted after it */
} entry = { .fd = -1 };

static int copy_text(char *to, const char *from, size_t n)
{
	if (n == 0 || n >= FH_HELPER_PATH_MAX)
		return 0;
	memcpy(to, from, n);
	to[n] = 0;
	return 1;
}

/* Reads the fields of an entry; set_attributes reads the attributes from the same bytes. 0 or -EPROTO. */
static long read_entry(const char *p, size_t n)
{
	entry.name[0] = entry.target[0] = 0;
	entry.same = entry.again = 0;
	memset(entry.number, 0, sizeof(entry.number));
	for (size_t at = 0; at < n;) {
		struct head h;
		if (n - at < sizeof(h))
			return -EPROTO;
		memcpy(&h, p + at, sizeof(h));
		at += sizeof(h);
		if (h.size > n - at)
			return -EPROTO;
		int good = 1;
		if (h.kind == FH_HELPER_NAME)
			good = copy_text(entry.name, p + at, h.size);
		else if (h.kind == FH_HELPER_TARGET)
			good = copy_text(entry.target, p + at, h.size);
		else if (h.kind == FH_HELPER_SAME)
			good = entry.same = copy_text(entry.other, p + at, h.size);
		else if (h.kind == FH_HELPER_AGAIN)
			entry.again = 1;
		else if (h.kind <= FH_HELPER_FREE && h.size == 8)
			memcpy(&entry.number[h.kind], p + at, 8);
		if (!good)
			return -EPROTO;
		at += h.size;
	}
	return entry.name[0] ? 0 : -EPROTO;
}

/* Attributes that cannot be set (an owner, an attribute of another kind of file system) are left out. */
static void set_attributes(int fd, const char *p, size_t n)
{
	for (size_t at = 0; n - at >= sizeof(struct head) && at < n;) {
		struct head h;
		memcpy(&h, p + at, sizeof(h));
		at += sizeof(h);
		const char *name = p + at;
		size_t length = 0;
		while (h.kind == FH_HELPER_ATTRIBUTE && length < h.size && name[length])
			length++;
		if (h.kind == FH_HELPER_ATTRIBUTE && length < h.size)
			fh_sys(__NR_fsetxattr, fd, name, name + length + 1, h.size - length - 1, 0);
		at += h.size;
	}
}

static void set_times(int dir, const char *name, int flags)
{
	struct timespec times[2];
	const unsigned fields[2] = { FH_HELPER_ATIME, FH_HELPER_MTIME };
	for (int i = 0; i < 2; i++) {
		int64_t ns = (int64_t)entry.number[fields[i]], s = ns / 1000000000;
		ns -= s * 1000000000;
		times[i].tv_sec = ns < 0 ? s - 1 : s;
		times[i].tv_nsec = ns < 0 ? ns + 1000000000 : ns;
	}
	fh_sys(__NR_utimensat, dir, name, times, flags);
}

static void finish_file(void)
{
	if (entry.fd < 0)
		return;
	if (entry.size != entry.written)
		fh_sys(__NR_ftruncate, entry.fd, entry.size);
	fh_sys(__NR_fchown, entry.fd, (int)entry.number[FH_HELPER_UID], (int)entry.number[FH_HELPER_GID]);
	if (!(entry.number[FH_HELPER_MODE] & OWNER_WRITES))
		fh_sys(__NR_fchmod, entry.fd, (uint32_t)entry.number[FH_HELPER_MODE] & KEPT_MODE);
	set_times(entry.fd, 0, 0);
	fh_sys(__NR_close, entry.fd);
	entry.fd = -1;
}

static long make_folder(int at, const char *last, const char *p, size_t n)
{
	long r = fh_sys(__NR_mkdirat, at, last, 0700);
	if ((r < 0 && r != -EEXIST) || (r == 0 && !entry.again))
		return r;
	long fd = fh_open_path(at, last, (uint64_t)O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
	if (fd < 0)
		return fd;
	if (entry.again) {
		set_attributes((int)fd, p, n); /* before the mode, which may forbid it */
		fh_sys(__NR_fchown, fd, (int)entry.number[FH_HELPER_UID], (int)entry.number[FH_HELPER_GID]);
		fh_sys(__NR_fchmod, fd, (uint32_t)entry.number[FH_HELPER_MODE] & KEPT_MODE);
		set_times((int)fd, 0, 0);
	}
	fh_sys(__NR_close, fd);
	return 0;
}

/* Owner and times of what is not opened: a link, a FIFO. */
static void own_by_name(int at, const char *last)
{
	fh_sys(__NR_fchownat, at, last, (int)entry.number[FH_HELPER_UID], (int)entry.number[FH_HELPER_GID],
	       AT_SYMLINK_NOFOLLOW);
	set_times(at, last, AT_SYMLINK_NOFOLLOW);
}

static long make_fifo(int at, const char *last)
{
	long r =
	    fh_sys(__NR_mknodat, at, last, (uint64_t)S_IFIFO | ((uint32_t)entry.number[FH_HELPER_MODE] & KEPT_MODE), 0);
	if (r == 0)
		own_by_name(at, last);
	return r;
}

static int is_same(int from, const char *old, int at, const char *last)
{
	struct stat a, b;
	return fh_sys(__NR_newfstatat, from, old, &a, AT_SYMLINK_NOFOLLOW) == 0 &&
	       fh_sys(__NR_newfstatat, at, last, &b, AT_SYMLINK_NOFOLLOW) == 0 && a.st_ino == b.st_ino &&
	       a.st_dev == b.st_dev;
}

/* What an export describes twice, since one of its folders lies in another, is there already. */
static long make_same(int at, const char *last)
{
	const char *old;
	long from = fh_open_folder_of(entry.other, 0, &old);
	if (from < 0)
		return from;
	long r = fh_sys(__NR_linkat, from, old, at, last, 0);
	if (r == -EEXIST && !is_same((int)from, old, at, last)) {
		r = fh_sys(__NR_unlinkat, at, last, 0);
		if (r == 0)
			r = fh_sys(__NR_linkat, from, old, at, last, 0);
	}
	fh_sys(__NR_close, from);
	return r == -EEXIST ? 0 : r;
}

/* The folder of the entry that was made last: those of one folder come one after the other. */
static char last_folder[FH_HELPER_PATH_MAX];
static long last_folder_fd = -1;

/* As fh_open_folder_of; the descriptor is good until the next call, and is not closed by the caller. */
static long open_folder_of(char *name, const char **ret_last)
{
	size_t n = strlen(name);
	while (n && name[n - 1] != '/')
		n--;
	if (n && n < strlen(name) && !fh_is_dots(name + n) && last_folder_fd >= 0 && last_folder[n] == 0 &&
	    memcmp(last_folder, name, n) == 0) {
		*ret_last = name + n;
		return last_folder_fd;
	}
	if (last_folder_fd >= 0)
		fh_sys(__NR_close, last_folder_fd);
	n = n < strlen(name) ? n : 0; /* a name that ends with a slash is that of an entry, not of its folder */
	memcpy(last_folder, name, n);
	last_folder[n] = 0;
	last_folder_fd = fh_open_folder_of(name, 1, ret_last);
	return last_folder_fd;
}

static long make_regular(int at, const char *last, const char *p, size_t n)
{
	uint64_t flags = (uint64_t)O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	uint32_t mode = ((uint32_t)entry.number[FH_HELPER_MODE] & KEPT_MODE) | OWNER_WRITES; /* the umask is 0 */
	long r = fh_sys(__NR_openat, at, last, flags, mode);
	if (r == -EEXIST) {
		r = fh_sys(__NR_unlinkat, at, last, 0);
		if (r == 0)
			r = fh_sys(__NR_openat, at, last, flags, mode);
	}
	if (r < 0)
		return r;
	entry.fd = (int)r;
	entry.size = entry.written = 0;
	set_attributes(entry.fd, p, n);
	return 0;
}

static long make_entry(const char *p, size_t n)
{
	const char *last;
	long r = read_entry(p, n);
	if (r < 0)
		return r;
	uint64_t type = entry.number[FH_HELPER_TYPE];
	long at = open_folder_of(entry.name, &last);
	if (at < 0)
		return at == -EINVAL && type == FH_FILE_FOLDER ? 0 : at; /* "/" exists already */
	if (type == FH_FILE_FOLDER)
		return make_folder((int)at, last, p, n);
	if (type == FH_FILE_REGULAR && !entry.same)
		return make_regular((int)at, last, p, n);
	if (entry.same)
		return make_same((int)at, last);
	r = fh_sys(__NR_unlinkat, at, last, 0);
	if (r < 0 && r != -ENOENT)
		return r;
	if (type == FH_FILE_FIFO)
		return make_fifo((int)at, last);
	if (type != FH_FILE_LINK)
		return 0;
	r = fh_sys(__NR_symlinkat, entry.target, at, last);
	if (r == 0)
		own_by_name((int)at, last);
	return r;
}

/* Passes on what the export lacks: the first of them by name, the others as a number when all is done. */
static uint64_t left_out;

static void pass_on_left_out(const char *p, size_t n)
{
	if (left_out++ < FH_HELPER_LEFT_OUT_MAX && n <= FH_HELPER_PATH_MAX + 64)
		fh_out_plain(FH_HELPER_LEFT_OUT, p, n);
}

static void count_others_left_out(void)
{
	if (left_out <= FH_HELPER_LEFT_OUT_MAX)
		return;
	fh_out_begin(FH_HELPER_LEFT_OUT);
	fh_out_number(FH_HELPER_COUNT, left_out - FH_HELPER_LEFT_OUT_MAX);
	fh_out_end();
}

/* What the last record says: 1, or the error with which the export ended. */
static long export_error(const char *p, size_t n)
{
	struct head h;
	uint64_t error = 0;
	for (size_t at = 0; n - at >= sizeof(h) && at < n; at += h.size) {
		memcpy(&h, p + at, sizeof(h));
		at += sizeof(h);
		if (h.size > n - at)
			return -EPROTO;
		if (h.kind == FH_HELPER_SYS && h.size == sizeof(error))
			memcpy(&error, p + at, sizeof(error));
	}
	return error == 0 ? 1 : error < 4096 ? -(long)error : -EPROTO;
}

/* Imports one record. Returns 1 after the last one. */
static long import_record(uint64_t *ret_count)
{
	const char *p = take(sizeof(struct head));
	struct head h;
	if (!p)
		return -EPROTO; /* the import is incomplete without DONE */
	memcpy(&h, p, sizeof(h));
	p = take(h.size);
	if (!p && h.size)
		return -EPROTO;
	if (h.kind == FH_HELPER_DATA) {
		if (entry.fd < 0)
			return entry.skipped ? 0 : -EPROTO;
		entry.size += h.size;
		entry.written = entry.size;
		return fh_write_full(entry.fd, p, h.size);
	}
	if (h.kind == FH_HELPER_ZEROS) {
		uint64_t n = 0;
		if (entry.fd < 0 && entry.skipped)
			return 0;
		if (entry.fd < 0 || h.size != sizeof(struct head) + 8)
			return -EPROTO;
		memcpy(&n, p + sizeof(struct head), 8);
		entry.size += n;
		long r = fh_sys(__NR_lseek, entry.fd, n, SEEK_CUR);
		return r < 0 ? r : 0;
	}
	finish_file();
	if (h.kind == FH_HELPER_LEFT_OUT)
		pass_on_left_out(p, h.size);
	if (h.kind == FH_HELPER_DONE)
		return export_error(p, h.size);
	if (h.kind != FH_HELPER_ENTRY)
		return 0;
	long r = make_entry(p, h.size);
	entry.skipped = r == -EBUSY || r == -EROFS;
	*ret_count += r == 0;
	return entry.skipped ? 0 : r;
}

long fh_helper_import(const char *const *argv, uint64_t *ret_count)
{
	long r;
	(void)argv;
	do
		r = import_record(ret_count);
	while (r == 0);
	count_others_left_out();
	return r < 0 ? r : 0;
}
