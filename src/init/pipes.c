/* SPDX-License-Identifier: MIT */
/*
 * Pages in pipes that no control group is charged for, and, without control groups, all pages in pipes. splice() and
 * sendfile() fill each place of a pipe with a page of what they read from: 32 KiB of a network socket's, by one byte of
 * it (fragments.c), or a new page from a device or a file of /proc. A user's pipes have 16,384 places and two for each
 * further pipe.
 *
 * Nothing tells these pages by sandbox. As in fragments.c, two figures bound them, and the smaller one counts: what the
 * pipes of the sandbox can hold at most, and by how much the memory of the host has grown that the kernel gives no
 * name. Only when that has grown are descriptors looked at: each pipe is opened for a moment, to ask how many bytes
 * wait in it. Empty ones, as nearly all pipes of programs are, hold nothing. A process whose descriptors cannot be
 * listed (memfds.c) may hold any number, and so may a socket where descriptors wait: all the growth counts.
 *
 * Sources: copy_splice_read() in fs/splice.c, too_many_pipe_buffers_soft() in fs/pipe.c; pipe(7), proc_pid_fd(5).
 */
#include "init/init.h"

#include <errno.h>
#include <fcntl.h>

enum {
	PERIODS = 5, /* samples between two readings of the host's memory, where nothing else is counted */
	PAGE = 4096,
	PAGE_OF_A_PLACE = 32768,
	PLACES_MAX = 256, /* of one pipe: fs.pipe-max-size */
	SMALL = 16 << 20,
	TOLERANCE = 32 << 20,   /* others on the host have such memory as well */
	BYTES_WAITING = 0x541B, /* FIONREAD */
};

static struct {
	struct fh_unnamed unnamed; /* from when the pipes held little */
	uint64_t grown;            /* by how much it has, beyond what counts elsewhere */
} pipes;

int fh_pipes_begin(void)
{
	pipes.grown = fh_unnamed_growth(&pipes.unnamed, fh_sockets_unnamed() + TOLERANCE);
	return pipes.grown > 0;
}

int fh_pipes_worth_looking(void)
{
	static uint32_t periods;
	return pipes.grown || (periods++ % PERIODS == 0 && fh_pipes_begin());
}

uint64_t fh_pipes_most(long folder, const char *name)
{
	if (!pipes.grown)
		return 0;
	long fd = fh_sys(__NR_openat, folder, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0);
	if (fd < 0)
		return fd == -ENOENT ? 0 : (uint64_t)PLACES_MAX * PAGE_OF_A_PLACE;
	int bytes = 0;
	long size = fh_sys(__NR_fcntl, fd, F_GETPIPE_SZ);
	long asked = fh_sys(__NR_ioctl, fd, BYTES_WAITING, &bytes);
	fh_sys(__NR_close, fd);
	uint64_t places = size > 0 ? (uint64_t)size / PAGE : PLACES_MAX;
	return (asked >= 0 && (uint64_t)bytes < places ? (uint64_t)bytes : places) * PAGE_OF_A_PLACE;
}

uint64_t fh_pipes_bytes(uint64_t most, int round_is_whole)
{
	if (!pipes.grown)
		return 0;
	if (most >= SMALL || fh_memfds_are_closed())
		return pipes.grown < most || fh_memfds_are_closed() ? pipes.grown : most;
	int pass = round_is_whole ? fh_descriptors_pass() : -1;
	if (pass > 0)
		return pipes.grown;
	if (!pass) { /* that was not the sandbox's */
		pipes.unnamed.before = pipes.unnamed.now;
		pipes.grown = 0;
	}
	return 0;
}
