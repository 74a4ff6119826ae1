/* SPDX-License-Identifier: MIT */
/*
 * Shared by the files that build a sandbox's root: the state of one build, and functions on targets. The entry points
 * are declared in launch.h. All of it runs in the child: no malloc, no stdio. Functions return 0, a descriptor or
 * -errno.
 *
 * The root may be a hostile image, so a target is always resolved inside the new root, entered, and mounted on as ".".
 * Functions change the working directory freely; after an entry point returned, it is "/".
 */
#pragma once
#include <sys/mount.h>

#include "engine/make/launch.h"

enum { FH_DEVICES_MAX = 8, FH_BENCH_MAX = 16 };
/* The workbench for OWN parts: its folder on the workbench of a SHARED part, and the path at which it is mounted in the
 * sandbox until it is covered (fh_template_refuses makes sure that it can be). */
#define FH_SHARED_BENCH "bench"
#define FH_OWN_BENCH "/dev/shm"

/* The workbench is a small tmpfs over a folder of the old root, or the one that a template has for its sandboxes. It
 * holds "folder" and "file", read-only, which cover other files; the writable layer, "writable"; and, when a whole root
 * is built, "root". */
struct fh_build {
	const struct fh_launch *l;
	int root;                 /* the new root, O_PATH */
	char bench[FH_BENCH_MAX]; /* path of the workbench */
	int writable;             /* the writable layer */
	int tree[FH_PLAN_MOUNTS_MAX];
	/* the host's nodes for the DEV mount, of which a plan has at most one; then, detached trees that show them */
	int device[FH_DEVICES_MAX];
	/* has_nodes: the plan has a DEV mount; own_nodes: its nodes are new ones, not the host's (fh_make_devices) */
	bool has_nodes, own_nodes;
	uid_t uid;          /* ids of the program's user, as the file systems mounted here see them */
	bool root_writable; /* result of fh_plan_root_is_writable */
	unsigned folders;   /* number of folders made in the writable layer so far */
	int settings;       /* descriptor of /proc/sys, opened before it was made read-only */
	char *what;         /* the path or name being worked on, for the report */
	int32_t *step;      /* the step of the report, enum fh_setup_step */
};

/* Flags of mount(2). */
#define FH_MOUNT_PLAIN (MS_NOSUID | MS_NODEV)

void fh_build_say(struct fh_build *b, const char *what);

/* System calls that the C library may lack: open_tree(2), move_mount(2), mount_setattr(2), openat2(2). */
#ifndef AT_RECURSIVE
#define AT_RECURSIVE 0x8000
#endif
int fh_open_tree(int dir, const char *path, unsigned flags);
int fh_move_mount(int tree, int to, const char *path);
int fh_mount_set(int tree, unsigned flags, uint64_t attributes);

/* Opens a target. Missing components are made: the last one as a folder or an empty file, the others as folders. */
int fh_open_target(const struct fh_build *b, const char *path, bool folder);
/* Makes a target folder the working directory. */
int fh_enter_target(const struct fh_build *b, const char *path);
/* Mounts a detached tree at a target. Closes the tree. */
int fh_put_tree(const struct fh_build *b, int tree, const char *target);
/* Mounts a new folder of the writable layer at a target. */
int fh_put_writable(struct fh_build *b, const char *target, mode_t mode);
/* Covers a file or folder, relative to the working directory, with an empty one. `folder` says what it is expected to
 * be. A wrong guess costs time: the kernel undoes the mount and waits for an RCU grace period. */
int fh_cover_here(const struct fh_build *b, const char *name, bool folder);
/* Gives a newly made file to the program's user where the root is writable. `name` is not followed if it is a link. */
int fh_build_give(const struct fh_build *b, int dir, const char *name);
/* Makes a target to be mounted on by sandboxes, in a shared root. */
int fh_make_place(const struct fh_build *b, const char *target);
/* to = dir "/" name */
void fh_join(char *to, const char *dir, const char *name);
/* Writes v as decimal text. Returns where it begins in the buffer, which need not be its start. */
const char *fh_decimal(uint64_t v, char buffer[24]);

/* inodes.c: whether a mount shows a folder of the host's system, which is to get inodes of its own. */
bool fh_inodes_wanted(const struct fh_build *b, const struct fh_plan_mount *m);
/* Opens the trees of such mounts; where one cannot have its own inodes, its tree stays -1. The working directory must
 * be the workbench. */
void fh_inodes_open(struct fh_build *b);

/* One function for each kind of mount, in the order of enum fh_mount_kind. `tree`: the opened source of a
 * BIND or VOLUME. */
typedef int fh_mount_kind_fn(struct fh_build *b, const struct fh_plan_mount *m, int tree);
extern fh_mount_kind_fn *const fh_mount_kinds[FH_MOUNT_KIND_COUNT_];
/* volume.c: a detached tree of the folder, whose files belong to the sandbox's users; or -errno */
int fh_volume_open(const struct fh_build *b, int source);
fh_mount_kind_fn fh_mount_volume;
/* mount_system.c */
fh_mount_kind_fn fh_mount_proc, fh_mount_dev;
/* Opens the host's device nodes before the old root is covered. */
int fh_open_devices(struct fh_build *b);
/* Makes of each a detached tree that shows a new node, so that locks and watches on it reach no process outside, or,
 * where the host refuses that, the host's own. To be called between fh_open_devices and the closing of the workbench,
 * which must be the working directory. */
int fh_make_devices(struct fh_build *b);
