/* SPDX-License-Identifier: MIT */
/*
 * Making a sandbox: from a plan to an init that waits for its first message.
 *
 *     engine                                       child (setup.c)
 *     fh_launch: opens what the child will need
 *     clone3(namespaces) ───────────────────────▶  enters its control groups
 *                                                  builds the root from the plan's mounts, pivots into it
 *     as root: writes the id maps  ◀── "ids" ────  as root: a user namespace of its own
 *                                  ─── go ───────▶ Landlock, capabilities, no_new_privs, seccomp
 *     end of file: it worked       ◀────────────── exec of fumehood-init
 *
 * As a user, the user namespace comes first (it is what gives the right to do the rest) and holds one id. As root it
 * comes last, so that the mounts and all other namespaces belong to the host's user namespace and no capability that
 * a program might win counts for them.
 *
 * The child calls neither malloc nor stdio: it works on what the engine prepared, and reports one fixed record over a
 * close-on-exec pipe.
 */
#pragma once
#include "base/error.h"
#include "engine/host/cgroup.h"
#include "engine/host/ids.h"
#include "proto/plan.h"

/* What went wrong in the child, and where. Fits a pipe's atomic write. */
struct fh_setup_report {
	int32_t step; /* enum fh_setup_step; 0: this is the request for id maps */
	int32_t error;
	uint32_t layers_off; /* bits: layers that the kernel does not have (Landlock on an old one) */
	uint32_t landlock;   /* 1: the kernel refuses to mount as it does only under Landlock */
	char what[256];      /* a path or a name */
};

enum fh_setup_step {
	FH_SETUP_IDS = 0,
	FH_SETUP_CGROUP = 1,
	FH_SETUP_UNSHARE,
	FH_SETUP_MAPS,
	FH_SETUP_NETWORK,
	FH_SETUP_HOSTNAME,
	FH_SETUP_ROOT,
	FH_SETUP_MOUNT,
	FH_SETUP_PIVOT,
	FH_SETUP_LANDLOCK,
	FH_SETUP_CAPABILITIES,
	FH_SETUP_SECCOMP,
	FH_SETUP_EXEC,
	FH_SETUP_READY, /* the last record of a child that worked: layers_off and landlock count */
	FH_SETUP_COUNT_
};

/* A root may be made at once, or in two parts: what all sandboxes of a template share, and what each has of its own
 * (its /proc, writable folders, terminals), which is mounted over the shared part. */
enum fh_part { FH_PART_WHOLE, FH_PART_SHARED, FH_PART_OWN };

/* All that the child needs, made before the fork. */
struct fh_launch {
	enum fh_part part;
	const struct fh_plan *plan;
	const struct fh_cgroup *cgroup;
	struct fh_ids ids;
	int init_image;      /* sealed memory that holds fumehood-init */
	int init_socket;     /* becomes descriptor 3 of init */
	int report;          /* write end of the report pipe */
	int go;              /* read end: one byte when the id maps are written */
	bool sampling;       /* init counts itself: it needs to look at every process */
	bool counts_sockets; /* init counts the buffers of sockets */
	bool has_network;    /* it is in its network namespace already, the loopback interface up */
	uint64_t root_bytes; /* size of the root's own tmpfs */
};

/* setup.c: the child's whole life up to exec; never returns. */
FH_NORETURN void fh_setup(const struct fh_launch *l);

/* setup.c: the same for a sandbox of a template, in a child of its holder (template.h). What it has made besides (rule
 * set, writable layer) init hands to the engine; what failed, this does, in a struct fh_init_launched either way. */
FH_NORETURN void fh_setup_own(const struct fh_launch *l);

/* In a child: no signal blocked, ignored or handled. */
void fh_reset_signals(void);

/* mounts.c: builds the root (WHOLE, SHARED) and makes it /. 0, or -errno with *ret_step and what filled. *ret_settings
 * becomes an O_PATH descriptor of the new /proc/sys below what covers it, close-on-exec; -1 where the plan has none. */
int fh_mounts_build(const struct fh_launch *l, int32_t *ret_step, char what[256], int *ret_settings);
/* mounts.c: mounts a sandbox's OWN part over the root that is there; *ret_disk: the writable layer. */
int fh_mounts_own(const struct fh_launch *l, int32_t *ret_step, char what[256], int *ret_disk, int *ret_settings);

/* landlock.c: restricts the calling process to the plan's folders. 0; 1: the kernel has no Landlock; -errno. */
int fh_landlock_enter(const struct fh_plan *plan);
/* The rule set for that, to be entered by others; -ENOSYS: the kernel has no Landlock; or -errno. */
int fh_landlock_rules(const struct fh_plan *plan);
/* Into a domain that only keeps a zygote, and what it forks, from tracing and signalling others. Returns as above. */
int fh_landlock_confine(void);

struct fh_child {
	pid_t pid;
	int pidfd;
	int socket; /* the engine's end of init's pair */
	int report; /* read end */
	int go;     /* write end, -1 when no maps are needed */
};
/* Clones and returns at once; the report pipe tells how it went. */
int fh_launch(const struct fh_plan *plan, enum fh_part part, const struct fh_cgroup *cgroup, const struct fh_ids *ids,
              bool sampling, struct fh_child *ret, struct fh_error *err);
/* fumehood-init in sealed memory, for the engine's life; -1 with err. */
int fh_launch_init_image(struct fh_error *err);
/* CLONE_NEW* of the plan's layers, but for the user and cgroup namespaces. */
uint64_t fh_launch_namespaces(const struct fh_plan *plan);
/* Writes the child's id maps (ranges only). */
int fh_launch_write_maps(const struct fh_child *c, const struct fh_ids *ids, struct fh_error *err);
/* Turns the child's report into an error with a hint for the causes that people meet. */
int fh_launch_failed(const struct fh_setup_report *r, struct fh_error *err);
/* Hint for a clone or unshare that the host refused. */
void fh_launch_explain(int error, struct fh_error *err);
