/* SPDX-License-Identifier: MIT */
#include "cli/serve/serve_log.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "base/buf.h"
#include "cli/shared/options.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the variables below */
static const char *name;
static int fd = -1;
static uint64_t lost; /* lines that could not be written since the last one that was */
static bool torn;     /* the file ends with an incomplete line */

int fh_serve_log_open(const char *path, struct fh_error *err)
{
	if (!path)
		return 0;
	name = path;
	fd = fh_streq(path, "-") ? STDERR_FILENO : open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	return fd < 0 ? fh_error_sys(err, errno, "cannot open the log %s", path) : 0;
}

bool fh_serve_log_is_open(void)
{
	return fd >= 0;
}

/* 0, or an errno. */
static int append(const char *text, size_t n)
{
	for (size_t done = 0; done < n;) {
		ssize_t r = write(fd, text + done, n - done);
		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return errno;
		done += (size_t)r;
		torn = done < n;
	}
	return 0;
}

static void lose(int sys)
{
	struct fh_error err = FH_ERROR_INIT;
	if (lost++ > 0 || fd == STDERR_FILENO)
		return;
	fh_error_sys(&err, sys, "cannot write the log %s", name);
	fh_error_hint(&err, "requests are still answered; they are logged again as soon as the file can be written");
	(void)fh_command_failed(&err, 0);
}

void fh_serve_log_write(const char *line)
{
	pthread_mutex_lock(&lock);
	int sys = torn ? append("\n", 1) : 0;
	if (sys == 0)
		sys = append(line, strlen(line));
	if (sys)
		lose(sys);
	else if (lost > 0) {
		if (fd != STDERR_FILENO)
			fprintf(stderr, "fumehood: the log %s is written again; %llu requests are missing in it\n", name,
			        (unsigned long long)lost);
		lost = 0;
	}
	pthread_mutex_unlock(&lock);
}
