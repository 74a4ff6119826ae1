/* SPDX-License-Identifier: MIT */
#include "sandbox/connection/result.h"

#include <limits.h>

#include "proto/frame.h"
#include "proto/plan.h"
#include "proto/wire.h"

/* Maximum length that is kept of the reason why a layer is missing. */
enum { REASON_MAX = 400 };

void fh_evidence_release(struct fh_evidence *e)
{
	for (int i = 0; i < FH_LAYER_COUNT_; i++)
		free(e->missing[i]);
	free(e->start_why);
	*e = (struct fh_evidence){ 0 };
}

static void read_missing(struct fh_evidence *e, struct fh_str message)
{
	struct fh_wire_reader r = fh_wire_reader(message);
	struct fh_wire_field f;
	uint64_t layer = FH_LAYER_COUNT_;
	struct fh_str reason = { "", 0 };
	while (fh_wire_next(&r, &f)) {
		if (f.tag == F_KIND)
			layer = fh_wire_get_u64(&r, &f);
		else if (f.tag == F_MESSAGE)
			reason = (struct fh_str){ f.value.p, FH_MIN(f.value.n, (size_t)REASON_MAX) };
	}
	if (layer >= FH_LAYER_COUNT_)
		return;
	free(e->missing[layer]);
	e->missing[layer] = fh_xstrndup(reason.p, reason.n);
}

static void read_enforced(struct fh_evidence *e, struct fh_str message)
{
	struct fh_wire_reader r = fh_wire_reader(message);
	struct fh_wire_field f;
	uint64_t limit = FH_LIMIT_COUNT_, how = FH_ENFORCED_NONE;
	while (fh_wire_next(&r, &f)) {
		if (f.tag == F_KIND)
			limit = fh_wire_get_u64(&r, &f);
		else if (f.tag == F_STATUS)
			how = fh_wire_get_u64(&r, &f);
	}
	if (limit < FH_LIMIT_COUNT_ && how < FH_ENFORCED_COUNT_)
		e->enforced[limit] = (enum fh_enforced)how;
}

void fh_evidence_read(struct fh_evidence *e, struct fh_str message)
{
	struct fh_wire_reader r = fh_wire_reader(message);
	struct fh_wire_field f;
	while (fh_wire_next(&r, &f)) {
		if (f.tag == F_LAYERS)
			e->layers = (uint32_t)fh_wire_get_u64(&r, &f) & ((1u << FH_LAYER_COUNT_) - 1);
		else if (f.tag == F_LAYER_MISSING)
			read_missing(e, f.value);
		else if (f.tag == F_ENFORCED)
			read_enforced(e, f.value);
		else if (f.tag == F_START)
			e->start = (enum fh_start)FH_MIN(fh_wire_get_u64(&r, &f), (uint64_t)FH_START_COUNT_);
		else if (f.tag == F_START_WHY) {
			free(e->start_why);
			e->start_why = fh_xstrndup(f.value.p, FH_MIN(f.value.n, (size_t)REASON_MAX));
		}
	}
}

/* ---- F_EXIT ---- */

struct exit_numbers {
	uint64_t status, exit_code, signal, fired, usage[6], stopped;
};

static const struct {
	enum fh_field tag;
	size_t offset;
} exit_table[] = {
	{ F_STATUS, offsetof(struct exit_numbers, status) },
	{ F_EXIT_CODE, offsetof(struct exit_numbers, exit_code) },
	{ F_SIGNAL, offsetof(struct exit_numbers, signal) },
	{ F_FIRED, offsetof(struct exit_numbers, fired) },
	{ F_CPU_USER_US, offsetof(struct exit_numbers, usage[0]) },
	{ F_CPU_SYS_US, offsetof(struct exit_numbers, usage[1]) },
	{ F_WALL_US, offsetof(struct exit_numbers, usage[2]) },
	{ F_MEMORY, offsetof(struct exit_numbers, usage[3]) },
	{ F_PROCESSES, offsetof(struct exit_numbers, usage[4]) },
	{ F_STOPPED, offsetof(struct exit_numbers, stopped) },
	{ F_MEMORY_BASELINE, offsetof(struct exit_numbers, usage[5]) },
};

int fh_exit_read(struct fh_str message, struct fh_exit *ret, struct fh_error *err)
{
	struct exit_numbers v = { .status = FH_STATUS_COUNT_, .exit_code = UINT64_MAX };
	struct fh_wire_reader r = fh_wire_reader(message);
	struct fh_wire_field f;
	while (fh_wire_next(&r, &f))
		for (size_t i = 0; i < FH_ARRAY_SIZE(exit_table); i++)
			if (exit_table[i].tag == f.tag)
				*(uint64_t *)((char *)&v + exit_table[i].offset) = fh_wire_get_u64(&r, &f);
	if (r.malformed || v.status >= FH_STATUS_COUNT_ || (v.exit_code > 255 && v.exit_code != UINT64_MAX) ||
	    v.signal > 64)
		return fh_error_set(err, FH_E_PROTOCOL,
		                    "the engine reported an end that is not possible (status %llu, exit code "
		                    "%lld, signal %llu)",
		                    (unsigned long long)v.status, (long long)v.exit_code, (unsigned long long)v.signal);
	*ret = (struct fh_exit){
		.status = (enum fh_status)v.status,
		.exit_code = v.exit_code == UINT64_MAX ? -1 : (int)v.exit_code,
		.signal = (int)v.signal,
		.fired = (uint32_t)v.fired & ((1u << FH_LIMIT_COUNT_) - 1),
		.usage = { v.usage[0], v.usage[1], v.usage[2], v.usage[3], v.usage[4], v.usage[5] },
		.stopped = v.stopped != 0,
	};
	return 0;
}

int fh_exit_read_frame(struct fh_str payload, struct fh_exit *ret, struct fh_error *err)
{
	struct fh_wire_reader r = fh_wire_reader(payload);
	struct fh_wire_field f;
	while (fh_wire_next(&r, &f))
		if (f.tag == F_EXIT)
			return fh_exit_read(f.value, ret, err);
	return fh_error_set(err, FH_E_PROTOCOL, "the engine reported an end without a status");
}

/* ---- struct fh_result ---- */

struct fh_result *fh_result_new(const struct fh_plan *plan)
{
	struct fh_result *r = FH_NEW(struct fh_result);
	r->limits = plan->limits;
	r->image = plan->image ? fh_xstrdup(plan->image) : NULL;
	r->image_identity = plan->image_identity ? fh_xstrdup(plan->image_identity) : NULL;
	r->exit_code = -1;
	for (int i = FH_STDOUT; i <= FH_STDERR; i++)
		r->stream_data[i] = fh_xmemdup("", 0);
	return r;
}

void fh_result_free(struct fh_result *r)
{
	if (!r)
		return;
	for (int i = 0; i < FH_STREAM_COUNT_; i++)
		free(r->stream_data[i]);
	for (int i = 0; i < FH_LAYER_COUNT_; i++)
		free(r->layer_missing[i]);
	for (size_t i = 0; i < r->out_count; i++) {
		free(r->outs[i].name);
		free(r->outs[i].refused);
		free(r->outs[i].data);
	}
	free(r->outs);
	free(r->start_why);
	free(r->image);
	free(r->image_identity);
	free(r);
}

void fh_result_set_exit(struct fh_result *r, const struct fh_exit *e)
{
	r->status = e->status;
	r->exit_code = e->exit_code;
	r->signal = e->signal;
	r->fired = e->fired;
	r->usage = e->usage;
	r->stopped = e->stopped;
}

void fh_result_set_evidence(struct fh_result *r, struct fh_evidence *e)
{
	r->layers = e->layers;
	for (int i = 0; i < FH_LAYER_COUNT_; i++) {
		free(r->layer_missing[i]);
		r->layer_missing[i] = FH_TAKE_PTR(e->missing[i]);
	}
	memcpy(r->enforced, e->enforced, sizeof(r->enforced));
	r->start = e->start;
	free(r->start_why);
	r->start_why = FH_TAKE_PTR(e->start_why);
}

void fh_result_set_stream(struct fh_result *r, enum fh_stream stream, struct fh_buf *bytes, bool truncated)
{
	free(r->stream_data[stream]);
	r->stream_data[stream] = (uint8_t *)fh_buf_take(bytes, &r->stream_size[stream]);
	r->stream_truncated[stream] = truncated;
}
