/* SPDX-License-Identifier: MIT */
/*
 * Makes a sandbox: turns a plan into an init that waits for its first message.
 *
 *     engine                                       child (setup.c)
 *     fh_launch: opens what the child will need
 *     clone3(namespaces) ───────────────────────▶  enters its control groups
 *                                                  builds the root from the plan's mounts, pivots into it
 *     as root: writes the id maps  ◀── "ids" ────  as root: a user namespace of its own
 *                                  ─── go ───────▶ Landlock, capabilities, no_new_privs, seccomp
 *     end of file: it worked       ◀────────────── exec of fumehood-init
 *
 * Run by a user, the child creates the user namespace first, because it gives the right to create the others; it maps
 * one id. Run by root, it creates the user namespace last: the mounts and all other namespaces then belong to the
 * host's user namespace, and no capability that a program might gain inside applies to them.
 *
 * The child calls neither malloc nor stdio. It works on what the engine prepared and reports one fixed record over a
 * close-on-exec pipe.
 */
#pragma once
#include "base/error.h"
#include "engine/host/cgroup.h"
#include "engine/host/ids.h"
#include "proto/plan.h"

/* The record that the child writes to the report pipe: what failed, and where. Small enough for an atomic write. */
struct fh_setup_report {
	int32_t step; /* enum fh_setup_step; FH_SETUP_IDS asks for the id maps */
	int32_t error;
	uint32_t layers_off; /* bit set of layers that the kernel does not support, such as Landlock on an old one */
	/* 1: the kernel refused a mount that only Landlock would refuse, which shows that Landlock is in force */
	uint32_t landlock;
	char what[256]; /* path or name that the failed step worked on */
};

enum fh_setup_step {
	FH_SETUP_IDS = 0,
	FH_SETUP_CGROUP = 1,
	FH_SETUP_UNSHARE,
	FH_SETUP_MAPS,
	FH_SETUP_NETWORK,
	FH_SETUP_HOSTNAME,
	FH_SETUP_ROOT,
	FH_SETUP_VOLUME,
	FH_SETUP_MOUNT,
	FH_SETUP_PIVOT,
	FH_SETUP_LANDLOCK,
	FH_SETUP_CAPABILITIES,
	FH_SETUP_SECCOMP,
	FH_SETUP_EXEC,
	FH_SETUP_READY, /* the last record of a child that succeeded; layers_off and landlock are valid */
	FH_SETUP_COUNT_
};

/* Which part of a root to build. A root is made at once, or in two parts: the part that all sandboxes of a template
 * share, and each sandbox's own part (/proc, writable folders, terminals), which is mounted over the shared one. */
enum fh_part { FH_PART_WHOLE, FH_PART_SHARED, FH_PART_OWN };

/* Everything that the child needs, prepared before the fork. */
struct fh_launch {
	enum fh_part part;
	const struct fh_plan *plan;
	const struct fh_cgroup *cgroup;
	struct fh_ids ids;
	int init_image;      /* sealed memory that holds fumehood-init */
	int init_socket;     /* becomes descriptor 3 of init */
	int report;          /* write end of the report pipe */
	int go;              /* read end; one byte arrives when the id maps are written */
	bool has_network;    /* the child is in its network namespace already, with the loopback interface up */
	uint64_t root_bytes; /* size of the root's own tmpfs, in bytes */
};

/* setup.c: runs the child up to exec; never returns. */
FH_NORETURN void fh_setup(const struct fh_launch *l);

/* setup.c: the same for a sandbox made from a template, in a child of the template's holder. On success, init sends a
 * struct fh_init_launched to the engine, with the Landlock rule set and the writable layer. On failure this function
 * sends it. */
FH_NORETURN void fh_setup_own(const struct fh_launch *l);

/* For a child after fork: unblocks all signals and resets them to the default action. */
void fh_reset_signals(void);

/* mounts.c: builds the root (WHOLE, SHARED) and pivots into it. Returns 0, or -errno with *ret_step and `what` set.
 * *ret_settings becomes an O_PATH descriptor of the new /proc/sys from before it was covered, close-on-exec; -1 if the
 * plan has no /proc. */
int fh_mounts_build(const struct fh_launch *l, int32_t *ret_step, char what[256], int *ret_settings);
/* mounts.c: mounts a sandbox's own part over the shared root. *ret_disk: the writable layer. */
int fh_mounts_own(const struct fh_launch *l, int32_t *ret_step, char what[256], int *ret_disk, int *ret_settings);

/* landlock.c: restricts the calling process to the plan's folders. Returns 0; 1: the kernel has no Landlock; or
 * -errno. */
int fh_landlock_enter(const struct fh_plan *plan);
/* Makes the Landlock rule set that fh_landlock_enter would enter, for other processes. Returns its descriptor, or
 * -errno (-ENOSYS: the kernel has no Landlock). */
int fh_landlock_rules(const struct fh_plan *plan);
/* Enters a domain that only keeps a zygote, and the programs it forks, from tracing and signalling processes outside.
 * Returns as fh_landlock_enter. */
int fh_landlock_confine(void);

/* The init of a sandbox or template, from its clone on. */
struct fh_launched {
	pid_t pid;
	int pidfd;
	int socket; /* the engine's end of the pair whose other end is init's */
	int report; /* read end */
	int go;     /* write end; -1: no id maps have to be written */
};
/* Clones the child and returns at once; the report pipe tells how it went. */
int fh_launch(const struct fh_plan *plan, enum fh_part part, const struct fh_cgroup *cgroup, const struct fh_ids *ids,
              struct fh_launched *ret, struct fh_error *err);
/* A descriptor of fumehood-init in sealed memory, which stays open as long as the engine runs; -1 with err. */
int fh_launch_init_image(struct fh_error *err);
/* The CLONE_NEW* bits of the plan's layers, without those for the user and cgroup namespaces. */
uint64_t fh_launch_namespaces(const struct fh_plan *plan);
/* Writes the child's id maps; with ranges only. */
int fh_launch_write_maps(const struct fh_launched *c, const struct fh_ids *ids, struct fh_error *err);
/* Turns the child's report into an error; common causes get a hint. */
int fh_launch_failed(const struct fh_setup_report *r, struct fh_error *err);
