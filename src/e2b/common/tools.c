/* SPDX-License-Identifier: MIT */
#include "e2b/common/tools.h"

#include <unistd.h>

static bool host_has(const char *name)
{
	static const char *const folders[] = {
		"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"
	};
	for (size_t i = 0; i < FH_ARRAY_SIZE(folders); i++) {
		fh_auto_free char *path = fh_xasprintf("%s/%s", folders[i], name);
		if (access(path, X_OK) == 0)
			return true;
	}
	return false;
}

void fh_e2b_add_tools(struct fh_plan *plan)
{
	struct fh_plan_mount *m = fh_plan_add_mount(plan, FH_MOUNT_FILE, FH_E2B_TOOLS "/sudo", NULL);
	m->content.size = fh_e2b_sudo_size;
	m->content.data = fh_xmemdup(fh_e2b_sudo, m->content.size);
	m->mode = 0755;
	if (!host_has("python") && access("/usr/bin/python3", X_OK) == 0)
		fh_plan_add_mount(plan, FH_MOUNT_SYMLINK, FH_E2B_TOOLS "/python", "/usr/bin/python3");
}
