/* SPDX-License-Identifier: MIT */
#include "eval/outputs/output.h"

static int write_row(void *context, uint32_t row, uint32_t column, struct fh_str text, struct fh_error *err)
{
	struct fh_output_stream *out = context;
	fh_buf_add_str(&out->text, text);
	fh_buf_addc(&out->text, '\n');
	fh_output_flush(out);
	return 0;
}

static int write_all(const struct fh_output_data *d, struct fh_output_stream *out, struct fh_error *err)
{
	return d->each(d->context, write_row, out, err);
}

const struct fh_output_kind fh_output_jsonl = {
	.extension = ".jsonl", .write = write_all, .appends = true, .sign = "\"gradingResult\""
};
