/* SPDX-License-Identifier: MIT */
/* How targets are found or made in a root that is being built, and how each kind of mount is done but /proc and
 * /dev. */
#include "engine/make/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef OPEN_TREE_CLONE
#define OPEN_TREE_CLONE 1
#define OPEN_TREE_CLOEXEC O_CLOEXEC
#endif

int fh_open_tree(int dir, const char *path, unsigned flags)
{
	return (int)syscall(SYS_open_tree, dir, path, flags | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
}

int fh_move_mount(int tree, int to, const char *path)
{
	return (int)syscall(SYS_move_mount, tree, "", to, path,
	                    MOVE_MOUNT_F_EMPTY_PATH | (path[0] ? 0 : MOVE_MOUNT_T_EMPTY_PATH));
}

int fh_mount_set(int tree, unsigned flags, uint64_t attributes)
{
	struct mount_attr a = { .attr_set = attributes };
	return (int)syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH | flags, &a, sizeof(a));
}

/* Opens a path inside the new root. Links are followed as a process inside would follow them. */
static int open_in_root(const struct fh_build *b, const char *path, uint64_t flags)
{
	struct open_how how = { .flags = flags | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
	return (int)syscall(SYS_openat2, b->root, path, &how, sizeof(how));
}

void fh_build_say(struct fh_build *b, const char *what)
{
	size_t n = FH_MIN(strlen(what), (size_t)255);
	memcpy(b->what, what, n);
	b->what[n] = 0;
}

const char *fh_decimal(uint64_t v, char buffer[24])
{
	char *p = buffer + 23;
	*p = 0;
	do
		*--p = (char)('0' + v % 10);
	while (v /= 10);
	return p;
}

void fh_join(char *to, const char *dir, const char *name)
{
	size_t d = strlen(dir), n = strlen(name);
	memcpy(to, dir, d);
	to[d] = '/';
	memcpy(to + d + 1, name, n + 1);
}

/* ------------------------------------------------------------------------------------------------------- targets */

static bool is_folder(int fd)
{
	struct stat st;
	return fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Opens the folder that contains `path`, making it if necessary. *ret_name: the last component of path. */
static int open_parent(const struct fh_build *b, const char *path, const char **ret_name)
{
	char parent[FH_PLAN_PATH_MAX];
	const char *slash = strrchr(path, '/');
	size_t n = (size_t)(slash - path);
	if (n >= sizeof(parent))
		return -ENAMETOOLONG;
	memcpy(parent, path, n);
	parent[n] = 0;
	*ret_name = slash + 1;
	if (n)
		return fh_open_target(b, parent, true);
	int fd = open_in_root(b, "/", O_PATH | O_DIRECTORY);
	return fd < 0 ? -errno : fd;
}

int fh_build_give(const struct fh_build *b, int dir, const char *name)
{
	return b->root_writable && fchownat(dir, name, b->uid, b->uid, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
}

/* In a part of the root that is not writable (inside a read-only bind), nothing is made, so the target must exist. */
int fh_open_target(const struct fh_build *b, const char *path, bool folder)
{
	const char *name;
	int fd = open_in_root(b, path, O_PATH);
	if (fd >= 0)
		return fd;
	if (errno != ENOENT)
		return -errno;
	fh_auto_close int dir = open_parent(b, path, &name);
	if (dir < 0)
		return dir;
	if (folder) {
		int made = mkdirat(dir, name, 0755) == 0 ? fh_build_give(b, dir, name) : errno == EEXIST ? 0 : -errno;
		if (made < 0)
			return made;
	} else {
		fh_auto_close int made = openat(dir, name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
		if (made < 0 && errno != EEXIST)
			return -errno;
	}
	/* resolved from the root again, so that a link in an image is followed within the root */
	fd = open_in_root(b, path, O_PATH);
	return fd < 0 ? -errno : fd;
}

int fh_enter_target(const struct fh_build *b, const char *path)
{
	fh_auto_close int at = fh_open_target(b, path, true);
	return at < 0 ? at : fchdir(at) < 0 ? -errno : 0;
}

int fh_put_tree(const struct fh_build *b, int tree, const char *target)
{
	fh_auto_close int t = tree;
	fh_auto_close int at = fh_open_target(b, target, is_folder(tree));
	if (at < 0)
		return at;
	return fh_move_mount(t, at, "") < 0 ? -errno : 0;
}

int fh_make_place(const struct fh_build *b, const char *target)
{
	fh_auto_close int made = fh_open_target(b, target, true);
	return FH_MIN(made, 0);
}

int fh_put_writable(struct fh_build *b, const char *target, mode_t mode)
{
	char path[FH_BENCH_MAX + 64], number[24];
	fh_join(path, b->bench, "writable/");
	const char *name = fh_decimal(b->folders++, number);
	memcpy(path + strlen(path), name, strlen(name) + 1);
	if (mkdirat(b->writable, name, mode) < 0 || fchownat(b->writable, name, b->uid, b->uid, 0) < 0)
		return -errno;
	int r = fh_enter_target(b, target);
	return r < 0 ? r : mount(path, ".", NULL, MS_BIND, NULL) < 0 ? -errno : 0;
}

int fh_cover_here(const struct fh_build *b, const char *name, bool folder)
{
	static const char *const covers[] = { "file", "folder" };
	char path[FH_BENCH_MAX + 64];
	for (int attempt = 0; attempt < 2; attempt++) {
		fh_join(path, b->bench, covers[folder ^ attempt]);
		if (mount(path, name, NULL, MS_BIND, NULL) == 0)
			return 0;
		if (errno != ENOTDIR)
			break;
	}
	return -errno;
}

/* ----------------------------------------------------------------------------------------- one kind, one function */

static int mount_bind(struct fh_build *b, const struct fh_plan_mount *m, int tree)
{
	uint64_t plain = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
	if (tree < 0)
		return 0; /* the mount is optional, and its source does not exist */
	if (fh_mount_set(tree, AT_RECURSIVE, m->writable ? plain : plain | MOUNT_ATTR_RDONLY) < 0)
		return -errno;
	return fh_put_tree(b, tree, m->target);
}

static int mount_symlink(struct fh_build *b, const struct fh_plan_mount *m, int tree)
{
	const char *name;
	(void)tree;
	fh_auto_close int dir = open_parent(b, m->target, &name);
	if (dir < 0)
		return dir;
	if (symlinkat(m->source, dir, name) < 0)
		return errno == EEXIST ? 0 : -errno;
	return fh_build_give(b, dir, name);
}

static int write_content(int f, const struct fh_plan_mount *m)
{
	for (size_t done = 0; done < m->content.size;) {
		ssize_t n = write(f, m->content.data + done, m->content.size - done);
		if (n < 0)
			return -errno;
		done += (size_t)n;
	}
	return fchmod(f, m->mode ? m->mode : 0644) < 0 ? -errno : 0;
}

/* Mounts a file of the writable layer over the target, which may be a file of /proc. */
static int put_writable_file(struct fh_build *b, const struct fh_plan_mount *m)
{
	char path[FH_BENCH_MAX + 64], number[24];
	fh_join(path, b->bench, "writable/");
	const char *name = fh_decimal(b->folders++, number);
	memcpy(path + strlen(path), name, strlen(name) + 1);
	fh_auto_close int f = openat(b->writable, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (f < 0 || fchown(f, b->uid, b->uid) < 0)
		return -errno;
	int r = write_content(f, m);
	if (r < 0)
		return r;
	fh_auto_close int at = open_in_root(b, m->target, O_PATH), copy = fh_open_tree(AT_FDCWD, path, 0);
	return at < 0 || copy < 0 || fh_move_mount(copy, at, "") < 0 ? -errno : 0;
}

static int mount_file(struct fh_build *b, const struct fh_plan_mount *m, int tree)
{
	const char *name;
	(void)tree;
	if (m->writable)
		return put_writable_file(b, m);
	fh_auto_close int dir = open_parent(b, m->target, &name);
	if (dir < 0)
		return dir;
	/* removes the image's file first: the new one is made in the upper layer, and a link of the image is never
	 * followed */
	(void)unlinkat(dir, name, 0);
	fh_auto_close int f = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (f < 0)
		return -errno;
	int r = write_content(f, m);
	return r < 0 ? r : fh_build_give(b, dir, name);
}

static int mount_dir(struct fh_build *b, const struct fh_plan_mount *m, int tree)
{
	(void)tree;
	fh_auto_close int made = fh_open_target(b, m->target, true);
	if (made < 0 || !m->mode)
		return FH_MIN(made, 0);
	fh_auto_close int fd = open_in_root(b, m->target, O_RDONLY | O_DIRECTORY);
	return fd < 0 || fchmod(fd, m->mode) < 0 ? -errno : 0;
}

static int mount_writable(struct fh_build *b, const struct fh_plan_mount *m, int tree)
{
	(void)tree;
	if (fh_streq(m->target, "/")) /* mounts.c has mounted the root already */
		return 0;
	if (b->l->part == FH_PART_SHARED)
		return fh_make_place(b, m->target);
	return fh_put_writable(b, m->target, m->mode ? m->mode : 0755);
}

/* Works on descriptors only: the target may be a file, which cannot be the working directory. */
static int cover(const struct fh_build *b, const char *target)
{
	char path[FH_BENCH_MAX + 64];
	fh_auto_close int at = open_in_root(b, target, O_PATH);
	if (at < 0)
		return -errno;
	fh_join(path, b->bench, is_folder(at) ? "folder" : "file");
	fh_auto_close int tree = fh_open_tree(AT_FDCWD, path, 0);
	return tree < 0 || fh_move_mount(tree, at, "") < 0 ? -errno : 0;
}

static int mount_mask(struct fh_build *b, const struct fh_plan_mount *m, int tree)
{
	(void)tree;
	int r = cover(b, m->target);
	return m->optional && (r == -ENOENT || r == -ENOTDIR) ? 0 : r;
}

fh_mount_kind_fn *const fh_mount_kinds[FH_MOUNT_KIND_COUNT_] = {
	[FH_MOUNT_BIND] = mount_bind,    [FH_MOUNT_SYMLINK] = mount_symlink,   [FH_MOUNT_FILE] = mount_file,
	[FH_MOUNT_DIR] = mount_dir,      [FH_MOUNT_WRITABLE] = mount_writable, [FH_MOUNT_MASK] = mount_mask,
	[FH_MOUNT_PROC] = fh_mount_proc, [FH_MOUNT_DEV] = fh_mount_dev,        [FH_MOUNT_VOLUME] = fh_mount_volume,
};
