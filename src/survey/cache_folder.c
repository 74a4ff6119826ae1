/* SPDX-License-Identifier: MIT */
#include "survey/cache_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "base/text/parse.h"

#define DEFAULT_MAX ((uint64_t)512 << 20)

uint64_t fh_cache_max_bytes(void)
{
	const char *asked = getenv("FUMEHOOD_COMPILE_CACHE");
	uint64_t n;
	if (!asked || !*asked)
		return DEFAULT_MAX;
	return fh_parse_size(asked, &n, NULL) == 0 ? n : 0;
}

/* Whether the folder is ours and closed to other users. */
static bool is_private(int fd)
{
	struct stat st;
	return fstat(fd, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() && (st.st_mode & 077) == 0;
}

int fh_cache_folder_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0 && is_private(fd))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

char *fh_cache_folder(const char *name)
{
	const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	bool own = base && base[0] == '/';
	if (fh_cache_max_bytes() == 0 || (!own && (!home || home[0] != '/')))
		return NULL;
	fh_auto_free char *root = own ? fh_xstrdup(base) : fh_path_join(home, ".cache");
	fh_auto_free char *ours = fh_path_join(root, "fumehood");
	fh_auto_free char *path = fh_path_join(ours, name);
	fh_auto_close int fd = fh_cache_folder_open(path);
	if (fd < 0) {
		(void)mkdir(root, 0700);
		(void)mkdir(ours, 0700);
		(void)mkdir(path, 0700);
		fd = fh_cache_folder_open(path);
	}
	return fd < 0 ? NULL : FH_TAKE_PTR(path);
}
