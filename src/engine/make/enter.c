/* SPDX-License-Identifier: MIT */
/* Runs partly after fork: no malloc, no stdio there. */
#include "engine/make/enter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "engine/host/packet.h"

const char *const fh_entry_step_texts[FH_ENTRY_COUNT_] = {
	[FH_ENTRY_NAMESPACES] = "enter the namespaces of the template",
	[FH_ENTRY_CLONE] = "fork into them",
	[FH_ENTRY_CGROUP] = "enter the control groups of the template",
	[FH_ENTRY_IDS] = "change the user",
	[FH_ENTRY_CWD] = "enter the working directory",
	[FH_ENTRY_DESCRIPTORS] = "place descriptors",
	[FH_ENTRY_CAPABILITIES] = "keep no more capabilities than are needed",
	[FH_ENTRY_CONFINEMENT] = "enter a Landlock domain",
	[FH_ENTRY_FILTER] = "load its seccomp filter",
	[FH_ENTRY_EXEC] = "execute the program",
};

static int become(const struct fh_entry *e)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct caps[2] = { { 0 } };
	for (int cap = 0; cap <= 63; cap++)
		if (!(e->capabilities & 1ULL << cap) && prctl(PR_CAPBSET_READ, cap, 0, 0, 0) == 1 &&
		    prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0)
			return -errno;
	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) < 0)
		return -errno;
	/* setgroups is denied in a user namespace with a single id (user_namespaces(7)) */
	if (syscall(SYS_setgroups, 0, NULL) < 0 && errno != EPERM)
		return -errno;
	if (syscall(SYS_setresgid, e->gid, e->gid, e->gid) < 0 || syscall(SYS_setresuid, e->uid, e->uid, e->uid) < 0)
		return -errno;
	for (int i = 0; i < 2; i++) {
		uint32_t part = (uint32_t)(e->capabilities >> (32 * i));
		caps[i].permitted = caps[i].effective = caps[i].inheritable = part;
	}
	return syscall(SYS_capset, &head, caps) < 0 ? -errno : 0;
}

static int keep_across_exec(const struct fh_entry *e)
{
	for (int cap = 0; cap <= 63; cap++)
		if (e->capabilities & 1ULL << cap && prctl(PR_CAPBSET_READ, cap, 0, 0, 0) == 1 &&
		    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap, 0, 0) < 0)
			return -errno;
	return 0;
}

static int load_filter(const struct fh_entry *e)
{
	return e->filter && syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, e->filter) < 0 ? -errno : 0;
}

static int confine(const struct fh_entry *e)
{
	if (e->no_new_privs && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	int r = e->confined ? fh_landlock_confine() : 0;
	return FH_MIN(r, 0); /* 1: the kernel has no Landlock */
}

/* Puts descriptors at their numbers. Report and image move out of the way first; exec closes both. */
static int place(const struct fh_entry *e, int *report, int *image)
{
	*report = fcntl(*report, F_DUPFD_CLOEXEC, 20);
	if (*image >= 0)
		*image = fcntl(*image, F_DUPFD_CLOEXEC, 20);
	if (*report < 0 || syscall(SYS_close_range, 0, 19, 0) < 0 || syscall(SYS_close_range, 20, ~0U, 4 /* CLOEXEC */) < 0)
		return -errno;
	for (size_t i = 0; i < e->fd_count; i++)
		if (dup3(e->fds[i][0], e->fds[i][1], 0) < 0)
			return -errno;
	return 0;
}

static FH_NORETURN void run_program(const struct fh_entry *e, int report)
{
	struct fh_entered failed = { .step = FH_ENTRY_DESCRIPTORS };
	int image = e->image, r = place(e, &report, &image);
	fh_reset_signals();
	(void)setsid();
	umask(022);
	if (r == 0) {
		failed.step = FH_ENTRY_IDS;
		r = become(e);
	}
	if (r == 0) {
		failed.step = FH_ENTRY_CAPABILITIES;
		r = keep_across_exec(e);
	}
	if (r == 0) {
		failed.step = FH_ENTRY_CWD;
		r = chdir(e->cwd) < 0 ? -errno : 0;
	}
	if (r == 0) {
		failed.step = FH_ENTRY_CONFINEMENT;
		r = confine(e);
	}
	if (r == 0) {
		failed.step = FH_ENTRY_FILTER;
		r = load_filter(e);
	}
	if (r == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0); /* if this fails, the program still ends with the anchor */
		failed.step = FH_ENTRY_EXEC;
		if (image >= 0)
			syscall(SYS_execveat, image, "", e->argv, e->env, AT_EMPTY_PATH);
		else
			execve(e->argv[0], e->argv, e->env);
		r = -errno;
	}
	failed.error = -r;
	(void)fh_packet_send(report, &failed, sizeof(failed), NULL, 0);
	_exit(127);
}

static FH_NORETURN void help(const struct fh_entry *e, int report)
{
	struct fh_entered m = { .step = FH_ENTRY_CGROUP };
	int pidfd = -1;
	struct clone_args args = { .flags = CLONE_PARENT | CLONE_PIDFD, .pidfd = (uint64_t)(uintptr_t)&pidfd };
	long pid = -1;
	int r = e->cgroup ? fh_cgroup_enter(e->cgroup) : 0; /* v1 only: the helper was cloned into the v2 group */
	if (r == 0) {
		m.step = FH_ENTRY_NAMESPACES;
		r = setns(e->anchor, (int)e->namespaces) < 0 ? -errno : 0;
	}
	if (r == 0) {
		m.step = FH_ENTRY_CLONE;
		pid = syscall(SYS_clone3, &args, sizeof(args));
		if (pid == 0)
			run_program(e, report);
		r = pid < 0 ? -errno : 0;
	}
	m.error = -r;
	(void)fh_packet_send(report, &m, sizeof(m), &pidfd, r == 0);
	_exit(0);
}

int fh_enter(const struct fh_entry *e, int *ret_helper, int *ret_report, struct fh_error *err)
{
	int pair[2], pidfd = -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return fh_error_sys(err, errno, "cannot make the sockets of a template");
	struct clone_args args = { .flags = CLONE_PIDFD, .pidfd = (uint64_t)(uintptr_t)&pidfd, .exit_signal = SIGCHLD };
	int group = e->cgroup ? fh_cgroup_v2_dir(e->cgroup) : -1;
	if (group >= 0) {
		args.flags |= CLONE_INTO_CGROUP;
		args.cgroup = (uint64_t)group;
	}
	long pid = syscall(SYS_clone3, &args, sizeof(args));
	if (pid == 0) {
		close(pair[0]);
		help(e, pair[1]);
	}
	int error = errno;
	close(pair[1]);
	if (pid < 0) {
		close(pair[0]);
		return fh_error_sys(err, error, "cannot fork for a template");
	}
	(void)fh_set_nonblock(pair[0], true);
	*ret_helper = pidfd;
	*ret_report = pair[0];
	return 0;
}
