/* SPDX-License-Identifier: MIT */
/*
 * A sandbox's /proc and /dev. These are mounted at every start, so they use one mount(2) each, relative to the working
 * directory, instead of the five calls that detached trees need.
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

/* Files of /proc that reveal or change something of the host. The list is Docker's (moby profiles, masked and read-only
 * paths), of whose read-only folders only `sys` can be read here: `bus` shows the host's devices, `fs` which blocks of
 * its disks are free (and reads them from the disk). Additions: `cmdline`, with which the host was started; `locks`,
 * which shows all locks of the host, through which sandboxes could exchange data; and `pressure`, where each writer is
 * given a kernel thread. Files that this kernel lacks are skipped. */
static const struct {
	const char *name;
	bool folder;
} proc_masked[] = {
	{ "acpi", true },
	{ "asound", true },
	{ "interrupts", false },
	{ "kcore", false },
	{ "keys", false },
	{ "key-users", false },
	{ "latency_stats", false },
	{ "sched_debug", false },
	{ "scsi", true },
	{ "timer_list", false },
	{ "timer_stats", false },
	{ "kallsyms", false },
	{ "kmsg", false },
	{ "config.gz", false },
	{ "sysrq-trigger", false },
	{ "locks", false },
	{ "pressure", true },
	{ "bus", true },
	{ "fs", true },
	{ "irq", true },
	{ "cmdline", false },
};
static const char *const proc_read_only[] = { "sys", "1/autogroup" };

/* The working directory is the new /proc, so no link of an image can be in the way. */
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
	r = fh_enter_target(b, m->target); /* enters the file system that was just mounted */
	if (r == 0 && b->settings < 0)
		b->settings = open("sys", O_PATH | O_DIRECTORY | O_CLOEXEC);
	/* A template's own /proc stays unmasked: the kernel lets its sandboxes mount a /proc only where an unmasked one is
	 * visible. */
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

/* Each node is bound on its own; the host's /dev as a whole is never visible. */
static int mount_nodes(struct fh_build *b, const struct fh_plan_mount *m)
{
	char path[FH_PLAN_PATH_MAX + 64];
	fh_auto_close int dev = fh_open_target(b, m->target, true);
	int r = FH_MIN(dev, 0);
	for (size_t i = 0; r == 0 && i < DEVICES; i++) {
		int node = FH_TAKE_FD(b->device[i]);
		/* read-only protects the node's times and mode; the device itself can still be written to */
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
	/* the option max is set because all terminals of the host come from one pool (kernel.pty.max), which a single
	 * sandbox could exhaust */
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
		b->device[i] = open(path, O_PATH | O_CLOEXEC);
		if (b->device[i] < 0)
			return -errno;
	}
	return 0;
}

/* Makes a node beside each of the host's in a folder of the workbench. Only root of the host can. */
static bool make_nodes(const struct fh_build *b)
{
	bool made = b->l->ids.ranges && mkdir("devices", 0755) == 0;
	for (size_t i = 0; made && i < DEVICES; i++) {
		char path[64];
		struct stat st;
		fh_join(path, "devices", device_nodes[i]);
		made = fstat(b->device[i], &st) == 0 && S_ISCHR(st.st_mode) && mknod(path, st.st_mode, st.st_rdev) == 0;
	}
	return made;
}

int fh_make_devices(struct fh_build *b)
{
	if (!b->has_nodes)
		return 0;
	b->own_nodes = make_nodes(b);
	for (size_t i = 0; i < DEVICES; i++) {
		char path[64];
		fh_join(path, "devices", device_nodes[i]);
		int tree = b->own_nodes ? fh_open_tree(AT_FDCWD, path, 0) : fh_open_tree(b->device[i], "", AT_EMPTY_PATH);
		if (tree < 0)
			return -errno;
		close(b->device[i]);
		b->device[i] = tree;
	}
	return 0;
}
