// SPDX-License-Identifier: MIT
/*
 * The root of a sandbox, from the plan's list of mounts.
 *
 * Sources are opened as detached trees before anything is covered. A small tmpfs over a folder of the old root (in our
 * own mount namespace) is the workbench: below it stand the new root and the writable layer. After pivot_root the old
 * root is detached with the workbench; what was bound from it stays. Runs in the child: no malloc, no stdio.
 * A template's root is built in the same way but for what each sandbox has of its own; that is mounted over it later,
 * in a copy of the mount namespace, without a change of the root.
 * Sources: open_tree(2), mount_setattr(2), move_mount(2), pivot_root(2), openat2(2).
 */
#include "engine/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef OPEN_TREE_CLONE
#define OPEN_TREE_CLONE 1
#define OPEN_TREE_CLOEXEC O_CLOEXEC
#endif
#ifndef AT_RECURSIVE
#define AT_RECURSIVE 0x8000
#endif

enum {
	READ_ONLY = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV,
	PLAIN = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV
};

static const char *const device_nodes[] = { "null", "zero", "full", "random", "urandom", "tty" };
enum { DEVICES = FH_ARRAY_SIZE(device_nodes) };

struct build {
	const struct fh_launch *l;
	int root;                     /* the new root, O_PATH */
	int writable;                 /* the writable layer, on the workbench */
	int spare_folder, spare_file; /* read-only mounts of nothing, to cover things with */
	int tree[FH_PLAN_MOUNTS_MAX];
	int device[DEVICES]; /* of the one DEV mount that a plan may have */
	uid_t uid;           /* the program's, as the file systems made here see it */
	unsigned folders;    /* made in the writable layer so far */
	int settings;        /* /proc/sys, while it can still be written to */
	char *what;
};

static int sys_open_tree(int dir, const char *path, unsigned flags)
{
	return (int)syscall(SYS_open_tree, dir, path, flags | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
}

static int sys_move_mount(int tree, int to, const char *path)
{
	return (int)syscall(SYS_move_mount, tree, "", to, path,
	                    MOVE_MOUNT_F_EMPTY_PATH | (path[0] ? 0 : MOVE_MOUNT_T_EMPTY_PATH));
}

static int sys_mount_setattr(int tree, unsigned flags, uint64_t set)
{
	struct mount_attr a = { .attr_set = set };
	return (int)syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH | flags, &a, sizeof(a));
}

/* A path inside the new root; links in it are followed as a process in there would. */
static int open_in_root(const struct build *b, const char *path, uint64_t flags)
{
	struct open_how how = { .flags = flags | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
	return (int)syscall(SYS_openat2, b->root, path, &how, sizeof(how));
}

static void say(struct build *b, const char *what)
{
	size_t n = FH_MIN(strlen(what), (size_t)255);
	memcpy(b->what, what, n);
	b->what[n] = 0;
}

/* A new file system, mounted nowhere yet. options: pairs of name and value (NULL: a flag), ended by NULL. */
static int new_mount(const char *type, const char *const *options, unsigned attributes)
{
	fh_auto_close int fs = (int)syscall(SYS_fsopen, type, FSOPEN_CLOEXEC);
	if (fs < 0)
		return -errno;
	for (; *options; options += 2) {
		unsigned how = options[1] ? FSCONFIG_SET_STRING : FSCONFIG_SET_FLAG;
		if (syscall(SYS_fsconfig, fs, how, options[0], options[1], 0) < 0)
			return -errno;
	}
	if (syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return -errno;
	int fd = (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC, attributes);
	return fd < 0 ? -errno : fd;
}

static const char *decimal(uint64_t v, char buffer[24])
{
	char *p = buffer + 23;
	*p = 0;
	do
		*--p = (char)('0' + v % 10);
	while (v /= 10);
	return p;
}

static int new_tmpfs(uint64_t bytes, uint64_t inodes, unsigned attributes)
{
	char size[24], nodes[24];
	const char *options[] = { "size", decimal(bytes, size), "nr_inodes", decimal(inodes, nodes), "mode", "0755", NULL };
	return new_mount("tmpfs", options, attributes);
}

/* ------------------------------------------------------------------------------------------------------- targets */

static int is_folder(int fd)
{
	struct stat st;
	return fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
}

static int open_target(const struct build *b, const char *path, bool folder);

/* The folder that holds path, made if need be, and path's last part. */
static int open_parent(const struct build *b, const char *path, const char **ret_name)
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
		return open_target(b, parent, true);
	int fd = open_in_root(b, "/", O_PATH | O_DIRECTORY);
	return fd < 0 ? -errno : fd;
}

/* Opens path in the new root; what is missing of it is made, itself as a folder or an empty file. Where the root is not
 * ours to write to (inside a read-only bind) only what is there counts. */
static int open_target(const struct build *b, const char *path, bool folder)
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
		if (mkdirat(dir, name, 0755) < 0 && errno != EEXIST)
			return -errno;
	} else {
		fh_auto_close int made = openat(dir, name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
		if (made < 0 && errno != EEXIST)
			return -errno;
	}
	fd = open_in_root(b, path, O_PATH); /* from the root again: a link of an image counts as one in there */
	return fd < 0 ? -errno : fd;
}

/* Puts a detached tree at a target, which is made if it can be. Closes the tree. */
static int put_tree(const struct build *b, int tree, const char *target)
{
	fh_auto_close int t = tree;
	fh_auto_close int at = open_target(b, target, is_folder(tree));
	if (at < 0)
		return at;
	return sys_move_mount(t, at, "") < 0 ? -errno : 0;
}

/* --------------------------------------------------------------------------------------------- one kind, one function
 */

static int mount_bind(struct build *b, const struct fh_plan_mount *m, int tree)
{
	if (tree < 0)
		return 0; /* optional and not there */
	if (sys_mount_setattr(tree, AT_RECURSIVE, m->writable ? PLAIN : READ_ONLY) < 0)
		return -errno;
	return put_tree(b, tree, m->target);
}

static int mount_symlink(struct build *b, const struct fh_plan_mount *m, int tree)
{
	const char *name;
	(void)tree;
	fh_auto_close int dir = open_parent(b, m->target, &name);
	if (dir < 0)
		return dir;
	return symlinkat(m->source, dir, name) < 0 && errno != EEXIST ? -errno : 0;
}

static int mount_file(struct build *b, const struct fh_plan_mount *m, int tree)
{
	const char *name;
	(void)tree;
	fh_auto_close int dir = open_parent(b, m->target, &name);
	if (dir < 0)
		return dir;
	(void)unlinkat(dir, name, 0); /* of an image: a new file in the upper layer, never through a link of the image */
	fh_auto_close int f = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (f < 0)
		return -errno;
	for (size_t done = 0; done < m->content.size;) {
		ssize_t n = write(f, m->content.data + done, m->content.size - done);
		if (n < 0)
			return -errno;
		done += (size_t)n;
	}
	return fchmod(f, m->mode ? m->mode : 0644) < 0 ? -errno : 0;
}

static int mount_dir(struct build *b, const struct fh_plan_mount *m, int tree)
{
	(void)tree;
	fh_auto_close int made = open_target(b, m->target, true);
	if (made < 0 || !m->mode)
		return FH_MIN(made, 0);
	fh_auto_close int fd = open_in_root(b, m->target, O_RDONLY | O_DIRECTORY);
	return fd < 0 || fchmod(fd, m->mode) < 0 ? -errno : 0;
}

/* A folder of the writable layer at target. */
static int put_writable(struct build *b, const char *target, mode_t mode)
{
	char name[24];
	const char *folder = decimal(b->folders++, name);
	if (mkdirat(b->writable, folder, 0700) < 0 || fchmodat(b->writable, folder, mode, 0) < 0 ||
	    fchownat(b->writable, folder, b->uid, b->uid, 0) < 0)
		return -errno;
	int tree = sys_open_tree(b->writable, folder, 0);
	return tree < 0 ? -errno : put_tree(b, tree, target);
}

/* A place to mount on, in a root that is shared. */
static int make_place(const struct build *b, const char *target)
{
	fh_auto_close int made = open_target(b, target, true);
	return FH_MIN(made, 0);
}

static int mount_writable(struct build *b, const struct fh_plan_mount *m, int tree)
{
	(void)tree;
	if (b->l->part == FH_PART_SHARED)
		return make_place(b, m->target);
	return put_writable(b, m->target, m->mode ? m->mode : 0755);
}

static int cover(struct build *b, const char *target)
{
	fh_auto_close int at = open_in_root(b, target, O_PATH);
	if (at < 0)
		return -errno;
	int spare = is_folder(at) ? b->spare_folder : b->spare_file;
	fh_auto_close int tree = sys_open_tree(spare, "", AT_EMPTY_PATH);
	return tree < 0 || sys_move_mount(tree, at, "") < 0 ? -errno : 0;
}

static int mount_mask(struct build *b, const struct fh_plan_mount *m, int tree)
{
	(void)tree;
	int r = cover(b, m->target);
	return m->optional && (r == -ENOENT || r == -ENOTDIR) ? 0 : r;
}

/* What a /proc tells of the host, and what could be written through it. The list is Docker's (moby profiles, masked and
 * read-only paths); files that this kernel does not have are passed over. */
static const char *const proc_masked[] = {
	"acpi", "asound",     "interrupts",  "kcore",    "keys", "key-users", "latency_stats", "sched_debug",
	"scsi", "timer_list", "timer_stats", "kallsyms", "kmsg", "config.gz", "sysrq-trigger",
};
static const char *const proc_read_only[] = { "bus", "fs", "irq", "sys" };

static void join(char *to, const char *dir, const char *name)
{
	size_t d = strlen(dir), n = strlen(name);
	memcpy(to, dir, d);
	to[d] = '/';
	memcpy(to + d + 1, name, n + 1);
}

static int mount_proc(struct build *b, const struct fh_plan_mount *m, int tree)
{
	static const char *const options[] = { NULL };
	char path[FH_PLAN_PATH_MAX + 64];
	(void)tree;
	int fd = new_mount("proc", options, PLAIN | MOUNT_ATTR_NOEXEC);
	if (fd < 0)
		return fd;
	if (b->settings < 0)
		b->settings = openat(fd, "sys", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int r = put_tree(b, fd, m->target);
	/* a template's own stays whole: the kernel lets its sandboxes mount theirs only where one can be seen whole */
	if (r < 0 || !(b->l->plan->layers & 1u << FH_LAYER_PROC) || b->l->part == FH_PART_SHARED)
		return r;
	for (size_t i = 0; i < FH_ARRAY_SIZE(proc_masked); i++) {
		join(path, m->target, proc_masked[i]);
		r = cover(b, path);
		if (r < 0 && r != -ENOENT)
			return r;
	}
	for (size_t i = 0; i < FH_ARRAY_SIZE(proc_read_only); i++) {
		join(path, m->target, proc_read_only[i]);
		fh_auto_close int at = open_in_root(b, path, O_PATH);
		if (at < 0)
			continue;
		fh_auto_close int copy = sys_open_tree(at, "", AT_EMPTY_PATH | AT_RECURSIVE);
		if (copy < 0 || sys_mount_setattr(copy, AT_RECURSIVE, READ_ONLY | MOUNT_ATTR_NOEXEC) < 0 ||
		    sys_move_mount(copy, at, "") < 0)
			return -errno;
	}
	return 0;
}

static const struct {
	const char *name, *to;
} device_links[] = {
	{ "fd", "/proc/self/fd" },       { "stdin", "/proc/self/fd/0" }, { "stdout", "/proc/self/fd/1" },
	{ "stderr", "/proc/self/fd/2" }, { "ptmx", "pts/ptmx" },
};

/* The nodes are bound one by one: the host's /dev as a whole is never there. */
static int mount_nodes(struct build *b, const struct fh_plan_mount *m)
{
	char path[FH_PLAN_PATH_MAX + 64];
	fh_auto_close int dev = open_target(b, m->target, true);
	int r = FH_MIN(dev, 0);
	for (size_t i = 0; r == 0 && i < DEVICES; i++) {
		int node = FH_TAKE_FD(b->device[i]);
		if (sys_mount_setattr(node, 0, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC) < 0)
			return -errno;
		join(path, m->target, device_nodes[i]);
		r = put_tree(b, node, path);
	}
	for (size_t i = 0; r == 0 && i < FH_ARRAY_SIZE(device_links); i++)
		if (symlinkat(device_links[i].to, dev, device_links[i].name) < 0 && errno != EEXIST)
			r = -errno;
	return r;
}

static int mount_dev(struct build *b, const struct fh_plan_mount *m, int tree)
{
	/* max: all terminals of the host come from one pool (kernel.pty.max), which one sandbox could empty for all */
	static const char *const pts_options[] = { "newinstance", NULL,  "ptmxmode", "0666", "mode",
		                                       "0620",        "max", "64",       NULL };
	char pts_path[FH_PLAN_PATH_MAX + 64], shm_path[FH_PLAN_PATH_MAX + 64];
	(void)tree;
	join(pts_path, m->target, "pts");
	join(shm_path, m->target, "shm");
	int r = b->l->part == FH_PART_OWN ? 0 : mount_nodes(b, m);
	if (r == 0 && b->l->part == FH_PART_SHARED) {
		r = make_place(b, pts_path);
		return r < 0 ? r : make_place(b, shm_path);
	}
	if (r < 0)
		return r;
	int pts = new_mount("devpts", pts_options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
	r = pts < 0 ? pts : put_tree(b, pts, pts_path);
	return r < 0 ? r : put_writable(b, shm_path, 01777);
}

static int (*const mount_kinds[FH_MOUNT_KIND_COUNT_])(struct build *, const struct fh_plan_mount *, int) = {
	[FH_MOUNT_BIND] = mount_bind, [FH_MOUNT_SYMLINK] = mount_symlink,   [FH_MOUNT_FILE] = mount_file,
	[FH_MOUNT_DIR] = mount_dir,   [FH_MOUNT_WRITABLE] = mount_writable, [FH_MOUNT_MASK] = mount_mask,
	[FH_MOUNT_PROC] = mount_proc, [FH_MOUNT_DEV] = mount_dev,
};

/* ---------------------------------------------------------------------------------------------------- the whole */

static int open_devices(struct build *b)
{
	for (size_t i = 0; i < DEVICES; i++) {
		char path[64];
		join(path, "/dev", device_nodes[i]);
		say(b, path);
		b->device[i] = sys_open_tree(AT_FDCWD, path, 0);
		if (b->device[i] < 0)
			return -errno;
	}
	return 0;
}

/* Opens every source as a detached copy, before the old root is touched. */
static int open_sources(struct build *b)
{
	const struct fh_plan *p = b->l->plan;
	for (size_t i = 0; i < p->mount_count; i++) {
		const struct fh_plan_mount *m = &p->mounts[i];
		b->tree[i] = -1;
		if (m->kind == FH_MOUNT_DEV) {
			int r = open_devices(b);
			if (r < 0)
				return r;
		} else if (m->kind == FH_MOUNT_BIND) {
			say(b, m->source);
			b->tree[i] = sys_open_tree(AT_FDCWD, m->source, AT_RECURSIVE);
			if (b->tree[i] < 0 && !(m->optional && (errno == ENOENT || errno == ENOTDIR || errno == EACCES)))
				return -errno;
		}
	}
	return 0;
}

/* An image is the lower layer below an empty upper one, so that mount points can be made in it. */
static int overlay_root(int bench, int image)
{
	if (mkdirat(bench, "image", 0755) < 0 || mkdirat(bench, "upper", 0755) < 0 || mkdirat(bench, "work", 0755) < 0)
		return -errno;
	if (sys_move_mount(image, bench, "image") < 0)
		return -errno;
	/* relative paths, so that no character of a real path can be taken for a separator */
	if (fchdir(bench) < 0)
		return -errno;
	static const char *const with_user[] = { "lowerdir", "image",     "upperdir", "upper", "workdir",
		                                     "work",     "userxattr", NULL,       NULL };
	static const char *const plain[] = { "lowerdir", "image", "upperdir", "upper", "workdir", "work", NULL };
	int fd = new_mount("overlay", with_user, PLAIN);
	return fd == -EINVAL ? new_mount("overlay", plain, PLAIN) : fd;
}

static const char *const bench_folders[] = { "/tmp", "/mnt", "/dev", "/proc", "/usr" };

/* Mounts the workbench over a folder that every system has, and opens it. An image keeps what is made in it here. */
static int open_bench(const struct fh_launch *l)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(bench_folders); i++) {
		fh_auto_close int tree = new_tmpfs(l->root_bytes, 65536, PLAIN);
		if (tree < 0)
			return tree;
		if (sys_move_mount(tree, AT_FDCWD, bench_folders[i]) == 0)
			return FH_TAKE_FD(tree);
		if (errno != ENOENT && errno != ENOTDIR)
			return -errno;
	}
	return -ENOENT;
}

/* A read-only mount of the workbench's own folder or file `name`, on itself: copies of it need nothing more. */
static int make_spare(int bench, const char *name)
{
	fh_auto_close int tree = sys_open_tree(bench, name, 0);
	if (tree < 0 || sys_mount_setattr(tree, 0, READ_ONLY | MOUNT_ATTR_NOEXEC) < 0 ||
	    sys_move_mount(tree, bench, name) < 0)
		return -errno;
	return FH_TAKE_FD(tree);
}

/* The writable layer, on the workbench, and the spares. */
static int prepare_own(struct build *b, int bench)
{
	uint64_t disk = b->l->plan->limits.value[FH_LIMIT_DISK];
	if (mkdirat(bench, "folder", 0755) < 0)
		return -errno;
	fh_auto_close int file = openat(bench, "file", O_WRONLY | O_CREAT | O_CLOEXEC, 0444);
	if (file < 0)
		return -errno;
	b->spare_folder = make_spare(bench, "folder");
	b->spare_file = make_spare(bench, "file");
	if (b->spare_folder < 0 || b->spare_file < 0)
		return FH_MIN(b->spare_folder, b->spare_file);
	if (b->l->part == FH_PART_SHARED)
		return 0;
	if (mkdirat(bench, "writable", 0755) < 0)
		return -errno;
	/* one inode for each 4 KiB: as many files as there is room for pages */
	int writable = disk == FH_UNLIMITED ? new_tmpfs(0, 0, PLAIN) : new_tmpfs(disk, disk / 4096 + 16, PLAIN);
	if (writable < 0)
		return writable;
	if (sys_move_mount(writable, bench, "writable") < 0)
		return -errno;
	b->writable = writable;
	return 0;
}

static int prepare(struct build *b, int bench, int image)
{
	if (mkdirat(bench, "root", 0755) < 0)
		return -errno;
	int root = image >= 0 ? overlay_root(bench, image) : new_tmpfs(b->l->root_bytes, 65536, PLAIN);
	if (root < 0)
		return root;
	if (sys_move_mount(root, bench, "root") < 0)
		return -errno;
	b->root = root;
	return prepare_own(b, bench);
}

static int mount_all(struct build *b)
{
	const struct fh_plan *p = b->l->plan;
	for (size_t i = 0; i < p->mount_count; i++) {
		enum fh_mount_kind k = p->mounts[i].kind;
		if (b->l->part == FH_PART_OWN && k != FH_MOUNT_WRITABLE && k != FH_MOUNT_PROC && k != FH_MOUNT_DEV)
			continue;
		say(b, p->mounts[i].target);
		int r = mount_kinds[k](b, &p->mounts[i], b->tree[i]);
		if (r < 0)
			return r;
	}
	return 0;
}

int fh_mounts_build(const struct fh_launch *l, int32_t *ret_step, char what[256], int *ret_settings)
{
	static struct build b; /* in the child: one build, too large for a stack */
	const struct fh_plan *p = l->plan;
	int image = -1;
	b = (struct build){ .l = l, .what = what, .settings = -1, .uid = l->ids.ranges ? l->ids.base + p->uid : p->uid };

	*ret_step = FH_SETUP_ROOT;
	say(&b, "/");
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return -errno;
	umask(0);
	int r = open_sources(&b);
	if (r < 0)
		return r;
	if (p->image) {
		say(&b, p->image);
		image = sys_open_tree(AT_FDCWD, p->image, AT_RECURSIVE);
		if (image < 0 || sys_mount_setattr(image, AT_RECURSIVE, READ_ONLY) < 0)
			return -errno;
		if (!is_folder(image))
			return -ENOTDIR;
	}
	say(&b, "the new root");
	int bench = open_bench(l);
	r = bench < 0 ? bench : prepare(&b, bench, image);
	if (r < 0)
		return r;

	*ret_step = FH_SETUP_MOUNT;
	r = mount_all(&b);
	if (r < 0)
		return r;
	*ret_step = FH_SETUP_PIVOT;
	say(&b, "/");
	if (sys_mount_setattr(b.root, 0, READ_ONLY) < 0 || fchdir(b.root) < 0 || syscall(SYS_pivot_root, ".", ".") < 0 ||
	    umount2(".", MNT_DETACH) < 0 || chdir("/") < 0)
		return -errno;
	*ret_settings = b.settings;
	return 0;
}

/* Folders that programs do not write to: the workbench lies over one of them while the mounts are made. */
static const char *const own_bench_folders[] = { "/usr", "/lib", "/bin", "/etc", "/sbin", "/opt" };

static int open_own_bench(const struct fh_plan *p, const char **ret_folder)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(own_bench_folders); i++) {
		const char *folder = own_bench_folders[i];
		size_t n = strlen(folder);
		bool used = false;
		for (size_t k = 0; k < p->mount_count; k++)
			used = used || (p->mounts[k].kind == FH_MOUNT_WRITABLE && strncmp(p->mounts[k].target, folder, n) == 0);
		struct stat st;
		if (used || lstat(folder, &st) < 0 || !S_ISDIR(st.st_mode))
			continue;
		fh_auto_close int tree = new_tmpfs(1 << 20, 64, PLAIN);
		if (tree < 0)
			return tree;
		if (sys_move_mount(tree, AT_FDCWD, folder) < 0)
			return -errno;
		*ret_folder = folder;
		return FH_TAKE_FD(tree);
	}
	return -ENOENT;
}

int fh_mounts_own(const struct fh_launch *l, int32_t *ret_step, char what[256], int *ret_disk, int *ret_settings)
{
	static struct build b; /* in the child: one build, too large for a stack */
	const char *folder = "";
	b = (struct build){
		.l = l, .what = what, .settings = -1, .uid = l->ids.ranges ? l->ids.base + l->plan->uid : l->plan->uid
	};
	*ret_step = FH_SETUP_ROOT;
	say(&b, "/");
	umask(0);
	b.root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (b.root < 0)
		return -errno;
	fh_auto_close int bench = open_own_bench(l->plan, &folder);
	int r = bench < 0 ? bench : prepare_own(&b, bench);
	if (r < 0)
		return r;
	*ret_step = FH_SETUP_MOUNT;
	r = mount_all(&b);
	if (r < 0)
		return r;
	/* with it goes the writable layer's own mount; its folders, mounted where they belong, stay */
	say(&b, folder);
	if (umount2(folder, MNT_DETACH | UMOUNT_NOFOLLOW) < 0)
		return -errno;
	*ret_disk = b.writable;
	*ret_settings = b.settings;
	return 0;
}
