/* SPDX-License-Identifier: MIT */
#include "engine/core/process/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "engine/core/connection.h"
#include "engine/core/engine.h"
#include "engine/core/limits.h"
#include "engine/core/process/process.h"
#include "engine/core/sandbox.h"

enum {
	LARGE_PIPE = 256 << 10,
	/* CPU time of what is read or written in one turn: so much in any case, and so much more for each byte */
	COSTLY_NS = 4000000,
	COSTLY_NS_PER_BYTE = 8,
	REST = 10,
};

/* ---------------------------------------------------------- what a program can hold locked, or make the engine do */

/* Whoever reads a pipe or terminal, or writes to it, wakes all that wait for it, and a program can have a million epoll
 * watches, or files that send signals, wait for its own output: then the read takes a quarter of a second of the
 * engine's CPU time. Such a stream is left alone for REST times as long, so that the engine has the rest of its time
 * for other sandboxes. An honest stream's turn takes some 0.1 ms, and one of megabytes below 1 ns for each byte. */
static int64_t cpu_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * FH_NS_PER_S + t.tv_nsec;
}

/* Whether the stream has to rest, after a turn that began at that CPU time and moved `bytes`. */
static bool rest(struct fh_engine *e, struct fh_timer *timer, int64_t began, size_t bytes)
{
	int64_t took = cpu_ns() - began;
	if (took < COSTLY_NS + COSTLY_NS_PER_BYTE * (int64_t)bytes)
		return false;
	fh_timer_set(e->loop, timer, fh_now_ns() + REST * took);
	return true;
}

static bool rests(const struct fh_timer *timer)
{
	return timer->slot != 0;
}

static void watched_begin(struct fh_sandbox *b)
{
	fh_keeper_watch(&b->engine->keeper, b->child.pid);
}

static void watched_end(struct fh_sandbox *b)
{
	fh_keeper_unwatch(&b->engine->keeper);
}

static ssize_t watched_read(struct fh_sandbox *b, int fd, char *to, size_t n)
{
	watched_begin(b);
	ssize_t r = read(fd, to, n);
	watched_end(b);
	return r;
}

static ssize_t watched_write(struct fh_sandbox *b, int fd, const char *bytes, size_t n)
{
	watched_begin(b);
	ssize_t r = write(fd, bytes, n);
	watched_end(b);
	return r;
}

void fh_watched_close(struct fh_sandbox *b, int fd)
{
	watched_begin(b);
	close(fd);
	watched_end(b);
}

/* ---------------------------------------------------------------------------------------- from a pipe to a client */

static uint64_t received(const struct fh_output *s)
{
	return s->acked + fh_output_held(s);
}

/* A stream that has ended is known for as long as its process is, without the memory that its bytes took. */
static void shrink(struct fh_output *s)
{
	if (s->ended && fh_output_held(s) == 0) {
		fh_buf_release(&s->buffer);
		s->gone = 0;
	}
}

/* Drops the oldest bytes that are held. They leave the buffer only when they are most of it: the others would be moved
 * for each piece that a client acknowledges. */
static void drop(struct fh_output *s, size_t n)
{
	s->acked += n;
	s->gone += n;
	if (s->gone >= fh_output_held(s)) {
		fh_buf_drop(&s->buffer, s->gone);
		s->gone = 0;
	}
	shrink(s);
}

/* The streams of a program end, as a rule, when the program does: nobody can use the end before the exit status. */
static bool ends_with_program(const struct fh_output *s)
{
	return s->ended && s->process && !s->process->helper && !s->process->exited;
}

static void send_pending(struct fh_engine *e, struct fh_output *s)
{
	(void)e;
	struct fh_connection *c = s->connection;
	if (!c || c->closing || s->end_sent)
		return;
	struct fh_buf *out = fh_connection_out(c);
	bool any = false, data = s->sent < received(s);
	while (s->sent < received(s)) {
		size_t at = s->gone + (size_t)(s->sent - s->acked), n = FH_MIN(s->buffer.n - at, (size_t)FH_FRAME_DATA_MAX);
		fh_frame_write_data(out, s->id, 0, s->sent, (struct fh_str){ s->buffer.p + at, n });
		s->sent += n;
		any = true;
	}
	if (s->ended) {
		uint16_t flags = FH_DATA_END | (s->truncated ? FH_DATA_TRUNCATED : 0);
		fh_frame_write_data(out, s->id, flags, s->sent, (struct fh_str){ "", 0 });
		s->end_sent = any = true;
	}
	if (any && !data && ends_with_program(s))
		fh_connection_flush_soon(c);
	else if (any)
		fh_connection_flush(c);
}

static void after_end(struct fh_output *s)
{
	if (s->ended && (s->end_sent || !s->connection) && s->on_end) {
		void (*on_end)(struct fh_output *) = FH_TAKE_PTR(s->on_end);
		on_end(s);
	}
}

/* Discards the oldest bytes of a stream that no client reads. */
static void make_room(struct fh_output *s)
{
	if (!s->drop || s->connection || fh_output_held(s) < s->window)
		return;
	drop(s, s->window / 2);
	s->sent = s->acked;
}

static void read_on(struct fh_engine *e, struct fh_output *s)
{
	make_room(s);
	bool wanted = fh_output_held(s) < s->window && !rests(&s->rest);
	if (s->fd >= 0)
		(void)fh_watch_set(e->loop, &s->watch, s->fd, wanted ? EPOLLIN : 0);
}

static void on_rested(struct fh_timer *t)
{
	struct fh_output *s = t->owner;
	read_on(s->sandbox->engine, s);
}

void fh_output_end(struct fh_engine *e, struct fh_output *s)
{
	if (s->fd >= 0) {
		fh_watch_stop(e->loop, &s->watch);
		fh_watched_close(s->sandbox, s->fd);
		s->fd = -1;
	}
	fh_timer_stop(e->loop, &s->rest);
	s->ended = true;
	shrink(s);
	send_pending(e, s);
	after_end(s);
}

/* The first byte beyond the limit was seen; exactly the bytes before it are kept. */
static void over_limit(struct fh_engine *e, struct fh_output *s)
{
	s->truncated = true;
	if (s->process)
		fh_limits_fire(s->process, FH_LIMIT_OUTPUT);
	fh_output_end(e, s);
}

/* A helper that fills its pipe has much to send: with a larger one it waits less often for the engine. Only helpers, as
 * what a program makes the kernel hold is the program's. */
static void grow_pipe(struct fh_output *s)
{
	if (s->grown || !s->process || !s->process->helper)
		return;
	s->grown = true;
	watched_begin(s->sandbox);
	(void)fcntl(s->fd, F_SETPIPE_SZ,
	            LARGE_PIPE); /* beyond a user's quota of pipe memory it fails, and changes nothing */
	watched_end(s->sandbox);
}

/* Reads what the window allows. `all`: however long that takes. */
static void take(struct fh_output *s, bool all)
{
	struct fh_engine *e = s->sandbox->engine;
	int64_t began = cpu_ns();
	size_t moved = 0;
	if (s->sandbox->program.starting)
		s->sandbox->origin->settle_program(
		    s->sandbox, false); /* tells the client that the program was started, before it gets output */
	while (fh_output_held(s) < s->window) {
		uint64_t left = s->limit == FH_UNLIMITED ? UINT64_MAX : s->limit - received(s);
		size_t want = (size_t)FH_MIN((uint64_t)(s->window - fh_output_held(s)), (uint64_t)FH_FRAME_DATA_MAX);
		bool last = left < want; /* reads one byte more than may be kept, to learn whether there is more */
		want = last ? (size_t)left + 1 : want;
		char *room = fh_buf_reserve(&s->buffer, want);
		ssize_t n = room ? watched_read(s->sandbox, s->fd, room, want) : -1;
		if (n < 0 && room && errno == EINTR)
			continue;
		if (n < 0 && room && errno == EAGAIN)
			break;
		if (s->sandbox->program.starting)
			s->sandbox->origin->settle_program(s->sandbox, true);
		if (n <= 0) { /* EIO: the terminal's other end is closed */
			fh_output_end(e, s);
			return;
		}
		if (last && (uint64_t)n > left) {
			s->buffer.n += (size_t)left;
			over_limit(e, s);
			return;
		}
		s->buffer.n += (size_t)n;
		moved += (size_t)n;
		bool costly = !all && rest(e, &s->rest, began, moved);
		if (costly || (size_t)n < want)
			break;
		if (n == FH_FRAME_DATA_MAX)
			grow_pipe(s);
	}
	send_pending(e, s);
	read_on(e, s);
}

static void on_event(struct fh_watch *w, uint32_t events)
{
	(void)events;
	take(w->owner, false);
}

void fh_output_catch_up(struct fh_output *s)
{
	if (s->fd >= 0 && fh_output_held(s) < s->window)
		take(s, true);
}

void fh_output_finish(struct fh_engine *e, struct fh_output *s)
{
	if (s->fd >= 0)
		take(s, true);
	if (!s->ended)
		fh_output_end(e, s);
}

struct fh_output *fh_output_new(struct fh_engine *e, enum fh_stream_kind kind, struct fh_connection *c, size_t window,
                                uint64_t limit)
{
	struct fh_output *s = FH_NEW(struct fh_output);
	fh_id_random(&s->id);
	s->kind = kind;
	s->connection = c;
	s->fd = -1;
	s->window = FH_MAX(FH_MIN(window ? window : (size_t)FH_WINDOW_DEFAULT, (size_t)FH_WINDOW_MAX), (size_t)4096);
	s->limit = limit;
	s->watch = (struct fh_watch){ .fd = -1, .on_event = on_event, .owner = s };
	fh_timer_prepare(e->loop, &s->rest, on_rested, s);
	return s;
}

void fh_output_open(struct fh_engine *e, struct fh_output *s, int fd)
{
	s->fd = fd;
	(void)fh_set_nonblock(fd, true);
	read_on(e, s);
}

void fh_output_credit(struct fh_engine *e, struct fh_output *s, uint64_t offset)
{
	if (offset <= s->acked || offset > s->sent)
		return; /* outdated or invented: nothing to drop */
	drop(s, (size_t)(offset - s->acked));
	if (!s->ended)
		read_on(e, s);
}

/* Tells the client that read the stream so far that it waits in vain. */
static void tell_taken_over(struct fh_output *s)
{
	struct fh_connection *c = s->connection;
	if (!c || c->closing || s->end_sent)
		return;
	fh_frame_write_data(fh_connection_out(c), s->id, FH_DATA_TAKEN_OVER, s->sent, (struct fh_str){ "", 0 });
	fh_connection_flush_soon(c);
}

void fh_output_attach(struct fh_engine *e, struct fh_output *s, struct fh_connection *c)
{
	if (s->connection != c)
		tell_taken_over(s);
	s->connection = c;
	s->sent = s->acked;
	s->end_sent = false;
	send_pending(e, s);
}

void fh_output_detach(struct fh_engine *e, struct fh_output *s)
{
	s->connection = NULL;
	if (!s->ended)
		read_on(e, s);
}

void fh_output_free(struct fh_engine *e, struct fh_output *s)
{
	if (!s)
		return;
	fh_watch_stop(e->loop, &s->watch);
	fh_timer_stop(e->loop, &s->rest);
	if (s->fd >= 0)
		fh_watched_close(s->sandbox, s->fd);
	fh_buf_release(&s->buffer);
	fh_loop_free(e->loop, s);
}

int fh_output_resize(struct fh_output *s, const struct winsize *size)
{
	watched_begin(s->sandbox);
	int r = ioctl(s->fd, TIOCSWINSZ, size);
	watched_end(s->sandbox);
	return r;
}

/* ---------------------------------------------------------------------------------------- from a client to a pipe */

static void consumed(struct fh_input *in, uint64_t until)
{
	struct fh_connection *c = in->process->connection;
	in->written = until;
	if (c && !c->closing && !fh_id_is_zero(in->id)) {
		fh_frame_write_credit(fh_connection_out(c), in->id, until);
		fh_connection_flush(c);
	}
}

static void finish_input(struct fh_engine *e, struct fh_input *in)
{
	static const char end_of_file = 4; /* ^D, because a terminal cannot be closed for writing only */
	if (in->terminal && in->fd >= 0)
		(void)watched_write(in->process->sandbox, in->fd, &end_of_file, 1);
	fh_input_close(e, in);
}

static void write_on(struct fh_engine *e, struct fh_input *in)
{
	size_t before = in->taken;
	int64_t began = cpu_ns();
	while (in->fd >= 0 && !in->broken && in->taken < in->buffer.n && !rests(&in->rest)) {
		ssize_t n = watched_write(in->process->sandbox, in->fd, in->buffer.p + in->taken, in->buffer.n - in->taken);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			break;
		if (n < 0) /* no process reads any more: input is discarded from here on */
			in->broken = true;
		else
			in->taken += (size_t)n;
		(void)rest(e, &in->rest, began, in->taken - before);
	}
	if (in->broken)
		in->taken = in->buffer.n;
	size_t done = in->taken - before;
	/* the written part is dropped only when it is most of the buffer: a plan's stdin may be large, while a pipe takes
	 * 64 KiB at a time */
	if (in->taken >= in->buffer.n - in->taken) {
		fh_buf_drop(&in->buffer, in->taken);
		in->taken = 0;
	}
	if (done)
		consumed(in, in->written + done);
	if (in->end_seen && in->buffer.n == 0)
		finish_input(e, in);
	else if (in->fd >= 0)
		(void)fh_watch_set(e->loop, &in->watch, in->fd,
		                   in->buffer.n && !in->broken && !rests(&in->rest) ? EPOLLOUT : 0);
}

static void on_input_event(struct fh_watch *w, uint32_t events)
{
	struct fh_input *in = w->owner;
	(void)events;
	write_on(in->process->sandbox->engine, in);
}

static void on_input_rested(struct fh_timer *t)
{
	struct fh_input *in = t->owner;
	write_on(in->process->sandbox->engine, in);
}

void fh_input_open(struct fh_engine *e, struct fh_input *in, int fd)
{
	in->fd = fd;
	in->watch = (struct fh_watch){ .fd = -1, .on_event = on_input_event, .owner = in };
	fh_timer_prepare(e->loop, &in->rest, on_input_rested, in);
	(void)fh_set_nonblock(fd, true);
	write_on(e, in);
}

bool fh_input_data(struct fh_engine *e, struct fh_input *in, uint64_t offset, struct fh_str bytes, bool end)
{
	if (offset != in->received || in->end_seen || in->buffer.n - in->taken + bytes.n > FH_STDIN_WINDOW)
		return false;
	in->received += bytes.n;
	in->end_seen = end;
	if (fh_buf_add(&in->buffer, bytes.p, bytes.n) < 0)
		return false;
	if (in->fd >= 0 || in->broken)
		write_on(e, in);
	return true;
}

void fh_input_gone(struct fh_input *in)
{
	struct fh_connection *c = in->process->connection;
	if (!c || c->closing || fh_id_is_zero(in->id))
		return;
	fh_frame_write_data(fh_connection_out(c), in->id, FH_DATA_END, in->written, (struct fh_str){ "", 0 });
	fh_connection_flush(c);
}

void fh_input_close(struct fh_engine *e, struct fh_input *in)
{
	if (in->fd >= 0) {
		fh_watch_stop(e->loop, &in->watch);
		fh_timer_stop(e->loop, &in->rest);
		fh_watched_close(in->process->sandbox, in->fd);
	}
	in->fd = -1;
	in->broken = true;
	fh_buf_release(&in->buffer);
	in->taken = 0;
}

int fh_input_take(struct fh_engine *e, struct fh_input *in)
{
	if (in->fd < 0 || in->terminal || in->end_seen || in->buffer.n || fh_set_nonblock(in->fd, false) < 0)
		return -1;
	fh_watch_stop(e->loop, &in->watch);
	fh_timer_stop(e->loop, &in->rest);
	in->broken = true;
	return FH_TAKE_FD(in->fd);
}
