/* SPDX-License-Identifier: MIT */
#include "sandbox/run.h"

#include <errno.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/fd.h"

static void feed_from_fd(struct fh_feed *f)
{
	fh_auto_free char *piece = fh_xcalloc(1, FH_FRAME_DATA_MAX);
	ssize_t n;
	while ((n = fh_read_unless(f->stop_event, f->fd, piece, FH_FRAME_DATA_MAX)) > 0)
		if (fh_flow_write(f->connection, f->stream, piece, (size_t)n, &f->stop, NULL) < 0)
			return; /* the program ended or does not read, which is not an error here */
	if (n == 0)
		(void)fh_flow_end(f->connection, f->stream, NULL);
}

static void *feed_main(void *arg)
{
	struct fh_feed *f = arg;
	if (f->fd >= 0)
		feed_from_fd(f);
	else if (fh_flow_write(f->connection, f->stream, f->bytes.p, f->bytes.n, &f->stop, NULL) == 0)
		(void)fh_flow_end(f->connection, f->stream, NULL);
	return NULL;
}

int fh_feed_start(struct fh_feed *f, struct fh_error *err)
{
	f->stop_event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (f->stop_event < 0)
		return fh_error_sys(err, errno, "cannot feed the run's stdin");
	/* Blocks signals in the new thread: they are for the caller's threads, whose waits they interrupt. */
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int r = pthread_create(&f->thread, NULL, feed_main, f);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (r != 0) {
		fh_closep(&f->stop_event);
		return fh_error_sys(err, r, "cannot feed the run's stdin");
	}
	f->running = true;
	return 0;
}

void fh_feed_stop(struct fh_feed *f)
{
	uint64_t one = 1;
	if (!f->running)
		return;
	fh_connection_poke(f->connection, f->stream->key, &f->stop);
	(void)!write(f->stop_event, &one, sizeof(one));
	pthread_join(f->thread, NULL);
	fh_closep(&f->stop_event);
	f->running = false;
}
