/* SPDX-License-Identifier: MIT */
/* Removes what dead engines have left, by running an engine with --gc, since only an engine may remove it. */
#include "sandbox/connection/placement.h"

#include <sys/wait.h>

#include "base/text/parse.h"
#include "base/process/proc.h"

enum { GC_MS = 60 * 1000 };

int fh_collect_garbage(size_t *ret_removed, struct fh_error *err)
{
	fh_auto_free char *program = NULL;
	int r = fh_engine_program(NULL, &program, err);
	if (r < 0)
		return r;
	fh_auto_free const char **env = fh_engine_environment();
	const char *const argv[] = { program, "--gc", NULL };
	struct fh_proc_options o = { .argv = argv, .env = env };
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(4096), said = FH_BUF_INIT(4096);
	int status;
	r = fh_proc_run(&o, fh_str(""), GC_MS, &out, &said, &status, err);
	if (r < 0)
		return r;
	while (out.n && (out.p[out.n - 1] == '\n' || out.p[out.n - 1] == ' '))
		fh_buf_truncate(&out, out.n - 1);
	uint64_t count;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 ||
	    fh_parse_u64(fh_buf_cstr(&out), 0, SIZE_MAX, &count, NULL) < 0)
		return fh_error_set(err, FH_E_SYSTEM, "fumehood-engine --gc failed (status %d): %.300s",
		                    WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
		                    said.n ? fh_buf_cstr(&said) : "it said nothing");
	*ret_removed = (size_t)count;
	return 0;
}
