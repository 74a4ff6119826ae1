/* SPDX-License-Identifier: MIT */
/*
 * Starts a program inside a template's namespaces, as a child of the engine: one that the engine trusts, or an
 * interpreter that becomes a zygote.
 *
 * A helper process enters the namespaces of the template's anchor and clones the program with CLONE_PARENT. The helper
 * is needed because setns to a pid namespace takes effect only for children, and because the anchor, as pid 1, may not
 * use CLONE_PARENT. It reports over a SOCK_SEQPACKET pair: one struct fh_entered with the program's pidfd, a second one
 * if exec fails, end of file if exec worked.
 */
#pragma once
#include <linux/filter.h>

#include "base/error.h"
#include "engine/host/cgroup.h"
#include "engine/make/launch.h"

struct fh_entry {
	int anchor;            /* pidfd of the process whose namespaces are entered */
	uint64_t namespaces;   /* CLONE_NEW* bits of the anchor's namespaces to enter, including the user namespace */
	uint32_t uid, gid;     /* ids to change to, as seen in the user namespace */
	uint64_t capabilities; /* capabilities to keep across exec, in that user namespace */
	bool no_new_privs;
	/* whether to enter a Landlock domain from which no process outside can be traced or signalled (landlock.c) */
	bool confined;
	const struct sock_fprog *filter; /* NULL: no seccomp filter */
	const struct fh_cgroup *cgroup;  /* the template's control group; NULL: stay in the engine's */
	const char *cwd;                 /* path inside the namespaces */
	int image;                       /* a descriptor to execute; -1: execute argv[0], a path inside */
	char *const *argv, *const *env;
	/* pairs of our descriptor (20 or above) and its number in the program; all others are closed */
	const int (*fds)[2];
	size_t fd_count;
};

struct fh_entered {
	int32_t error; /* errno of the failed step; 0: success, and the packet carries the program's pidfd */
	int32_t step;  /* enum fh_entry_step */
};
enum fh_entry_step {
	FH_ENTRY_NAMESPACES,
	FH_ENTRY_CLONE,
	FH_ENTRY_CGROUP,
	FH_ENTRY_IDS,
	FH_ENTRY_CWD,
	FH_ENTRY_DESCRIPTORS,
	FH_ENTRY_CAPABILITIES,
	FH_ENTRY_CONFINEMENT,
	FH_ENTRY_FILTER,
	FH_ENTRY_EXEC,
	FH_ENTRY_COUNT_
};
extern const char *const fh_entry_step_texts[FH_ENTRY_COUNT_]; /* by step: "enter the template's namespaces" … */

/* Starts the helper. *ret_helper: its pidfd, which the caller waits for. *ret_report: our end of the pair,
 * non-blocking. */
int fh_enter(const struct fh_entry *e, int *ret_helper, int *ret_report, struct fh_error *err);
