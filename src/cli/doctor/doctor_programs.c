/* SPDX-License-Identifier: MIT */
/* Whether the commands that are programs of their own can start: this machine may lack a library that they need. */
#include "cli/doctor/doctor.h"

#include <sys/wait.h>

#include "base/process/proc.h"
#include "cli/shared/commands.h"

enum { START_MS = 30 * 1000, WORDS_MAX = 4096 };

/* Packages of Debian and Ubuntu, for those of our libraries that a minimal system lacks. */
static const struct {
	const char *library, *package;
} packages[] = {
	{ "libjansson.so", "libjansson4" },        { "libpcre2-8.so", "libpcre2-8-0" }, { "libyaml-0.so", "libyaml-0-2" },
	{ "libmicrohttpd.so", "libmicrohttpd12" }, { "libcurl.so", "libcurl4" },
};

/* How to install the library that the loader's message (glibc's or musl's, ld.so(8)) names. */
static char *mend_of(const char *said)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(packages); i++)
		if (strstr(said, packages[i].library))
			return fh_xasprintf("sudo apt-get install %s (that is its name on Debian and Ubuntu)", packages[i].package);
	if (strstr(said, "GLIBC_"))
		return fh_xstrdup("it was built for a newer system: build fumehood here, or take its wheel");
	return fh_xstrdup("install what it names, or fumehood anew");
}

static void look_at_program(struct fh_checkup *c, const char *name)
{
	fh_auto_free char *shown = fh_xasprintf("fumehood-%s", name), *path = fh_command_program(name);
	fh_auto_free char *commands = fh_command_names_in(name);
	if (!path) {
		(void)fh_finding_add(c, shown, FH_WORTH_NOTE, NULL, "not in this installation, so these commands are not: %s",
		                     commands);
		return;
	}
	struct fh_error err = FH_ERROR_INIT;
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(1 << 20), said = FH_BUF_INIT(WORDS_MAX);
	int status = 0;
	/* By our own program, as users start it: one that holds several commands is told which. */
	fh_auto_free char *first = fh_xstrndup(commands, strcspn(commands, ","));
	const char *const argv[] = { "/proc/self/exe", first, "--help", NULL };
	const struct fh_proc_options o = { .argv = argv, .stdio = { FH_STDIO_NULL, FH_STDIO_PIPE, FH_STDIO_PIPE } };
	int r = fh_proc_run(&o, (struct fh_str){ "", 0 }, START_MS, &out, &said, &status, &err);
	if (r == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0) {
		(void)fh_finding_add(c, shown, FH_WORTH_OK, NULL, "%s", path);
		return;
	}
	fh_auto_free char *line = fh_xstrndup(fh_buf_cstr(&said), strcspn(fh_buf_cstr(&said), "\n"));
	fh_auto_free char *mend = mend_of(line);
	(void)fh_finding_add(c, shown, FH_WORTH_WEAKER, mend, "%s does not start: %s", path,
	                     r < 0     ? err.message
	                     : line[0] ? line
	                               : "it says nothing");
}

void fh_doctor_programs(struct fh_checkup *c)
{
	const char *name;
	for (size_t i = 0; (name = fh_command_apart(i)); i++)
		look_at_program(c, name);
}
