/* SPDX-License-Identifier: MIT */
/*
 * Builds the root of a sandbox from the plan's list of mounts.
 *
 * Sources are opened as detached trees before anything is covered. The workbench is a small tmpfs over a folder of the
 * old root (in our own mount namespace); the new root and the writable layer are mounted below it. After pivot_root the
 * old root is detached together with the workbench; what was bound from them stays mounted. A template's root is built
 * in the same way, without the parts that each sandbox has of its own. Those are mounted over it when a sandbox is
 * made, in a copy of the mount namespace and without changing the root. They need a workbench too. It comes with the
 * template, at the place where the sandbox's /dev/shm covers it in the end: unmounting it instead would make every
 * sandbox wait for an RCU grace period. Sources: open_tree(2), mount_setattr(2), move_mount(2), pivot_root(2),
 * openat2(2).
 */
#include "engine/make/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/host/place.h"

enum { ROOT_INODES = 65536 };

static struct fh_build build; /* used in the child, which makes one build; too large for a stack */

static void begin(const struct fh_launch *l, int32_t *ret_step, char what[256])
{
	uid_t uid = l->plan->uid;
	build = (struct fh_build){ .l = l,
		                       .what = what,
		                       .step = ret_step,
		                       .settings = -1,
		                       .uid = l->ids.ranges ? l->ids.base + uid : uid,
		                       .root_writable = fh_plan_root_is_writable(l->plan) };
	*ret_step = FH_SETUP_ROOT;
	fh_build_say(&build, "/");
	umask(0); /* so that modes take effect as written */
}

/* ------------------------------------------------------------------------------------------------------ workbench */

static void add(char *to, const char *text)
{
	memcpy(to + strlen(to), text, strlen(text) + 1);
}

/* Mounts an empty tmpfs; 0 bytes or 0 inodes mean no limit. */
static int mount_tmpfs(const char *at, uint64_t bytes, uint64_t inodes)
{
	char options[96] = "mode=0755,size=", number[24];
	add(options, fh_decimal(bytes, number));
	add(options, ",nr_inodes=");
	add(options, fh_decimal(inodes, number));
	return mount("none", at, "tmpfs", FH_MOUNT_PLAIN, options) < 0 ? -errno : 0;
}

static int open_folder(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Makes the file and the folder that cover others, and a place for the writable layer. */
static int prepare_covers(void)
{
	fh_auto_close int file = open("file", O_WRONLY | O_CREAT | O_CLOEXEC, 0444);
	return file < 0 || mkdir("folder", 0755) < 0 || mkdir("writable", 0755) < 0 ? -errno : 0;
}

/* The working directory must be the workbench. */
static int mount_writable_layer(struct fh_build *b)
{
	uint64_t disk = b->l->plan->limits.value[FH_LIMIT_DISK];
	/* one inode for each 4 KiB: as many files as there are pages */
	int r = disk == FH_UNLIMITED ? mount_tmpfs("writable", 0, 0) : mount_tmpfs("writable", disk, disk / 4096 + 16);
	if (r < 0)
		return r;
	b->writable = open_folder("writable");
	return FH_MIN(b->writable, 0);
}

/* Makes the workbench read-only, and with it the covers on it. Nothing is made on it after this. */
static int close_bench(const struct fh_build *b)
{
	unsigned long flags = MS_REMOUNT | MS_BIND | MS_RDONLY | FH_MOUNT_PLAIN | MS_NOEXEC;
	return mount(NULL, b->bench, NULL, flags, NULL) < 0 ? -errno : 0;
}

/* ---------------------------------------------------------------------------------------------------------- whole */

/* Opens the source of a BIND or VOLUME as a detached tree. */
static int open_source(struct fh_build *b, size_t i)
{
	const struct fh_plan_mount *m = &b->l->plan->mounts[i];
	fh_build_say(b, m->source);
	fh_auto_close int source = fh_place_open(m->source, b->l->ids.ranges);
	if (source >= 0 && m->kind == FH_MOUNT_VOLUME) {
		b->tree[i] = fh_volume_open(b, source);
		if (b->tree[i] < 0)
			*b->step = FH_SETUP_VOLUME;
		return FH_MIN(b->tree[i], 0);
	}
	b->tree[i] = source < 0 ? source : fh_open_tree(source, "", AT_EMPTY_PATH | AT_RECURSIVE);
	int error = source < 0 ? -source : errno;
	bool missing = error == ENOENT || error == ENOTDIR || error == EACCES;
	return b->tree[i] >= 0 || (m->optional && missing) ? 0 : -error;
}

/* Opens every source before the old root is changed, but for the system's folders, which open_system opens. */
static int open_sources(struct fh_build *b)
{
	const struct fh_plan *p = b->l->plan;
	for (size_t i = 0; i < p->mount_count; i++) {
		const struct fh_plan_mount *m = &p->mounts[i];
		b->tree[i] = -1;
		bool is_shown = m->kind == FH_MOUNT_VOLUME || (m->kind == FH_MOUNT_BIND && !fh_inodes_wanted(b, m));
		int r = m->kind == FH_MOUNT_DEV ? fh_open_devices(b) : is_shown ? open_source(b, i) : 0;
		if (r < 0)
			return r;
	}
	return 0;
}

/* Opens the system's folders: where possible with inodes of their own, which needs the workbench. */
static int open_system(struct fh_build *b)
{
	const struct fh_plan *p = b->l->plan;
	int r = 0;
	fh_inodes_open(b);
	for (size_t i = 0; r == 0 && i < p->mount_count; i++)
		if (b->tree[i] < 0 && fh_inodes_wanted(b, &p->mounts[i]))
			r = open_source(b, i);
	return r;
}

/* A detached read-only tree of the plan's image; -1 if the plan has none. */
static int open_image(struct fh_build *b)
{
	struct stat st;
	const char *path = b->l->plan->image;
	if (!path)
		return -1;
	fh_build_say(b, path);
	fh_auto_close int place = fh_place_open(path, b->l->ids.ranges);
	if (place < 0)
		return place;
	fh_auto_close int image = fh_open_tree(place, "", AT_EMPTY_PATH | AT_RECURSIVE);
	if (image < 0 || fh_mount_set(image, AT_RECURSIVE, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV) < 0 ||
	    fstat(image, &st) < 0)
		return -errno;
	return S_ISDIR(st.st_mode) ? FH_TAKE_FD(image) : -ENOTDIR;
}

/* An image becomes the lower layer of an overlay with an empty upper one, so that mount points can be made in it. The
 * upper layer is on the workbench or, for a writable root, in the writable layer. Paths are relative, so that no
 * character of a real path can be mistaken for a separator. */
static const struct {
	const char *upper, *work, *options, *as_user;
} overlays[] = {
	{ "upper", "work", "lowerdir=image,upperdir=upper,workdir=work",
	  "userxattr,lowerdir=image,upperdir=upper,workdir=work" },
	{ "writable/upper", "writable/work", "lowerdir=image,upperdir=writable/upper,workdir=writable/work",
	  "userxattr,lowerdir=image,upperdir=writable/upper,workdir=writable/work" },
};

static int mount_overlay(const struct fh_build *b, int image)
{
	const char *upper = overlays[b->root_writable].upper;
	if (mkdir("image", 0755) < 0 || mkdir(upper, 0755) < 0 || mkdir(overlays[b->root_writable].work, 0755) < 0 ||
	    fh_move_mount(image, AT_FDCWD, "image") < 0)
		return -errno;
	int r = fh_build_give(b, AT_FDCWD, upper);
	if (r < 0 || mount("none", "root", "overlay", FH_MOUNT_PLAIN, overlays[b->root_writable].as_user) == 0)
		return r;
	return errno != EINVAL || mount("none", "root", "overlay", FH_MOUNT_PLAIN, overlays[b->root_writable].options) < 0
	           ? -errno
	           : 0;
}

/* Mounts a writable root without an image: a folder of the writable layer. */
static int mount_writable_root(const struct fh_build *b)
{
	if (mkdir("writable/root", 0755) < 0)
		return -errno;
	int r = fh_build_give(b, AT_FDCWD, "writable/root");
	return r < 0 ? r : mount("writable/root", "root", NULL, MS_BIND, NULL) < 0 ? -errno : 0;
}

static const char *const bench_folders[] = { "/tmp", "/mnt", "/dev", "/proc", "/usr" };

/* Mounts the workbench over a folder that every system has, and enters it. For an image, what is made in the root goes
 * to a layer on the workbench. */
static int open_bench(struct fh_build *b)
{
	int r = -ENOENT;
	for (size_t i = 0; i < FH_ARRAY_SIZE(bench_folders); i++) {
		r = mount_tmpfs(bench_folders[i], b->l->root_bytes, ROOT_INODES);
		if (r == 0) {
			add(b->bench, bench_folders[i]);
			return chdir(b->bench) < 0 ? -errno : 0;
		}
		if (r != -ENOENT && r != -ENOTDIR)
			break;
	}
	return r;
}

static int prepare(struct fh_build *b, int image)
{
	bool shared = b->l->part == FH_PART_SHARED;
	if (mkdir("root", 0755) < 0)
		return -errno;
	int r = prepare_covers();
	if (r == 0)
		r = fh_make_devices(b);
	if (r == 0 && !shared)
		r = mount_writable_layer(b);
	if (r == 0)
		r = image >= 0         ? mount_overlay(b, image)
		    : b->root_writable ? mount_writable_root(b)
		                       : mount_tmpfs("root", b->l->root_bytes, ROOT_INODES);
	if (r < 0)
		return r;
	b->root = open("root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (b->root < 0 || !shared)
		return b->root < 0 ? -errno : 0;
	/* the workbench of the template's sandboxes, which fh_mount_dev puts at its place */
	if (mkdir(FH_SHARED_BENCH, 0755) < 0 || chdir(FH_SHARED_BENCH) < 0)
		return -errno;
	r = prepare_covers();
	return r < 0 || chdir("..") == 0 ? r : -errno;
}

static int mount_all(struct fh_build *b)
{
	const struct fh_plan *p = b->l->plan;
	for (size_t i = 0; i < p->mount_count; i++) {
		enum fh_mount_kind k = p->mounts[i].kind;
		if (b->l->part == FH_PART_OWN && k != FH_MOUNT_WRITABLE && k != FH_MOUNT_PROC && k != FH_MOUNT_DEV)
			continue;
		fh_build_say(b, p->mounts[i].target);
		int r = fh_mount_kinds[k](b, &p->mounts[i], b->tree[i]);
		if (r < 0)
			return r;
	}
	return 0;
}

int fh_mounts_build(const struct fh_launch *l, int32_t *ret_step, char what[256], int *ret_settings)
{
	struct fh_build *b = &build;
	begin(l, ret_step, what);
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return -errno;
	int r = open_sources(b);
	if (r < 0)
		return r;
	int image = open_image(b);
	if (image < 0 && l->plan->image)
		return image;
	fh_build_say(b, "the new root");
	r = open_bench(b);
	if (r == 0)
		r = prepare(b, image);
	if (r == 0)
		r = open_system(b);
	if (r == 0)
		r = close_bench(b);
	if (r < 0)
		return r;

	*ret_step = FH_SETUP_MOUNT;
	r = mount_all(b);
	if (r < 0)
		return r;
	*ret_step = FH_SETUP_PIVOT;
	fh_build_say(b, "/");
	if ((!b->root_writable && fh_mount_set(b->root, 0, MOUNT_ATTR_RDONLY) < 0) || fchdir(b->root) < 0 ||
	    syscall(SYS_pivot_root, ".", ".") < 0 || umount2(".", MNT_DETACH) < 0 || chdir("/") < 0)
		return -errno;
	*ret_settings = b->settings;
	return 0;
}

/* ------------------------------------------------------------------------------------------------------------ own */

int fh_mounts_own(const struct fh_launch *l, int32_t *ret_step, char what[256], int *ret_disk, int *ret_settings)
{
	struct fh_build *b = &build;
	begin(l, ret_step, what);
	fh_build_say(b, FH_OWN_BENCH);
	b->root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (b->root < 0 || chdir(FH_OWN_BENCH) < 0)
		return -errno;
	add(b->bench, FH_OWN_BENCH);
	int r = mount_writable_layer(b);
	if (r < 0)
		return r;
	*ret_step = FH_SETUP_MOUNT;
	r = mount_all(b);
	if (r < 0)
		return r;
	fh_build_say(b, FH_OWN_BENCH);
	r = fh_put_writable(b, FH_OWN_BENCH, 01777); /* covers the workbench, which is not needed any more */
	if (r < 0 || chdir("/") < 0)
		return r < 0 ? r : -errno;
	*ret_disk = b->writable;
	*ret_settings = b->settings;
	return 0;
}
