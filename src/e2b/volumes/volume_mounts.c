/* SPDX-License-Identifier: MIT */
/* Which volumes a new sandbox gets, and where. */
#include "base/error.h"
#include "base/path.h"
#include "e2b/common/tools.h"
#include "e2b/hosted/e2b.h"
#include "e2b/volumes/volumes.h"
#include "proto/plan.h"

/* Nothing can be mounted below these folders, which show the host's or the kernel's files or what each sandbox is told
 * about itself, or over them. */
static const char *const closed[] = { "/bin",       "/dev",  "/etc",     "/lib",  "/lib32", "/lib64",
	                                  FH_E2B_TOOLS, "/proc", "/run/e2b", "/sbin", "/sys",   "/usr" };

static int check_path(const char *path, const struct fh_volume_mount *others, size_t n, struct fh_error *err)
{
	fh_auto_free char *clean = fh_path_clean(path);
	if (path[0] != '/' || !path[1] || !fh_streq(clean, path) || strlen(path) >= FH_PLAN_PATH_MAX)
		return fh_error_set(err, FH_E_ARGUMENT, "a volume's path must be absolute, below / and without \"..\": %.200s",
		                    path);
	for (size_t i = 0; i < FH_ARRAY_SIZE(closed); i++)
		if (fh_path_within(path, closed[i]) || fh_path_within(closed[i], path))
			return fh_error_set(err, FH_E_ARGUMENT, "a volume cannot be mounted at %.200s: %s belongs to the system",
			                    path, closed[i]);
	if (fh_streq(path, "/home"))
		return fh_error_set(err, FH_E_ARGUMENT, "a volume cannot be mounted at /home, over the home /home/user");
	for (size_t i = 0; i < n; i++)
		if (fh_path_within(path, others[i].path) || fh_path_within(others[i].path, path))
			return fh_error_set(err, FH_E_ARGUMENT, "two volumes are at the same place, or one in the other: %.200s",
			                    path);
	return 0;
}

/* Counts one more sandbox, unless the volume is being removed. */
static bool count(struct fh_volume *v)
{
	int n = atomic_load(&v->mounts);
	while (n >= 0)
		if (atomic_compare_exchange_weak(&v->mounts, &n, n + 1))
			return true;
	return false;
}

static int take(struct fh_volumes *s, const struct fh_key *owner, const json_t *item, struct fh_volume_mount *list,
                size_t *n, struct fh_error *err)
{
	const char *id = fh_json_str(item, "id", NULL), *name = fh_json_str(item, "name", ""),
	           *path = fh_json_str(item, "path", "");
	int r = check_path(path, list, *n, err);
	if (r < 0)
		return r;
	fh_auto_volume struct fh_volume *v = id ? fh_volume_find(s, id) : fh_volume_find_name(s, owner, name);
	if (!v || v->owner != owner)
		return fh_error_set(err, FH_E_NOT_FOUND, "there is no volume called %.64s", name);
	if (atomic_load(&v->is_full))
		return fh_volume_full(v, err);
	if (!count(v))
		return fh_error_set(err, FH_E_NOT_FOUND, "volume %.64s is being removed", name);
	list[(*n)++] = (struct fh_volume_mount){ FH_TAKE_PTR(v), fh_xstrdup(path) };
	return 0;
}

int fh_volume_mounts_take(struct fh_volumes *s, const struct fh_key *owner, FH_NULLABLE const json_t *asked,
                          struct fh_volume_mount **ret, size_t *ret_count, struct fh_error *err)
{
	size_t n = 0, i;
	const json_t *item;
	int r = 0;
	if (!asked || json_is_null(asked) || (json_is_array(asked) && json_array_size(asked) == 0))
		return 0;
	if (!json_is_array(asked) || json_array_size(asked) > FH_VOLUME_MOUNTS_MAX)
		return fh_error_set(err, FH_E_ARGUMENT, "volumeMounts must be a list of at most %d objects with name and path",
		                    FH_VOLUME_MOUNTS_MAX);
	struct fh_volume_mount *list = fh_xcalloc(FH_VOLUME_MOUNTS_MAX, sizeof(*list));
	json_array_foreach(asked, i, item) if (r == 0) r = take(s, owner, item, list, &n, err);
	if (r < 0) {
		fh_volume_mounts_free(list, n);
		return r;
	}
	*ret = list;
	*ret_count = n;
	return 0;
}
