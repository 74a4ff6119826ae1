/* SPDX-License-Identifier: MIT */
#include "engine/core/connection.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "engine/core/engine.h"
#include "engine/core/sandbox.h"

static const char program[] = "fumehood-engine";
static const char *const capabilities[] = { FH_CAPABILITY_SURVEY, NULL };

struct fh_buf *fh_connection_out(struct fh_connection *c)
{
	/* Drops the written bytes once they are most of the buffer: for a peer that is always a little behind, the buffer
	 * would otherwise never become empty and would grow without end. */
	if (c->written >= c->pending.n - c->written) {
		fh_buf_drop(&c->pending, c->written);
		c->written = 0;
	}
	return &c->pending;
}

static struct fh_watch *out_watch(struct fh_connection *c)
{
	return c->in_fd == c->out_fd ? &c->in : &c->out;
}

static void want_write(struct fh_connection *c, bool on)
{
	uint32_t events = (c->in_fd == c->out_fd ? EPOLLIN : 0) | (on ? EPOLLOUT : 0);
	(void)fh_watch_set(c->engine->loop, out_watch(c), c->out_fd, events);
}

static void drop_pending(struct fh_connection *c)
{
	/* The buffer grew in a burst that is over: gives its memory back. */
	if (c->pending.cap > (1 << 20) || c->pending.overflowed)
		fh_buf_release(&c->pending);
	fh_buf_truncate(&c->pending, 0);
	c->written = 0;
}

static void on_loss(struct fh_timer *t)
{
	fh_connection_close(t->owner);
}

static void lose(struct fh_connection *c)
{
	c->lost = true;
	drop_pending(c);
	fh_timer_prepare(c->engine->loop, &c->loss_timer, on_loss, c);
	fh_timer_set(c->engine->loop, &c->loss_timer, fh_now_ns());
}

static void on_soon(struct fh_timer *t)
{
	fh_connection_flush(t->owner);
}

void fh_connection_flush_soon(struct fh_connection *c)
{
	enum { SOON_NS = 500000 };
	if (c->closing || c->soon_timer.slot)
		return;
	fh_timer_prepare(c->engine->loop, &c->soon_timer, on_soon, c);
	fh_timer_set(c->engine->loop, &c->soon_timer, fh_now_ns() + SOON_NS);
}

void fh_connection_flush(struct fh_connection *c)
{
	if (c->closing)
		return;
	fh_timer_stop(c->engine->loop, &c->soon_timer);
	if (c->lost) {
		drop_pending(c);
		return;
	}
	if (c->pending.overflowed) { /* the peer reads nothing, and the limit on unsent bytes is reached */
		lose(c);
		return;
	}
	while (c->written < c->pending.n) {
		ssize_t n = write(c->out_fd, c->pending.p + c->written, c->pending.n - c->written);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN) {
			want_write(c, true);
			return;
		}
		if (n < 0) {
			lose(c);
			return;
		}
		c->written += (size_t)n;
	}
	want_write(c, false);
	drop_pending(c);
}

void fh_connection_error(struct fh_connection *c, uint64_t request, const struct fh_error *err)
{
	if (!c || c->closing || c->lost || !request)
		return;
	fh_frame_write_error(fh_connection_out(c), request, err);
	fh_connection_flush(c);
}

static bool read_frames(struct fh_connection *c)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_frame f;
	for (;;) {
		int r = fh_frame_next(&c->decoder, &f, &err);
		if (r == 0)
			return true;
		if (r > 0)
			r = c->engine->handler->on_frame(c, &f, &err);
		if (c->closing || c->lost)
			return false;
		if (r < 0) {
			fh_frame_write_error(fh_connection_out(c), 0, &err);
			fh_connection_flush(c);
			return false;
		}
	}
}

static void on_readable(struct fh_connection *c)
{
	for (int round = 0; round < 4; round++) { /* at most 4 reads, then other descriptors have their turn */
		char *room = fh_buf_reserve(&c->decoder.in, 64 << 10);
		ssize_t n = room ? read(c->in_fd, room, 64 << 10) : -1;
		if (n < 0 && room && (errno == EAGAIN || errno == EINTR))
			return;
		if (n <= 0) {
			fh_connection_close(c);
			return;
		}
		c->decoder.in.n += (size_t)n;
		if (!read_frames(c)) {
			fh_connection_close(c);
			return;
		}
		if (n < (64 << 10))
			return;
	}
}

static void on_event(struct fh_watch *w, uint32_t events)
{
	struct fh_connection *c = w->owner;
	if (events & EPOLLOUT)
		fh_connection_flush(c);
	if (!c->closing && !c->lost && w == &c->in && events & (EPOLLIN | EPOLLHUP | EPOLLERR))
		on_readable(c);
	else if (!c->closing && w == &c->out && events & (EPOLLHUP | EPOLLERR))
		fh_connection_close(c);
}

struct fh_connection *fh_connection_new(struct fh_engine *e, int in_fd, int out_fd, pid_t peer)
{
	struct fh_connection *c = FH_NEW(struct fh_connection);
	c->engine = e;
	c->in_fd = in_fd;
	c->out_fd = out_fd;
	c->peer_pid = peer;
	c->peer_uid = geteuid();
	c->decoder = (struct fh_frame_decoder)FH_FRAME_DECODER_INIT;
	c->pending = (struct fh_buf)FH_BUF_INIT(FH_CONNECTION_OUT_MAX);
	c->in = (struct fh_watch){ .fd = -1, .on_event = on_event, .owner = c };
	c->out = (struct fh_watch){ .fd = -1, .on_event = on_event, .owner = c };
	(void)fh_set_nonblock(in_fd, true);
	(void)fh_set_nonblock(out_fd, true);
	c->next = e->connections;
	e->connections = c;
	e->connection_count++;
	fh_frame_write_hello(fh_connection_out(c), program, (uint64_t)getpid(), capabilities);
	(void)fh_watch_set(e->loop, &c->in, in_fd, EPOLLIN);
	fh_connection_flush(c);
	return c;
}

void fh_connection_close(struct fh_connection *c)
{
	struct fh_engine *e = c->engine;
	if (c->closing)
		return;
	c->closing = true;
	fh_timer_stop(e->loop, &c->loss_timer);
	fh_timer_stop(e->loop, &c->soon_timer);
	fh_watch_stop(e->loop, &c->in);
	fh_watch_stop(e->loop, &c->out);
	for (struct fh_connection **p = &e->connections; *p; p = &(*p)->next)
		if (*p == c) {
			*p = c->next;
			e->connection_count--;
			break;
		}
	if (e->main == c) {
		/* Sandboxes kept alive by a lease must not hold the stderr of the process that started the engine open: it may
		 * be a pipe whose reader waits for its end. */
		int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
		if (null >= 0) {
			(void)dup2(null, STDERR_FILENO);
			close(null);
		}
		e->main = NULL;
	}
	e->handler->on_close(e, c);
	fh_sandbox_drop_connection(e, c);
	close(c->in_fd);
	if (c->out_fd != c->in_fd)
		close(c->out_fd);
	fh_frame_decoder_release(&c->decoder);
	fh_buf_release(&c->pending);
	fh_loop_free(e->loop, c);
	e->handler->settle(e);
}
