/* SPDX-License-Identifier: MIT */
#include "eval/outputs/output.h"

static int write(const struct fh_output_data *d, struct fh_buf *out, struct fh_error *err)
{
	for (size_t i = 0; i < d->results->count; i++) {
		if (!d->results->items[i].done)
			continue;
		fh_output_row(d, i, out);
		fh_buf_addc(out, '\n');
	}
	return 0;
}

const struct fh_output fh_output_jsonl = { .extension = ".jsonl", .write = write };
