/* SPDX-License-Identifier: MIT */
/*
 * The freezer of cgroup v1 (kernel Documentation/admin-guide/cgroup-v1/freezer-subsystem.rst). A frozen process does
 * not die from SIGKILL until it is thawed, so every path that ends a sandbox thaws it first.
 */
#include "engine/host/freezer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"

void fh_freezer_set(const struct fh_freezer *f, bool frozen)
{
	char path[560];
	snprintf(path, sizeof(path), "%s/freezer.state", f->path);
	fh_auto_close int fd = f->path[0] ? open(path, O_WRONLY | O_CLOEXEC) : -1;
	const char *state = frozen ? "FROZEN" : "THAWED";
	if (fd >= 0)
		(void)!write(fd, state, strlen(state));
}

int fh_freezer_make(struct fh_freezer *f, const struct fh_cgroup_host *h, const char *name)
{
	if (!h->freezer[0])
		return -ENOTSUP;
	snprintf(f->path, sizeof(f->path), "%.330s/%s%s", h->freezer, h->prefix, name);
	if (mkdir(f->path, 0755) < 0 && errno != EEXIST) {
		f->path[0] = 0;
		return -errno;
	}
	fh_freezer_set(f, true);
	return 0;
}

int fh_freezer_members(const struct fh_freezer *f)
{
	char path[560];
	snprintf(path, sizeof(path), "%s/cgroup.procs", f->path);
	int fd = open(path, O_RDWR | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int fh_freezer_state(const struct fh_freezer *f)
{
	char path[560];
	snprintf(path, sizeof(path), "%s/freezer.state", f->path);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

bool fh_freezer_remove(struct fh_freezer *f)
{
	if (!f->path[0])
		return true;
	fh_freezer_set(f, false);
	if (rmdir(f->path) < 0 && errno == EBUSY)
		return false;
	f->path[0] = 0;
	return true;
}
