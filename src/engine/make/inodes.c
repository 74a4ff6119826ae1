/* SPDX-License-Identifier: MIT */
/*
 * Shows the folders of the host's system by overlays, so that their files have inodes of the sandbox's own.
 *
 * A bind mount shows the host's own inodes. The kernel keeps locks and watches with an inode and bounds the number of
 * neither: each record lock that a sandbox holds on a library makes the next close of that library slower for all
 * processes of the host, and a watch tells who opens it. An overlay has its own inodes for the same pages in memory. It
 * has two lower layers, the folder and an empty one, and no upper one, so nothing is ever copied or written.
 *
 * An overlay does not notice when the files below it are replaced, and mounting one costs as much as twenty bind
 * mounts. So there is one for the whole root file system where that is allowed (as a user, the mounts inside of it are
 * locked, and there is one for each folder of it), a template's is shared by its sandboxes, and what the user mounts is
 * bound. What has another mount inside is bound, too, and so is what the kernel refuses: as a user in a container, the
 * parts of /etc. What a result says of the layer is read from /usr. Sources: Documentation/filesystems/overlayfs.rst,
 * proc_pid_mountinfo(5).
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/path.h"
#include "engine/make/mounts.h"

enum { LINE_MAX_BYTES = 4096 };

/* Folders of the root file system that only a package manager changes. */
static const char *const system_folders[] = { "/usr", "/etc", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32" };

/* The overlays of this process's one build: at most one for each folder. */
static struct {
	const char *lower; /* the folder that the overlay shows: "/", or one of system_folders */
	int root;          /* or -errno */
} bases[FH_ARRAY_SIZE(system_folders)];
static unsigned base_count;
static bool disturbed[FH_PLAN_MOUNTS_MAX]; /* for each mount of the plan: whether an overlay shows its source */

/* The folder of the system that contains `path`, or NULL. */
static const char *system_folder_of(const char *path)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(system_folders); i++)
		if (fh_path_within(path, system_folders[i]))
			return system_folders[i];
	return NULL;
}

/* Whether a mount shows the host's system: a whole system folder, or a part of /etc. The user asked for any other mount
 * of something below such a folder, and that is bound. */
bool fh_inodes_wanted(const struct fh_build *b, const struct fh_plan_mount *m)
{
	if (!(b->l->plan->layers & 1u << FH_LAYER_INODES) || m->kind != FH_MOUNT_BIND || m->writable ||
	    !fh_streq(m->source, m->target))
		return false;
	const char *folder = system_folder_of(m->source);
	return folder && (fh_streq(m->source, folder) || fh_streq(folder, "/etc"));
}

/* The mount point of a line of mountinfo, its fifth field, ended by a zero byte; NULL: there is none. */
static char *mount_point_of(char *line)
{
	for (int field = 1; field < 5; field++) {
		line = strchr(line, ' ');
		if (!line)
			return NULL;
		line++;
	}
	char *end = strchr(line, ' ');
	if (end)
		*end = 0;
	return end ? line : NULL;
}

/* Marks the sources that have a mount point at, inside or above them: an overlay would show what that mount hides. */
static void mark_disturbed(const struct fh_build *b, const char *point)
{
	const struct fh_plan *p = b->l->plan;
	if (fh_streq(point, "/") || !system_folder_of(point))
		return;
	for (size_t i = 0; i < p->mount_count; i++)
		if (fh_inodes_wanted(b, &p->mounts[i]))
			disturbed[i] |= fh_path_within(point, p->mounts[i].source) || fh_path_within(p->mounts[i].source, point);
}

/* Marks the sources that are not entirely on the mount of the root file system. False: the list of mounts could not be
 * read. */
static bool find_disturbed(const struct fh_build *b)
{
	char text[4 * LINE_MAX_BYTES + 1];
	size_t have = 0;
	fh_auto_close int fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	for (ssize_t n; fd >= 0 && (n = read(fd, text + have, sizeof(text) - 1 - have)) > 0;) {
		char *line = text, *end;
		text[have + (size_t)n] = 0;
		for (; (end = strchr(line, '\n')); line = end + 1) {
			*end = 0;
			const char *point = mount_point_of(line);
			if (!point)
				return false;
			mark_disturbed(b, point);
		}
		have = strlen(line);
		if (have == sizeof(text) - 1) /* the line is longer than the buffer */
			return false;
		memmove(text, line, have);
	}
	return fd >= 0 && have == 0;
}

/* Appends text to a string whose buffer has room for it. */
static void add(char *to, const char *text)
{
	memcpy(to + strlen(to), text, strlen(text) + 1);
}

/* Mounts an overlay of `lower` on the workbench, which must be the working directory. Returns the overlay's root, or
 * -errno. */
static int mount_base(const struct fh_build *b, const char *lower)
{
	char options[64] = "", name[32] = "system", number[24];
	add(name, fh_decimal(base_count, number));
	add(options, b->l->ids.ranges ? "lowerdir=" : "userxattr,lowerdir=");
	add(options, lower);
	add(options, ":folder");
	if (mkdir(name, 0755) < 0 || mount("none", name, "overlay", FH_MOUNT_PLAIN | MS_RDONLY, options) < 0)
		return -errno;
	int root = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return root < 0 ? -errno : root;
}

/* The root of the overlay that shows the folder `lower`, made at the first call; or -errno. A folder whose overlay
 * failed is not tried again. */
static int base_of(const struct fh_build *b, const char *lower)
{
	for (unsigned i = 0; i < base_count; i++)
		if (fh_streq(bases[i].lower, lower))
			return bases[i].root;
	int root = mount_base(b, lower);
	bases[base_count].lower = lower;
	bases[base_count++].root = root;
	return root;
}

/* A detached tree that shows `path` by an overlay, or -errno. */
static int open_own(const struct fh_build *b, const char *path)
{
	const char *lower = b->l->ids.ranges ? "/" : system_folder_of(path);
	int root = base_of(b, lower);
	if (root < 0)
		return root;
	const char *inside = path + (lower[1] ? strlen(lower) : 0);
	struct open_how how = { .flags = O_PATH | O_CLOEXEC,
		                    .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV };
	fh_auto_close int at = (int)syscall(SYS_openat2, root, inside[0] ? inside + 1 : ".", &how, sizeof(how));
	int tree = at < 0 ? -1 : fh_open_tree(at, "", AT_EMPTY_PATH);
	return tree < 0 ? -errno : tree;
}

void fh_inodes_open(struct fh_build *b)
{
	const struct fh_plan *p = b->l->plan;
	bool known = find_disturbed(b);
	for (size_t i = 0; known && i < p->mount_count; i++)
		if (fh_inodes_wanted(b, &p->mounts[i]) && !disturbed[i])
			b->tree[i] = FH_MAX(open_own(b, p->mounts[i].source), -1);
	for (unsigned i = 0; i < base_count; i++)
		if (bases[i].root >= 0)
			close(bases[i].root);
}
