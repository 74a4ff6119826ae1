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

static void add(struct fh_plan *plan, const char *path, const unsigned char *script, size_t size)
{
	struct fh_plan_mount *m = fh_plan_add_mount(plan, FH_MOUNT_FILE, path, NULL);
	m->content.size = size;
	m->content.data = fh_xmemdup(script, size);
	m->mode = 0755;
}

void fh_e2b_add_tools(struct fh_plan *plan)
{
	bool python3 = access("/usr/bin/python3", X_OK) == 0;
	add(plan, FH_E2B_TOOLS "/sudo", fh_e2b_sudo, fh_e2b_sudo_size);
	if (python3 && !host_has("setfattr"))
		add(plan, FH_E2B_TOOLS "/setfattr", fh_e2b_setfattr, fh_e2b_setfattr_size);
	if (python3 && !host_has("python"))
		fh_plan_add_mount(plan, FH_MOUNT_SYMLINK, FH_E2B_TOOLS "/python", "/usr/bin/python3");
}
