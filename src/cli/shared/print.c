/* SPDX-License-Identifier: MIT */
#include "cli/shared/print.h"

#include <errno.h>
#include <stdarg.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "cli/shared/options.h"

/* By descriptor: the errno of the first failed write; 0: all succeeded. */
static int failure[STDERR_FILENO + 1];

void fh_print_bytes(int fd, struct fh_str s)
{
	struct fh_sigpipe_guard guard;
	if (failure[fd] != 0 || s.n == 0)
		return;
	fh_sigpipe_block(&guard);
	if (fh_write_all(fd, s.p, s.n) < 0)
		failure[fd] = errno;
	fh_sigpipe_restore(&guard);
}

void fh_print(const struct fh_buf *text)
{
	fh_print_bytes(STDOUT_FILENO, (struct fh_str){ fh_buf_cstr(text), text->n });
}

void fh_print_line(const char *text)
{
	fh_print_bytes(STDOUT_FILENO, fh_str(text));
	fh_print_bytes(STDOUT_FILENO, fh_str("\n"));
}

void fh_printf(const char *format, ...)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(0);
	va_list args;
	va_start(args, format);
	(void)fh_buf_vaddf(&text, format, args);
	va_end(args);
	fh_print(&text);
}

bool fh_print_lost(void)
{
	return failure[STDOUT_FILENO] != 0;
}

int fh_print_end(int status, int lost)
{
	static const char *const names[] = { [STDOUT_FILENO] = "standard output", [STDERR_FILENO] = "standard error" };
	bool any = false;
	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
		struct fh_error err = FH_ERROR_INIT;
		if (failure[fd] == 0)
			continue;
		fh_error_sys(&err, failure[fd], "cannot write to %s", names[fd]);
		(void)fh_command_failed(&err, lost);
		failure[fd] = 0; /* this failure is reported only once */
		any = true;
	}
	return any && status == FH_EXIT_OK ? lost : status;
}
