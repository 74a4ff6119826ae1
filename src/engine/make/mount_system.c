// SPDX-License-Identifier: MIT
/*
 * A sandbox's /proc and /dev. In the way of every start: what is bound and mounted here takes one call each, mount(2)
 * from where one stands, instead of the five that detached trees take.
 */
#include "engine/make/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *const device_nodes[] = { "null", "zero", "full", "random", "urandom", "tty" };
#define DEVICES FH_ARRAY_SIZE(device_nodes)
_Static_assert(DEVICES <= FH_DEVICES_MAX, "room for each device node");

/* What a /proc tells of the host, and what could be written through it. The list is Docker's (moby profiles, masked and
 * read-only paths), and two more: all locks of the host, which carry data from one sandbox to the next, and its
 * pressure, where whoever writes gets a thread of the kernel. Files that this kernel does not have are passed over. */
static const struct {
	const char *name;
	bool folder;
} proc_masked[] = {
	{ "acpi", true },     { "asound", true },      { "interrupts", false },    { "kcore", false },
	{ "keys", false },    { "key-users", false },  { "latency_stats", false }, { "sched_debug", false },
	{ "scsi", true },     { "timer_list", false }, { "timer_stats", false },   { "kallsyms", false },
	{ "kmsg", false },    { "config.gz", false },  { "sysrq-trigger", false }, { "locks", false },
	{ "pressure", true },
};
static const char *const proc_read_only[] = { "bus", "fs", "irq", "sys" };

/* Names of the new /proc: one stands in it, and no link of an image is on the way. */
static int mask_proc(const struct fh_build *b)
{
	unsigned long flags = FH_MOUNT_PLAIN | MS_NOEXEC | MS_RDONLY;
	for (size_t i = 0; i < FH_ARRAY_SIZE(proc_masked); i++) {
		int r = fh_cover_here(b, proc_masked[i].name, proc_masked[i].folder);
		if (r < 0 && r != -ENOENT)
			return r;
	}
	for (size_t i = 0; i < FH_ARRAY_SIZE(proc_read_only); i++) {
		const char *name = proc_read_only[i];
		if (mount(name, name, NULL, MS_BIND | MS_REC, NULL) < 0) {
			if (errno != ENOENT)
				return -errno;
		} else if (mount(NULL, name, NULL, MS_REMOUNT | MS_BIND | flags, NULL) < 0) {
			return -errno;
		}
	}
	return 0;
}

int fh_mount_proc(struct fh_build *b, const struct fh_plan_mount *m, int tree)
{
	(void)tree;
	int r = fh_enter_target(b, m->target);
	if (r < 0)
		return r;
	if (mount("none", ".", "proc", FH_MOUNT_PLAIN | MS_NOEXEC, NULL) < 0)
		return -errno;
	r = fh_enter_target(b, m->target); /* what is mounted there now */
	if (r == 0 && b->settings < 0)
		b->settings = open("sys", O_PATH | O_DIRECTORY | O_CLOEXEC);
	/* a template's own stays whole: the kernel lets its sandboxes mount theirs only where one can be seen whole */
	if (r < 0 || !(b->l->plan->layers & 1u << FH_LAYER_PROC) || b->l->part == FH_PART_SHARED)
		return r;
	return mask_proc(b);
}

static const struct {
	const char *name, *to;
} device_links[] = {
	{ "fd", "/proc/self/fd" },       { "stdin", "/proc/self/fd/0" }, { "stdout", "/proc/self/fd/1" },
	{ "stderr", "/proc/self/fd/2" }, { "ptmx", "pts/ptmx" },
};

/* The nodes are bound one by one: the host's /dev as a whole is never there. */
static int mount_nodes(struct fh_build *b, const struct fh_plan_mount *m)
{
	char path[FH_PLAN_PATH_MAX + 64];
	fh_auto_close int dev = fh_open_target(b, m->target, true);
	int r = FH_MIN(dev, 0);
	for (size_t i = 0; r == 0 && i < DEVICES; i++) {
		int node = FH_TAKE_FD(b->device[i]);
		/* read-only is for the node's times and mode; a device can be written to all the same */
		struct mount_attr a = { .attr_set = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC | MOUNT_ATTR_RDONLY,
			                    .attr_clr = b->own_nodes ? MOUNT_ATTR_NODEV : 0 };
		if (syscall(SYS_mount_setattr, node, "", AT_EMPTY_PATH, &a, sizeof(a)) < 0)
			return -errno;
		fh_join(path, m->target, device_nodes[i]);
		r = fh_put_tree(b, node, path);
	}
	for (size_t i = 0; r == 0 && i < FH_ARRAY_SIZE(device_links); i++)
		if (symlinkat(device_links[i].to, dev, device_links[i].name) < 0 && errno != EEXIST)
			r = -errno;
	return r;
}

static int put_own_bench(const struct fh_build *b, const char *target)
{
	char path[FH_BENCH_MAX + 16];
	fh_join(path, b->bench, FH_SHARED_BENCH);
	int r = fh_enter_target(b, target);
	return r < 0 ? r : mount(path, ".", NULL, MS_BIND, NULL) < 0 ? -errno : 0;
}

int fh_mount_dev(struct fh_build *b, const struct fh_plan_mount *m, int tree)
{
	/* max: all terminals of the host come from one pool (kernel.pty.max), which one sandbox could empty for all */
	static const char pts_options[] = "newinstance,ptmxmode=0666,mode=0620,max=64";
	char pts_path[FH_PLAN_PATH_MAX + 64], shm_path[FH_PLAN_PATH_MAX + 64];
	(void)tree;
	fh_join(pts_path, m->target, "pts");
	fh_join(shm_path, m->target, "shm");
	int r = b->l->part == FH_PART_OWN ? 0 : mount_nodes(b, m);
	if (r == 0 && b->l->part == FH_PART_SHARED) {
		r = fh_make_place(b, pts_path);
		return r < 0 ? r : put_own_bench(b, shm_path);
	}
	if (r == 0)
		r = fh_enter_target(b, pts_path);
	if (r == 0 && mount("none", ".", "devpts", MS_NOSUID | MS_NOEXEC, pts_options) < 0)
		r = -errno;
	return r < 0 || b->l->part == FH_PART_OWN ? r : fh_put_writable(b, shm_path, 01777);
}

int fh_open_devices(struct fh_build *b)
{
	b->has_nodes = true;
	for (size_t i = 0; i < DEVICES; i++) {
		char path[64];
		fh_join(path, "/dev", device_nodes[i]);
		fh_build_say(b, path);
		b->device[i] = fh_open_tree(AT_FDCWD, path, 0);
		if (b->device[i] < 0)
			return -errno;
	}
	return 0;
}

/* Nodes of the root's own instead of the host's, so that locks and watches on them concern nobody outside: as root of
 * the host, on the workbench, on which one stands. Else the host's stay. */
void fh_make_devices(struct fh_build *b)
{
	int made[DEVICES];
	size_t n = 0;
	if (!b->has_nodes || !b->l->ids.ranges || mkdir("devices", 0755) < 0)
		return;
	for (; n < DEVICES; n++) {
		char path[64];
		struct stat st;
		fh_join(path, "devices", device_nodes[n]);
		if (fstat(b->device[n], &st) < 0 || !S_ISCHR(st.st_mode) || mknod(path, st.st_mode, st.st_rdev) < 0)
			break;
		made[n] = fh_open_tree(AT_FDCWD, path, 0);
		if (made[n] < 0)
			break;
	}
	b->own_nodes = n == DEVICES;
	for (size_t i = 0; i < n; i++) {
		close(b->own_nodes ? b->device[i] : made[i]);
		if (b->own_nodes)
			b->device[i] = made[i];
	}
}
