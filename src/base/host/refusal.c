/* SPDX-License-Identifier: MIT */
#include "base/host/refusal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static long read_number(const char *path, long fallback)
{
	char text[32] = "";
	fh_auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	return n > 0 ? strtol(text, NULL, 10) : fallback;
}

bool fh_has_capabilities(uint64_t set)
{
	struct __user_cap_header_struct h = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct d[2] = { { 0 } };
	if (syscall(SYS_capget, &h, d) < 0)
		return false;
	uint64_t have = (uint64_t)d[1].effective << 32 | d[0].effective;
	return (have & set) == set;
}

bool fh_is_host_root(void)
{
	unsigned long inside = 1, outside = 1, count = 0;
	FILE *f = fopen("/proc/self/uid_map", "re");
	bool whole = f && fscanf(f, "%lu %lu %lu", &inside, &outside, &count) == 3 && inside == 0 && outside == 0 &&
	             count == UINT32_MAX;
	if (f)
		fclose(f);
	return whole && geteuid() == 0 && fh_has_capabilities(1ULL << CAP_SYS_ADMIN);
}

static bool is_restricted_by_apparmor(void)
{
	return !fh_is_host_root() && read_number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", 0) == 1;
}

static bool is_kept_from_users(void)
{
	return !fh_is_host_root() && read_number("/proc/sys/kernel/unprivileged_userns_clone", 1) == 0;
}

static bool is_switched_off(void)
{
	return read_number("/proc/sys/user/max_user_namespaces", 1) == 0;
}

static bool is_chroot(void)
{
	struct stat ours, first;
	/* pid 1 of our pid namespace normally has the root of the mount namespace as its root */
	return stat("/", &ours) == 0 && stat("/proc/1/root/.", &first) == 0 &&
	       (ours.st_ino != first.st_ino || ours.st_dev != first.st_dev);
}

/* Root of a container whose capabilities suffice neither to make namespaces nor to map ids in one
 * (engine/host/own_namespace.h). */
static bool is_root_without_rights(void)
{
	return geteuid() == 0 && !fh_has_capabilities(1ULL << CAP_SYS_ADMIN) &&
	       !fh_has_capabilities(1ULL << CAP_SETUID | 1ULL << CAP_SETGID | 1ULL << CAP_SETFCAP);
}

static bool always(void)
{
	return true;
}

static const struct {
	int errors[3]; /* matches any of these; 0 ends the list, and in first place matches "nothing has failed yet" */
	bool (*holds)(void);
	struct fh_refusal refusal;
} causes[] = {
	{ { 0, EPERM, EACCES },
	  is_restricted_by_apparmor,
	  { "Ubuntu restricts user namespaces (kernel.apparmor_restrict_unprivileged_userns is 1)",
	    "install the AppArmor profile of fumehood (share/fumehood/apparmor in its installation), or run: sudo sysctl "
	    "-w "
	    "kernel.apparmor_restrict_unprivileged_userns=0" } },
	{ { 0, EPERM, EACCES },
	  is_kept_from_users,
	  { "user namespaces are switched off for users (kernel.unprivileged_userns_clone is 0)",
	    "sudo sysctl -w kernel.unprivileged_userns_clone=1" } },
	{ { 0, EPERM, ENOSPC },
	  is_switched_off,
	  { "user namespaces are switched off (user.max_user_namespaces is 0)",
	    "sudo sysctl -w user.max_user_namespaces=65536" } },
	{ { ENOSPC, EUSERS },
	  always,
	  { "a limit on namespaces is reached", "raise it: see sysctl user.max_user_namespaces and its siblings" } },
	{ { 0, EPERM },
	  is_chroot,
	  { "this is a chroot, where the kernel refuses user namespaces (EPERM)",
	    "enter the root by pivot_root instead, for example with systemd-nspawn" } },
	{ { 0, EPERM },
	  is_root_without_rights,
	  { "root has none of the capabilities here that it takes: setuid, setgid and setfcap, or sys_admin",
	    "run as another user (Docker: --user 1000; Kubernetes: runAsUser), or with those capabilities" } },
	{ { EPERM, EACCES, ENOSYS },
	  always,
	  { "in a container, its seccomp or AppArmor profile may refuse namespaces",
	    "for Docker: --security-opt seccomp=unconfined --security-opt apparmor=unconfined, or a profile that allows "
	    "them",
	    .guessed = true } },
};

bool fh_refusal_find(int error, struct fh_refusal *ret)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(causes); i++) {
		const int *e = causes[i].errors;
		bool fits = e[0] == error;
		for (size_t k = 1; k < FH_ARRAY_SIZE(causes[i].errors); k++)
			fits = fits || (e[k] && e[k] == error);
		if (fits && causes[i].holds()) {
			*ret = causes[i].refusal;
			return true;
		}
	}
	return false;
}
