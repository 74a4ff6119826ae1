/* SPDX-License-Identifier: MIT */
#include "survey/installed.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/fd.h"
#include "survey/facts.h"

enum {
	TREE_ENTRIES_MAX = 5000, /* below /usr/local: reading more entries would take longer than the cache saves */
	TREE_DEPTH_MAX = 6,
};

static void add_stat(struct fh_sha256 *h, const char *name, const struct stat *st)
{
	struct fh_survey_facts facts = fh_survey_facts_of(st);
	fh_survey_facts_hash(h, name, &facts);
}

/* Adds all of a small tree. False: it is not small. */
static bool add_tree(struct fh_sha256 *h, int parent, const char *name, int depth, size_t *count)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct dirent **entries;
	struct stat st;
	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR;
	int n = depth < TREE_DEPTH_MAX ? scandirat(fd, ".", &entries, NULL, alphasort) : -1;
	bool small = n >= 0;
	for (int i = 0; i < n; i++) {
		const char *entry = entries[i]->d_name;
		if (small && !fh_streq(entry, ".") && !fh_streq(entry, "..")) {
			small = ++*count <= TREE_ENTRIES_MAX && fstatat(fd, entry, &st, AT_SYMLINK_NOFOLLOW) == 0;
			if (small)
				add_stat(h, entry, &st);
			if (small && S_ISDIR(st.st_mode))
				small = add_tree(h, fd, entry, depth + 1, count);
		}
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	close(fd);
	return small;
}

bool fh_installed_digest(char ret_hex[FH_SHA256_HEX])
{
	static const char *const databases[] = { "/var/lib/dpkg/status",
		                                     "/var/lib/rpm/rpmdb.sqlite",
		                                     "/var/lib/rpm/Packages",
		                                     "/usr/lib/sysimage/rpm/rpmdb.sqlite",
		                                     "/lib/apk/db/installed",
		                                     "/var/lib/pacman/local",
		                                     "/run/current-system",
		                                     "/usr/include",
		                                     "/usr/lib",
		                                     "/etc/alternatives" };
	struct fh_sha256 h = FH_SHA256_INIT;
	struct utsname machine;
	struct stat st;
	fh_auto_buf struct fh_buf id = FH_BUF_INIT(4096);
	size_t count = 0;
	for (size_t i = 0; i < FH_ARRAY_SIZE(databases); i++)
		if (stat(databases[i], &st) == 0)
			add_stat(&h, databases[i], &st);
	/* A program compiled with -march=native runs on this machine alone, and several machines may share the home with
	 * the cache. */
	(void)fh_file_read("/etc/machine-id", &id, NULL);
	fh_sha256_add_field(&h, fh_buf_str(&id));
	if (uname(&machine) < 0)
		return false;
	fh_sha256_add_field(&h, fh_str(machine.machine));
	fh_sha256_add_field(&h, fh_str(machine.nodename));
	if (!add_tree(&h, AT_FDCWD, "/usr/local/include", 0, &count) ||
	    !add_tree(&h, AT_FDCWD, "/usr/local/lib", 3, &count))
		return false;
	fh_sha256_hex(&h, ret_hex);
	return true;
}
