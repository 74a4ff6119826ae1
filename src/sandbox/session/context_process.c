/* SPDX-License-Identifier: MIT */
/* A driver's process: started in a session, controlled by lines of text. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/error.h"
#include "sandbox/session/context.h"
#include "sandbox/session/process.h"
#include "sandbox/session/relay_image.h"
#include "sandbox/session/proxy.h"

enum {
	READ_PIECE = 64 << 10,
	SILENCE_MS = 1000, /* time without a line after which to check whether the process still exists */
	END_MS = 5000,     /* time for a killed process to end */
	ARGV_MAX = 16,
	NOT_BRANCHED_MAX = 64, /* what a branch says that it lacks */
	LAST_WORDS = 400,      /* bytes of its stderr that an error quotes */
};

static int read_more(struct fh_context_driver *d, int64_t timeout_ms, struct fh_error *err)
{
	char *to = fh_buf_reserve(&d->unread, READ_PIECE);
	if (!to)
		return fh_error_set(err, FH_E_LIMIT, "a line of more than %zu bytes", FH_CONTEXT_LINE_MAX);
	ssize_t n = fh_process_read(d->process, FH_STDOUT, to, READ_PIECE, timeout_ms, err);
	if (n <= 0)
		return (int)n;
	d->unread.n += (size_t)n;
	return 1;
}

/* Whether its process has ended, even if a process started by the code still holds its output open. */
static bool has_ended(struct fh_context_driver *d)
{
	struct fh_exit ended;
	struct fh_error error = FH_ERROR_INIT;
	d->checked_ns = fh_now_ns();
	int r = fh_process_wait(d->process, 0, &ended, &error);
	return r == 0 || r == -FH_E_NOT_FOUND;
}

static bool take_line(struct fh_context_driver *d, struct fh_str *ret)
{
	if (d->taken) {
		fh_buf_drop(&d->unread, d->taken);
		d->taken = 0;
	}
	const char *from = d->unread.p + d->searched;
	const char *newline = d->unread.n > d->searched ? memchr(from, '\n', d->unread.n - d->searched) : NULL;
	d->searched = newline ? 0 : d->unread.n;
	if (!newline)
		return false;
	*ret = (struct fh_str){ d->unread.p, (size_t)(newline - d->unread.p) };
	d->taken = ret->n + 1;
	return true;
}

int fh_context_driver_line(struct fh_context_driver *d, int64_t timeout_ms, struct fh_str *ret, struct fh_error *err)
{
	int64_t deadline = timeout_ms < 0 ? INT64_MAX : fh_now_ns() + timeout_ms * FH_NS_PER_MS;
	d->checked_ns = d->checked_ns ? d->checked_ns : fh_now_ns();
	while (!take_line(d, ret)) {
		struct fh_error error = FH_ERROR_INIT;
		int64_t left = (deadline - fh_now_ns()) / FH_NS_PER_MS;
		if (d->unread.n > FH_CONTEXT_LINE_MAX)
			return fh_error_set(err, FH_E_LIMIT, "a line of more than %zu bytes", FH_CONTEXT_LINE_MAX);
		int r = read_more(d, FH_MAX(FH_MIN(left, (int64_t)SILENCE_MS), (int64_t)0), &error);
		if (r == 0) {
			d->at_end = true;
			return 0;
		}
		if (r < 0 && r != -FH_E_TIMEOUT) {
			if (err)
				*err = error;
			return r;
		}
		if (r == -FH_E_TIMEOUT) {
			if (fh_now_ns() - d->checked_ns >= SILENCE_MS * FH_NS_PER_MS && has_ended(d))
				return 0;
			if (fh_now_ns() >= deadline)
				return fh_error_set(err, FH_E_TIMEOUT, "no answer within %lld ms", (long long)timeout_ms);
		}
	}
	return 1;
}

void fh_context_driver_put_back(struct fh_context_driver *d, struct fh_str lines)
{
	struct fh_buf all = FH_BUF_INIT(2 * FH_CONTEXT_LINE_MAX + 2 * READ_PIECE);
	if (lines.n == 0)
		return;
	(void)fh_buf_add_str(&all, lines);
	(void)fh_buf_add(&all, d->unread.p + d->taken, d->unread.n - d->taken);
	fh_buf_release(&d->unread);
	d->unread = all;
	d->taken = d->searched = 0;
}

int fh_context_driver_send(struct fh_context_driver *d, struct fh_str line, int64_t timeout_ms, struct fh_error *err)
{
	return fh_process_write_within(d->process, line.p, line.n, timeout_ms, err);
}

void fh_context_driver_forget(struct fh_context_driver *d)
{
	fh_process_free(d->process);
	fh_buf_release(&d->unread);
	*d = (struct fh_context_driver){ .unread = FH_BUF_INIT(FH_CONTEXT_LINE_MAX + 2 * READ_PIECE) };
}

void fh_context_driver_end(struct fh_context_driver *d, char *why, size_t size)
{
	struct fh_exit ended;
	if (!d->process)
		return;
	/* Finds out how it ended by itself, waiting if it is about to end. */
	int r = fh_process_wait(d->process, d->at_end ? END_MS : 0, &ended, NULL);
	bool killed = r < 0;
	if (killed) {
		(void)fh_process_signal(d->process, SIGKILL, NULL);
		(void)fh_process_wait(d->process, END_MS, &ended, NULL);
	} else {
		(void)fh_process_signal(d->process, SIGKILL, NULL); /* kills the rest of its process group */
	}
	if (why && killed)
		snprintf(why, size, "it was killed");
	else if (why && d->branched && ended.exit_code == FH_PROXY_UNKNOWN)
		snprintf(why, size, "this kernel does not tell how");
	else if (why && ended.status != FH_STATUS_OK && ended.status != FH_STATUS_RUNTIME_ERROR)
		snprintf(why, size, "%s", fh_status_name(ended.status));
	else if (why && ended.signal)
		snprintf(why, size, "signal %d (%s)", ended.signal, strsignal(ended.signal));
	else if (why)
		snprintf(why, size, "exit code %d", ended.exit_code);
	fh_context_driver_forget(d);
}

/* ---- the start ---- */

/* The last line of stderr of an interpreter that did not start. */
static void last_words(struct fh_context_driver *d, char out[LAST_WORDS])
{
	char text[4096];
	size_t n = 0;
	ssize_t got;
	while (n < sizeof(text) - 1 &&
	       (got = fh_process_read(d->process, FH_STDERR, text + n, sizeof(text) - 1 - n, 50, NULL)) > 0)
		n += (size_t)got;
	while (n && (text[n - 1] == '\n' || text[n - 1] == ' '))
		n--;
	text[n] = 0;
	const char *line = strrchr(text, '\n');
	snprintf(out, LAST_WORDS, "%.*s", LAST_WORDS - 1, line ? line + 1 : text);
}

void fh_context_file_name(const char *ending, char name[FH_CONTEXT_FILE_NAME])
{
	struct fh_id id;
	char hex[FH_ID_HEX];
	fh_id_random(&id);
	fh_id_hex(id, hex);
	snprintf(name, FH_CONTEXT_FILE_NAME, "/tmp/.fumehood-%s%s", hex, ending);
}

int fh_context_put_file(const struct fh_context_start *start, const char *ending, struct fh_bytes data,
                        char name[FH_CONTEXT_FILE_NAME], struct fh_error *err)
{
	fh_context_file_name(ending, name);
	const struct fh_file file = { name, data, 0755 };
	int r = fh_sandbox_put_file(start->sandbox, &file, err);
	return r < 0 ? fh_error_wrap(err, "a context in %s needs a writable /tmp", start->kind->name) : 0;
}

/* The names of the files that a driver is started from. */
struct driver_files {
	char relay[FH_CONTEXT_FILE_NAME], program[FH_CONTEXT_FILE_NAME];
};

/* The kind's argv behind the relay, and with the name of its program's file. */
static int make_argv(const struct fh_context_start *start, struct driver_files *files, const char *argv[ARGV_MAX],
                     struct fh_error *err)
{
	const struct fh_context_kind *kind = start->kind;
	size_t n = 0;
	int r = 0;
	if (kind->relay) {
		r = fh_context_put_file(start, "", (struct fh_bytes){ fh_relay_image, fh_relay_image_size }, files->relay, err);
		argv[n++] = files->relay;
	}
	if (r == 0 && kind->program) {
		fh_auto_buf struct fh_buf content = FH_BUF_INIT(1 << 20);
		r = fh_context_file(kind->program, &content, err);
		if (r == 0)
			r = fh_context_put_file(start, strrchr(kind->program, '.'), (struct fh_bytes){ content.p, content.n },
			                        files->program, err);
	}
	for (const char *const *one = kind->argv; r == 0 && *one && n + 1 < ARGV_MAX; one++)
		argv[n++] = strcmp(*one, FH_CONTEXT_PROGRAM) == 0 ? files->program : *one;
	argv[n] = NULL;
	return r;
}

static int spawn(struct fh_context_driver *d, const struct fh_context_start *start, struct fh_error *err)
{
	struct fh_spawn_options o = FH_SPAWN_OPTIONS_INIT;
	struct driver_files files;
	const char *argv[ARGV_MAX];
	int r = make_argv(start, &files, argv, err);
	if (r < 0)
		return r;
	char **env = fh_context_options_env(start->options);
	o.argv = argv;
	o.cwd = start->cwd;
	o.more_env = (const char *const *)env; /* for what an interpreter reads at its start */
	o.tag = FH_CONTEXT_TAG;
	o.wall_time_ms = o.cpu_time_ms = o.output_bytes = FH_UNLIMITED; /* the limits apply to each run instead */
	o.window = FH_CONTEXT_WINDOW;
	r = fh_process_spawn(start->sandbox, &o, &d->process, err);
	for (char **one = env; one && *one; one++)
		free(*one);
	free(env);
	if (r == -FH_E_NOT_FOUND || (r < 0 && err && err->sys == ENOENT))
		fh_error_hint(err, "a context in %s needs %s in the sandbox", start->kind->name, start->kind->package);
	return r;
}

void fh_context_ready_release(struct fh_context_ready *ready)
{
	free(ready->interpreter);
	for (char **one = ready->not_branched; one && *one; one++)
		free(*one);
	free(ready->not_branched);
	*ready = (struct fh_context_ready){ NULL };
}

char **fh_context_not_branched_read(const json_t *said)
{
	const json_t *list = json_object_get(said, "not_branched");
	size_t count = FH_MIN(json_array_size(list), (size_t)NOT_BRANCHED_MAX), n = 0;
	char **names = count ? fh_xcalloc(count + 1, sizeof(char *)) : NULL;
	for (size_t i = 0; i < count; i++) {
		const char *text = json_string_value(json_array_get(list, i));
		if (text)
			names[n++] = fh_xasprintf("%.200s", text);
	}
	return names;
}

static void take_ready(const json_t *said, struct fh_context_ready *ret)
{
	ret->interpreter = fh_xasprintf("%.64s %.64s", fh_json_str(said, "shell", ""), fh_json_str(said, "version", ""));
	ret->not_branched = fh_context_not_branched_read(said);
}

int fh_context_driver_await(struct fh_context_driver *d, const struct fh_context_start *start, int64_t deadline_ns,
                            struct fh_context_ready *ret, struct fh_error *err)
{
	struct fh_str text;
	struct fh_context_line line = { 0 };
	struct fh_context_event event;
	enum fh_context_said said = FH_CONTEXT_SAID_GARBAGE;
	char words[LAST_WORDS] = "";
	int r;
	/* An interpreter may print messages before it is ready. */
	do {
		fh_context_line_release(&line);
		r = fh_context_driver_line(d, FH_MAX((deadline_ns - fh_now_ns()) / FH_NS_PER_MS, (int64_t)0), &text, err);
		if (r == -FH_E_TIMEOUT)
			return fh_error_set(err, FH_E_TIMEOUT, "the context's interpreter did not start within %llu ms",
			                    (unsigned long long)start->timeout_ms);
		if (r < 0)
			return r;
		said = r == 1 ? fh_context_line_read(&line, text, &event) : FH_CONTEXT_SAID_GARBAGE;
		if (said == FH_CONTEXT_SAID_EVENT)
			snprintf(words, sizeof(words), "%.*s", (int)FH_MIN(event.text.size, sizeof(words) - 1),
			         (const char *)event.text.data);
	} while (said == FH_CONTEXT_SAID_EVENT);
	if (said == FH_CONTEXT_SAID_READY) {
		take_ready(line.json, ret);
		r = 0;
	} else if (said == FH_CONTEXT_SAID_REFUSED) {
		r = fh_error_set(err, FH_E_UNAVAILABLE, "no context in %s: %.200s", start->kind->name,
		                 fh_json_str(line.json, "why", "the interpreter gave no reason"));
	} else {
		if (!*words)
			last_words(d, words);
		r = fh_error_set(err, FH_E_UNAVAILABLE, "a context in %s cannot start%s%s", start->kind->name,
		                 *words ? ": " : "", words);
		fh_error_hint(err, "it needs %s in the sandbox", start->kind->package);
	}
	fh_context_line_release(&line);
	return r;
}

int fh_context_driver_start(struct fh_context_driver *d, const struct fh_context_start *start,
                            struct fh_context_ready *ret, struct fh_error *err)
{
	fh_auto_buf struct fh_buf prelude = FH_BUF_INIT(4 << 20);
	int64_t deadline = fh_now_ns() + (int64_t)start->timeout_ms * FH_NS_PER_MS;
	*d = (struct fh_context_driver){ .unread = FH_BUF_INIT(FH_CONTEXT_LINE_MAX + 2 * READ_PIECE) };
	int r = fh_context_prelude(start->kind, start->options, &prelude, err);
	if (r == 0)
		r = spawn(d, start, err);
	if (r < 0)
		return r;
	r = fh_context_driver_send(d, fh_buf_str(&prelude), (int64_t)start->timeout_ms, err);
	if (r == 0 || r == -FH_E_NOT_FOUND) /* NOT_FOUND: it ended before it read all; its output explains why */
		r = fh_context_driver_await(d, start, deadline, ret, err);
	if (r < 0)
		fh_context_driver_end(d, NULL, 0);
	return r;
}
