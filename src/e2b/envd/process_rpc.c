/* SPDX-License-Identifier: MIT */
/* envd's service process.Process. */
#include <signal.h>

#include "base/text/base64.h"
#include "e2b/envd/routes.h"
#include "e2b/hosted/accounts.h"
#include "e2b/hosted/processes.h"
#include "fumehood/session.h"

enum { INPUT_MAX = 4 << 20, KILLED_MS = 2000 };

/* -------------------------------------------------------------------------------------------------------- streams */

/* Replies to a stream that fails before its first event: one frame, with status 200. */
static void reply_stream_error(struct fh_http_request *r, const struct fh_connect_error *e)
{
	fh_auto_buf struct fh_buf frame = FH_BUF_INIT(0);
	fh_connect_end(&frame, e);
	fh_http_reply(r, 200, FH_CONNECT_STREAM_TYPE, fh_buf_str(&frame));
}

static bool read_start(struct fh_http_request *r, const json_t *message, struct fh_process_request *q,
                       struct fh_connect_error *e)
{
	const json_t *pty = json_object_get(message, "pty"), *size = json_object_get(pty, "size");
	q->config = json_object_get(message, "process");
	q->tag = fh_json_str(message, "tag", NULL);
	q->user = fh_account_of_request(r, e);
	q->pty = json_is_object(pty);
	q->columns = (uint16_t)FH_MIN(FH_MAX(fh_json_int(size, "cols", 80), 1), 4096);
	q->rows = (uint16_t)FH_MIN(FH_MAX(fh_json_int(size, "rows", 24), 1), 4096);
	q->stdin_open = fh_json_bool(message, "stdin", true); /* older clients do not send this member and write to stdin */
	q->timeout_ms = fh_connect_timeout_ms(r);
	if (q->user && q->tag && strlen(q->tag) >= FH_PROCESS_TAG_MAX)
		fh_connect_fail(e, FH_CONNECT_INVALID_ARGUMENT, "a tag has at most %d bytes", FH_PROCESS_TAG_MAX - 1);
	return e->code == FH_CONNECT_OK;
}

static void start(struct fh_http_request *r, struct fh_str body)
{
	struct fh_connect_error e = FH_CONNECT_ERROR_INIT;
	struct fh_process_request q = { 0 };
	struct fh_hosted_process *p;
	fh_auto_json json_t *message = fh_connect_stream_request(body, &e);
	if (!message || !read_start(r, message, &q, &e) || fh_hosted_process_start(fh_e2b_hosted(r), &q, &p, &e) < 0) {
		reply_stream_error(r, &e);
		return;
	}
	atomic_fetch_add(&p->references, 1); /* reference held by the follower */
	fh_hosted_process_follow(r, 0, p);   /* the process itself ends when its time is over */
	fh_hosted_process_pump(p);
	fh_hosted_process_drop(p);
}

static void connect_to(struct fh_http_request *r, struct fh_str body)
{
	struct fh_connect_error e = FH_CONNECT_ERROR_INIT;
	fh_auto_json json_t *message = fh_connect_stream_request(body, &e);
	struct fh_hosted_process *p =
	    message ? fh_hosted_process_find(fh_e2b_hosted(r), json_object_get(message, "process"), &e) : NULL;
	if (p)
		fh_hosted_process_follow(r, fh_connect_timeout_ms(r), p);
	else
		reply_stream_error(r, &e);
}

/* ------------------------------------------------------------------------------------------------------ the input */

static int send_input(struct fh_hosted_process *p, const json_t *input, struct fh_connect_error *e)
{
	const char *text = fh_json_str(input, p->pty ? "pty" : "stdin", NULL);
	fh_auto_buf struct fh_buf bytes = FH_BUF_INIT(INPUT_MAX);
	struct fh_error err = FH_ERROR_INIT;
	if (!text)
		return fh_connect_fail(e, FH_CONNECT_INVALID_ARGUMENT, "the input of this process is %s",
		                       p->pty ? "a terminal's (pty)" : "stdin");
	if (fh_base64_decode(&bytes, fh_str(text)) < 0)
		return fh_connect_fail(e, FH_CONNECT_INVALID_ARGUMENT, "the input is not base64");
	if (bytes.n && fh_process_write(p->process, bytes.p, bytes.n, &err) < 0)
		return fh_connect_fail_from(e, &err);
	return 0;
}

static json_t *send_one(struct fh_hosted_process *p, const json_t *message, struct fh_connect_error *e)
{
	return send_input(p, json_object_get(message, "input"), e) < 0 ? NULL : json_object();
}

static json_t *close_stdin(struct fh_hosted_process *p, const json_t *message, struct fh_connect_error *e)
{
	if (p->pty)
		fh_connect_fail(e, FH_CONNECT_FAILED_PRECONDITION, "a terminal's input cannot be closed: send it Ctrl-D");
	else
		(void)fh_process_close_stdin(p->process, NULL); /* fails if it is closed already */
	return p->pty ? NULL : json_object();
}

static json_t *send_signal(struct fh_hosted_process *p, const json_t *message, struct fh_connect_error *e)
{
	static const struct {
		const char *name;
		int number, signal;
	} signals[] = { { "SIGNAL_SIGTERM", 15, SIGTERM }, { "SIGNAL_SIGKILL", 9, SIGKILL } };
	const json_t *asked = json_object_get(message, "signal");
	struct fh_error err = FH_ERROR_INIT;
	for (size_t i = 0; i < FH_ARRAY_SIZE(signals); i++) {
		if (!fh_streq(json_string_value(asked), signals[i].name) && json_integer_value(asked) != signals[i].number)
			continue;
		int r = signals[i].signal == SIGKILL ? fh_process_kill_tree(p->process, &err)
		                                     : fh_process_signal(p->process, signals[i].signal, &err);
		if (r == 0 && signals[i].signal == SIGKILL)
			fh_hosted_process_await_end(p, KILLED_MS);
		if (r == 0)
			return json_object();
		fh_connect_fail_from(e, &err);
		return NULL;
	}
	fh_connect_fail(e, FH_CONNECT_INVALID_ARGUMENT, "the signal must be SIGNAL_SIGTERM or SIGNAL_SIGKILL");
	return NULL;
}

static json_t *update(struct fh_hosted_process *p, const json_t *message, struct fh_connect_error *e)
{
	const json_t *size = json_object_get(json_object_get(message, "pty"), "size");
	int64_t rows = fh_json_int(size, "rows", 0), columns = fh_json_int(size, "cols", 0);
	struct fh_error err = FH_ERROR_INIT;
	if (!p->pty || rows < 1 || columns < 1 || rows > 4096 || columns > 4096) {
		fh_connect_fail(e, FH_CONNECT_INVALID_ARGUMENT,
		                p->pty ? "a terminal has 1 to 4096 rows and columns" : "this process has no terminal");
		return NULL;
	}
	if (fh_process_resize(p->process, (uint16_t)rows, (uint16_t)columns, &err) == 0)
		return json_object();
	fh_connect_fail_from(e, &err);
	return NULL;
}

/* Handles a call on one process. */
static void on_process(struct fh_http_request *r, struct fh_str body,
                       json_t *(*work)(struct fh_hosted_process *p, const json_t *message, struct fh_connect_error *e))
{
	struct fh_connect_error e = FH_CONNECT_ERROR_INIT;
	json_t *answer = NULL;
	fh_auto_json json_t *message = fh_connect_request(r, body);
	if (!message)
		return;
	struct fh_hosted_process *p = fh_hosted_process_find(fh_e2b_hosted(r), json_object_get(message, "process"), &e);
	if (p) {
		bool ended;
		pthread_mutex_lock(&p->lock);
		ended = p->ended;
		pthread_mutex_unlock(&p->lock);
		if (ended)
			fh_connect_fail(&e, FH_CONNECT_NOT_FOUND, "process with pid %u not found", p->pid);
		else
			answer = work(p, message, &e);
		fh_hosted_process_drop(p);
	}
	fh_connect_answer(r, answer, &e);
}

static void send_input_call(struct fh_http_request *r, struct fh_str body)
{
	on_process(r, body, send_one);
}

static void close_stdin_call(struct fh_http_request *r, struct fh_str body)
{
	on_process(r, body, close_stdin);
}

static void send_signal_call(struct fh_http_request *r, struct fh_str body)
{
	on_process(r, body, send_signal);
}

static void update_call(struct fh_http_request *r, struct fh_str body)
{
	on_process(r, body, update);
}

static void list(struct fh_http_request *r, struct fh_str body)
{
	json_t *o = json_object();
	json_object_set_new(o, "processes", fh_hosted_process_list(fh_e2b_hosted(r)));
	fh_connect_reply(r, o);
}

/* ---- StreamInput: a stream whose messages reach the process as they arrive ---- */

struct input_stream {
	struct fh_connect_parser parser;
	struct fh_hosted *hosted;
	struct fh_hosted_process *process;
	struct fh_connect_error error;
};

static void input_stream_free(void *stream)
{
	struct input_stream *s = stream;
	fh_connect_parser_release(&s->parser);
	if (s->process)
		fh_hosted_process_drop(s->process);
	free(s);
}

static int take_message(void *stream, const json_t *message, struct fh_connect_error *e)
{
	struct input_stream *s = stream;
	const json_t *begin = json_object_get(message, "start"), *data = json_object_get(message, "data");
	if (begin && !s->process)
		s->process = fh_hosted_process_find(s->hosted, json_object_get(begin, "process"), e);
	if (!s->process)
		return e->code ? -1 : fh_connect_fail(e, FH_CONNECT_INVALID_ARGUMENT, "the stream does not begin with start");
	return data ? send_input(s->process, json_object_get(data, "input"), e) : 0;
}

static int stream_input_piece(struct fh_http_request *r, struct fh_str piece)
{
	struct input_stream *s = fh_http_request_kept(r);
	if (!s) {
		s = FH_NEW(struct input_stream);
		fh_connect_parser_init(&s->parser);
		s->hosted = fh_e2b_hosted(r);
		fh_http_request_keep(r, s, input_stream_free);
	}
	if (s->error.code == FH_CONNECT_OK)
		(void)fh_connect_parser_add(&s->parser, piece, take_message, s, &s->error);
	return 0;
}

static void stream_input(struct fh_http_request *r, struct fh_str body)
{
	struct input_stream *s = fh_http_request_kept(r);
	fh_auto_buf struct fh_buf answer = FH_BUF_INIT(0);
	fh_auto_json json_t *empty = json_object();
	if (!s || s->error.code == FH_CONNECT_OK)
		fh_connect_frame(&answer, empty);
	fh_connect_end(&answer, s ? &s->error : NULL);
	fh_http_reply(r, 200, FH_CONNECT_STREAM_TYPE, fh_buf_str(&answer));
}

const struct fh_http_route fh_e2b_process_routes[] = {
	{ "POST", "/process.Process/Start", start, .flags = FH_E2B_STREAM },
	{ "POST", "/process.Process/Connect", connect_to, .flags = FH_E2B_STREAM },
	{ "POST", "/process.Process/List", list, .flags = FH_E2B_CALL },
	{ "POST", "/process.Process/SendInput", send_input_call, .flags = FH_E2B_CALL },
	{ "POST", "/process.Process/StreamInput", stream_input, stream_input_piece, .flags = FH_E2B_STREAM },
	{ "POST", "/process.Process/CloseStdin", close_stdin_call, .flags = FH_E2B_CALL },
	{ "POST", "/process.Process/SendSignal", send_signal_call, .flags = FH_E2B_CALL },
	{ "POST", "/process.Process/Update", update_call, .flags = FH_E2B_CALL },
	{ 0 },
};
