/* SPDX-License-Identifier: MIT */
/* Volumes: folders of the host that are mounted in several sandboxes, each of which writes there as its own users.
 *
 * Where each sandbox has its own range of host ids, files that one sandbox wrote would belong to unknown ids in the
 * next. So on disk the files of volumes have ids from a range of their own (FH_IDS_VOLUMES), and an id-mapped mount
 * shows these as the sandbox's ids (mount_setattr(2), MOUNT_ATTR_IDMAP). No user of the host has an id of that range,
 * so a setuid program that a sandbox leaves in a volume gives no user's rights. */
#include "engine/make/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef MOUNT_ATTR_IDMAP
#define MOUNT_ATTR_IDMAP 0x00100000
#endif

enum { PROGRAM_ID = 1000 }; /* id inside of the user to whom an empty volume is given */

struct opened {
	int process, namespace; /* /proc/PID and /proc/PID/ns/user of the child, or -errno */
};

/* The child of map_namespace. It shares the descriptors of its parent, so that it can pass them by number. */
static void hold_namespace(int answer)
{
	struct opened o = { -EPERM, -EPERM };
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (unshare(CLONE_NEWUSER) == 0) {
		o.process = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC);
		o.process = o.process < 0 ? -errno : o.process;
		o.namespace = open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC);
		o.namespace = o.namespace < 0 ? -errno : o.namespace;
	} else {
		o.process = -errno;
	}
	(void)!write(answer, &o, sizeof(o));
	for (;;)
		pause();
}

static int write_map(int process, const char *file, const char *map)
{
	fh_auto_close int fd = openat(process, file, O_WRONLY | O_CLOEXEC);
	return fd >= 0 && write(fd, map, strlen(map)) == (ssize_t)strlen(map) ? 0 : -errno;
}

static void add_number(char *to, uint64_t number)
{
	char digits[24];
	const char *text = fh_decimal(number, digits);
	memcpy(to + strlen(to), text, strlen(text) + 1);
	memcpy(to + strlen(to), " ", 2);
}

/* A user namespace in which the ids of volumes on disk are those of this sandbox on the host: its descriptor, or
 * -errno. It lives as long as the mount that uses it. */
static int map_namespace(const struct fh_build *b)
{
	char map[80] = "";
	struct opened o;
	int pair[2], status;
	if (pipe2(pair, O_CLOEXEC) < 0)
		return -errno;
	fh_auto_close int from = pair[0], to = pair[1];
	pid_t child = (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
	if (child == 0)
		hold_namespace(to);
	if (child < 0)
		return -errno;
	add_number(map, FH_IDS_VOLUMES);
	add_number(map, b->l->ids.base);
	add_number(map, FH_IDS_RANGE);
	ssize_t n;
	while ((n = read(from, &o, sizeof(o))) < 0 && errno == EINTR)
		;
	fh_auto_close int process = n == sizeof(o) ? o.process : -EIO, own = n == sizeof(o) ? o.namespace : -EIO;
	int r = process < 0 ? process : own < 0 ? own : write_map(process, "uid_map", map);
	if (r == 0)
		r = write_map(process, "gid_map", map);
	(void)kill(child, SIGKILL);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return r < 0 ? r : FH_TAKE_FD(own);
}

/* Gives a new volume, which the engine's own user has made, to the program's user. A folder of any other user is
 * refused as a volume, because its owner would lose it. */
static int give_new(int source, int tree, const struct fh_build *b)
{
	struct stat st;
	uid_t own = FH_IDS_VOLUMES + PROGRAM_ID;
	if (fstat(tree, &st) < 0)
		return -errno;
	if (st.st_uid >= b->l->ids.base && st.st_uid < b->l->ids.base + FH_IDS_RANGE)
		return 0;
	if (fstat(source, &st) < 0)
		return -errno;
	if (st.st_uid != 0)
		return -EACCES;
	return fchownat(source, "", own, own, AT_EMPTY_PATH) < 0 ? -errno : 0;
}

int fh_volume_open(const struct fh_build *b, int source)
{
	struct stat st;
	if (fstat(source, &st) < 0)
		return -errno;
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	fh_auto_close int tree = fh_open_tree(source, "", AT_EMPTY_PATH);
	if (tree < 0)
		return -errno;
	if (!b->l->ids.ranges) /* the sandbox uses the id of the engine's user, to whom the volume's files belong */
		return FH_TAKE_FD(tree);
	fh_auto_close int namespace = map_namespace(b);
	if (namespace < 0)
		return namespace;
	struct mount_attr mapped = { .attr_set = MOUNT_ATTR_IDMAP, .userns_fd = (uint64_t) namespace };
	if (syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH, &mapped, sizeof(mapped)) < 0)
		return -errno;
	int r = give_new(source, tree, b);
	return r < 0 ? r : FH_TAKE_FD(tree);
}

int fh_mount_volume(struct fh_build *b, const struct fh_plan_mount *m, int tree)
{
	if (fh_mount_set(tree, 0, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV) < 0)
		return -errno;
	return fh_put_tree(b, tree, m->target);
}
