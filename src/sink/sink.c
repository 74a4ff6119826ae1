/* SPDX-License-Identifier: MIT */
#include "sink/sink.h"

#include <assert.h>

void fh_row_add_whole(const struct fh_row *row, struct fh_buf *out)
{
	if (!row->add_evidence) {
		fh_buf_add_str(out, row->text);
		return;
	}
	fh_buf_add(out, row->text.p, row->text.n - 1); /* the row's object without its closing brace */
	row->add_evidence(row, out);
	fh_buf_addc(out, '}');
}

void fh_sinks_add(struct fh_sinks *s, struct fh_sink sink)
{
	assert(s->count < FH_SINKS_MAX);
	s->items[s->count++] = sink;
}

bool fh_sinks_recall(const struct fh_sinks *s, size_t index, struct fh_buf *out)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct fh_sink *one = &s->items[i];
		if (one->kind->recall && one->kind->recall(one->self, index, out))
			return true;
	}
	return false;
}

int fh_sinks_row(const struct fh_sinks *s, const struct fh_row *row, struct fh_error *err)
{
	int r = 0;
	for (size_t i = 0; i < s->count && r >= 0; i++)
		r = s->items[i].kind->row(s->items[i].self, row, err);
	return r;
}

int fh_sinks_end(const struct fh_sinks *s, const struct fh_sink_end *end, struct fh_error *err)
{
	int result = 0;
	for (size_t i = 0; i < s->count; i++)
		if (s->items[i].kind->begin_end)
			s->items[i].kind->begin_end(s->items[i].self, end);
	for (int begun = 0; begun <= 1; begun++)
		for (size_t i = 0; i < s->count; i++) {
			const struct fh_sink *one = &s->items[i];
			if (!one->kind->end || begun != (one->kind->begin_end != NULL))
				continue;
			int r = one->kind->end(one->self, end, result >= 0 ? err : NULL);
			result = result >= 0 ? r : result;
		}
	return result;
}

void fh_sinks_close(struct fh_sinks *s)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->items[i].kind->close)
			s->items[i].kind->close(s->items[i].self);
	s->count = 0;
}
