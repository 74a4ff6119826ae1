/* SPDX-License-Identifier: MIT */
/* The system calls that sandboxes need; each is tried in a child process. */
#include "cli/doctor/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/host/refusal.h"

/* -------------------------------------------------------------------------------- tried in a child: 0 or an errno */

static int write_text(const char *path, const char *text)
{
	fh_auto_close int fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd >= 0 && fh_write_all(fd, text, strlen(text)) == 0 ? 0 : errno;
}

/* Enters a user namespace with one id, as a plain user's sandbox does. */
static int enter_user_namespace(void)
{
	char map[64];
	unsigned uid = geteuid(), gid = getegid();
	if (unshare(CLONE_NEWUSER) < 0)
		return errno;
	int e = write_text("/proc/self/setgroups", "deny");
	snprintf(map, sizeof(map), "0 %u 1", uid);
	if (e == 0)
		e = write_text("/proc/self/uid_map", map);
	snprintf(map, sizeof(map), "0 %u 1", gid);
	return e ? e : write_text("/proc/self/gid_map", map);
}

/* Gets the right to make namespaces: root has it; others get it in a user namespace. */
static int get_rights(void)
{
	return fh_is_host_root() ? 0 : enter_user_namespace();
}

static int try_user(int unused)
{
	(void)unused;
	return enter_user_namespace();
}

static int try_namespace(int flag)
{
	int e = get_rights();
	return e ? e : unshare(flag) < 0 ? errno : 0;
}

/* Makes all namespaces in one call, as the engine does. */
static int try_clone3(int unused)
{
	struct clone_args args = { .flags = CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS,
		                       .exit_signal = SIGCHLD };
	(void)unused;
	int e = get_rights();
	if (e)
		return e;
	long pid = syscall(SYS_clone3, &args, sizeof(args));
	if (pid == 0)
		_exit(0);
	if (pid < 0)
		return errno;
	waitpid((pid_t)pid, NULL, 0);
	return 0;
}

static int private_mounts(void)
{
	int e = try_namespace(CLONE_NEWNS);
	if (e)
		return e;
	return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ? errno : 0;
}

static int try_mount(int unused)
{
	(void)unused;
	int e = private_mounts();
	if (e)
		return e;
	fh_auto_close int fs = (int)syscall(SYS_fsopen, "tmpfs", FSOPEN_CLOEXEC);
	if (fs < 0 || syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return errno;
	fh_auto_close int tree = (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC, 0);
	if (tree < 0 || syscall(SYS_move_mount, tree, "", AT_FDCWD, "/tmp", MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return errno;
	if (chdir("/tmp") < 0 || syscall(SYS_pivot_root, ".", ".") < 0)
		return errno;
	return 0;
}

static int try_bind(int unused)
{
	struct mount_attr a = { .attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID };
	(void)unused;
	int e = private_mounts();
	if (e)
		return e;
	fh_auto_close int tree =
	    (int)syscall(SYS_open_tree, AT_FDCWD, "/usr", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
	if (tree < 0 || syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &a, sizeof(a)) < 0)
		return errno;
	return 0;
}

/* A new /proc can only be mounted in a new pid namespace, which begins with the next child. */
static int try_proc(int unused)
{
	int status = 0;
	(void)unused;
	int e = private_mounts();
	if (e || unshare(CLONE_NEWPID) < 0)
		return e ? e : errno;
	pid_t pid = fork();
	if (pid == 0)
		_exit(mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0 ? errno : 0);
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EPERM;
}

static int try_no_new_privs(int unused)
{
	(void)unused;
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? errno : 0;
}

static int try_seccomp(int unused)
{
	struct sock_filter allow = { .code = BPF_RET | BPF_K, .k = SECCOMP_RET_ALLOW };
	struct sock_fprog program = { .len = 1, .filter = &allow };
	(void)unused;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return errno;
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0 ? errno : 0;
}

static int try_landlock(int unused)
{
	enum { VERSION = 1 };
	(void)unused;
	return syscall(SYS_landlock_create_ruleset, NULL, 0, VERSION) < 0 ? errno : 0;
}

/* fumehood-init is executed from memory, which vm.memfd_noexec=2 forbids (memfd_create(2)). */
static int try_memory_file(int unused)
{
	(void)unused;
	fh_auto_close int fd = fh_memory_program("fumehood-doctor", "", 0);
	return fd < 0 ? errno : 0;
}

static int try_process_file(int unused)
{
	siginfo_t info = { 0 };
	(void)unused;
	pid_t pid = fork();
	if (pid == 0)
		for (;;)
			pause();
	fh_auto_close int fd = pid < 0 ? -1 : (int)syscall(SYS_pidfd_open, pid, 0);
	int e = fd < 0 || syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0) < 0 ? errno : 0;
	if (pid > 0 && e)
		kill(pid, SIGKILL);
	if (e == 0 && waitid(P_PIDFD, (id_t)fd, &info, WEXITED) < 0)
		e = errno;
	return e;
}

static int try_close_range(int unused)
{
	(void)unused;
	return syscall(SYS_close_range, 3, ~0U, 4 /* CLOSE_RANGE_CLOEXEC */) < 0 ? errno : 0;
}

static int try_openat2(int unused)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS };
	(void)unused;
	fh_auto_close int fd = (int)syscall(SYS_openat2, AT_FDCWD, "/", &how, sizeof(how));
	return fd < 0 ? errno : 0;
}

/* ------------------------------------------------------------------------------------------------------- the table */

#define CONTAINER                                                                                                      \
	"in a container: for Docker, --security-opt seccomp=unconfined --security-opt apparmor=unconfined, or a profile "  \
	"that allows it"
#define LANDLOCK                                                                                                       \
	"a kernel with Landlock, switched on: add landlock to lsm=… in GRUB_CMDLINE_LINUX of /etc/default/grub (the "    \
	"current list: cat /sys/kernel/security/lsm), then sudo update-grub and restart; in a container: a seccomp "       \
	"profile that allows landlock_*"

static const struct probe {
	const char *name;
	int (*attempt)(int argument);
	int argument;
	const char *since; /* the Linux version that introduced it */
	const char *use;   /* what sandboxes use it for, as a sentence */
	enum fh_worth lost;
	bool namespaces;  /* a host's setting for namespaces may be the cause of a failure */
	const char *mend; /* what to do when no setting is the cause; NULL: use a newer kernel */
} probes[] = {
	{ "user namespace", try_user, 0, "3.8", "ids and capabilities that count for nothing outside", FH_WORTH_BLOCKS,
	  true, CONTAINER },
	{ "pid namespace", try_namespace, CLONE_NEWPID, "3.8", "processes that see and signal only each other",
	  FH_WORTH_BLOCKS, true, CONTAINER },
	{ "mount namespace", try_namespace, CLONE_NEWNS, "3.8", "file tree of its own", FH_WORTH_BLOCKS, true, CONTAINER },
	{ "network namespace", try_namespace, CLONE_NEWNET, "3.8", "network that is empty but for a loopback",
	  FH_WORTH_BLOCKS, true, CONTAINER },
	{ "ipc namespace", try_namespace, CLONE_NEWIPC, "3.8", "shared memory of its own", FH_WORTH_BLOCKS, true,
	  CONTAINER },
	{ "uts namespace", try_namespace, CLONE_NEWUTS, "3.8", "host name of its own", FH_WORTH_BLOCKS, true, CONTAINER },
	{ "cgroup namespace", try_namespace, CLONE_NEWCGROUP, "4.6", "control groups that hide the host's", FH_WORTH_WEAKER,
	  true, CONTAINER },
	{ "clone3", try_clone3, 0, "5.7", "sandbox in one call, in its control group from the start", FH_WORTH_BLOCKS, true,
	  CONTAINER },
	{ "mounts", try_mount, 0, "5.2", "root of its own (fsopen, move_mount, pivot_root)", FH_WORTH_BLOCKS, true,
	  CONTAINER },
	{ "read-only mounts", try_bind, 0, "5.12", "programs of the host, read-only (open_tree, mount_setattr)",
	  FH_WORTH_BLOCKS, true, NULL },
	{ "fresh /proc", try_proc, 0, "3.8", "/proc that shows only the sandbox", FH_WORTH_BLOCKS, true,
	  "in a container parts of /proc are masked, and the kernel then gives no fresh one: for Docker, --security-opt "
	  "systempaths=unconfined; for Kubernetes, procMount: Unmasked" },
	{ "no_new_privs", try_no_new_privs, 0, "3.5", "promise that no program gains rights by being executed",
	  FH_WORTH_BLOCKS, false, NULL },
	{ "seccomp", try_seccomp, 0, "3.17", "allow list of system calls", FH_WORTH_BLOCKS, false,
	  "a kernel with CONFIG_SECCOMP_FILTER; in a container: a seccomp profile that allows seccomp(2)" },
	{ "landlock", try_landlock, 0, "5.13", "second wall for files, signals and abstract sockets", FH_WORTH_WEAKER,
	  false, LANDLOCK },
	{ "executable memory files", try_memory_file, 0, "3.17", "fumehood-init, which starts from memory under any root",
	  FH_WORTH_BLOCKS, false, "sudo sysctl -w vm.memfd_noexec=0" },
	{ "process descriptors", try_process_file, 0, "5.4", "signals that cannot hit somebody else's process",
	  FH_WORTH_BLOCKS, false, NULL },
	{ "close_range", try_close_range, 0, "5.11", "certainty that none of our descriptors is inside", FH_WORTH_BLOCKS,
	  false, NULL },
	{ "openat2", try_openat2, 0, "5.6", "files in and out without a link on the way", FH_WORTH_BLOCKS, false, NULL },
};

static int in_child(const struct probe *p)
{
	int status = 0;
	pid_t pid = fork();
	if (pid == 0)
		_exit(p->attempt(p->argument) & 0xff);
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EPERM; /* killed by a seccomp filter */
}

static void look(struct fh_checkup *c, const struct probe *p)
{
	int e = in_child(p);
	struct fh_refusal refusal;
	if (e == 0) {
		(void)fh_finding_add(c, p->name, FH_WORTH_OK, NULL, "%s", p->use);
		return;
	}
	fh_auto_free char *newer = fh_xasprintf("Linux %s or newer, and no container's filter in the way", p->since);
	bool absent = e == ENOSYS || e == EINVAL || e == EOPNOTSUPP;
	bool known = p->namespaces && fh_refusal_find(e, &refusal) && !refusal.guessed;
	const char *mend = known ? refusal.mend : p->mend ? p->mend : newer, *words = strerrordesc_np(e);
	(void)fh_finding_add(c, p->name, p->lost, mend, "%s (%s); it would give: %s%s%s", absent ? "not there" : "refused",
	                     words ? words : "?", p->use, known ? "; " : "", known ? refusal.why : "");
}

void fh_doctor_kernel(struct fh_checkup *c)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(probes); i++)
		look(c, &probes[i]);
}
