/* SPDX-License-Identifier: MIT */
/* The code interpreter: runs of code, as streams of JSON lines, and their contexts. */
#include <stdio.h>

#include "base/clock.h"
#include "e2b/common/fields.h"
#include "e2b/common/threads.h"
#include "e2b/hosted/e2b.h"
#include "e2b/interpreter/contexts.h"
#include "e2b/interpreter/routes.h"
#include "e2b/registry/registry.h"

enum {
	QUEUE_MAX = 4 << 20, /* bytes of lines that wait for a slow client */
	LOOK_MS = 250,       /* how often a stream without data checks whether its client is still connected */
	KEEPALIVE_S = 5,
	WHOLE_MS = 5, /* a run that ends within this time is answered by one piece, and not by a stream */
	ENV_MAX = 256,
};

static const char ndjson[] = "application/x-ndjson";

static void reply_text(struct fh_http_request *r, unsigned status, const char *format, ...) FH_PRINTF(3, 4);
static void reply_text(struct fh_http_request *r, unsigned status, const char *format, ...)
{
	char text[512];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fh_http_reply(r, status, "text/plain; charset=utf-8", fh_str(text));
}

/* --------------------------------------------------------------------------------------------------------- one run */

/* A run and the stream of its lines: the run's own thread fills `lines`, the connection's thread empties it. Each
 * thread holds a reference. */
struct run {
	struct fh_hosted *hosted;
	struct fh_hosted_context *context;
	char *code;
	size_t code_size;
	char **env;
	struct fh_http_request *request; /* used only by the connection's thread */
	int64_t spoke_ns;

	pthread_mutex_t lock;
	pthread_cond_t changed, ended; /* ended: `finished` was set */
	struct fh_buf lines;
	bool finished;
	volatile int cancel;

	atomic_int references;
};

static void run_drop(struct run *r)
{
	if (atomic_fetch_sub(&r->references, 1) != 1)
		return;
	for (size_t i = 0; r->env && r->env[i]; i++)
		free(r->env[i]);
	free(r->env);
	free(r->code);
	fh_buf_release(&r->lines);
	pthread_cond_destroy(&r->changed);
	pthread_cond_destroy(&r->ended);
	pthread_mutex_destroy(&r->lock);
	fh_hosted_context_drop(r->context);
	fh_hosted_drop(r->hosted);
	free(r);
}

/* Adds a line, with the last one the run is `finished`; waits while the queue for the client is full. */
static void put_line(struct run *r, FH_OWN json_t *line, bool finished)
{
	fh_auto_json json_t *owned = line;
	pthread_mutex_lock(&r->lock);
	while (r->lines.n > QUEUE_MAX && !r->cancel)
		fh_wait_ms(&r->changed, &r->lock, LOOK_MS);
	fh_json_write_typed(&r->lines, owned);
	fh_buf_addc(&r->lines, '\n');
	pthread_cond_broadcast(&r->changed);
	if ((r->finished = finished))
		pthread_cond_signal(&r->ended);
	pthread_mutex_unlock(&r->lock);
}

static void add_line(struct run *r, FH_OWN json_t *line)
{
	put_line(r, line, false);
}

static json_t *line_of(const char *type)
{
	json_t *o = json_object();
	json_object_set_new(o, "type", json_string(type));
	return o;
}

static void add_timestamp(json_t *line)
{
	char time[32];
	fh_iso_time(fh_wall_ms(), time);
	time[strcspn(time, "Z")] = '\0';
	fh_auto_free char *text = fh_xasprintf("%s+00:00", time);
	json_object_set_new(line, "timestamp", json_string(text));
}

static void add_output(struct run *r, const char *type, struct fh_str text)
{
	json_t *o = line_of(type);
	json_object_set_new(o, "text", fh_json_bytes(text));
	add_timestamp(o);
	add_line(r, o);
}

/* E2B's Java sends the end of a line as a piece of its own, so that clients find what is printed without it. */
static void add_stdout(struct run *r, struct fh_str text)
{
	bool apart = fh_streq(r->context->language, "java") && text.n > 1 && text.p[text.n - 1] == '\n';
	add_output(r, "stdout", (struct fh_str){ text.p, text.n - apart });
	if (apart)
		add_output(r, "stdout", fh_str("\n"));
}

/* The repr of a string without its quotes, which E2B's own server omits. */
static struct fh_str unquoted(struct fh_str text)
{
	bool quoted = text.n >= 2 && (*text.p == '\'' || *text.p == '"') && text.p[text.n - 1] == *text.p;
	return quoted ? (struct fh_str){ text.p + 1, text.n - 2 } : text;
}

static json_t *item_value(const struct fh_context_item *item)
{
	struct fh_str data = { item->data, item->size };
	json_t *value = item->json ? fh_json_parse(data, NULL, NULL) : NULL;
	return value ? value : fh_json_bytes(strcmp(item->name, "text") == 0 ? unquoted(data) : data);
}

static json_t *result_line(const struct fh_context_event *event)
{
	json_t *o = line_of("result"), *extra = json_object();
	for (size_t i = 0; i < event->item_count; i++) {
		const struct fh_context_item *item = &event->items[i];
		bool named = !strchr(item->name, '/') && strcmp(item->name, "type") != 0;
		json_object_set_new(named ? o : extra, item->name, item_value(item));
	}
	if (json_object_size(extra))
		json_object_set(o, "extra", extra);
	json_decref(extra);
	json_object_set_new(o, "is_main_result", json_boolean(event->kind == FH_CONTEXT_RESULT));
	return o;
}

static json_t *error_line(const char *name, const char *value, const char *traceback)
{
	json_t *o = line_of("error");
	json_object_set_new(o, "name", fh_json_bytes(fh_str(name)));
	json_object_set_new(o, "value", fh_json_bytes(fh_str(value)));
	json_object_set_new(o, "traceback", fh_json_bytes(fh_str(traceback)));
	return o;
}

static int on_event(void *context, const struct fh_context_event *event)
{
	struct run *r = context;
	struct fh_str text = { event->text.data, event->text.size };
	json_t *o = NULL;
	switch (event->kind) {
	case FH_CONTEXT_COUNT:
		o = line_of("number_of_executions");
		json_object_set_new(o, "execution_count", json_integer((json_int_t)event->count));
		break;
	case FH_CONTEXT_STDOUT:
		add_stdout(r, text);
		break;
	case FH_CONTEXT_STDERR:
		add_output(r, "stderr", text);
		break;
	case FH_CONTEXT_RESULT:
	case FH_CONTEXT_DISPLAY:
		o = result_line(event);
		break;
	case FH_CONTEXT_ERROR:
		o = error_line(event->name, event->value, event->traceback);
		break;
	default:
		break;
	}
	if (o)
		add_line(r, o);
	return r->cancel;
}

/* Reports the end of a run that ended without an exception in the code. */
static void tell_outcome(struct run *r, const struct fh_context_outcome *x)
{
	static const char *const names[FH_CONTEXT_STATUS_COUNT_] = {
		[FH_CONTEXT_TIMEOUT] = "TimeoutError",
		[FH_CONTEXT_OUTPUT_LIMIT] = "OutputLimitError",
		[FH_CONTEXT_ENDED] = "ContextEndedError",
	};
	static const char *const usual[FH_CONTEXT_STATUS_COUNT_] = {
		[FH_CONTEXT_TIMEOUT] = "the code ran too long and was interrupted",
		[FH_CONTEXT_OUTPUT_LIMIT] = "the code printed more than it may and was interrupted",
		[FH_CONTEXT_ENDED] = "the interpreter of the context has ended; its variables are lost",
	};
	const char *text = *x->message ? x->message : usual[x->status];
	if (names[x->status])
		add_line(r, error_line(names[x->status], text, text));
}

static void *run_thread(void *context)
{
	struct run *r = context;
	struct fh_context_run_options o = FH_CONTEXT_RUN_OPTIONS_INIT;
	struct fh_context_outcome outcome = { 0 };
	struct fh_error err = FH_ERROR_INIT;
	o.code = (struct fh_bytes){ r->code, r->code_size };
	o.env = (const char *const *)r->env;
	o.max_bytes =
	    r->hosted->limits.value[FH_LIMIT_OUTPUT] == FH_UNLIMITED ? 0 : r->hosted->limits.value[FH_LIMIT_OUTPUT];
	o.on_event = on_event;
	o.context = r;
	o.cancel = &r->cancel;
	if (fh_context_run(r->context->context, &o, &outcome, &err) < 0)
		add_line(r, error_line("SandboxError", err.message, err.message));
	else
		tell_outcome(r, &outcome);
	put_line(r, line_of("end_of_execution"), true);
	run_drop(r);
	return NULL;
}

static ssize_t read_lines(void *context, char *buffer, size_t n)
{
	static const char keepalive[] = "{\"type\":\"keepalive\"}\n";
	struct run *r = context;
	ssize_t got = -1;
	pthread_mutex_lock(&r->lock);
	while (!r->lines.n && !r->finished) {
		fh_wait_ms(&r->changed, &r->lock, LOOK_MS);
		/* When the sandbox has ended, the connection is cut; its client then finds the sandbox gone. */
		if (fh_http_peer_gone(r->request) || fh_http_stopping(r->request) ||
		    atomic_load(&r->hosted->seen) == FH_HOSTED_GONE)
			goto out;
		if (!r->lines.n && fh_now_ns() - r->spoke_ns > KEEPALIVE_S * FH_NS_PER_S)
			fh_buf_adds(&r->lines, keepalive);
	}
	if (atomic_load(&r->hosted->seen) == FH_HOSTED_GONE)
		goto out;
	got = (ssize_t)FH_MIN(n, r->lines.n);
	if (got)
		memcpy(buffer, r->lines.p, (size_t)got);
	fh_buf_drop(&r->lines, (size_t)got);
	r->spoke_ns = fh_now_ns();
	pthread_cond_broadcast(&r->changed);
out:
	pthread_mutex_unlock(&r->lock);
	return got;
}

/* Replies to a run that ends quickly with all of its lines: one write to the client, where a stream takes one for each
 * piece, one for its head and one for its end. False: it has not ended yet, or the sandbox has. */
static bool reply_whole(struct fh_http_request *request, struct run *r)
{
	int64_t until_ns = fh_now_ns() + WHOLE_MS * FH_NS_PER_MS, now_ns;
	pthread_mutex_lock(&r->lock);
	while (!r->finished && (now_ns = fh_now_ns()) < until_ns)
		fh_wait_ms(&r->ended, &r->lock, (until_ns - now_ns) / FH_NS_PER_MS + 1);
	bool whole = r->finished && atomic_load(&r->hosted->seen) != FH_HOSTED_GONE;
	if (whole)
		fh_http_reply(request, 200, ndjson, fh_buf_str(&r->lines));
	pthread_mutex_unlock(&r->lock);
	return whole;
}

/* Interrupts a run when its client has the whole stream or has disconnected. */
static void stop_run(void *context)
{
	struct run *r = context;
	pthread_mutex_lock(&r->lock);
	r->cancel = 1;
	pthread_cond_broadcast(&r->changed);
	pthread_mutex_unlock(&r->lock);
	run_drop(r);
}

/* -------------------------------------------------------------------------------------------------------- requests */

static json_t *read_object(struct fh_http_request *r, struct fh_str body)
{
	json_t *o = body.n ? fh_json_parse(body, NULL, NULL) : json_object();
	bool is_object = json_is_object(o), has_zero = fh_fields_have_zero(o, "code");
	if (is_object && !has_zero)
		return o;
	json_decref(o);
	reply_text(r, 400, "%s", is_object ? "A text in the body has a zero byte" : "The body is not a JSON object");
	return NULL;
}

/* The context for a run, with a reference; NULL after it has replied. */
static struct fh_hosted_context *context_of(struct fh_http_request *r, const json_t *o)
{
	struct fh_hosted *h = fh_e2b_hosted(r);
	const char *id = fh_json_str(o, "context_id", NULL), *name = fh_json_str(o, "language", NULL);
	if (id && name) {
		reply_text(r, 400, "Only one of context_id or language can be provided");
		return NULL;
	}
	const char *language = id ? NULL : fh_context_language_find(name ? name : "python");
	struct fh_hosted_context *c = id         ? fh_hosted_context_find(h, id)
	                              : language ? fh_hosted_context_default(h, language)
	                                         : NULL;
	if (!c && id)
		reply_text(r, 404, "Context %.64s not found", id);
	else if (!c)
		reply_text(r, 500, "Unknown language %.64s", name);
	return c;
}

static char **read_env(const json_t *o)
{
	const json_t *envs = json_object_get(o, "env_vars");
	char **env = fh_xcalloc(ENV_MAX + 1, sizeof(char *));
	const char *name;
	json_t *value;
	size_t n = 0;
	json_object_foreach((json_t *)(uintptr_t)envs, name,
	                    value) if (json_is_string(value) && *name && !strchr(name, '=') && n < ENV_MAX) env[n++] =
	    fh_xasprintf("%s=%s", name, json_string_value(value));
	return env;
}

static struct run *run_new(struct fh_http_request *request, const json_t *o, FH_OWN struct fh_hosted_context *c)
{
	struct run *r = FH_NEW(struct run);
	const json_t *code = json_object_get(o, "code");
	r->request = request;
	r->hosted = fh_hosted_hold(c->hosted);
	r->context = c;
	r->code_size = json_string_length(code);
	r->code = fh_xmemdup(json_string_value(code), r->code_size);
	r->env = read_env(o);
	r->spoke_ns = fh_now_ns();
	r->references = 2;
	pthread_mutex_init(&r->lock, NULL);
	fh_condition_init(&r->changed);
	fh_condition_init(&r->ended);
	return r;
}

static ssize_t read_nothing(void *context, char *buffer, size_t n)
{
	return -1;
}

static void release_nothing(void *context)
{
}

/* Resets the connection, as when a sandbox is killed during a run: by the reset, clients tell this from a sandbox that
 * does not exist. */
static void cut(struct fh_http_request *r)
{
	static const struct fh_http_source nothing = { read_nothing, release_nothing, NULL, FH_HTTP_SIZE_UNKNOWN };
	fh_http_reply_source(r, 200, ndjson, &nothing);
}

static void execute(struct fh_http_request *r, struct fh_str body)
{
	struct fh_error err = FH_ERROR_INIT;
	fh_auto_json json_t *o = read_object(r, body);
	if (!o)
		return;
	if (!json_is_string(json_object_get(o, "code"))) {
		reply_text(r, 422, "The code must be a text");
		return;
	}
	struct fh_hosted_context *c = context_of(r, o);
	if (!c)
		return;
	if (fh_hosted_context_start(c, &err) < 0) {
		fh_hosted_context_drop(c);
		if (!fh_hosted_is_there(fh_e2b_hosted(r)))
			cut(r);
		else
			reply_text(r, 500, "%s", err.message);
		return;
	}
	struct run *run = run_new(r, o, c);
	struct fh_http_source source = { read_lines, stop_run, run, FH_HTTP_SIZE_UNKNOWN };
	fh_thread_start(run_thread, run);
	if (reply_whole(r, run))
		stop_run(run);
	else
		fh_http_reply_source(r, 200, ndjson, &source);
}

static void list_contexts(struct fh_http_request *r, struct fh_str body)
{
	fh_http_reply_json(r, 200, fh_hosted_context_list(fh_e2b_hosted(r)));
}

static void create_context(struct fh_http_request *r, struct fh_str body)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_hosted_context *c;
	fh_auto_json json_t *o = read_object(r, body);
	if (!o)
		return;
	const char *name = fh_json_str(o, "language", "python"), *language = fh_context_language_find(name);
	if (!language) {
		reply_text(r, 500, "Unknown language %.64s", name);
	} else if (fh_hosted_context_create(fh_e2b_hosted(r), language, fh_json_str(o, "cwd", NULL), &c, &err) < 0) {
		reply_text(r, 500, "%s", err.message);
	} else {
		fh_http_reply_json(r, 200, fh_hosted_context_object(c));
		fh_hosted_context_drop(c);
	}
}

static struct fh_hosted_context *context_in_path(struct fh_http_request *r)
{
	struct fh_hosted_context *c = fh_hosted_context_find(fh_e2b_hosted(r), fh_http_segment(r, 0));
	if (!c)
		reply_text(r, 404, "Context %.64s not found", fh_http_segment(r, 0));
	return c;
}

static void restart_context(struct fh_http_request *r, struct fh_str body)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_hosted_context *c = context_in_path(r);
	if (!c)
		return;
	if (c->context && fh_context_restart(c->context, &err) < 0)
		reply_text(r, 500, "%s", err.message);
	else
		fh_http_reply_json(r, 200, json_null());
	fh_hosted_context_drop(c);
}

static void remove_context(struct fh_http_request *r, struct fh_str body)
{
	struct fh_hosted_context *c = context_in_path(r);
	if (!c)
		return;
	(void)fh_hosted_context_remove(c);
	fh_hosted_context_drop(c);
	fh_http_reply_json(r, 200, json_null());
}

static void health(struct fh_http_request *r, struct fh_str body)
{
	struct fh_hosted *h = fh_e2b_hosted(r);
	if (fh_hosted_is_there(h))
		fh_http_reply(r, 200, "application/json", fh_str("\"OK\""));
	else
		fh_e2b_gone(r, h->id);
}

const struct fh_http_route fh_e2b_interpreter_routes[] = {
	{ "GET", "/health", health },
	{ "POST", "/execute", execute, .flags = FH_E2B_TOKEN },
	{ "GET", "/contexts", list_contexts },
	{ "POST", "/contexts", create_context },
	{ "POST", "/contexts/{id}/restart", restart_context },
	{ "DELETE", "/contexts/{id}", remove_context },
	{ 0 },
};
