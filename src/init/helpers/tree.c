/* SPDX-License-Identifier: MIT */
/*
 * Helpers that walk a tree: list, remove, export. A folder is never entered by a path: each is opened relative to its
 * parent, without following links, so a program that moves or links folders meanwhile cannot lead the walk elsewhere.
 */
#include "init/helpers/helpers.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "fumehood/session.h"

enum { LEVELS_MAX = 128, ENTRIES_SIZE = 8192, DEPTH_MAX = 65536, PROGRESS_EVERY = 4096 };

/* -------------------------------------------------------------------------------------------------------- walking */

static struct level {
	int fd;
	size_t path_size;      /* length of the part of `path` that names this folder */
	uint32_t used, filled; /* positions in entries */
	char entries[ENTRIES_SIZE];
} levels[LEVELS_MAX];
static char path[FH_HELPER_PATH_MAX]; /* path of the entry that was read last */

/* The next entry of a folder; 0 at its end. */
static const struct fh_dirent *next_entry(struct level *l)
{
	for (;;) {
		if (l->used >= l->filled) {
			long n = fh_sys(__NR_getdents64, l->fd, l->entries, ENTRIES_SIZE);
			if (n <= 0)
				return 0;
			l->filled = (uint32_t)n;
			l->used = 0;
		}
		const struct fh_dirent *e = (const void *)(l->entries + l->used);
		l->used += e->size;
		if (!fh_is_dots(e->name))
			return e;
	}
}

static int append_name(size_t at, const char *name)
{
	size_t n = strlen(name), slash = at && path[at - 1] != '/';
	if (at + slash + n >= sizeof(path))
		return 0;
	if (slash)
		path[at] = '/';
	memcpy(path + at + slash, name, n + 1);
	return 1;
}

static void open_level(struct level *l, int fd, size_t path_size)
{
	l->fd = fd;
	l->path_size = path_size;
	l->used = l->filled = 0;
}

/* Called for each entry, with its own metadata in st, even if it is a link. folder_end: called for a folder after all
 * its entries. A negative result ends the walk. */
typedef long visit_fn(const struct stat *st, int dir, const char *name, int folder_end);

/* The name of a folder in its parent, while it is the path's last component. */
static const char *own_name(const struct level *above)
{
	const char *name = path + above->path_size;
	return *name == '/' ? name + 1 : name;
}

static void (*on_skipped)(long error); /* called for a folder that cannot be entered, while `path` names it; may be 0 */
static uint64_t one_device;            /* if not 0, folders on other devices are passed over */

/* Visits everything below the folder `fd`, of which it takes ownership; `path` must hold the folder's path. Returns the
 * number of folders that could not be entered, or the negative result of a visit. */
static long walk(int fd, int64_t depth, visit_fn *visit)
{
	long skipped = 0;
	int top = 0;
	open_level(&levels[0], fd, strlen(path));
	while (top >= 0) {
		struct level *l = &levels[top];
		const struct fh_dirent *e = next_entry(l);
		struct stat st;
		long r = 0;
		if (!e) {
			fh_sys(__NR_close, l->fd);
			path[l->path_size] = 0;
			if (--top >= 0 &&
			    fh_sys(__NR_newfstatat, levels[top].fd, own_name(&levels[top]), &st, AT_SYMLINK_NOFOLLOW) == 0)
				r = visit(&st, levels[top].fd, own_name(&levels[top]), 1);
			if (r < 0)
				return r;
			continue;
		}
		if (fh_sys(__NR_newfstatat, l->fd, e->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue; /* the entry was removed meanwhile */
		if (!append_name(l->path_size, e->name)) {
			skipped++;
			continue;
		}
		if (S_ISDIR(st.st_mode) && one_device && st.st_dev != one_device)
			continue;
		r = visit(&st, l->fd, e->name, 0);
		if (r < 0)
			return r;
		if (!S_ISDIR(st.st_mode) || (depth && top + 1 >= depth))
			continue;
		long next = top + 1 < LEVELS_MAX
		                ? fh_sys(__NR_openat, l->fd, e->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0)
		                : -EMFILE;
		if (next < 0)
			skipped++;
		if (next < 0 && on_skipped)
			on_skipped(next);
		if (next >= 0)
			open_level(&levels[++top], (int)next, strlen(path));
	}
	return skipped;
}

/* ------------------------------------------------------------------------------------------------------------ list */

enum { ATTRIBUTES_MAX = 64 * 1024 };
static char attributes[ATTRIBUTES_MAX];

static size_t listed_size; /* length of the requested path: names are reported relative to it */
static uint64_t listed;

/* Whether an entry has attributes that programs give; those of the kernel ("security.") do not count. */
static int is_attributed(int dir, const char *name)
{
	enum { PREFIX_SIZE = sizeof("user.") - 1 };
	/* enter_folder_of says why a path will not do */
	long n = fh_sys(__NR_fchdir, dir) < 0 ? 0 : fh_sys(__NR_llistxattr, name, attributes, sizeof(attributes));
	for (long at = 0; at + PREFIX_SIZE < n; at += (long)strlen(attributes + at) + 1)
		if (memcmp(attributes + at, "user.", PREFIX_SIZE) == 0)
			return 1;
	return 0;
}

static long list_entry(const struct stat *st, int dir, const char *name, int folder_end)
{
	const char *relative = path + listed_size;
	if (folder_end)
		return 0;
	fh_out_entry(*relative == '/' ? relative + 1 : relative, st, dir, name);
	fh_out_link_end(st, dir, name);
	if (S_ISREG(st->st_mode) && is_attributed(dir, name))
		fh_out_number(FH_HELPER_ATTRIBUTED, 1);
	fh_out_end();
	listed++;
	return 0;
}

long fh_helper_list(const char *const *argv, uint64_t *ret_count)
{
	long fd = fh_open_path(AT_FDCWD, argv[1], O_RDONLY | O_DIRECTORY, 0);
	if (fd < 0)
		return fd;
	path[0] = 0;
	long r = walk((int)fd, fh_argument_number(argv[0]), list_entry);
	*ret_count = listed;
	return r < 0 ? r : 0;
}

/* ---------------------------------------------------------------------------------------------------------- remove */

/* Identity of a folder, to check on the way up that it was not moved. */
static struct place {
	uint64_t device, inode;
} places[DEPTH_MAX];
static uint64_t removed;

static long remember_place(int fd, struct place *ret)
{
	struct stat st;
	long r = fh_sys(__NR_fstat, fd, &st);
	*ret = (struct place){ st.st_dev, st.st_ino };
	return r;
}

/* Removes the entries of a folder that can be removed. 1: the subfolder *ret_name must be emptied first; 0: the folder
 * is empty; -errno. */
static long empty_folder(struct level *l, const char **ret_name)
{
	long r = 0;
	fh_sys(__NR_lseek, l->fd, 0, SEEK_SET);
	l->used = l->filled = 0;
	for (const struct fh_dirent *e; (e = next_entry(l));) {
		r = fh_sys(__NR_unlinkat, l->fd, e->name, 0);
		if (r == -EISDIR || r == -EPERM)
			r = fh_sys(__NR_unlinkat, l->fd, e->name, AT_REMOVEDIR);
		if (r == -ENOTEMPTY || r == -EEXIST) {
			*ret_name = e->name;
			return 1;
		}
		if (r < 0 && r != -ENOENT)
			return r;
		if (++removed % PROGRESS_EVERY == 0) {
			fh_out_begin(FH_HELPER_PROGRESS);
			fh_out_number(FH_HELPER_COUNT, removed);
			fh_out_end();
			fh_out_flush();
		}
	}
	return 0;
}

/* Removes everything in the folder fd, with one open descriptor at a time, however deep it is. */
static long remove_below(int fd)
{
	struct level *l = &levels[0];
	uint32_t depth = 0;
	open_level(l, fd, 0);
	long r = remember_place(fd, &places[0]);
	while (r >= 0) {
		const char *name = 0;
		r = empty_folder(l, &name);
		if (r < 0 || (r == 0 && depth == 0))
			break;
		if (r == 1 && depth + 1 >= DEPTH_MAX)
			return -ENAMETOOLONG;
		long next =
		    fh_sys(__NR_openat, l->fd, r == 1 ? name : "..", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
		if (next < 0)
			return next;
		fh_sys(__NR_close, l->fd);
		open_level(l, (int)next, 0);
		struct place here;
		int up = r == 0;
		r = remember_place((int)next, up ? &here : &places[depth + 1]);
		if (r == 0 && up && (here.inode != places[depth - 1].inode || here.device != places[depth - 1].device))
			r = -EAGAIN; /* the folder was moved meanwhile, so its new parent must not be emptied */
		depth += up ? -1U : 1U;
	}
	return r;
}

long fh_helper_remove(const char *const *argv, uint64_t *ret_count)
{
	const char *last;
	int recursive = argv[0][0] == '1';
	size_t n = strlen(argv[1]);
	if (n == 0 || n >= sizeof(path))
		return -ENAMETOOLONG;
	memcpy(path, argv[1], n + 1);
	long at = fh_open_folder_of(path, 0, &last);
	if (at < 0)
		return recursive && at == -ENOENT ? 0 : at;
	long r = fh_sys(__NR_unlinkat, at, last, 0);
	if (r == -EISDIR || r == -EPERM) {
		r = fh_sys(__NR_unlinkat, at, last, AT_REMOVEDIR);
		if (recursive && (r == -ENOTEMPTY || r == -EEXIST || r == -EBUSY)) {
			int busy = r == -EBUSY; /* a mount point is emptied and kept */
			long fd = fh_sys(__NR_openat, at, last, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
			r = fd < 0 ? fd : remove_below((int)fd);
			if (r == 0 && !busy)
				r = fh_sys(__NR_unlinkat, at, last, AT_REMOVEDIR);
		}
	}
	*ret_count = removed + (r == 0);
	return recursive && r == -ENOENT ? 0 : r;
}

/* ---------------------------------------------------------------------------------------------------------- export */

enum { CHUNK = 128 * 1024, SAME_MAX = 4096, NAMES_SIZE = 512 * 1024 };
static char chunk[CHUNK], value[ATTRIBUTES_MAX + 256];
static struct {
	uint64_t device, inode;
	uint32_t name; /* offset in same_names */
} same[SAME_MAX];
static uint32_t same_count, same_used;
static char same_names[NAMES_SIZE];
static uint64_t left_out;

/* The name of an earlier entry that is the same file; if there is none, records this one and returns 0. */
static const char *same_as(const struct stat *st)
{
	size_t n = strlen(path) + 1;
	for (uint32_t i = 0; i < same_count; i++)
		if (same[i].inode == st->st_ino && same[i].device == st->st_dev)
			return same_names + same[i].name;
	if (same_count < SAME_MAX &&
	    n <= NAMES_SIZE - same_used) { /* if the table is full, the file is exported as if it were another one */
		same[same_count].device = st->st_dev;
		same[same_count].inode = st->st_ino;
		same[same_count++].name = same_used;
		memcpy(same_names + same_used, path, n);
		same_used += (uint32_t)n;
	}
	return 0;
}

static void out_attributes(int fd)
{
	long n = fh_sys(__NR_flistxattr, fd, attributes, sizeof(attributes));
	for (long at = 0; at < n; at += (long)strlen(attributes + at) + 1) {
		size_t name = strlen(attributes + at) + 1;
		if (name > 256)
			continue;
		memcpy(value, attributes + at, name);
		long size = fh_sys(__NR_fgetxattr, fd, attributes + at, value + name, ATTRIBUTES_MAX);
		if (size >= 0)
			fh_out_bytes(FH_HELPER_ATTRIBUTE, value, name + (size_t)size);
	}
}

static int all_zero(const char *p, size_t n)
{
	return n && p[0] == 0 && memcmp(p, p + 1, n - 1) == 0;
}

static void out_zeros(uint64_t count)
{
	fh_out_begin(FH_HELPER_ZEROS);
	fh_out_number(FH_HELPER_COUNT, count);
	fh_out_end();
}

static void out_contents(int fd)
{
	uint64_t zeros = 0;
	for (;;) {
		char *room = fh_out_room(CHUNK);
		long n = fh_sys(__NR_read, fd, room, CHUNK);
		if (n == -EINTR)
			continue;
		if (n > 0 && all_zero(room, (size_t)n)) {
			zeros += (uint64_t)n;
		} else if (n > 0 && zeros) { /* their record comes first, in this place */
			memcpy(chunk, room, (size_t)n);
			out_zeros(zeros);
			fh_out_plain(FH_HELPER_DATA, chunk, (size_t)n);
			zeros = 0;
		} else if (n > 0) {
			fh_out_filled(FH_HELPER_DATA, (size_t)n);
		}
		if (n < CHUNK) /* the end of a regular file, or an error */
			break;
	}
	if (zeros)
		out_zeros(zeros);
}

/* Names an entry that does not come along. error: 0 or -errno. */
static void name_left_out(long error)
{
	fh_out_begin(FH_HELPER_LEFT_OUT);
	fh_out_text(FH_HELPER_NAME, path);
	fh_out_number(FH_HELPER_SYS, (uint64_t)-error);
	fh_out_end();
}

static long leave_out(long error)
{
	left_out++;
	name_left_out(error);
	return 0;
}

static long export_entry(const struct stat *st, int dir, const char *name, int folder_end)
{
	int fd = -1, closed = 0; /* closed: a folder that cannot be read, so that none of its entries follows */
	int has_data = S_ISREG(st->st_mode) || S_ISDIR(st->st_mode);
	if (!has_data && !S_ISLNK(st->st_mode) && !S_ISFIFO(st->st_mode))
		return leave_out(0);
	const char *other = !S_ISDIR(st->st_mode) && st->st_nlink > 1 ? same_as(st) : 0;
	if (has_data && !other) {
		fd = (int)fh_sys(__NR_openat, dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0);
		closed = fd < 0 && S_ISDIR(st->st_mode);
		if (fd < 0 && !closed)
			return leave_out(fd);
	}
	struct stat now = *st;
	if (fd >= 0 && (fh_sys(__NR_fstat, fd, &now) < 0 || (now.st_mode & S_IFMT) != (st->st_mode & S_IFMT))) {
		fh_sys(__NR_close, fd);
		return leave_out(-EAGAIN); /* the entry was replaced meanwhile */
	}
	fh_out_entry(path, &now, dir, name);
	if (other)
		fh_out_text(FH_HELPER_SAME, other);
	if (folder_end || closed)
		fh_out_number(FH_HELPER_AGAIN, 1);
	if (fd >= 0 && (folder_end || S_ISREG(now.st_mode)))
		out_attributes(fd);
	fh_out_end();
	if (fd >= 0 && S_ISREG(now.st_mode))
		out_contents(fd);
	if (fd >= 0)
		fh_sys(__NR_close, fd);
	return 0;
}

long fh_helper_export(const char *const *argv, uint64_t *ret_count)
{
	long r = 0;
	on_skipped = name_left_out;
	for (; *argv && r >= 0; argv++) {
		size_t n = strlen(*argv);
		long fd = n < sizeof(path) ? fh_open_path(AT_FDCWD, *argv, O_RDONLY | O_DIRECTORY, 0) : -ENAMETOOLONG;
		struct stat st;
		if (fd < 0)
			return fd;
		memcpy(path, *argv, n + 1);
		r = fh_sys(__NR_fstat, fd, &st);
		if (r == 0)
			r = export_entry(&st, (int)fd, ".", 0);
		one_device = st.st_dev; /* mounts inside are exported separately, or are not the sandbox's */
		long again = fh_sys(__NR_fcntl, fd, F_DUPFD_CLOEXEC, 0); /* the walk closes fd */
		if (r == 0)
			r = walk((int)fd, 0, export_entry);
		left_out += r > 0 ? (uint64_t)r : 0;
		if (r >= 0 && fh_sys(__NR_fstat, again, &st) == 0)
			r = export_entry(&st, (int)again, ".", 1);
		fh_sys(__NR_close, again);
	}
	*ret_count = left_out;
	return r < 0 ? r : 0;
}
