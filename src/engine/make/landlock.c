/* SPDX-License-Identifier: MIT */
/* Landlock, as a second layer over the mounts: reading is allowed everywhere, writing only where the plan has something
 * writable; signals and abstract sockets cannot leave the domain. Source: kernel
 * Documentation/userspace-api/landlock.rst (ABI 1 to 9). */
#include "engine/make/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The kernel's structs, defined here because the headers of Debian 12 end at ABI 2. */
struct ruleset_attr {
	uint64_t fs, net, scoped;
};
struct path_attr {
	uint64_t allowed;
	int32_t parent;
} __attribute__((packed));

enum {
	FS_EXECUTE = 1 << 0,
	FS_WRITE_FILE = 1 << 1,
	FS_READ_FILE = 1 << 2,
	FS_READ_DIR = 1 << 3,
	FS_MAKE_BLOCK = 1 << 11,
	FS_ABI1 = (1 << 13) - 1,
	FS_REFER = 1 << 13,
	FS_TRUNCATE = 1 << 14,
	FS_IOCTL_DEV = 1 << 15,
	FS_RESOLVE_UNIX = 1 << 16, /* connecting to a unix socket that a process outside of the domain made */
	SCOPE_ABSTRACT_UNIX_SOCKET = 1 << 0,
	SCOPE_SIGNAL = 1 << 1,
	CREATE_RULESET_VERSION = 1,
	RULE_PATH_BENEATH = 1,
};

static uint64_t fs_of_abi(long abi)
{
	uint64_t fs = FS_ABI1;
	if (abi >= 2)
		fs |= FS_REFER;
	if (abi >= 3)
		fs |= FS_TRUNCATE;
	if (abi >= 5)
		fs |= FS_IOCTL_DEV;
	if (abi >= 9)
		fs |= FS_RESOLVE_UNIX;
	return fs;
}

static size_t attr_size(long abi)
{
	return abi >= 6 ? sizeof(struct ruleset_attr) : abi >= 4 ? 16 : 8;
}

static int allow(int ruleset, const char *path, uint64_t allowed)
{
	fh_auto_close int fd = open(path, O_PATH | O_CLOEXEC);
	struct path_attr a = { .allowed = allowed, .parent = fd };
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	struct stat st;
	if (fstat(fd, &st) < 0)
		return -errno;
	/* a file that was bind-mounted: the kernel refuses a rule with rights that only folders have */
	if (!S_ISDIR(st.st_mode))
		a.allowed &= FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE | FS_IOCTL_DEV;
	return syscall(SYS_landlock_add_rule, ruleset, RULE_PATH_BENEATH, &a, 0) < 0 ? -errno : 0;
}

int fh_landlock_rules(const struct fh_plan *plan)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, CREATE_RULESET_VERSION);
	if (abi < 0)
		return errno == EOPNOTSUPP ? -ENOSYS : -errno;
	uint64_t all = fs_of_abi(abi);
	struct ruleset_attr attr = { .fs = all, .scoped = abi >= 6 ? SCOPE_ABSTRACT_UNIX_SOCKET | SCOPE_SIGNAL : 0 };
	fh_auto_close int ruleset = (int)syscall(SYS_landlock_create_ruleset, &attr, attr_size(abi), 0);
	if (ruleset < 0)
		return -errno;
	int r = allow(ruleset, "/", FS_EXECUTE | FS_READ_FILE | FS_READ_DIR);
	for (size_t i = 0; r == 0 && i < plan->mount_count; i++) {
		const struct fh_plan_mount *m = &plan->mounts[i];
		if (m->kind == FH_MOUNT_WRITABLE || m->kind == FH_MOUNT_VOLUME)
			r = allow(ruleset, m->target, all);
		else if ((m->kind == FH_MOUNT_BIND || m->kind == FH_MOUNT_FILE) && m->writable) /* sockets there are others' */
			r = allow(ruleset, m->target, all & ~(uint64_t)FS_RESOLVE_UNIX);
		else if (m->kind == FH_MOUNT_DEV) /* device nodes, terminals, and /dev/shm, which is writable */
			r = allow(ruleset, m->target, all);
		else if (m->kind == FH_MOUNT_PROC) /* a process's own files; mounts make the host's settings read-only */
			r = allow(ruleset, m->target, (FS_READ_FILE | FS_READ_DIR | FS_WRITE_FILE | FS_TRUNCATE) & all);
	}
	return r < 0 ? r : FH_TAKE_FD(ruleset);
}

/* As fh_enter_domain of src/init/lib/sys.h: nothing that the domain refuses goes to the host's audit log. */
static int enter_domain(int ruleset)
{
	enum { LOG_SAME_EXEC_OFF = 1 };
	if (syscall(SYS_landlock_restrict_self, ruleset, LOG_SAME_EXEC_OFF) == 0)
		return 0;
	return errno != EINVAL || syscall(SYS_landlock_restrict_self, ruleset, 0) < 0 ? -errno : 0;
}

/* This domain refuses only what every domain refuses: tracing or reading processes outside, and (ABI 6 and later)
 * signalling them. Programs forked inside inherit the domain, so it must not refuse more. A domain has to handle at
 * least one right. This one handles making block devices, which no process inside may do anyway, and REFER, which is
 * refused unless it is handled. */
int fh_landlock_confine(void)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, CREATE_RULESET_VERSION);
	if (abi < 0)
		return errno == EOPNOTSUPP || errno == ENOSYS ? 1 : -errno;
	uint64_t handled = FS_MAKE_BLOCK | (fs_of_abi(abi) & FS_REFER);
	struct ruleset_attr attr = { .fs = handled, .scoped = abi >= 6 ? SCOPE_ABSTRACT_UNIX_SOCKET | SCOPE_SIGNAL : 0 };
	fh_auto_close int ruleset = (int)syscall(SYS_landlock_create_ruleset, &attr, attr_size(abi), 0);
	int r = ruleset < 0 ? -errno : allow(ruleset, "/", handled);
	return r == 0 ? enter_domain(ruleset) : r;
}

int fh_landlock_enter(const struct fh_plan *plan)
{
	fh_auto_close int ruleset = fh_landlock_rules(plan);
	if (ruleset < 0)
		return ruleset == -ENOSYS ? 1 : ruleset;
	return enter_domain(ruleset);
}
