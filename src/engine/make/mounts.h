/* SPDX-License-Identifier: MIT */
/*
 * What the files that build a sandbox's root share: the state of one build, and ways to a target (launch.h has the
 * entrances). They run in the child: no malloc, no stdio. Functions return 0, a descriptor or -errno.
 *
 * The root may be an image, which is hostile: a target is always resolved inside the new root, and then mounted on as
 * the folder one stands in. The working directory is moved about freely; who calls the entrances ends in "/".
 */
#pragma once
#include <sys/mount.h>

#include "engine/make/launch.h"

enum { FH_DEVICES_MAX = 8, FH_BENCH_MAX = 16 };
/* On the workbench of a SHARED part: what becomes that of the OWN parts over it; and where it is then, until it is
 * covered (fh_template_refuses sees to it that it can be). */
#define FH_SHARED_BENCH "bench"
#define FH_OWN_BENCH "/dev/shm"

/* The workbench, a small tmpfs over a folder of the old root, or the one that a template has for its sandboxes. On it
 * stand what things are covered with, read-only: "folder" and "file"; the writable layer, "writable"; and in a build of
 * a whole root, "root". */
struct fh_build {
	const struct fh_launch *l;
	int root;                 /* the new root, O_PATH */
	char bench[FH_BENCH_MAX]; /* path of the workbench */
	int writable;             /* the writable layer */
	int tree[FH_PLAN_MOUNTS_MAX];
	int device[FH_DEVICES_MAX]; /* of the one DEV mount that a plan may have */
	bool has_nodes, own_nodes;  /* there is such a mount; its nodes are not the host's (fh_make_devices) */
	uid_t uid;                  /* the program's, as the file systems made here see it */
	bool root_writable;         /* fh_plan_root_is_writable */
	unsigned folders;           /* made in the writable layer so far */
	int settings;               /* /proc/sys, while it can still be written to */
	char *what;                 /* what is being done, for the report */
};

/* Flags of mount(2). */
#define FH_MOUNT_PLAIN (MS_NOSUID | MS_NODEV)

void fh_build_say(struct fh_build *b, const char *what);

/* The syscalls that the C library may not have: open_tree(2), move_mount(2), mount_setattr(2), openat2(2). */
int fh_open_tree(int dir, const char *path, unsigned flags);
int fh_move_mount(int tree, int to, const char *path);
int fh_mount_set(int tree, unsigned flags, uint64_t attributes);
/* A path inside the new root; links in it are followed as a process in there would. */
int fh_open_in_root(const struct fh_build *b, const char *path, uint64_t flags);

/* Opens a target; what is missing of it is made, itself as a folder or an empty file. */
int fh_open_target(const struct fh_build *b, const char *path, bool folder);
/* Stands in a folder that is a target. */
int fh_enter_target(const struct fh_build *b, const char *path);
/* Puts a detached tree at a target. Closes the tree. */
int fh_put_tree(const struct fh_build *b, int tree, const char *target);
/* A new folder of the writable layer at target. */
int fh_put_writable(struct fh_build *b, const char *target, mode_t mode);
/* Covers a file or folder, a path from where one stands, with nothing. `folder`: what it is expected to be; the kernel
 * tells when it is not, and then takes back what it had begun, for which it waits until all processors have noticed. */
int fh_cover_here(const struct fh_build *b, const char *name, bool folder);
/* What was just made in the root is the program's where the root is; `name` is never followed. */
int fh_build_give(const struct fh_build *b, int dir, const char *name);
/* A place to mount on, in a root that is shared. */
int fh_make_place(const struct fh_build *b, const char *target);
/* to = dir "/" name */
void fh_join(char *to, const char *dir, const char *name);
/* Room for the longest number and a zero; the text begins somewhere in it. */
const char *fh_decimal(uint64_t v, char buffer[24]);

/* One function for each kind of mount, in the order of enum fh_mount_kind; `tree` is a BIND's opened source. */
typedef int fh_mount_kind_fn(struct fh_build *b, const struct fh_plan_mount *m, int tree);
extern fh_mount_kind_fn *const fh_mount_kinds[FH_MOUNT_KIND_COUNT_];
/* mount_system.c */
fh_mount_kind_fn fh_mount_proc, fh_mount_dev;
/* The host's device nodes, opened before the old root is covered. */
int fh_open_devices(struct fh_build *b);
/* Nodes of its own in their place, where the host lets us: after that, and before the workbench is closed. */
void fh_make_devices(struct fh_build *b);
