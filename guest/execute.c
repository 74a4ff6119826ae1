/* SPDX-License-Identifier: MIT */
#include "execute.h"

#include <signal.h>

#include "init/lib/lib.h"
#include "init/messages.h"

static const char *path_of(char **env)
{
	for (char **e = env; *e; e++)
		if (memcmp(*e, "PATH=", strlen(*e) < 5 ? strlen(*e) : 5) == 0 && strlen(*e) >= 5)
			return *e + 5;
	return "/usr/local/bin:/usr/bin:/bin";
}

static int has_slash(const char *s)
{
	while (*s && *s != '/')
		s++;
	return *s == '/';
}

void fh_execute_program(char **argv, char **env)
{
	static char path[FH_INIT_PATH_MAX];
	size_t length = strlen(argv[0]);
	if (has_slash(argv[0])) {
		fh_sys(__NR_execve, argv[0], argv, env);
		return;
	}
	for (const char *folders = path_of(env); *folders;) {
		size_t n = 0;
		while (folders[n] && folders[n] != ':')
			n++;
		if (n && n + length + 2 <= sizeof(path)) {
			memcpy(path, folders, n);
			path[n] = '/';
			memcpy(path + n + 1, argv[0], length + 1);
			fh_sys(__NR_execve, path, argv, env);
		}
		folders += folders[n] ? n + 1 : n;
	}
}

void fh_end_as(int status)
{
	if (status >= 256) {
		uint64_t mask = 0;
		fh_sys(__NR_rt_sigprocmask, SIG_SETMASK, &mask, 0, 8);
		fh_sys(__NR_kill, fh_sys(__NR_getpid), status - 256);
		status = 128 + status - 256; /* the signal did not end this process */
	}
	for (;;)
		fh_sys(__NR_exit_group, status);
}
