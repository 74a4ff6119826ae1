/* SPDX-License-Identifier: MIT */
#include "sandbox/planning/result_json.h"

#include "fumehood/sandbox.h"

#include <signal.h>
#include <stdio.h>

#include "base/text/base64.h"
#include "base/utf8.h"
#include "json/json.h"

static const char *signal_name(int number, char buf[24])
{
	const char *name = sigabbrev_np(number);
	if (name)
		snprintf(buf, 24, "SIG%s", name);
	else if (number >= SIGRTMIN && number <= SIGRTMAX)
		snprintf(buf, 24, "SIGRTMIN+%d", number - SIGRTMIN);
	else
		snprintf(buf, 24, "%d", number);
	return buf;
}

/* Milliseconds, as an integer if possible. */
static json_t *ms(uint64_t us)
{
	return us % 1000 ? json_real((double)us / 1000) : json_integer((json_int_t)(us / 1000));
}

/* A number for which 0 means unknown, written as null. */
static json_t *known(uint64_t n)
{
	return n ? json_integer((json_int_t)n) : json_null();
}

static void put_stream(json_t *o, const struct fh_result *r, enum fh_stream stream, const char *name)
{
	struct fh_str bytes = { (const char *)r->stream_data[stream], r->stream_size[stream] };
	if (!bytes.p)
		bytes = fh_str("");
	fh_auto_free char *truncated = fh_xasprintf("%s_truncated", name);
	json_object_set_new(o, name, fh_json_bytes(bytes));
	json_object_set_new(o, truncated, json_boolean(r->stream_truncated[stream]));
	if (fh_utf8_valid(bytes))
		return;
	fh_auto_free char *key = fh_xasprintf("%s_base64", name);
	fh_auto_buf struct fh_buf encoded = FH_BUF_INIT(0);
	fh_base64_encode(&encoded, bytes);
	json_object_set_new(o, key, json_stringn(fh_buf_cstr(&encoded), encoded.n));
}

json_t *fh_usage_json(const struct fh_usage *u)
{
	json_t *o = json_object();
	json_object_set_new(o, "cpu_ms", ms(u->cpu_user_us + u->cpu_sys_us));
	json_object_set_new(o, "cpu_user_ms", ms(u->cpu_user_us));
	json_object_set_new(o, "cpu_sys_ms", ms(u->cpu_sys_us));
	json_object_set_new(o, "wall_ms", ms(u->wall_us));
	json_object_set_new(o, "memory_peak_bytes", known(u->memory_peak_bytes));
	json_object_set_new(o, "memory_baseline_bytes", known(u->memory_baseline_bytes));
	json_object_set_new(o, "processes_peak", known(u->processes_peak));
	return o;
}

static json_t *start_json(const struct fh_result *r)
{
	json_t *o = json_object();
	json_object_set_new(o, "path", r->start == FH_START_AUTO ? json_null() : json_string(fh_start_name(r->start)));
	if (r->start_why)
		json_object_set_new(o, "why", fh_json_bytes(fh_str(r->start_why)));
	return o;
}

static json_t *image_json(const struct fh_result *r)
{
	json_t *o = json_object();
	json_object_set_new(o, "kind", json_string(r->image ? "directory" : "host"));
	json_object_set_new(o, "path", r->image ? fh_json_bytes(fh_str(r->image)) : json_null());
	json_object_set_new(o, "identity", r->image_identity ? fh_json_bytes(fh_str(r->image_identity)) : json_null());
	return o;
}

json_t *fh_isolation_json(const struct fh_result *r)
{
	json_t *o = json_object();
	for (int i = 0; i < FH_LAYER_COUNT_; i++) {
		const char *why = r->layer_missing[i] ? r->layer_missing[i] : "not known: nothing ran";
		json_object_set_new(o, fh_layer_name(i), r->layers >> i & 1 ? json_true() : fh_json_bytes(fh_str(why)));
	}
	return o;
}

json_t *fh_limits_json(const struct fh_result *r)
{
	json_t *o = json_object();
	for (int i = 0; i < FH_LIMIT_COUNT_; i++) {
		uint64_t value = r->limits.value[i];
		bool none = value == FH_UNLIMITED || (i == FH_LIMIT_CPU_RATE && value == 0);
		json_t *limit = json_object();
		json_object_set_new(limit, "value", none ? json_null() : json_integer((json_int_t)value));
		json_object_set_new(limit, "unit", json_string(fh_limit_table[i].unit));
		json_object_set_new(limit, "enforced", json_string(fh_enforced_name(r->enforced[i])));
		json_object_set_new(o, fh_limit_table[i].name, limit);
	}
	return o;
}

json_t *fh_fired_json(uint32_t fired)
{
	json_t *a = json_array();
	for (int i = 0; i < FH_LIMIT_COUNT_; i++)
		if (fired >> i & 1)
			json_array_append_new(a, json_string(fh_limit_table[i].name));
	return a;
}

static json_t *files_json(const struct fh_result *r)
{
	json_t *o = json_object();
	for (size_t i = 0; i < r->out_count; i++) {
		const struct fh_out_file *f = &r->outs[i];
		json_t *file = json_object();
		if (f->refused)
			json_object_set_new(file, "refused", fh_json_bytes(fh_str(f->refused)));
		else
			json_object_set_new(file, "bytes", json_integer((json_int_t)f->size));
		fh_auto_buf struct fh_buf key = FH_BUF_INIT(0);
		fh_utf8_sanitize(&key, fh_str(f->name));
		json_object_set_new(o, fh_buf_cstr(&key), file);
	}
	return o;
}

static json_t *error_json(const struct fh_error *e)
{
	json_t *o = json_object();
	json_object_set_new(o, "code", json_string(fh_code_name(e->code)));
	json_object_set_new(o, "phase", json_string(fh_phase_name(e->phase)));
	json_object_set_new(o, "message", fh_json_bytes(fh_str(e->message)));
	json_object_set_new(o, "hint", e->hint[0] ? fh_json_bytes(fh_str(e->hint)) : json_null());
	json_object_set_new(o, "retryable", json_boolean(e->retryable));
	return o;
}

json_t *fh_outcome_json(const struct fh_result *r)
{
	char name[24];
	json_t *o = json_object();
	json_object_set_new(o, "status", json_string(fh_status_name(r->status)));
	json_object_set_new(o, "exit_code", r->exit_code >= 0 ? json_integer(r->exit_code) : json_null());
	json_object_set_new(o, "signal", r->signal > 0 ? json_string(signal_name(r->signal, name)) : json_null());
	put_stream(o, r, FH_STDOUT, "stdout");
	put_stream(o, r, FH_STDERR, "stderr");
	if (r->stream_data[FH_DRIVER])
		put_stream(o, r, FH_DRIVER, "driver");
	json_object_set_new(o, "usage", fh_usage_json(&r->usage));
	return o;
}

char *fh_result_json(const struct fh_result *r, int indent)
{
	fh_auto_json json_t *o = fh_outcome_json(r);
	json_object_set_new(o, "start", start_json(r));
	json_object_set_new(o, "image", image_json(r));
	json_object_set_new(o, "isolation", fh_isolation_json(r));
	json_object_set_new(o, "limits", fh_limits_json(r));
	json_object_set_new(o, "fired", fh_fired_json(r->fired));
	json_object_set_new(o, "files", files_json(r));
	if (r->status == FH_STATUS_ENGINE_ERROR)
		json_object_set_new(o, "error", error_json(&r->error));
	return fh_json_text(o, indent);
}
