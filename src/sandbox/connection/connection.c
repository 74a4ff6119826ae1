/* SPDX-License-Identifier: MIT */
#include "sandbox/connection/connection.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "sandbox/connection/mux.h"

enum { READ_SIZE = 64 << 10 };

struct fh_connection *fh_connection_new(int in, int out)
{
	struct fh_connection *c = FH_NEW(struct fh_connection);
	struct stat st;
	c->in = in;
	c->out = out;
	c->out_is_socket = fstat(out, &st) == 0 && S_ISSOCK(st.st_mode);
	(void)fh_set_nonblock(in, true);
	(void)fh_set_nonblock(out, true);
	c->decoder = (struct fh_frame_decoder)FH_FRAME_DECODER_INIT;
	pthread_mutex_init(&c->mutex, NULL);
	c->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (c->event < 0)
		(void)fh_error_sys(&c->broken, errno, "cannot make an eventfd");
	return c;
}

void fh_connection_free(struct fh_connection *c)
{
	if (!c)
		return;
	fh_closep(&c->in);
	if (c->out != c->in)
		fh_closep(&c->out);
	fh_closep(&c->event);
	fh_frame_decoder_release(&c->decoder);
	fh_buf_release(&c->queue);
	for (size_t i = 0; i < c->capability_count; i++)
		free(c->capabilities[i]);
	pthread_mutex_destroy(&c->mutex);
	free(c);
}

bool fh_connection_peer_can(const struct fh_connection *c, const char *capability)
{
	for (size_t i = 0; i < c->capability_count; i++)
		if (fh_streq(c->capabilities[i], capability))
			return true;
	return false;
}

pid_t fh_connection_peer_pid(const struct fh_connection *c)
{
	return c->peer_pid;
}

int fh_connection_descriptor(const struct fh_connection *c)
{
	return c->in;
}

bool fh_connection_lost(struct fh_connection *c)
{
	pthread_mutex_lock(&c->mutex);
	bool lost = c->broken.code != FH_OK;
	pthread_mutex_unlock(&c->mutex);
	return lost;
}

void fh_connection_on_lost(struct fh_connection *c, void (*explain)(void *context, struct fh_error *err), void *context)
{
	c->explain = explain;
	c->explain_context = context;
}

/* --------------------------------------------------------------------------------------------------------- waking */

static void nudge_leader(struct fh_connection *c)
{
	uint64_t one = 1;
	if (c->polling)
		(void)!write(c->event, &one, sizeof(one)); /* EAGAIN does no harm: the eventfd is readable then */
}

static void wake_one(struct fh_connection *c, struct fh_wait *w)
{
	if (w == c->leader)
		nudge_leader(c);
	else
		pthread_cond_signal(&w->wake);
}

void fh_connection_wake(struct fh_connection *c, const void *key)
{
	for (struct fh_wait *w = c->waits; w; w = w->next)
		if (!key || w->key == key)
			wake_one(c, w);
}

void fh_connection_poke(struct fh_connection *c, const void *key, bool *flag)
{
	pthread_mutex_lock(&c->mutex);
	*flag = true;
	fh_connection_wake(c, key);
	pthread_mutex_unlock(&c->mutex);
}

/* Every wait gets the error. If the connection was broken before, the first error stays. */
static void break_connection(struct fh_connection *c, const struct fh_error *err)
{
	if (c->broken.code)
		return;
	c->broken = *err;
	if (c->out_is_socket) /* shutdown tells the peer too */
		(void)shutdown(c->out, SHUT_RDWR);
	fh_connection_wake(c, NULL);
}

/* The peer is gone. explain() may add the reason, if the client started the peer. */
static void lost(struct fh_connection *c, int sys)
{
	struct fh_error err = FH_ERROR_INIT;
	if (sys && sys != ECONNRESET && sys != EPIPE)
		(void)fh_error_sys(&err, sys, "lost the connection to the engine");
	else
		(void)fh_error_set(&err, FH_E_SYSTEM, "the engine closed the connection");
	err.sys = sys ? sys : ECONNRESET;
	err.phase = c->hello ? FH_PHASE_RUN : FH_PHASE_CONNECT;
	err.retryable = true;
	if (!c->broken.code && c->explain)
		c->explain(c->explain_context, &err);
	break_connection(c, &err);
}

/* ---------------------------------------------------------------------------------------------------------- bytes */

/* write(2) without SIGPIPE. */
static ssize_t write_pipe(int fd, const void *p, size_t n)
{
	struct fh_sigpipe_guard guard;
	fh_sigpipe_block(&guard);
	ssize_t r = write(fd, p, n);
	fh_sigpipe_restore(&guard);
	return r;
}

static ssize_t write_some(struct fh_connection *c, const void *p, size_t n)
{
	return c->out_is_socket ? send(c->out, p, n, MSG_NOSIGNAL | MSG_DONTWAIT) : write_pipe(c->out, p, n);
}

/* Reads what has arrived, at most READ_SIZE bytes. */
static void receive(struct fh_connection *c)
{
	char *to = fh_buf_reserve(&c->decoder.in, READ_SIZE);
	if (!to) { /* cannot happen: the decoder's buffer is larger than the largest frame */
		lost(c, ENOBUFS);
		return;
	}
	ssize_t n = read(c->in, to, READ_SIZE);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		lost(c, n < 0 ? errno : 0);
		return;
	}
	c->decoder.in.n += (size_t)n;
	struct fh_error err = FH_ERROR_INIT;
	if (fh_connection_dispatch(c, &err) < 0) {
		err.phase = c->hello ? FH_PHASE_RUN : FH_PHASE_CONNECT;
		break_connection(c, &err);
	}
}

/* Writing failed. Frames that the peer sent before, perhaps an ERROR, are read first. */
static void write_failed(struct fh_connection *c, int sys)
{
	struct pollfd p = { .fd = c->in, .events = POLLIN };
	while (!c->broken.code && poll(&p, 1, 0) > 0 && (p.revents & POLLIN))
		receive(c);
	lost(c, sys);
}

/* Returns how many bytes the kernel accepted; 0 also when the connection broke. */
static size_t write_now(struct fh_connection *c, const char *p, size_t n)
{
	size_t done = 0;
	while (done < n && !c->broken.code) {
		ssize_t r = write_some(c, p + done, n - done);
		if (r >= 0) {
			done += (size_t)r;
		} else if (errno == EAGAIN) {
			break;
		} else if (errno != EINTR) {
			write_failed(c, errno);
		}
	}
	return done;
}

static void flush_queue(struct fh_connection *c)
{
	size_t n = write_now(c, c->queue.p + c->queue_used, c->queue.n - c->queue_used);
	if (!n)
		return;
	c->queue_used += n;
	c->flushed += n;
	if (c->queue_used == c->queue.n) {
		fh_buf_release(&c->queue);
		c->queue_used = 0;
	}
	fh_connection_wake(c, &c->queue);
}

uint64_t fh_connection_enqueue(struct fh_connection *c, struct fh_str frames)
{
	size_t n = c->queue.n ? 0 : write_now(c, frames.p, frames.n);
	c->queued += n;
	c->flushed += n;
	if (n < frames.n && !c->broken.code) {
		(void)fh_buf_add(&c->queue, frames.p + n, frames.n - n);
		c->queued += frames.n - n;
		nudge_leader(c); /* the leader must poll for writing too */
	}
	return c->queued;
}

/* ---------------------------------------------------------------------------------------------------------- waits */

void fh_wait_begin(struct fh_wait *w, struct fh_connection *c, const void *key)
{
	pthread_condattr_t attr;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&w->wake, &attr);
	pthread_condattr_destroy(&attr);
	w->c = c;
	w->key = key;
	pthread_mutex_lock(&c->mutex);
	w->next = c->waits;
	c->waits = w;
}

void fh_wait_end(struct fh_wait *w)
{
	struct fh_connection *c = w->c;
	struct fh_wait **at = &c->waits;
	while (*at != w)
		at = &(*at)->next;
	*at = w->next;
	if (c->leader == w)
		c->leader = NULL;
	if (!c->leader && c->waits)
		pthread_cond_signal(&c->waits->wake);
	pthread_mutex_unlock(&c->mutex);
	pthread_cond_destroy(&w->wake);
}

static struct timespec timespec_of(int64_t ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / FH_NS_PER_S), .tv_nsec = (long)(ns % FH_NS_PER_S) };
}

static int timed_out(struct fh_error *err)
{
	return fh_error_set(err, FH_E_TIMEOUT, "the engine did not answer in time");
}

static int follow(struct fh_wait *w, int64_t deadline_ns, struct fh_error *err)
{
	if (!deadline_ns) {
		pthread_cond_wait(&w->wake, &w->c->mutex);
		return 0;
	}
	struct timespec until = timespec_of(deadline_ns);
	if (pthread_cond_timedwait(&w->wake, &w->c->mutex, &until) == ETIMEDOUT && fh_now_ns() >= deadline_ns)
		return timed_out(err);
	return 0;
}

static int lead(struct fh_wait *w, int64_t deadline_ns, struct fh_error *err)
{
	struct fh_connection *c = w->c;
	c->leader = w;
	bool full = c->queue.n > 0;
	bool one = c->in == c->out;
	struct pollfd p[3] = {
		{ .fd = c->in, .events = (short)(POLLIN | (one && full ? POLLOUT : 0)) },
		{ .fd = c->event, .events = POLLIN },
		{ .fd = !one && full ? c->out : -1, .events = POLLOUT },
	};
	struct timespec left = timespec_of(deadline_ns ? FH_MAX(deadline_ns - fh_now_ns(), 0) : 0);
	c->polling = true;
	pthread_mutex_unlock(&c->mutex);
	int n = ppoll(p, 3, deadline_ns ? &left : NULL, NULL);
	pthread_mutex_lock(&c->mutex);
	c->polling = false;
	if (n == 0)
		return timed_out(err);
	if (n < 0)
		return 0; /* interrupted by a signal */
	uint64_t count;
	if (p[1].revents)
		(void)!read(c->event, &count, sizeof(count));
	if (p[2].revents || (one && (p[0].revents & POLLOUT)))
		flush_queue(c);
	if (!c->broken.code && (p[0].revents & (POLLIN | POLLHUP | POLLERR | POLLNVAL)))
		receive(c);
	return 0;
}

static int check_broken(const struct fh_connection *c, struct fh_error *err)
{
	if (c->broken.code && err)
		*err = c->broken;
	return -(int)c->broken.code;
}

static int sleep_until(struct fh_wait *w, int64_t deadline_ns, struct fh_error *err)
{
	struct fh_connection *c = w->c;
	return c->leader && c->leader != w ? follow(w, deadline_ns, err) : lead(w, deadline_ns, err);
}

static void never_greeted(struct fh_connection *c)
{
	struct fh_error err = FH_ERROR_INIT;
	(void)fh_error_set(&err, FH_E_SYSTEM, "the engine did not greet within %lld ms", (long long)c->greet_ms);
	/* sys says that it was a timeout. The code is not FH_E_TIMEOUT, since that means that the caller may wait again. */
	err.sys = ETIMEDOUT;
	err.phase = FH_PHASE_CONNECT;
	err.retryable = true;
	break_connection(c, &err);
}

int fh_wait_step(struct fh_wait *w, int64_t deadline_ns, struct fh_error *err)
{
	struct fh_connection *c = w->c;
	int r = check_broken(c, err);
	if (r < 0)
		return r;
	if (c->hello || !c->greet_by_ns || (deadline_ns && deadline_ns < c->greet_by_ns))
		return sleep_until(w, deadline_ns, err);
	r = sleep_until(w, c->greet_by_ns, NULL);
	if (r != -FH_E_TIMEOUT)
		return r;
	if (!c->hello)
		never_greeted(c);
	return check_broken(c, err);
}

int fh_wait_flushed(struct fh_wait *w, uint64_t mark, struct fh_error *err)
{
	struct fh_connection *c = w->c;
	int r = 0;
	w->key = &c->queue;
	while (c->flushed < mark && r == 0)
		r = fh_wait_step(w, 0, err);
	return r < 0 ? r : check_broken(c, err);
}

int fh_connection_send(struct fh_connection *c, const struct fh_buf *frames, struct fh_error *err)
{
	if (frames->overflowed)
		return fh_error_set(err, FH_E_LIMIT, "a request of more than %zu bytes", frames->max);
	struct fh_wait w;
	int r = 0;
	fh_wait_begin(&w, c, &c->queue);
	while (c->queue.n > FH_MUX_QUEUE_FULL && r == 0)
		r = fh_wait_step(&w, 0, err);
	if (r == 0)
		r = fh_wait_flushed(&w, fh_connection_enqueue(c, fh_buf_str(frames)), err);
	fh_wait_end(&w);
	return r;
}

bool fh_connection_greeted(struct fh_connection *c)
{
	pthread_mutex_lock(&c->mutex);
	bool greeted = c->hello;
	pthread_mutex_unlock(&c->mutex);
	return greeted;
}

int fh_connection_greet(struct fh_connection *c, int64_t timeout_ms, bool later, struct fh_error *err)
{
	fh_auto_buf struct fh_buf hello = FH_BUF_INIT(0);
	fh_frame_write_hello(&hello, "fumehood", (uint64_t)getpid(), NULL);
	struct fh_wait w;
	fh_wait_begin(&w, c, c);
	c->greet_ms = timeout_ms;
	c->greet_by_ns = fh_now_ns() + timeout_ms * FH_NS_PER_MS;
	(void)fh_connection_enqueue(c, fh_buf_str(&hello));
	fh_wait_end(&w);
	return later ? 0 : fh_connection_await_greeting(c, err);
}

int fh_connection_await_greeting(struct fh_connection *c, struct fh_error *err)
{
	struct fh_wait w;
	int r = 0;
	fh_wait_begin(&w, c, c);
	while (!c->hello && r == 0)
		r = fh_wait_step(&w, 0, err);
	fh_wait_end(&w);
	if (r < 0 && err)
		err->phase = FH_PHASE_CONNECT;
	return r;
}
