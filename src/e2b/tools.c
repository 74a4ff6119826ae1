/* SPDX-License-Identifier: MIT */
#include "e2b/tools.h"

#include <string.h>
#include <unistd.h>

/* The host's sudo could only fail: no program in a sandbox gets more rights than its caller has. This one runs the
 * command with the caller's, for scripts that put sudo in front of everything; a client names root by user="root". */
static const char sudo[] =
    "#!/bin/bash\n"
    "# There is no way to more rights in this sandbox: the command runs as whoever calls.\n"
    "shell= quiet=\n"
    "while [ $# -gt 0 ]; do\n"
    "  case $1 in\n"
    "    --) shift; break ;;\n"
    "    -u|-g|-h|-p|-r|-t|-C|-D|-R|-T|-U|--user|--group|--host|--prompt|--chdir|--chroot) shift; shift ;;\n"
    "    -s|-i|--shell|--login) shell=1; shift ;;\n"
    "    -v|-k|-K|--validate|--reset-timestamp|--remove-timestamp) quiet=1; shift ;;\n"
    "    -V|--version) echo 'fumehood: a stand-in for sudo, which runs its arguments'; exit ;;\n"
    "    -*) shift ;;\n"
    "    [A-Za-z_]*=*) export \"$1\"; shift ;;\n"
    "    *) break ;;\n"
    "  esac\n"
    "done\n"
    "if [ -n \"$shell\" ]; then\n"
    "  [ $# -gt 0 ] || exec /bin/bash\n"
    "  exec /bin/bash -c '\"$@\"' bash \"$@\"\n"
    "fi\n"
    "[ $# -gt 0 ] && exec \"$@\"\n"
    "[ -n \"$quiet\" ] && exit\n"
    "echo 'usage: sudo [options] [NAME=value]... command [arguments]' >&2\n"
    "exit 1\n";

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
	m->content.size = strlen(sudo);
	m->content.data = fh_xmemdup(sudo, m->content.size);
	m->mode = 0755;
	if (!host_has("python") && access("/usr/bin/python3", X_OK) == 0)
		fh_plan_add_mount(plan, FH_MOUNT_SYMLINK, FH_E2B_TOOLS "/python", "/usr/bin/python3");
}
