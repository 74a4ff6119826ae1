/* SPDX-License-Identifier: MIT */
#include "sandbox/session/process.h"

#include <errno.h>
#include <signal.h>

#include "base/clock.h"
#include "base/error.h"
#include "fumehood/session.h"
#include "proto/wire.h"

/* ---- STARTED ---- */

/* The stream for each kind. Kinds of a newer engine are ignored. */
static const struct {
	enum fh_stream_kind kind;
	enum fh_stream stream;
} stream_kinds[] = {
	{ FH_KIND_STDIN, FH_STDIN },
	{ FH_KIND_STDOUT, FH_STDOUT },
	{ FH_KIND_STDERR, FH_STDERR },
	{ FH_KIND_DRIVER, FH_DRIVER },
};

static struct fh_flow *stream_of_kind(struct fh_started *s, enum fh_stream_kind kind)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(stream_kinds); i++)
		if (stream_kinds[i].kind == kind)
			return &s->streams[stream_kinds[i].stream];
	return NULL;
}

int fh_started_read(struct fh_started *s, struct fh_connection *c, const struct fh_frame *f, struct fh_error *err)
{
	struct fh_wire_reader r = fh_wire_reader(f->payload);
	struct fh_wire_field x;
	if (s->started)
		return fh_error_set(err, FH_E_PROTOCOL, "the engine started one process twice");
	while (fh_wire_next(&r, &x)) {
		struct fh_flow stream;
		if (x.tag == F_SANDBOX_ID && x.value.n == sizeof(s->sandbox.b))
			memcpy(s->sandbox.b, x.value.p, sizeof(s->sandbox.b));
		if (x.tag == F_PID)
			s->pid = (uint32_t)fh_wire_get_u64(&r, &x);
		if (x.tag != F_STREAM)
			continue;
		if (!fh_flow_parse(x.value, FH_WINDOW_DEFAULT, &stream))
			return fh_error_set(err, FH_E_PROTOCOL, "the engine sent a malformed stream of a process");
		struct fh_flow *to = stream_of_kind(s, stream.kind);
		if (!to)
			continue;
		if (to->open)
			return fh_error_set(err, FH_E_PROTOCOL, "the engine gave a process the same stream twice");
		stream.key = s->key;
		*to = stream;
		fh_flow_open(c, to);
	}
	if (r.malformed)
		return fh_error_set(err, FH_E_PROTOCOL, "the engine sent a malformed start of a process");
	s->process = f->id;
	s->started = true;
	return 0;
}

void fh_started_release(struct fh_started *s, struct fh_connection *c)
{
	for (int i = 0; i < FH_STREAM_COUNT_; i++)
		fh_flow_close(c, &s->streams[i]);
}

/* ---- processes ---- */

enum { HELPER_WINDOW = 1 << 20 };

struct fh_process {
	struct fh_client *client;
	struct fh_started started;
	struct fh_call call; /* SPAWN or ATTACH, until it is answered */
	char hex[FH_ID_HEX];
	bool helper; /* a helper, which is killed when its handle is freed */
};

static int on_started(struct fh_call *call, const struct fh_frame *f, struct fh_error *err)
{
	struct fh_process *p = (struct fh_process *)((char *)call - offsetof(struct fh_process, call));
	if (f->type != FH_FRAME_STARTED)
		return fh_error_set(err, FH_E_PROTOCOL, "the engine answered a start with a frame of type %u", f->type);
	int r = fh_started_read(&p->started, call->connection, f, err);
	return r < 0 ? r : 1;
}

static struct fh_process *new_process(struct fh_client *client)
{
	struct fh_process *p = FH_NEW(struct fh_process);
	p->client = client;
	p->call.on_answer = on_started;
	fh_call_begin(client->connection, &p->call);
	return p;
}

/* Sends the request and waits for STARTED. On failure the process's handle is freed. */
static int start(struct fh_process *p, const struct fh_buf *frame, struct fh_process **ret, struct fh_error *err)
{
	struct fh_connection *c = p->client->connection;
	int r = fh_connection_send(c, frame, err);
	struct fh_wait w;
	fh_wait_begin(&w, c, &p->call);
	while (!p->call.done && r == 0)
		r = fh_wait_step(&w, 0, err);
	fh_wait_end(&w);
	fh_call_end(&p->call);
	if (r == 0 && p->call.error.code) {
		if (err)
			*err = p->call.error;
		r = -(int)p->call.error.code;
	}
	if (r < 0) {
		fh_process_free(p);
		return r;
	}
	fh_id_hex(p->started.process, p->hex);
	*ret = p;
	return 0;
}

static void write_texts(struct fh_buf *frame, uint16_t tag, const char *const *list)
{
	for (; list && *list; list++)
		fh_wire_text(frame, tag, *list);
}

static void write_number(struct fh_buf *frame, uint16_t tag, uint64_t value)
{
	if (value)
		fh_wire_u64(frame, tag, value);
}

enum kind { PROGRAM, PROXY, HELPER };

static int spawn(struct fh_sandbox *sandbox, const struct fh_spawn_options *options, enum kind kind,
                 const struct fh_process *into, struct fh_process **ret, struct fh_error *err)
{
	struct fh_spawn_options o = FH_SPAWN_OPTIONS_INIT;
	if (options)
		memcpy(&o, options, FH_MIN(options->size, sizeof(o)));
	fh_auto_buf struct fh_buf frame = FH_BUF_INIT(0);
	struct fh_process *p = new_process(sandbox->client);
	size_t mark = fh_frame_begin(&frame, FH_FRAME_SPAWN, 0, p->call.request, sandbox->id);
	write_texts(&frame, F_ARGV, o.argv);
	write_texts(&frame, F_ENV, o.env);
	write_texts(&frame, F_MORE_ENV, o.more_env);
	if (o.cwd)
		fh_wire_text(&frame, F_CWD, o.cwd);
	write_number(&frame, F_PTY, o.pty);
	write_number(&frame, F_ROWS, o.pty && !o.rows ? 24 : o.rows);
	write_number(&frame, F_COLUMNS, o.pty && !o.columns ? 80 : o.columns);
	write_number(&frame, F_NO_STDIN, o.no_stdin);
	write_number(&frame, F_WALL_MS, o.wall_time_ms);
	write_number(&frame, F_CPU_MS, o.cpu_time_ms);
	write_number(&frame, F_OUTPUT, o.output_bytes);
	write_number(&frame, F_WINDOW, FH_MIN(o.window, (size_t)FH_WINDOW_MAX));
	if (o.user)
		fh_wire_text(&frame, F_USER, o.user);
	if (o.tag)
		fh_wire_text(&frame, F_TAG, o.tag);
	write_number(&frame, F_MEMORY, o.memory_bytes);
	write_number(&frame, F_DROP, o.drop_unread);
	write_number(&frame, F_HELPER, kind == HELPER);
	write_number(&frame, F_WHOLE, kind == PROXY);
	if (into)
		fh_wire_bytes(&frame, F_INTO, into->started.process.b, sizeof(into->started.process.b));
	p->helper = kind == HELPER;
	fh_frame_end(&frame, mark);
	if (frame.n - mark > FH_FRAME_PAYLOAD_MAX) {
		fh_call_end(&p->call);
		fh_process_free(p);
		return fh_error_set(err, FH_E_LIMIT, "arguments and environment are too large");
	}
	return start(p, &frame, ret, err);
}

int fh_process_spawn(struct fh_sandbox *sandbox, const struct fh_spawn_options *options, struct fh_process **ret,
                     struct fh_error *err)
{
	return spawn(sandbox, options, PROGRAM, NULL, ret, err);
}

int fh_process_spawn_proxy(struct fh_sandbox *sandbox, const struct fh_spawn_options *options, struct fh_process **ret,
                           struct fh_error *err)
{
	return spawn(sandbox, options, PROXY, NULL, ret, err);
}

int fh_process_spawn_helper(struct fh_sandbox *sandbox, const char *user, const char *const *argv, bool open_stdin,
                            const struct fh_process *into, struct fh_process **ret, struct fh_error *err)
{
	struct fh_spawn_options o = FH_SPAWN_OPTIONS_INIT;
	o.argv = argv;
	o.user = user;
	o.no_stdin = !open_stdin;
	o.window = HELPER_WINDOW;
	return spawn(sandbox, &o, HELPER, into, ret, err);
}

int fh_process_attach(struct fh_client *client, const char *id, struct fh_process **ret, struct fh_error *err)
{
	struct fh_id parsed;
	if (!fh_id_parse(id, &parsed))
		return fh_error_set(err, FH_E_ARGUMENT, "a process's id has 32 hexadecimal digits; this is not one: %.64s", id);
	fh_auto_buf struct fh_buf frame = FH_BUF_INIT(0);
	struct fh_process *p = new_process(client);
	size_t mark = fh_frame_begin(&frame, FH_FRAME_ATTACH, 0, p->call.request, parsed);
	fh_frame_end(&frame, mark);
	return start(p, &frame, ret, err);
}

uint32_t fh_process_pid(const struct fh_process *process)
{
	return process->started.pid;
}

const char *fh_process_id(const struct fh_process *process)
{
	return process->hex;
}

void fh_process_free(struct fh_process *process)
{
	if (!process)
		return;
	if (process->helper && process->started.started && !process->started.streams[FH_STDOUT].ended)
		(void)fh_process_signal(process, SIGKILL, NULL);
	fh_started_release(&process->started, process->client->connection);
	free(process);
}

/* -------------------------------------------------------------------------------------------------------- streams */

static int64_t deadline_of(int64_t timeout_ms)
{
	return timeout_ms < 0 || timeout_ms > INT64_MAX / FH_NS_PER_MS / 2 ? 0 : fh_now_ns() + timeout_ms * FH_NS_PER_MS;
}

ssize_t fh_process_read(struct fh_process *process, enum fh_stream stream, void *buffer, size_t n, int64_t timeout_ms,
                        struct fh_error *err)
{
	if (stream <= FH_STDIN || stream >= FH_STREAM_COUNT_)
		return fh_error_set(err, FH_E_ARGUMENT, "only stdout and stderr are read from");
	struct fh_connection *c = process->client->connection;
	struct fh_flow *s = &process->started.streams[stream];
	if (fh_id_is_zero(s->id) || n == 0) /* a terminal has no stderr */
		return 0;
	int64_t deadline = deadline_of(timeout_ms);
	struct fh_wait w;
	int r = 0;
	fh_wait_begin(&w, c, s->key);
	while (!s->data.n && !s->ended && !s->taken_over && r == 0)
		r = fh_wait_step(&w, deadline, err);
	size_t taken = fh_flow_take(s, buffer, n);
	bool ended = s->ended, taken_over = s->taken_over;
	fh_wait_end(&w);
	if (taken) {
		/* Acknowledged, so that these bytes are never sent again, even to another client that attaches; to a helper
		 * nobody else can, and a frame for each piece would be as much work as the piece. If the connection is broken,
		 * the next call reports it. */
		(void)fh_flow_credit(c, s, process->helper ? (size_t)(s->window / 4) : 1, NULL);
		return (ssize_t)taken;
	}
	if (ended)
		return 0;
	if (taken_over) {
		(void)fh_error_set(err, FH_E_CANCELLED, "somebody else has attached to this process and reads its output now");
		fh_error_hint(err, "attach to it again to take it back: what was not read yet is kept");
		return -FH_E_CANCELLED;
	}
	if (r == -FH_E_TIMEOUT)
		return fh_error_set(err, FH_E_TIMEOUT, "no output within %lld ms", (long long)timeout_ms);
	return r;
}

static struct fh_flow *stdin_of(struct fh_process *process, struct fh_error *err)
{
	struct fh_flow *s = &process->started.streams[FH_STDIN];
	if (!fh_id_is_zero(s->id))
		return s;
	(void)fh_error_set(err, FH_E_ARGUMENT, "the process has no open stdin");
	return NULL;
}

int fh_process_write(struct fh_process *process, const void *data, size_t n, struct fh_error *err)
{
	struct fh_flow *s = stdin_of(process, err);
	return s ? fh_flow_write(process->client->connection, s, data, n, NULL, err) : -FH_E_ARGUMENT;
}

int fh_process_write_within(struct fh_process *process, const void *data, size_t n, int64_t timeout_ms,
                            struct fh_error *err)
{
	struct fh_connection *c = process->client->connection;
	struct fh_flow *s = stdin_of(process, err);
	int64_t deadline = deadline_of(timeout_ms);
	int r = s ? 0 : -FH_E_ARGUMENT;
	for (const char *from = data; n > 0 && r == 0;) {
		struct fh_wait w;
		size_t room = 0;
		fh_wait_begin(&w, c, s->key);
		while (r == 0 && !s->ended && s->open && !(room = (size_t)(s->window - (s->position - s->credited))))
			r = fh_wait_step(&w, deadline, err);
		fh_wait_end(&w);
		room = FH_MIN(room ? room : n, n); /* at the end of the stream, writing reports that */
		if (r == 0)
			r = fh_flow_write(c, s, from, room, NULL, err);
		from += room;
		n -= room;
	}
	return r == -FH_E_TIMEOUT ? fh_error_set(err, FH_E_TIMEOUT, "the process did not read its stdin within %lld ms",
	                                         (long long)timeout_ms)
	                          : r;
}

int fh_process_close_stdin(struct fh_process *process, struct fh_error *err)
{
	struct fh_flow *s = stdin_of(process, err);
	return s ? fh_flow_end(process->client->connection, s, err) : -FH_E_ARGUMENT;
}

/* ------------------------------------------------------------------------------------------- signals, size, waiting */

int fh_process_signal(struct fh_process *process, int signal, struct fh_error *err)
{
	return fh_simple_call(process->client, FH_FRAME_SIGNAL, process->started.process, F_SIGNAL, (uint64_t)signal, err);
}

int fh_process_kill_tree(struct fh_process *process, struct fh_error *err)
{
	return fh_simple_call(process->client, FH_FRAME_SIGNAL, process->started.process, F_TREE, 1, err);
}

int fh_process_resize(struct fh_process *process, uint16_t rows, uint16_t columns, struct fh_error *err)
{
	struct fh_answer a;
	fh_auto_buf struct fh_buf frame = FH_BUF_INIT(0);
	fh_answer_begin(process->client->connection, &a, FH_FRAME_REPLY);
	size_t mark = fh_frame_begin(&frame, FH_FRAME_RESIZE, 0, a.call.request, process->started.process);
	fh_wire_u64(&frame, F_ROWS, rows);
	fh_wire_u64(&frame, F_COLUMNS, columns);
	fh_frame_end(&frame, mark);
	int r = fh_answer_wait(&a, &frame, err);
	fh_buf_release(&a.payload);
	return r;
}

int fh_process_wait(struct fh_process *process, int64_t timeout_ms, struct fh_exit *ret, struct fh_error *err)
{
	struct fh_answer a;
	fh_auto_buf struct fh_buf frame = FH_BUF_INIT(0);
	fh_answer_begin(process->client->connection, &a, FH_FRAME_EXIT);
	size_t mark = fh_frame_begin(&frame, FH_FRAME_WAIT, 0, a.call.request, process->started.process);
	if (timeout_ms >= 0)
		fh_wire_u64(&frame, F_TIMEOUT_MS, (uint64_t)timeout_ms);
	fh_frame_end(&frame, mark);
	int r = fh_answer_wait(&a, &frame, err);
	if (r == 0)
		r = fh_exit_read_frame(fh_buf_str(&a.payload), ret, err);
	fh_buf_release(&a.payload);
	return r;
}
