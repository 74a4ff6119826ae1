/* SPDX-License-Identifier: MIT */
/* Runs programs in a session from a terminal or a pipe; each of the three streams has a thread. */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "cli/session/session.h"
#include "cli/shared/interrupt.h"
#include "cli/shared/print.h"
#include "sandbox/planning/result_json.h"

enum { LOOK_MS = 200, WAIT_MS = 500, PIECE = 64 << 10, KEPT_MAX = 64 << 20, REST_MAX = 4 << 20 };
#define O fh_session_options

/* ---------------------------------------------------------------------------------------------------------- streams */

/* The thread that gives a program our input. */
struct feed {
	struct fh_process *process;
	bool pty;      /* the program has a terminal */
	bool terminal; /* and so have we: the keys that leave the program are heard */
	int over;      /* an eventfd: written to when the program has ended */
	atomic_bool *left;
	pthread_t thread;
	bool running;
};

/* The keys that leave a program to itself, as in docker. */
enum { LEAVE_FIRST = 'P' & 0x1f, LEAVE_THEN = 'Q' & 0x1f };

/* Takes the keys out of what was typed, which stands behind the first byte of `piece`: the first of them is held back
 * until the next key says whose it is. Returns how many bytes, from the first of `piece` on, are the program's. */
static size_t look_for_keys(const struct feed *f, char *piece, size_t n, bool *held)
{
	size_t to = 0;
	for (size_t i = 1; i <= n; i++) {
		char key = piece[i];
		if (*held && key == LEAVE_THEN) {
			atomic_store(f->left, true);
			break;
		}
		if (*held)
			piece[to++] = LEAVE_FIRST;
		*held = key == LEAVE_FIRST;
		if (!*held)
			piece[to++] = key;
	}
	return to;
}

/* Our input is over for a program in a terminal, which cannot be closed alone: says so as a person does, by Ctrl-D,
 * until the program, and the shell that started it, have heard it, which a write that fails tells. */
static void end_of_input(const struct feed *f, bool in_line)
{
	struct pollfd over = { .fd = f->over, .events = POLLIN };
	if (in_line && fh_process_write(f->process, "\n", 1, NULL) < 0)
		return;
	while (fh_process_write(f->process, "\x04", 1, NULL) >= 0 && poll(&over, 1, LOOK_MS) == 0)
		;
}

static void *feed(void *given)
{
	static char piece[PIECE + 1];
	const struct feed *f = given;
	bool in_line = false, held = false;
	ssize_t n;
	while ((n = fh_read_unless(f->over, STDIN_FILENO, piece + 1, PIECE)) > 0) {
		in_line = piece[n] != '\n';
		size_t size = f->terminal ? look_for_keys(f, piece, (size_t)n, &held) : (size_t)n;
		if (size > 0 && fh_process_write(f->process, f->terminal ? piece : piece + 1, size, NULL) < 0)
			return NULL; /* the program reads no more */
		if (atomic_load(f->left))
			return NULL;
	}
	if (f->pty)
		end_of_input(f, in_line);
	else
		(void)fh_process_close_stdin(f->process, NULL);
	return NULL;
}

static void feed_start(struct feed *f)
{
	f->over = eventfd(0, EFD_CLOEXEC);
	f->running = f->over >= 0 && pthread_create(&f->thread, NULL, feed, f) == 0;
}

/* ended: the program has ended. Its stdin is closed then: a write returns that waits for the program to read. */
static void feed_stop(struct feed *f, bool ended)
{
	if (f->running) {
		(void)eventfd_write(f->over, 1);
		if (ended)
			(void)fh_process_close_stdin(f->process, NULL);
		pthread_join(f->thread, NULL);
	}
	fh_closep(&f->over);
}

static void follow_size(struct fh_process *p, struct winsize *known)
{
	struct winsize now;
	if (ioctl(STDIN_FILENO, TIOCGWINSZ, &now) < 0 || (now.ws_row == known->ws_row && now.ws_col == known->ws_col))
		return;
	*known = now;
	(void)fh_process_resize(p, now.ws_row, now.ws_col, NULL);
}

/* What a command wrote, for --json. */
struct kept {
	struct fh_buf text[2]; /* stdout, stderr */
	bool truncated[2];
};

static void keep(struct kept *k, enum fh_stream stream, const char *piece, size_t n)
{
	struct fh_buf *b = &k->text[stream == FH_STDERR];
	size_t room = KEPT_MAX - b->n;
	(void)fh_buf_add(b, piece, FH_MIN(n, room));
	k->truncated[stream == FH_STDERR] |= n > room;
}

/* A program may leave another in the background that holds its streams, or its terminal, open. So for one that runs
 * longer a thread waits for its end, and what comes much later than that is not waited for. */
struct end {
	struct fh_process *process;
	bool pty;     /* the program has a terminal */
	bool awaited; /* the thread was started */
	pthread_t thread;
	atomic_bool over;
	atomic_bool unwanted; /* nobody needs to know any more */
	atomic_bool left;     /* the program is left to itself */
	int status;           /* of the wait: 0 or negative, with error */
	struct fh_exit exit;
	struct fh_error error;
};

static void *await_end(void *given)
{
	struct end *e = given;
	do
		e->status = fh_process_wait(e->process, WAIT_MS, &e->exit, &e->error);
	while (e->status == -FH_E_TIMEOUT && !atomic_load(&e->unwanted));
	atomic_store(&e->over, true);
	return NULL;
}

/* Returns when what the program wrote has arrived, as far as the stream's window has room. The engine sends that before
 * the exit status, and reads on when it has heard that there is room: the second of two answers comes after that. */
static void settle(struct fh_process *p)
{
	struct fh_exit again;
	for (int i = 0; i < 2; i++)
		(void)fh_process_wait(p, 0, &again, NULL);
}

static void put_out(enum fh_stream stream, const char *piece, size_t n, struct kept *kept)
{
	if (kept)
		keep(kept, stream, piece, n);
	else
		fh_print_bytes(stream == FH_STDERR ? STDERR_FILENO : STDOUT_FILENO, (struct fh_str){ piece, n });
}

/* After the program's end: copies what it may have written itself, which is in its pipe and the stream's windows. */
static int copy_rest(struct fh_process *p, enum fh_stream stream, char *piece, struct kept *kept, struct fh_error *err)
{
	for (size_t total = 0; total < REST_MAX;) {
		settle(p);
		ssize_t n = fh_process_read(p, stream, piece, PIECE, 0, err);
		if (n <= 0)
			return n == -FH_E_TIMEOUT ? 0 : (int)n;
		put_out(stream, piece, (size_t)n, kept);
		total += (size_t)n;
	}
	return 0;
}

/* kept: where the output goes, if not to our own stream; or NULL. */
static int copy_out(struct end *end, enum fh_stream stream, bool terminal, struct kept *kept, struct fh_error *err)
{
	struct fh_process *p = end->process;
	fh_auto_free char *piece = fh_xcalloc(1, PIECE);
	struct winsize size = { 0 };
	int64_t began = fh_now_ns();
	/* An interactive shell ignores SIGTERM; what it heeds is that its terminal goes away. Bash does not see a signal
	 * that comes just before it waits for its next line: so that is told until it ends. */
	bool hangs_up = false;
	for (;;) {
		ssize_t n = fh_process_read(p, stream, piece, PIECE, LOOK_MS, err);
		if (n > 0)
			put_out(stream, piece, (size_t)n, kept);
		else if (n != -FH_E_TIMEOUT)
			return (int)n;
		if (atomic_load(&end->over))
			return copy_rest(p, stream, piece, kept, err);
		if (atomic_load(&end->left))
			return 0;
		if (stream != FH_STDOUT)
			continue;
		if (!end->awaited && fh_now_ns() - began >= (int64_t)LOOK_MS * FH_NS_PER_MS)
			end->awaited = pthread_create(&end->thread, NULL, await_end, end) == 0;
		if (hangs_up && n == -FH_E_TIMEOUT)
			(void)fh_process_signal(p, SIGHUP, NULL);
		if (fh_interrupted) { /* the signal is passed on to the program; a second one ends this command */
			hangs_up = end->pty && fh_interrupted == SIGTERM;
			(void)fh_process_signal(p, hangs_up ? SIGHUP : fh_interrupted, NULL);
			fh_interrupted = 0;
		}
		if (terminal)
			follow_size(p, &size);
	}
}

struct errors {
	struct end *end;
	struct kept *kept;
};

static void *copy_errors(void *given)
{
	struct errors *e = given;
	(void)copy_out(e->end, FH_STDERR, false, e->kept, NULL);
	return NULL;
}

static bool make_raw(struct termios *before)
{
	struct termios raw;
	if (tcgetattr(STDIN_FILENO, before) < 0)
		return false;
	raw = *before;
	cfmakeraw(&raw);
	return tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
}

static int status_of(const struct fh_exit *e)
{
	if (e->fired)
		fprintf(stderr, "fumehood: ended by a limit: %s\n", fh_status_name(e->status));
	return e->exit_code >= 0 ? e->exit_code : 128 + e->signal;
}

void fh_session_print_result(const struct fh_result *r)
{
	fh_auto_json json_t *o = fh_outcome_json(r);
	json_object_set_new(o, "fired", fh_fired_json(r->fired));
	fh_auto_free char *text = fh_json_text(o, isatty(STDOUT_FILENO) ? 2 : 0);
	fh_print_line(text);
}

static void print_kept(const struct kept *k, const struct fh_exit *e)
{
	struct fh_result r = {
		.status = e->status, .exit_code = e->exit_code, .signal = e->signal, .fired = e->fired, .usage = e->usage
	};
	for (int i = 0; i < 2; i++) {
		enum fh_stream stream = i ? FH_STDERR : FH_STDOUT;
		r.stream_data[stream] = (uint8_t *)k->text[i].p;
		r.stream_size[stream] = k->text[i].n;
		r.stream_truncated[stream] = k->truncated[i];
	}
	fh_session_print_result(&r);
}

static const char *name_of(const struct fh_session_handle *h)
{
	return *h->info.name ? h->info.name : h->info.id;
}

/* Connects our own streams to a process of the session until it ends, or is left; returns its exit status. pty: it has
 * a terminal; terminal: and so have we; feeds: it gets our standard input. */
static int join(const struct fh_session_handle *h, struct fh_process *p, bool pty, bool terminal, bool feeds,
                struct fh_error *err)
{
	pthread_t thread;
	struct termios before;
	struct end end = { .process = p, .pty = pty, .error = FH_ERROR_INIT };
	struct feed input = { .process = p, .pty = pty, .terminal = terminal, .over = -1, .left = &end.left };
	struct kept kept = { .text = { FH_BUF_INIT(0), FH_BUF_INIT(0) } }, *to = O.json ? &kept : NULL;
	struct errors errors = { &end, to };
	bool raw = terminal && make_raw(&before);
	fh_interrupt_catch();
	if (feeds)
		feed_start(&input);
	bool has_errors = pthread_create(&thread, NULL, copy_errors, &errors) == 0;
	int r = copy_out(&end, FH_STDOUT, terminal, to, err);
	/* the program may have closed its stdout, and what it left may hold its stderr */
	bool left = atomic_load(&end.left) && !atomic_load(&end.over);
	atomic_store(&end.unwanted, r < 0 || left);
	if (end.awaited)
		pthread_join(end.thread, NULL);
	else if (!left)
		(void)await_end(&end);
	if (has_errors)
		pthread_join(thread, NULL);
	if (r == 0 && !left && end.status < 0) {
		r = end.status;
		*err = end.error;
	}
	if (raw)
		(void)tcsetattr(STDIN_FILENO, TCSANOW, &before);
	feed_stop(&input, r == 0 && !left);
	if (left)
		fprintf(stderr, "\nfumehood: the program runs on; `fumehood session attach %s %.12s` joins it again\n",
		        name_of(h), fh_process_id(p));
	else if (r == 0 && O.json)
		print_kept(&kept, &end.exit);
	if (r == 0 && !left)
		r = status_of(&end.exit);
	fh_buf_release(&kept.text[0]);
	fh_buf_release(&kept.text[1]);
	return r;
}

/* A program that ended with its session looks like one that was killed alone or, when the session's end was faster than
 * the news of the program's, like a connection that was lost. `status`: of join(). */
static int tell_if_gone(const struct fh_session_handle *h, int status)
{
	struct fh_sandbox_usage usage;
	if ((status >= 0 && status != 128 + SIGKILL) || fh_sandbox_usage(h->sandbox, &usage, NULL) >= 0)
		return status;
	fprintf(stderr,
	        "fumehood: session %s ended while the program ran: it was removed, its lease was over, or its engine "
	        "ended\n",
	        name_of(h));
	return 128 + SIGKILL;
}

/* -------------------------------------------------------------------------------------------------------- actions */

/* What a program in a terminal is told of it: the kind of our own, whose output ours becomes. */
static char *terminal_variable(void)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-";
	const char *kind = getenv("TERM");
	size_t n = kind ? strlen(kind) : 0;
	return fh_xasprintf("TERM=%s", n > 0 && n <= 64 && strspn(kind, letters) == n ? kind : "xterm");
}

/* The variables of a program in a terminal; those that were given come last, and hold. NULL-terminated. */
static const char **with_terminal(const char *const *env, const char *variable)
{
	size_t n = 0;
	while (env && env[n])
		n++;
	const char **all = fh_xcalloc(n + 2, sizeof(*all));
	all[0] = variable;
	for (size_t i = 0; i < n; i++)
		all[i + 1] = env[i];
	return all;
}

/* Starts a program, with the plan's own environment and more variables. */
static int spawn(struct fh_session_handle *h, const char *const *argv, const char *const *env, bool terminal,
                 bool no_stdin, struct fh_process **ret, struct fh_error *err)
{
	struct fh_spawn_options o = FH_SPAWN_OPTIONS_INIT;
	struct winsize size = { .ws_row = 24, .ws_col = 80 };
	fh_auto_free char *variable = terminal ? terminal_variable() : NULL;
	fh_auto_free const char **all = terminal ? with_terminal(env, variable) : NULL;
	if (terminal)
		(void)ioctl(STDIN_FILENO, TIOCGWINSZ, &size);
	o.argv = argv;
	o.cwd = O.cwd;
	o.pty = terminal;
	o.rows = size.ws_row;
	o.columns = size.ws_col;
	o.user = O.user;
	o.tag = O.tag;
	o.no_stdin = no_stdin;
	o.drop_unread = true; /* of a detached command, or what one left in the background, once nobody reads it */
	o.wall_time_ms = O.wall_ms;
	o.cpu_time_ms = O.cpu_ms;
	o.output_bytes = O.output;
	o.memory_bytes = O.command_memory;
	o.more_env = all ? all : env;
	return fh_process_spawn(h->sandbox, &o, ret, err);
}

static const char *const *given_env(void)
{
	return O.env.count ? O.env.items : NULL;
}

int fh_session_command(struct fh_session_handle *h, const char *const *argv, const char *const *env, bool no_stdin,
                       struct fh_error *err)
{
	struct fh_process *p;
	/* With --json the caller is a program. What it pipes in is the command's input; a terminal's input is not. */
	no_stdin = no_stdin || (O.detach && !O.interactive) || (O.json && isatty(STDIN_FILENO));
	int r = spawn(h, argv, env, O.terminal, no_stdin, &p, err);
	if (r < 0)
		return r;
	if (O.detach)
		fh_print_line(fh_process_id(p));
	else
		r = tell_if_gone(h, join(h, p, O.terminal, O.terminal && !O.json && isatty(STDIN_FILENO), !no_stdin, err));
	fh_process_free(p);
	return r;
}

int fh_session_exec(const char *const *args, size_t count, struct fh_error *err)
{
	fh_auto_session struct fh_session_handle h = { NULL };
	(void)count;
	int r = fh_session_open(args[0], &h, err);
	return r < 0 ? r : fh_session_command(&h, args + 1, given_env(), false, err);
}

static int attach_to(struct fh_session_handle *h, const char *prefix, struct fh_process **ret, struct fh_error *err)
{
	fh_auto_free struct fh_process_info *list = NULL;
	const struct fh_process_info *match = NULL;
	size_t n = 0;
	int r = fh_sandbox_processes(h->sandbox, &list, &n, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++) {
		char pid[16];
		snprintf(pid, sizeof(pid), "%u", list[i].pid);
		if (!fh_streq(pid, prefix) && !fh_streq(list[i].tag, prefix) &&
		    (strlen(prefix) < 4 || !fh_starts_with(list[i].id, prefix)))
			continue;
		if (match)
			return fh_error_set(err, FH_E_ARGUMENT, "more than one process of the session matches %s", prefix);
		match = &list[i];
	}
	if (!match)
		return fh_error_set(err, FH_E_NOT_FOUND, "no process of the session has the number, tag or id %s", prefix);
	return fh_process_attach(h->client, match->id, ret, err);
}

/* Whether a program has a terminal, which gets the size of ours. */
static bool takes_size(struct fh_process *p)
{
	struct winsize ours;
	return ioctl(STDIN_FILENO, TIOCGWINSZ, &ours) == 0 && fh_process_resize(p, ours.ws_row, ours.ws_col, NULL) == 0;
}

int fh_session_attach(const char *const *args, size_t count, struct fh_error *err)
{
	static const char *const shell[] = { "/bin/sh", "-c", "if command -v bash >/dev/null; then exec bash; fi; exec sh",
		                                 NULL };
	fh_auto_session struct fh_session_handle h = { NULL };
	struct fh_process *p;
	bool terminal = count == 1;
	int r = fh_session_open(args[0], &h, err);
	if (r == 0)
		r = terminal ? spawn(&h, shell, given_env(), true, false, &p, err) : attach_to(&h, args[1], &p, err);
	if (r < 0)
		return r;
	O.json = false; /* its output goes to the terminal, and not into JSON */
	terminal = terminal || takes_size(p);
	r = tell_if_gone(&h, join(&h, p, terminal, terminal && isatty(STDIN_FILENO), true, err));
	fh_process_free(p);
	return r;
}
