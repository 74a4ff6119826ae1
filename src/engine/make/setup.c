/* SPDX-License-Identifier: MIT */
/* The set-up child from clone to the exec of fumehood-init. No malloc, no stdio, no locks. */
#include "engine/make/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/netlink.h>
#include <linux/securebits.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine/host/netns.h"
#include "engine/make/seccomp.h"
#include "init/messages.h"

enum { SOCKET_PLACE = 3, REPORT_PLACE = 4 };

static struct fh_setup_report report;
static struct {
	/* rule set and writable layer for a program that is forked from a zygote: the engine gets these descriptors; or -1
	 */
	int rules, disk;
	int diagnosis; /* netlink socket through which init counts socket buffers; or -1 */
} own = { -1, -1, -1 };
static int report_to;            /* number of the report pipe; it changes when descriptors are moved to their places */
static int settings_folder = -1; /* /proc/sys of the sandbox, opened before it is made read-only; -1: not opened */

static bool has_layer(const struct fh_launch *l, enum fh_layer layer)
{
	return l->plan->layers & 1u << layer;
}

static int put_text(const char *path, const char *text)
{
	fh_auto_close int fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) ? 0 : -errno;
}

static char *add_number(char *p, uint32_t v)
{
	char digits[12], *d = digits;
	do
		*d++ = (char)('0' + v % 10);
	while (v /= 10);
	while (d > digits)
		*p++ = *--d;
	*p++ = ' ';
	return p;
}

/* Maps our own id, the only one that a user may map without help (user_namespaces(7)). */
static int map_own_id(const char *file, uint32_t inside, uint32_t outside)
{
	char text[40];
	char *p = add_number(add_number(text, inside), outside);
	memcpy(p, "1", 2);
	return put_text(file, text);
}

static int map_ids(const struct fh_launch *l)
{
	/* The engine is not dumpable, and this child inherits that until exec, which makes root the owner of our files in
	 * /proc. Setting it is safe: no other process is in the sandbox yet. */
	(void)prctl(PR_SET_DUMPABLE, 1);
	int r = put_text("/proc/self/setgroups", "deny");
	if (r == 0)
		r = map_own_id("/proc/self/uid_map", l->plan->uid, l->ids.uid);
	if (r == 0)
		r = map_own_id("/proc/self/gid_map", l->plan->gid, l->ids.gid);
	return r;
}

static int raise_loopback(const struct fh_launch *l)
{
	return has_layer(l, FH_LAYER_NETWORK) && !l->has_network ? fh_raise_loopback() : 0;
}

/* Opened in the sandbox's own network namespace, since it would count the host's sockets elsewhere. On a kernel without
 * it, socket buffers are not counted. */
static int open_diagnosis(const struct fh_launch *l)
{
	if (has_layer(l, FH_LAYER_NETWORK) && l->part != FH_PART_SHARED)
		own.diagnosis = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	return 0;
}

static int set_hostname(const struct fh_launch *l)
{
	if (!has_layer(l, FH_LAYER_UTS))
		return 0;
	return sethostname(l->plan->hostname, strlen(l->plan->hostname)) < 0 || setdomainname("(none)", 6) < 0 ? -errno : 0;
}

static int enter_cgroup(const struct fh_launch *l)
{
	int r = l->cgroup ? fh_cgroup_enter(l->cgroup) : 0;
	if (r == 0 && has_layer(l, FH_LAYER_CGROUP) && unshare(CLONE_NEWCGROUP) < 0) {
		if (errno != EINVAL)
			return -errno;
		report.layers_off |= 1u << FH_LAYER_CGROUP; /* this kernel has no cgroup namespaces */
	}
	return r;
}

static int enter_landlock(const struct fh_launch *l)
{
	if (!has_layer(l, FH_LAYER_LANDLOCK))
		return 0;
	int r = fh_landlock_enter(l->plan);
	if (r == 1) {
		report.layers_off |= 1u << FH_LAYER_LANDLOCK;
		return 0;
	}
	/* Reads back whether Landlock is in force: we still have the right to mount, so only Landlock can refuse this
	 * mount, which changes nothing. */
	if (r == 0)
		report.landlock =
		    mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV, NULL) < 0 && errno == EPERM;
	return r;
}

/* As root only: enters a user namespace, as the last namespace, and has the engine write a range of ids.
 *
 * What a namespace's processes have of some kinds (inotify, queued signals, timers) the kernel also counts for the user
 * who made the namespace. An id of the sandbox's own range makes it, since for root all sandboxes would share one count
 * with each other and with the host's root. It loses root's capabilities, and gets those that it needs from the new
 * namespace. */
static int enter_user_namespace(const struct fh_launch *l)
{
	char byte;
	if (!l->ids.ranges)
		return 0;
	if (syscall(SYS_setresuid, -1, l->ids.base, -1) < 0 || unshare(CLONE_NEWUSER) < 0)
		return -errno;
	struct fh_setup_report ask = { .step = FH_SETUP_IDS };
	if (write(l->report, &ask, sizeof(ask)) != sizeof(ask))
		return -errno;
	ssize_t n;
	while ((n = read(l->go, &byte, 1)) < 0 && errno == EINTR)
		;
	if (n != 1)
		return -ECANCELED; /* the engine gave up or died */
	if (syscall(SYS_setgroups, 0, NULL) < 0 || syscall(SYS_setresgid, 0, 0, 0) < 0 ||
	    syscall(SYS_setresuid, 0, 0, 0) < 0)
		return -errno;
	return 0;
}

/* Limits that the kernel counts for each user namespace. It counts in all parent namespaces too, so without a bound a
 * sandbox could use up what its starter and other sandboxes need. Where the kernel lacks a setting, nothing is
 * changed. */
static const struct {
	const char *file, *value;
} settings[] = {
	{ "user/max_user_namespaces", "0" }, /* in addition to the seccomp filter */
	{ "user/max_inotify_instances", "8" },
	{ "user/max_inotify_watches", "8192" },
};

static int bound_user_namespace(const struct fh_launch *l)
{
	if (l->part == FH_PART_SHARED) /* a template's sandboxes have their own user namespaces, each with these limits */
		return 0;
	for (size_t i = 0; settings_folder >= 0 && i < FH_ARRAY_SIZE(settings); i++) {
		fh_auto_close int fd = openat(settings_folder, settings[i].file, O_WRONLY | O_CLOEXEC);
		if (fd >= 0)
			(void)!write(fd, settings[i].value, strlen(settings[i].value));
	}
	return 0;
}

/* The capabilities that init keeps: to become the program's user, to kill, to drop the rest, and to read the
 * descriptors of all processes. */
static uint64_t init_capabilities(const struct fh_launch *l)
{
	uint64_t keep = 1ULL << CAP_SETPCAP | 1ULL << CAP_SYS_PTRACE;
	if (l->ids.ranges)
		keep |= 1ULL << CAP_KILL | 1ULL << CAP_SETUID | 1ULL << CAP_SETGID;
	if (l->ids.ranges && l->plan->root_capabilities) /* so that init can give them to programs */
		keep |= FH_ROOT_CAPABILITIES;
	return keep;
}

static int drop_capabilities(const struct fh_launch *l)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	uint64_t keep = has_layer(l, FH_LAYER_CAPABILITIES) ? init_capabilities(l) : (1ULL << (CAP_LAST_CAP + 1)) - 1;
	for (int cap = 0; cap <= 63; cap++) {
		if (keep & 1ULL << cap || prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == 0)
			continue;
		if (errno == EINVAL) /* the kernel has no capability with a higher number */
			break;
		return -errno;
	}
	struct __user_cap_data_struct have[2];
	if (syscall(SYS_capget, &head, have) < 0)
		return -errno;
	for (int i = 0; i < 2; i++) {
		uint32_t part = (uint32_t)(keep >> (32 * i)) & have[i].permitted;
		have[i].permitted = have[i].effective = have[i].inheritable = part;
	}
	if (syscall(SYS_capset, &head, have) < 0)
		return -errno;
	/* init need not be uid 0 in its namespace, so its capabilities survive exec only as ambient ones */
	for (int cap = 0; cap <= 63; cap++)
		if (have[cap / 32].permitted & 1u << cap % 32 && prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap, 0, 0) < 0)
			return -errno;
	return 0;
}

static int filter_calls(const struct fh_launch *l)
{
	bool seal = l->part == FH_PART_OWN; /* the base filter was inherited from the holder */
	struct sock_fprog program = {
		.len = seal ? fh_seccomp_seal_size : fh_seccomp_filter_size,
		.filter = (struct sock_filter *)(uintptr_t)(seal ? fh_seccomp_seal : fh_seccomp_filter),
	};
	/* A filter needs no_new_privs or CAP_SYS_ADMIN, which is still there: capabilities are dropped after this step. */
	if (has_layer(l, FH_LAYER_NO_NEW_PRIVS) && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	if (!has_layer(l, FH_LAYER_SECCOMP))
		return 0;
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0 ? -errno : 0;
}

/* Gives the descriptors their final numbers: 0 to 2 are closed, init's socket and the report pipe follow; in a sandbox
 * of a template, what its init takes over instead of the pipe. All others are closed by exec. */
static int place_descriptors(const struct fh_launch *l, int *ret_image)
{
	bool with_report = l->part != FH_PART_OWN;
	struct {
		int fd, place;
		bool close_on_exec;
	} kept[] = {
		{ l->init_socket, SOCKET_PLACE, false }, { with_report ? l->report : -1, REPORT_PLACE, true },
		{ own.rules, FH_INIT_RULES, false },     { own.disk, FH_INIT_DISK, false },
		{ own.diagnosis, FH_INIT_DIAG, false },
	};
	int image = fcntl(l->init_image, F_DUPFD_CLOEXEC, 20);
	if (image < 0)
		return -errno;
	for (size_t i = 0; i < FH_ARRAY_SIZE(kept); i++)
		if (kept[i].fd >= 0 && (kept[i].fd = fcntl(kept[i].fd, F_DUPFD_CLOEXEC, 20)) < 0)
			return -errno;
	report_to = kept[with_report].fd;
	if (syscall(SYS_close_range, 0, 2, 0) < 0 || syscall(SYS_close_range, 3, ~0U, 4 /* CLOSE_RANGE_CLOEXEC */) < 0)
		return -errno;
	for (size_t i = 0; i < FH_ARRAY_SIZE(kept); i++)
		if (kept[i].fd >= 0 && dup3(kept[i].fd, kept[i].place, kept[i].close_on_exec ? O_CLOEXEC : 0) < 0)
			return -errno;
	*ret_image = image;
	return 0;
}

/* Tells the engine that a template's sandbox could not be made. Success is reported by init. */
static void say_failed(int socket_fd)
{
	struct fh_init_launched m = { .h = { FH_INIT_LAUNCHED, 0 }, .error = report.error, .step = report.step };
	memcpy(m.what, report.what, sizeof(m.what));
	(void)!send(socket_fd, &m, sizeof(m), MSG_NOSIGNAL);
}

static int exec_init(const struct fh_launch *l)
{
	char name[] = "fumehood-init", made[24], *argv[] = { name, NULL, NULL }, *env[] = { NULL };
	int image = -1;
	int r = place_descriptors(l, &image);
	if (r < 0)
		return r;
	if (l->part == FH_PART_OWN) {
		uint32_t bits = report.layers_off | (report.landlock ? FH_INIT_IN_DOMAIN : 0) |
		                (own.rules >= 0 ? FH_INIT_HAS_RULES : 0) | (own.disk >= 0 ? FH_INIT_HAS_DISK : 0);
		*add_number(made, bits) = 0;
		made[strlen(made) - 1] = 0; /* drops the space at the end of the list */
		argv[1] = made;
	} else {
		report.step = FH_SETUP_READY;
		if (write(report_to, &report, sizeof(report)) != sizeof(report))
			return -errno;
	}
	syscall(SYS_execveat, image, "", argv, env, AT_EMPTY_PATH);
	report.step = FH_SETUP_EXEC;
	return -errno;
}

void fh_reset_signals(void)
{
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (int n = 1; n <= SIGRTMAX; n++) /* signals that the engine ignores must not stay ignored in programs */
		(void)signal(n, SIG_DFL);
}

/* Makes the kernel kill this child when the engine dies. Must be repeated after each change of ids, which clears the
 * setting. */
static int follow_engine(void)
{
	return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 ? -errno : 0;
}

static int build_mounts(const struct fh_launch *l)
{
	int32_t step = FH_SETUP_ROOT;
	int disk = -1;
	int r = l->part == FH_PART_OWN ? fh_mounts_own(l, &step, report.what, &disk, &settings_folder)
	                               : fh_mounts_build(l, &step, report.what, &settings_folder);
	/* init does not see the end of a program that was forked from a zygote, so the engine looks at the writable layer
	 * then */
	if (l->plan->zygote.main_file)
		own.disk = disk;
	report.step = step;
	return r;
}

static int map_own_ids(const struct fh_launch *l)
{
	return l->ids.ranges ? 0 : map_ids(l);
}

static const struct {
	enum fh_setup_step step;
	int (*run)(const struct fh_launch *l);
} steps[] = {
	{ FH_SETUP_MAPS, map_own_ids },
	{ FH_SETUP_CGROUP, enter_cgroup },
	{ FH_SETUP_NETWORK, raise_loopback },
	{ FH_SETUP_NETWORK, open_diagnosis },
	{ FH_SETUP_HOSTNAME, set_hostname },
	{ FH_SETUP_MOUNT, build_mounts },
	{ FH_SETUP_LANDLOCK, enter_landlock },
	{ FH_SETUP_UNSHARE, enter_user_namespace },
	{ FH_SETUP_UNSHARE, bound_user_namespace },
	{ FH_SETUP_SECCOMP, filter_calls },
	{ FH_SETUP_CAPABILITIES, drop_capabilities },
	{ FH_SETUP_EXEC, exec_init },
};

/* Where a program is forked from a zygote, only that and children of init enter the rule set: a domain would keep init
 * from killing a program that is in a domain of its own. Elsewhere init enters, and all programs are in its domain, as
 * in a sandbox that is made at once: those of a session may signal and look at each other. */
static int restrict_files(const struct fh_launch *l)
{
	if (!l->plan->zygote.main_file)
		return enter_landlock(l);
	if (!has_layer(l, FH_LAYER_LANDLOCK))
		return 0;
	int r = fh_landlock_rules(l->plan);
	if (r == -ENOSYS) {
		report.layers_off |= 1u << FH_LAYER_LANDLOCK;
		return 0;
	}
	own.rules = FH_MAX(r, -1);
	return FH_MIN(r, 0);
}

/* The sandbox's user namespace, below the template's. The holder writes a range of ids, the child itself a single
 * id. */
static int enter_own_user_namespace(const struct fh_launch *l)
{
	return l->ids.ranges ? enter_user_namespace(l) : unshare(CLONE_NEWUSER) < 0 ? -errno : map_ids(l);
}

static const struct {
	enum fh_setup_step step;
	int (*run)(const struct fh_launch *l);
} own_steps[] = {
	{ FH_SETUP_CGROUP, enter_cgroup },
	{ FH_SETUP_NETWORK, raise_loopback },
	{ FH_SETUP_NETWORK, open_diagnosis },
	{ FH_SETUP_MOUNT, build_mounts },
	{ FH_SETUP_LANDLOCK, restrict_files },
	{ FH_SETUP_UNSHARE, enter_own_user_namespace },
	{ FH_SETUP_UNSHARE, bound_user_namespace },
	{ FH_SETUP_SECCOMP, filter_calls },
	{ FH_SETUP_CAPABILITIES, drop_capabilities },
	{ FH_SETUP_EXEC, exec_init },
};

void fh_setup_own(const struct fh_launch *l)
{
	fh_reset_signals(); /* the holder ignores what the engine ignores */
	(void)setsid();
	int r = follow_engine();
	for (size_t i = 0; r == 0 && i < FH_ARRAY_SIZE(own_steps); i++) {
		report.step = (int32_t)own_steps[i].step;
		r = own_steps[i].run(l);
		if (r == 0)
			r = follow_engine();
	}
	report.error = -r;
	say_failed(report_to > 0 ? report_to : l->init_socket);
	_exit(1);
}

void fh_setup(const struct fh_launch *l)
{
	fh_reset_signals();
	(void)setsid();
	report_to = l->report;
	int r = follow_engine();
	for (size_t i = 0; r == 0 && i < FH_ARRAY_SIZE(steps); i++) {
		report.step = (int32_t)steps[i].step;
		r = steps[i].run(l);
		if (r == 0)
			r = follow_engine();
	}
	report.error = -r;
	(void)!write(report_to, &report, sizeof(report));
	_exit(1);
}
