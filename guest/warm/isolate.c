/* SPDX-License-Identifier: MIT */
/*
 * Moves a fork of the zygote into one sandbox. The order is that of engine/make/setup.c: steps that need a capability
 * come before the step that drops it, and the filter is loaded before capabilities are dropped, because without
 * no_new_privs loading it needs one.
 */
#include "warm.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <signal.h>

static long write_text(const char *path, const char *text)
{
	long fd = fh_sys(__NR_openat, AT_FDCWD, path, O_WRONLY | O_CLOEXEC, 0);
	long r = fd < 0 ? fd : fh_write_full((int)fd, text, strlen(text));
	if (fd >= 0)
		fh_sys(__NR_close, fd);
	return r;
}

static long enter_groups(const int *tasks, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		long r = fh_sys(__NR_write, tasks[i], "0", 1);
		if (r != 1)
			return r < 0 ? r : -EIO;
	}
	return 0;
}

/* Sets the process state that a fresh program gets from engine/make/setup.c and init/spawn.c. */
static long new_session(void)
{
	uint64_t nothing = 0;
	long r = fh_sys(__NR_setsid);
	fh_sys(__NR_rt_sigprocmask, SIG_SETMASK, &nothing, 0, 8);
	fh_sys(__NR_umask, 022);
	/* When memory runs out, the program should be killed before init. The kernel makes root the owner of this file
	 * until the ids are set and the process is dumpable. If /proc is missing, the default stays, which does no harm. */
	fh_sys(__NR_prctl, PR_SET_DUMPABLE, 1, 0, 0, 0);
	write_text("/proc/self/oom_score_adj", "1000");
	return r < 0 ? r : 0;
}

static long load_seal(const void *seal, uint32_t count)
{
	struct sock_fprog program = { .len = (unsigned short)count, .filter = (struct sock_filter *)(uintptr_t)seal };
	return count ? fh_sys(__NR_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) : 0;
}

static long settle_ids(const struct fh_zygote_fork *m)
{
	struct fh_init_start as = { 0 };
	as.uid = m->uid;
	as.gid = m->gid;
	as.switch_ids = !!(m->flags & FH_FORK_SWITCH_IDS);
	as.keep_capabilities = !!(m->flags & FH_FORK_KEEP_CAPABILITIES);
	return fh_init_become_user(&as);
}

/* Enters each namespace by its own descriptor. Entering by init's pidfd would need the right to trace init, and with it
 * every other sandbox. */
static long enter_namespaces(uint32_t namespaces, const int *fds)
{
	long r = 0;
	for (size_t i = 0; r == 0 && i < FH_ZYGOTE_NAMESPACES; i++)
		if (namespaces & fh_zygote_namespaces[i].flag) {
			if (fh_zygote_namespaces[i].flag != CLONE_NEWPID) /* the pid namespace was entered before the fork */
				r = fh_sys(__NR_setns, *fds, fh_zygote_namespaces[i].flag);
			fds++;
		}
	return r;
}

int fh_warm_isolate(const struct fh_zygote_fork *m, const void *seal, const int *namespaces, int landlock,
                    const int *tasks, uint32_t *ret_step)
{
	*ret_step = FH_WARM_CGROUP;
	long r = enter_groups(tasks, m->cgroups);
	if (r == 0) {
		*ret_step = FH_WARM_NAMESPACES;
		r = enter_namespaces(m->namespaces, namespaces);
	}
	if (r == 0) {
		*ret_step = FH_WARM_SESSION;
		r = new_session();
	}
	if (r == 0 && m->flags & FH_FORK_NO_NEW_PRIVS) {
		*ret_step = FH_WARM_PRIVS;
		r = fh_sys(__NR_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	}
	if (r == 0 && landlock >= 0) {
		*ret_step = FH_WARM_LANDLOCK;
		r = fh_enter_domain(landlock);
	}
	if (r == 0) {
		*ret_step = FH_WARM_SECCOMP;
		r = load_seal(seal, m->seal_count);
	}
	if (r == 0) {
		*ret_step = FH_WARM_IDS;
		r = settle_ids(m);
	}
	/* changing ids has cleared this flag; in a fresh start, exec sets it again */
	fh_sys(__NR_prctl, PR_SET_DUMPABLE, 1, 0, 0, 0);
	if (r == 0)
		*ret_step = FH_WARM_NONE;
	return (int)r;
}
