/* SPDX-License-Identifier: MIT */
#include "store/lock.h"

#include <errno.h>
#include <fcntl.h>

static struct flock byte_of(int64_t eval)
{
	return (struct flock){ .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = eval, .l_len = 1 };
}

int fh_store_lock(const char *store_path, int64_t eval, int *ret_fd, struct fh_error *err)
{
	fh_auto_free char *path = fh_xasprintf("%s-writers", store_path);
	fh_auto_close int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	struct flock lock = byte_of(eval);
	if (fd < 0)
		return fh_error_sys(err, errno, "cannot open %s", path);
	if (fcntl(fd, F_OFD_SETLK, &lock) < 0) {
		if (errno != EAGAIN && errno != EACCES)
			return fh_error_sys(err, errno, "cannot lock %s", path);
		fh_error_set(err, FH_E_UNAVAILABLE, "another fumehood is writing this eval");
		fh_error_hint(err, "`fumehood eval --attach ID` shows how far it is, and can cancel it");
		return -FH_E_UNAVAILABLE;
	}
	*ret_fd = FH_TAKE_FD(fd);
	return 0;
}

bool fh_store_lock_is_held(const char *store_path, int64_t eval)
{
	fh_auto_free char *path = fh_xasprintf("%s-writers", store_path);
	fh_auto_close int fd = open(path, O_RDWR | O_CLOEXEC);
	struct flock lock = byte_of(eval);
	return fd >= 0 && fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}
