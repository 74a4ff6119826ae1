/* SPDX-License-Identifier: MIT */
#include "engine/host/cgroup_rights.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/base.h"

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);
	return n > m && memcmp(text + n - m, end, m) == 0;
}

/* Whether a folder's name is that of a systemd unit. Only service managers use these suffixes. */
static bool is_unit(const char *name)
{
	return ends_with(name, ".service") || ends_with(name, ".scope") || ends_with(name, ".slice");
}

/* user@UID.service is marked as delegated, but to the user's service manager. */
static bool is_manager(const char *name)
{
	return strncmp(name, "user@", 5) == 0 && is_unit(name);
}

int fh_cgroup_ours(const struct fh_cgroup_level *levels, size_t n, uid_t us)
{
	for (size_t i = 0; i < n; i++) {
		const struct fh_cgroup_level *l = &levels[i];
		if (l->root_of_hierarchy || is_manager(l->name))
			break;
		if (l->delegated || l->root_of_namespace)
			return (int)i;
		if (is_unit(l->name))
			break;
		if (l->owner == us && i + 1 < n && levels[i + 1].owner != us)
			return (int)i;
	}
	return FH_CGROUP_NOT_OURS;
}

static bool is_marked(const char *dir)
{
	static const char *const names[] = { "user.delegate", "trusted.delegate" };
	char value[2];
	for (size_t i = 0; i < FH_ARRAY_SIZE(names); i++)
		if (getxattr(dir, names[i], value, sizeof(value)) == 1 && value[0] == '1')
			return true;
	return false;
}

static struct fh_cgroup_level look_at(const char *dir)
{
	char type[600];
	struct stat st;
	/* every group has this file, but for the root of the hierarchy */
	snprintf(type, sizeof(type), "%.550s/cgroup.type", dir);
	return (struct fh_cgroup_level){
		.owner = stat(dir, &st) == 0 ? st.st_uid : (uid_t)-1,
		.delegated = is_marked(dir),
		.root_of_hierarchy = access(type, F_OK) < 0 && errno == ENOENT,
	};
}

int fh_cgroup_find_ours(char *dir, const char *mount, bool mount_is_root)
{
	struct fh_cgroup_level levels[FH_CGROUP_LEVELS_MAX];
	char way[512];
	size_t n = 0, top = strlen(mount);
	if ((size_t)snprintf(way, sizeof(way), "%s", dir) >= sizeof(way) || strncmp(dir, mount, top) != 0)
		return FH_CGROUP_NOT_OURS;
	/* All names point into `way`: each level's slash is overwritten with the terminator of the level above. */
	for (; n < FH_CGROUP_LEVELS_MAX; n++) {
		levels[n] = look_at(way);
		levels[n].root_of_namespace = mount_is_root && strlen(way) == top;
		char *slash = strrchr(way, '/');
		levels[n].name = slash && strlen(way) > top ? slash + 1 : "";
		if (!slash || strlen(way) <= top)
			break;
		*slash = 0;
	}
	int ours = fh_cgroup_ours(levels, FH_MIN(n + 1, (size_t)FH_CGROUP_LEVELS_MAX), geteuid());
	for (int i = 0; i < ours; i++)
		*strrchr(dir, '/') = 0;
	return ours;
}
