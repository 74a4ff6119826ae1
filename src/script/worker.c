/* SPDX-License-Identifier: MIT */
#include "script/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/fd.h"

#define FH_WORKER_TICK_MS 50
#define FH_WORKER_GREETING_MS 60000
#define FH_WORKER_LAST_WORDS_MS 10000
#define FH_WORKER_PIECE 65536

struct fh_worker_wait {
	int64_t deadline; /* end of the time limit, monotonic ns */
	const volatile int *cancel;
};

/* Reads available output of the worker and shows it, up to the bound. False: the worker closed its output. */
static bool fh_worker_take_print(struct fh_worker *w)
{
	char piece[FH_WORKER_PIECE];
	ssize_t n = w->print >= 0 ? read(w->print, piece, sizeof(piece)) : -1;
	if (n == 0 || (n < 0 && w->print >= 0 && errno != EAGAIN && errno != EINTR)) {
		fh_closep(&w->print);
		w->print = -1;
	}
	if (n <= 0)
		return false;
	size_t room = w->printed < FH_WORKER_SHOWN_MAX ? FH_WORKER_SHOWN_MAX - w->printed : 0;
	static const char note[] = "\n… fumehood: the rest of what this call prints is left out\n";
	/* The call does not fail when our own stderr is closed. */
	int failed = fh_write_all(STDERR_FILENO, piece, FH_MIN((size_t)n, room));
	if (!failed && room && (size_t)n > room)
		failed = fh_write_all(STDERR_FILENO, note, sizeof(note) - 1);
	w->printed += (size_t)n;
	return !failed || w->print >= 0;
}

static void fh_worker_take_prints(struct fh_worker *w)
{
	while (w->printed <= FH_WORKER_PRINT_MAX && fh_worker_take_print(w))
		;
}

/* Waits until the channel is ready for `events`, and takes what the worker printed meanwhile. */
static int fh_worker_poll(struct fh_worker *w, short events, const struct fh_worker_wait *wait, struct fh_error *err)
{
	for (;;) {
		if (wait->cancel && *wait->cancel)
			return fh_error_set(err, FH_E_CANCELLED, "cancelled");
		int64_t left = (wait->deadline - fh_now_ns() + FH_NS_PER_MS - 1) / FH_NS_PER_MS;
		if (left <= 0)
			return fh_error_set(err, FH_E_TIMEOUT, "no answer in time");
		if (w->printed > FH_WORKER_PRINT_MAX)
			return fh_error_set(err, FH_E_PROTOCOL, "it printed more than %zu bytes", FH_WORKER_PRINT_MAX);
		struct pollfd p[] = { { .fd = w->channel, .events = events }, { .fd = w->print, .events = POLLIN } };
		int n = poll(p, FH_ARRAY_SIZE(p), (int)FH_MIN(left, (int64_t)FH_WORKER_TICK_MS));
		if (n > 0 && p[1].revents)
			fh_worker_take_print(w);
		if (n > 0 && p[0].revents)
			return 0;
		if (n < 0 && errno != EINTR)
			return fh_error_sys(err, errno, "cannot wait for a worker");
	}
}

/* The worker closed the channel: sets an error that says how it ended. A signal may have come from outside (a user's
 * kill, the kernel short of memory), so that the same call may succeed in another worker: the error is retryable. So it
 * is when nobody can say how the worker ended, because the launcher was killed, and the worker with it. */
static int fh_worker_died(struct fh_worker *w, struct fh_error *err)
{
	struct fh_error ignored = FH_ERROR_INIT;
	int status = 0, code;
	int waited = fh_proc_wait(&w->proc, FH_WORKER_LAST_WORDS_MS, &status, &ignored);
	if (waited == -FH_E_TIMEOUT)
		return fh_error_set(err, FH_E_PROTOCOL, "the worker closed its channel");
	if (!waited && !WIFSIGNALED(status))
		return fh_error_set(err, FH_E_PROTOCOL, "the worker ended with exit code %d", WEXITSTATUS(status));
	if (waited)
		code = fh_error_set(err, FH_E_PROTOCOL, "the worker was ended: %s", ignored.message);
	else
		code = fh_error_set(err, FH_E_PROTOCOL, "the worker was ended by signal %d (%s)", WTERMSIG(status),
		                    strsignal(WTERMSIG(status)));
	if (err)
		err->retryable = true;
	return code;
}

static bool fh_worker_is_again(ssize_t n)
{
	return n < 0 && (errno == EAGAIN || errno == EINTR);
}

static int fh_worker_send(struct fh_worker *w, struct fh_str bytes, const struct fh_worker_wait *wait,
                          struct fh_error *err)
{
	for (;;) {
		ssize_t n = send(w->channel, bytes.p, bytes.n, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && !fh_worker_is_again(n))
			return fh_worker_died(w, err);
		bytes.p += FH_MAX(n, 0);
		bytes.n -= (size_t)FH_MAX(n, 0);
		if (!bytes.n)
			return 0;
		int code = fh_worker_poll(w, POLLOUT, wait, err);
		if (code)
			return code;
	}
}

/* Receives at least `least` and at most `size` bytes. */
static int fh_worker_receive(struct fh_worker *w, char *to, size_t least, size_t size,
                             const struct fh_worker_wait *wait, size_t *ret_received, struct fh_error *err)
{
	size_t received = 0;
	while (received < least) {
		int code = fh_worker_poll(w, POLLIN, wait, err);
		if (code)
			return code;
		ssize_t n = recv(w->channel, to + received, size - received, MSG_DONTWAIT);
		if (n == 0 || (n < 0 && !fh_worker_is_again(n)))
			return fh_worker_died(w, err);
		received += (size_t)FH_MAX(n, 0);
	}
	*ret_received = received;
	return 0;
}

/* Most messages are short and come in one piece with their length. */
static int fh_worker_receive_message(struct fh_worker *w, const struct fh_worker_wait *wait, json_t **ret,
                                     struct fh_error *err)
{
	char piece[FH_WORKER_PIECE];
	size_t have, rest;
	int code = fh_worker_receive(w, piece, 4, sizeof(piece), wait, &have, err);
	if (code)
		return code;
	const unsigned char *head = (const unsigned char *)piece;
	size_t n = (size_t)head[0] << 24 | (size_t)head[1] << 16 | (size_t)head[2] << 8 | head[3];
	have -= 4;
	if (n > FH_WORKER_MESSAGE_MAX)
		return fh_error_set(err, FH_E_LIMIT, "what it returned is larger than %zu bytes", FH_WORKER_MESSAGE_MAX);
	if (have > n)
		return fh_error_set(err, FH_E_PROTOCOL, "it sent more than its answer: the code wrote to its channel");
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(FH_WORKER_MESSAGE_MAX);
	struct fh_str whole = { piece + 4, n };
	if (have < n) {
		char *room = fh_buf_reserve(&text, n);
		if (!room)
			return fh_error_set(err, FH_E_LIMIT, "too large");
		memcpy(room, piece + 4, have);
		code = fh_worker_receive(w, room + have, n - have, n - have, wait, &rest, err);
		if (code)
			return code;
		whole.p = room;
	}
	struct fh_error why = FH_ERROR_INIT;
	json_t *message = fh_json_parse(whole, NULL, &why);
	if (!message)
		return fh_error_set(err, FH_E_PROTOCOL, "the worker's answer is not JSON: %s", why.message);
	*ret = message;
	return 0;
}

/* Raises the worker's OOM score: when memory runs out, the kernel is to kill the script that took it, not the eval. */
static void fh_worker_goes_first(pid_t pid)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/oom_score_adj", (int)pid);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd >= 0 && write(fd, "800", 3) != 3)
		errno = 0; /* the worker may have ended */
	fh_closep(&fd);
}

int fh_worker_start(struct fh_worker *w, const char *const *argv, const char *const *env, const volatile int *cancel,
                    struct fh_error *err)
{
	int pair[2], print[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return fh_error_sys(err, errno, "cannot make a channel to a worker");
	if (pipe2(print, O_CLOEXEC) < 0) {
		int sys = errno;
		close(pair[0]);
		close(pair[1]);
		return fh_error_sys(err, sys, "cannot make a pipe for what a worker prints");
	}
	(void)fcntl(print[0], F_SETFL, O_NONBLOCK);
	/* Output of the user's code goes to stderr: our stdout may be read by a program. */
	struct fh_proc_options o = {
		.argv = argv,
		.env = env,
		.stdio = { FH_STDIO_FD, FH_STDIO_FD, FH_STDIO_FD },
		.stdio_fd = { pair[1], print[1], print[1] },
		.own_group = true,
	};
	struct fh_worker started = FH_WORKER_INIT;
	int code = fh_proc_start(&started.proc, &o, err);
	close(pair[1]);
	close(print[1]);
	if (code) {
		close(pair[0]);
		close(print[0]);
		return code;
	}
	fh_worker_goes_first(started.proc.pid);
	started.channel = pair[0];
	started.print = print[0];
	struct fh_worker_wait wait = { fh_now_ns() + FH_WORKER_GREETING_MS * FH_NS_PER_MS, cancel };
	fh_auto_json json_t *greeting = NULL;
	code = fh_worker_receive_message(&started, &wait, &greeting, err);
	if (!code && !fh_json_bool(greeting, "ready", false))
		code = fh_error_set(err, FH_E_PROTOCOL, "%s did not greet as a worker does", argv[0]);
	if (code) {
		fh_worker_end(&started);
		return code;
	}
	*w = started;
	return 0;
}

bool fh_worker_is_alive(const struct fh_worker *w)
{
	/* Between two calls a worker sends nothing: a readable channel means that it ended. */
	struct pollfd p = { .fd = w->channel, .events = POLLIN };
	return w->channel >= 0 && poll(&p, 1, 0) == 0;
}

int fh_worker_ask(struct fh_worker *w, const json_t *message, uint64_t timeout_ms, const volatile int *cancel,
                  json_t **ret, bool *ret_usable, struct fh_error *err)
{
	struct fh_worker_wait wait = { fh_now_ns() + (int64_t)FH_MIN(timeout_ms, (uint64_t)INT32_MAX) * FH_NS_PER_MS,
		                           cancel };
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(FH_WORKER_MESSAGE_MAX);
	*ret_usable = true;
	w->printed = 0;
	fh_buf_add(&text, "\0\0\0", 4);
	fh_json_write(&text, message, 0);
	if (text.overflowed)
		return fh_error_set(err, FH_E_LIMIT, "the arguments are larger than %zu bytes", FH_WORKER_MESSAGE_MAX);
	size_t n = text.n - 4;
	for (int i = 0; i < 4; i++)
		text.p[i] = (char)(n >> (24 - 8 * i));
	int code = fh_worker_send(w, fh_buf_str(&text), &wait, err);
	if (!code)
		code = fh_worker_receive_message(w, &wait, ret, err);
	fh_worker_take_prints(w);
	*ret_usable = !code;
	return code;
}

void fh_worker_end(struct fh_worker *w)
{
	fh_worker_take_prints(w);
	fh_closep(&w->print);
	w->print = -1;
	fh_closep(&w->channel);
	w->channel = -1;
	fh_proc_release(&w->proc);
}
