/* SPDX-License-Identifier: MIT */
/*
 * Starting a program of the engine's trust, or an interpreter that is to become a zygote, inside a template's
 * namespaces, as a child of the engine.
 *
 * A helper enters the namespaces of the template's anchor and clones the program with CLONE_PARENT: only a child is
 * active in a pid namespace that was entered, and the anchor, as pid 1, may not clone so. It reports over a
 * SOCK_SEQPACKET pair: one struct fh_entered with the program's pidfd, one more should exec fail, and end of file when
 * exec worked.
 */
#pragma once
#include <linux/filter.h>

#include "base/error.h"
#include "engine/host/cgroup.h"
#include "engine/make/launch.h"

struct fh_entry {
	int anchor;            /* pidfd */
	uint64_t namespaces;   /* CLONE_NEW* of it to enter, the user namespace among them */
	uint32_t uid, gid;     /* to become, as the user namespace shows them */
	uint64_t capabilities; /* to keep, across exec; in that user namespace */
	bool no_new_privs;
	bool confined;                   /* in a Landlock domain that keeps it from everybody else (landlock.c) */
	const struct sock_fprog *filter; /* NULL: none */
	const struct fh_cgroup *cgroup;  /* of the template; NULL: the engine's own */
	const char *cwd;                 /* inside */
	int image;                       /* a descriptor to execute, or -1: argv[0] as a path inside */
	char *const *argv, *const *env;
	const int (*fds)[2]; /* pairs: ours, its number; everything else is closed. None of ours is below 20 */
	size_t fd_count;
};

struct fh_entered {
	int32_t error; /* errno; 0: the descriptor is the program's pidfd */
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
extern const char *const fh_entry_step_texts[FH_ENTRY_COUNT_]; /* "enter the template's namespaces" … */

/* Starts the helper. *ret_helper: its pidfd, to be waited for; *ret_report: our end of the pair, not blocking. */
int fh_enter(const struct fh_entry *e, int *ret_helper, int *ret_report, struct fh_error *err);
