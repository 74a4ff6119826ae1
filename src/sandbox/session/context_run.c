/* SPDX-License-Identifier: MIT */
/* The runs of code contexts. */
#include <signal.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/error.h"
#include "sandbox/session/context.h"

enum {
	GRACE_MS = 5000,
	EVENTS_BYTES = 64 << 20,
	EVENT_COST = 64, /* what an event counts in addition to its bytes, so that a flood of small events is stopped too */
};

struct run {
	struct fh_context *c;
	struct fh_context_run_options o;
	uint64_t id, bytes;
	int64_t timeout_ns, grace_ns; /* deadlines; 0: none */
	enum fh_context_status why;   /* why it was interrupted; FH_CONTEXT_OK: it was not */
	struct fh_context_outcome *outcome;
};

static int write_request(struct run *r, struct fh_buf *line, struct fh_error *err)
{
	fh_auto_json json_t *request = json_object();
	json_object_set_new(request, "op", json_string("run"));
	json_object_set_new(request, "id", json_integer((json_int_t)r->id));
	json_object_set_new(request, "count", json_integer((json_int_t)r->c->count));
	if (r->o.silent)
		json_object_set_new(request, "silent", json_true());
	if (r->c->signalled)
		json_object_set_new(request, "late_interrupt", json_true());
	r->c->signalled = false;
	int code = fh_context_add_variables(request, "env", r->o.env, err);
	if (code < 0)
		return code;
	if (r->o.code.size > FH_CONTEXT_CODE_MAX)
		return fh_error_set(err, FH_E_LIMIT, "the code has %zu bytes; at most %zu are allowed", r->o.code.size,
		                    FH_CONTEXT_CODE_MAX);
	json_object_set_new(request, "code", fh_json_bytes((struct fh_str){ r->o.code.data, r->o.code.size }));
	fh_json_write(line, request, 0);
	(void)fh_buf_addc(line, '\n');
	return 0;
}

/* Asks the code to stop, once, and gives it the grace period to do so. */
static void stop(struct run *r, enum fh_context_status why)
{
	if (r->why != FH_CONTEXT_OK)
		return;
	r->why = why;
	r->c->signalled = true;
	r->grace_ns = fh_now_ns() + (int64_t)r->o.grace_ms * FH_NS_PER_MS;
	(void)fh_process_signal(r->c->driver.process, SIGINT, NULL);
}

/* The interpreter ended or does not react: drops it. */
static void lost(struct run *r, const char *what)
{
	struct fh_context_outcome *o = r->outcome;
	char how[128] = "";
	fh_context_drop(r->c, how, sizeof(how));
	o->status = r->why != FH_CONTEXT_OK ? r->why : FH_CONTEXT_ENDED;
	o->state_lost = true;
	const char *hint = fh_streq(how, "exit code 1") ? r->c->kind->may_end : NULL;
	snprintf(o->message, sizeof(o->message), "%s (%s); its state is lost, and the next run starts another%s%s", what,
	         how, hint ? ". " : "", hint ? hint : "");
}

/* Handles one line from the driver. True: the run is over. */
static bool take(struct run *r, struct fh_str text)
{
	struct fh_context_line line = { 0 };
	struct fh_context_event event;
	struct fh_context_outcome *o = r->outcome;
	bool over = false;
	r->bytes += text.n + EVENT_COST;
	enum fh_context_said said = fh_context_line_read(&line, text, &event);
	if (said == FH_CONTEXT_SAID_GARBAGE) {
		lost(r, "the code wrote what is not an event to its context's own channel");
		over = true;
	} else if (r->bytes > r->o.max_bytes) {
		stop(r, FH_CONTEXT_OUTPUT_LIMIT);
	} else if (said == FH_CONTEXT_SAID_EVENT) {
		if (event.kind == FH_CONTEXT_ERROR && strcmp(event.name, "KeyboardInterrupt") == 0)
			r->c->signalled = false;
		if (r->o.on_event && r->why != FH_CONTEXT_OUTPUT_LIMIT && r->o.on_event(r->o.context, &event))
			stop(r, FH_CONTEXT_INTERRUPTED);
	}
	if (said == FH_CONTEXT_SAID_END && fh_json_int(line.json, "id", -1) == (int64_t)r->id) {
		bool failed = strcmp(fh_json_str(line.json, "status", ""), "ok") != 0;
		over = true;
		o->status = r->why != FH_CONTEXT_OK ? r->why : failed ? FH_CONTEXT_FAILED : FH_CONTEXT_OK;
		if (fh_json_bool(line.json, "exiting", false)) {
			fh_context_drop(r->c, NULL, 0);
			o->state_lost = true;
			bool errexit = fh_streq(fh_json_str(line.json, "why", ""), "set -e"); /* the words are the code's, too */
			snprintf(o->message, sizeof(o->message), "the code ended its interpreter; the next run starts another%s",
			         errexit ? ". `set -e` was on, which ends the whole shell at a command that fails; ( set -e; … ) "
			                   "ends only what is in the brackets"
			                 : "");
		}
	}
	fh_context_line_release(&line);
	return over;
}

/* Checks what may end the run from outside. True: it is over. */
static bool look(struct run *r)
{
	int64_t now = fh_now_ns();
	pthread_mutex_lock(&r->c->lock);
	bool asked = r->c->interrupted;
	pthread_mutex_unlock(&r->c->lock);
	if (asked && r->why == FH_CONTEXT_OK) /* an interrupt was sent; the code may still catch it and continue */
		r->why = FH_CONTEXT_INTERRUPTED;
	if (r->o.cancel && *r->o.cancel)
		stop(r, FH_CONTEXT_INTERRUPTED);
	if (r->timeout_ns && now >= r->timeout_ns) {
		if (r->why == FH_CONTEXT_INTERRUPTED && !r->grace_ns)
			r->why = FH_CONTEXT_OK;
		stop(r, FH_CONTEXT_TIMEOUT);
		r->timeout_ns = 0;
	}
	if (!r->grace_ns || now < r->grace_ns)
		return false;
	lost(r, "the code did not end when it was interrupted");
	return true;
}

static int64_t piece_ms(const struct run *r)
{
	int64_t now = fh_now_ns(), until = now + FH_CONTEXT_LOOK_MS * FH_NS_PER_MS;
	if (r->timeout_ns)
		until = FH_MIN(until, r->timeout_ns);
	if (r->grace_ns)
		until = FH_MIN(until, r->grace_ns);
	return FH_MAX((until - now + FH_NS_PER_MS - 1) / FH_NS_PER_MS, (int64_t)0);
}

static int follow(struct run *r, struct fh_error *err)
{
	for (;;) {
		struct fh_str text;
		struct fh_error error = FH_ERROR_INIT;
		if (look(r))
			return 0;
		int got = fh_context_driver_line(&r->c->driver, piece_ms(r), &text, &error);
		if (got == 1) {
			if (take(r, text))
				return 0;
		} else if (got == 0) {
			lost(r, "the code's interpreter ended");
			return 0;
		} else if (got == -FH_E_LIMIT) {
			lost(r, "the code wrote an endless line to its context's own channel");
			return 0;
		} else if (got != -FH_E_TIMEOUT) {
			if (err)
				*err = error;
			return got;
		} else if (r->o.on_wait && r->o.on_wait(r->o.context)) {
			stop(r, FH_CONTEXT_INTERRUPTED);
		}
	}
}

/* Sends the COUNT event, the only event that does not come from inside, because runs are counted here. */
static void say_count(struct run *r)
{
	char text[64];
	struct fh_context_event event = { .kind = FH_CONTEXT_COUNT, .count = r->c->count };
	snprintf(text, sizeof(text), "{\"type\":\"count\",\"count\":%llu}", (unsigned long long)event.count);
	event.json = (struct fh_bytes){ text, strlen(text) };
	event.text = (struct fh_bytes){ "", 0 };
	event.name = event.value = event.traceback = "";
	if (r->o.on_event && r->o.on_event(r->o.context, &event))
		stop(r, FH_CONTEXT_INTERRUPTED);
}

/* Executes the run. The interpreter must be alive, and the caller must have the turn. */
static int execute(struct run *r, struct fh_error *err)
{
	fh_auto_buf struct fh_buf line = FH_BUF_INIT(0);
	struct fh_context *c = r->c;
	c->count += !r->o.silent;
	r->outcome->count = c->count;
	int code = write_request(r, &line, err);
	if (code < 0)
		return code;
	pthread_mutex_lock(&c->lock);
	c->running = true;
	c->interrupted = false;
	pthread_mutex_unlock(&c->lock);
	if (r->o.timeout_ms)
		r->timeout_ns = fh_now_ns() + (int64_t)r->o.timeout_ms * FH_NS_PER_MS;
	code =
	    fh_context_driver_send(&c->driver, fh_buf_str(&line),
	                           r->o.timeout_ms ? (int64_t)(r->o.timeout_ms + r->o.grace_ms) : FH_CONTEXT_SEND_MS, err);
	if (code == -FH_E_NOT_FOUND || code == -FH_E_TIMEOUT) {
		lost(r, code == -FH_E_TIMEOUT ? "the context's interpreter takes no code" : "the context's interpreter ended");
		return 0;
	}
	if (code < 0)
		return code;
	if (!r->o.silent)
		say_count(r);
	return follow(r, err);
}

int fh_context_run(struct fh_context *context, const struct fh_context_run_options *options,
                   struct fh_context_outcome *ret, struct fh_error *err)
{
	struct fh_context_outcome outcome = { 0 };
	struct run r = { .c = context, .o = FH_CONTEXT_RUN_OPTIONS_INIT, .outcome = &outcome };
	memcpy(&r.o, options, FH_MIN(options->size, sizeof(r.o)));
	r.o.grace_ms = r.o.grace_ms ? r.o.grace_ms : GRACE_MS;
	r.o.max_bytes = r.o.max_bytes ? r.o.max_bytes : EVENTS_BYTES;
	int code = fh_context_turn_begin(context, r.o.cancel, err);
	if (code < 0)
		return code;
	if (!context->alive) {
		code = fh_context_launch(context, err);
		outcome.restarted = code == 0;
	}
	if (code == 0) {
		r.id = ++context->runs;
		code = execute(&r, err);
	}
	fh_context_turn_end(context);
	if (code == 0)
		*ret = outcome;
	return code;
}
