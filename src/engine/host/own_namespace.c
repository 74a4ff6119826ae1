/* SPDX-License-Identifier: MIT */
#include "engine/host/own_namespace.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "base/fd.h"
#include "base/host/place.h"
#include "base/host/refusal.h"

static bool entered;

static bool map_all(pid_t pid, const char *file)
{
	static const char all[] = "0 0 4294967295\n";
	char path[48];
	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	fh_auto_close int fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd >= 0 && fh_write_all(fd, all, sizeof(all) - 1) == 0;
}

/* Stays outside, where the rights to map all ids are, until the engine is in its namespace. */
static FH_NORETURN void map_from_outside(pid_t engine, int ready)
{
	char c;
	bool made = read(ready, &c, 1) == 1;
	_exit(made && map_all(engine, "uid_map") && map_all(engine, "gid_map") ? 0 : 1);
}

static bool wait_for(pid_t pid)
{
	int status = -1;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int fh_own_namespace_enter(struct fh_error *err)
{
	int ready[2];
	uint64_t needed = 1ULL << CAP_SETUID | 1ULL << CAP_SETGID | 1ULL << CAP_SETFCAP;
	if (!fh_place_has_ranges() || fh_has_capabilities(1ULL << CAP_SYS_ADMIN) || !fh_has_capabilities(needed))
		return 0;
	if (pipe2(ready, O_CLOEXEC) < 0)
		return 0;
	pid_t engine = getpid(), helper = fork();
	if (helper == 0) {
		close(ready[1]);
		map_from_outside(engine, ready[0]);
	}
	close(ready[0]);
	bool made = helper > 0 && unshare(CLONE_NEWUSER) == 0;
	bool told = made && write(ready[1], "", 1) == 1;
	close(ready[1]);
	bool mapped = helper > 0 && wait_for(helper) && told;
	if (!made || mapped) {
		entered = made;
		return 0;
	}
	return fh_error_set(err, FH_E_SYSTEM, "the ids of the engine's own user namespace cannot be set");
}

bool fh_own_namespace_entered(void)
{
	return entered;
}
