/* SPDX-License-Identifier: MIT */
/*
 * The relay, which starts the interpreter of a code context if that cannot read its own output while it runs code
 * (bash, Node).
 *
 *     relay PROGRAM [ARGUMENT …]
 *
 * The program gets /dev/null as stdin, pipes as stdout and stderr, the relay's stdin as descriptor 3 (requests), and a
 * pipe as descriptor 4 (events, one JSON object a line). The relay's stdout carries these events and, as further
 * events, what the program wrote to stdout and stderr. The order is kept: before an event is forwarded, everything that
 * was written before it is sent. The relay ends with the program's exit status or signal, and removes the file from
 * which it was started.
 *
 * Freestanding, like fumehood-init: it runs under any root file system.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>

#include "execute.h"
#include "init/lib/sys.h"

FH_START;
void fh_init_main(const long *stack) __attribute__((noreturn, used));
void *memcpy(void *to, const void *from, size_t n);
size_t strlen(const char *s);

enum {
	REQUESTS = 3,
	EVENTS = 4,
	AWAY = 20,          /* lowest number for our own descriptors, above the program's */
	PIECE = 16 << 10,   /* maximum bytes of text in one event */
	JOIN_NS = 50000000, /* text that arrives within this time becomes one event */
	TAIL = 3,           /* maximum bytes of an incomplete character */
};

static const char *const names[2] = { "stdout", "stderr" };
struct stream {
	int fd; /* the descriptor; -1: end of file was reached */
	unsigned char tail[TAIL];
	size_t tail_size;
};
static struct stream streams[2];
static int events = -1, signals = -1;
static bool in_line; /* the last line of events is incomplete */

/* Text of one stream that waits to be sent. */
static unsigned char text[PIECE];
static size_t text_size;
static int text_of = -1;
static int64_t text_due;

static char out[PIECE * 6 + 64], piece[PIECE];

static void end(int status) __attribute__((noreturn));
static void end(int status)
{
	for (;;)
		fh_sys(__NR_exit_group, status);
}

static int64_t now(void)
{
	struct timespec t;
	fh_sys(__NR_clock_gettime, CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void write_all(const char *p, size_t n)
{
	while (n) {
		long r = fh_sys(__NR_write, 1, p, n);
		if (r == -EINTR)
			continue;
		if (r <= 0)
			end(1); /* the client is gone */
		p += r;
		n -= (size_t)r;
	}
}

/* ---- text ---- */

/* The length of the character at p; 0: not a character; -1: incomplete. */
static int character(const unsigned char *p, size_t n)
{
	int size = p[0] < 0x80 ? 1 : p[0] < 0xC2 ? 0 : p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : p[0] < 0xF5 ? 4 : 0;
	if (size < 2)
		return size;
	for (int i = 1; i < size; i++) {
		if ((size_t)i >= n)
			return -1;
		unsigned char low = 0x80, high = 0xBF;
		if (i == 1) { /* refuses overlong forms, surrogates, and numbers beyond U+10FFFF */
			low = p[0] == 0xE0 ? 0xA0 : p[0] == 0xF0 ? 0x90 : 0x80;
			high = p[0] == 0xED ? 0x9F : p[0] == 0xF4 ? 0x8F : 0xBF;
		}
		if (p[i] < low || p[i] > high)
			return 0;
	}
	return size;
}

static char *add(char *to, const char *s)
{
	size_t n = strlen(s);
	memcpy(to, s, n);
	return to + n;
}

static char *add_byte(char *to, unsigned char c)
{
	static const char hex[] = "0123456789abcdef";
	if (c == '"' || c == '\\') {
		*to++ = '\\';
		*to++ = (char)c;
	} else if (c == '\n') {
		to = add(to, "\\n");
	} else if (c < 0x20 || c == 0x7F) {
		to = add(to, "\\u00");
		*to++ = hex[c >> 4];
		*to++ = hex[c & 15];
	} else {
		*to++ = (char)c;
	}
	return to;
}

static void send_text(void)
{
	if (!text_size)
		return;
	struct stream *s = &streams[text_of];
	char *to = add(add(add(out, "{\"type\":\""), names[text_of]), "\",\"text\":\"");
	for (size_t at = 0; at < text_size;) {
		int n = character(text + at, text_size - at);
		if (n < 0 && s->fd >= 0 && text_size - at <= TAIL) {
			s->tail_size = text_size - at;
			memcpy(s->tail, text + at, s->tail_size);
			break;
		}
		if (n <= 0) {
			to = add(to, "\xEF\xBF\xBD");
			at++;
			continue;
		}
		if (n == 1)
			to = add_byte(to, text[at]);
		else
			for (int i = 0; i < n; i++)
				*to++ = (char)text[at + (size_t)i];
		at += (size_t)n;
	}
	bool empty = s->tail_size == text_size;
	text_size = 0;
	to = add(to, "\"}\n");
	if (!empty)
		write_all(out, (size_t)(to - out));
}

/* Reads available text of one stream. False: none is available, or it has ended. */
static bool take_text(int which)
{
	struct stream *s = &streams[which];
	if (s->fd < 0)
		return false;
	if (text_of != which || text_size > PIECE / 2)
		send_text();
	text_of = which;
	if (!text_size) {
		memcpy(text, s->tail, s->tail_size);
		text_size = s->tail_size;
		s->tail_size = 0;
		text_due = now() + JOIN_NS;
	}
	long n = fh_sys(__NR_read, s->fd, text + text_size, PIECE - text_size);
	if (n == 0) {
		fh_sys(__NR_close, s->fd);
		s->fd = -1;
	}
	if (n > 0)
		text_size += (size_t)n;
	return n > 0;
}

/* Sends everything that was written so far. */
static void drain(void)
{
	/* Bounded, so that a child that never stops writing cannot hold back an event. A pipe holds 64 KiB. */
	for (int which = 0; which < 2; which++)
		for (int rounds = 0; rounds < 16 && take_text(which); rounds++)
			;
	send_text();
}

/* ---- events ---- */

static void take_events(void)
{
	long n = fh_sys(__NR_read, events, piece, sizeof(piece));
	if (n == -EAGAIN || n == -EINTR)
		return;
	if (n <= 0) {
		fh_sys(__NR_close, events);
		events = -1;
		in_line = false;
		return;
	}
	if (!in_line)
		drain();
	write_all(piece, (size_t)n);
	in_line = piece[n - 1] != '\n';
}

/* ---- the program ---- */

/* The program's status if it has ended: 256 + number for a signal; -1: it runs. */
static int ended(long pid)
{
	siginfo_t i;
	for (;;) {
		i.si_pid = 0;
		if (fh_sys(__NR_waitid, P_ALL, 0, &i, WEXITED | WNOHANG, 0) < 0 || i.si_pid == 0)
			return -1;
		if (i.si_pid == pid)
			return i.si_code == CLD_EXITED ? i.si_status : 256 + i.si_status;
	}
}

static void end_as(int status)
{
	if (streams[0].fd >= 0 || streams[1].fd >= 0)
		drain();
	fh_end_as(status);
}

static long away(long fd)
{
	long copy = fh_sys(__NR_fcntl, fd, F_DUPFD_CLOEXEC, AWAY);
	fh_sys(__NR_close, fd);
	return copy;
}

static void make_pipe(int *ret_read, int *ret_write)
{
	int ends[2];
	if (fh_sys(__NR_pipe2, ends, O_CLOEXEC) < 0)
		end(126);
	*ret_read = (int)away(ends[0]);
	*ret_write = (int)away(ends[1]);
	fh_sys(__NR_fcntl, *ret_read, F_SETFL, O_RDONLY | O_NONBLOCK);
}

static void execute(char **argv, char **env)
{
	static const char words[] = ": not found in the sandbox\n";
	fh_execute_program(argv, env);
	fh_sys(__NR_write, AWAY - 1, argv[0], strlen(argv[0]));
	fh_sys(__NR_write, AWAY - 1, words, sizeof(words) - 1);
	end(127);
}

static long start(char **argv, char **env)
{
	int writes[3];
	int reads[3];
	for (int i = 0; i < 3; i++)
		make_pipe(&reads[i], &writes[i]);
	long requests = fh_sys(__NR_fcntl, 0, F_DUPFD_CLOEXEC, AWAY);
	long null = fh_sys(__NR_openat, AT_FDCWD, "/dev/null", O_RDWR | O_CLOEXEC, 0);
	if (null >= 0)
		fh_sys(__NR_dup3, null, 0, 0);
	long pid = fh_sys(__NR_clone, SIGCHLD, 0, 0, 0, 0);
	if (pid < 0)
		end(126);
	if (pid == 0) {
		uint64_t mask = 0;
		/* An exec failure is reported on our own stderr, which the client reads if the program did not start. */
		fh_sys(__NR_dup3, 2, AWAY - 1, O_CLOEXEC);
		fh_sys(__NR_dup3, writes[0], 1, 0);
		fh_sys(__NR_dup3, writes[1], 2, 0);
		fh_sys(__NR_dup3, requests, REQUESTS, 0);
		fh_sys(__NR_dup3, writes[2], EVENTS, 0);
		fh_sys(__NR_rt_sigprocmask, SIG_SETMASK, &mask, 0, 8);
		execute(argv, env);
	}
	fh_sys(__NR_close, requests);
	for (int i = 0; i < 3; i++)
		fh_sys(__NR_close, writes[i]);
	streams[0].fd = reads[0];
	streams[1].fd = reads[1];
	events = reads[2];
	return pid;
}

void fh_init_main(const long *stack)
{
	long argc = stack[0];
	char **argv = (char **)(uintptr_t)(stack + 1), **env = argv + argc + 1;
	if (argc < 2)
		end(2);
	fh_sys(__NR_unlinkat, AT_FDCWD, argv[0], 0);
	/* SIGINT is for the program: here it stays blocked. The program's end is reported by a signalfd. */
	uint64_t mask = 1ULL << (SIGINT - 1) | 1ULL << (SIGCHLD - 1) | 1ULL << (SIGPIPE - 1),
	         children = 1ULL << (SIGCHLD - 1);
	fh_sys(__NR_rt_sigprocmask, SIG_SETMASK, &mask, 0, 8);
	signals = (int)away(fh_sys(__NR_signalfd4, -1, &children, 8, SFD_CLOEXEC | SFD_NONBLOCK));
	long pid = start(argv + 1, env);
	for (;;) {
		struct pollfd p[4] = { { events, POLLIN, 0 }, { signals, POLLIN, 0 } };
		p[2] = (struct pollfd){ in_line ? -1 : streams[0].fd, POLLIN, 0 };
		p[3] = (struct pollfd){ in_line ? -1 : streams[1].fd, POLLIN, 0 };
		int64_t left = text_size ? text_due - now() : 0;
		struct timespec t = { 0, left > 0 ? (long)left : 0 };
		long r = fh_sys(__NR_ppoll, p, 4, text_size ? &t : 0, 0, 8);
		if (p[0].revents && r > 0)
			take_events();
		for (int which = 0; which < 2; which++)
			if (r > 0 && p[2 + which].revents && !in_line)
				(void)take_text(which);
		if (text_size && !in_line && now() >= text_due)
			send_text();
		if (r > 0 && p[1].revents) {
			struct signalfd_siginfo info;
			fh_sys(__NR_read, signals, &info, sizeof(info));
			int status = ended(pid);
			if (status >= 0) {
				const struct timespec none = { 0, 0 };
				while (events >= 0 && fh_sys(__NR_ppoll, p, 1, &none, 0, 8) > 0)
					take_events(); /* reads its last events */
				end_as(status);
			}
		}
	}
}
