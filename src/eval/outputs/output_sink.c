/* SPDX-License-Identifier: MIT */
#include "eval/outputs/output_sink.h"

#include "eval/outputs/source.h"

static int take(void *self, const struct fh_row *row, struct fh_error *err)
{
	struct fh_output_sink *s = self;
	pthread_mutex_lock(&s->lock);
	int r = fh_output_files_row(s->files, row->text, err);
	pthread_mutex_unlock(&s->lock);
	return r;
}

static int end(void *self, const struct fh_sink_end *how, struct fh_error *err)
{
	struct fh_output_sink *s = self;
	struct fh_output_source source;
	fh_output_source_of_results(s->plan, s->results, s->config, &source);
	int r = fh_output_files_end(s->files, &source.data, err);
	fh_output_source_release(&source);
	return r;
}

static void close_files(void *self)
{
	struct fh_output_sink *s = self;
	fh_output_files_close(s->files);
	pthread_mutex_destroy(&s->lock);
}

struct fh_sink fh_output_sink(struct fh_output_sink *s)
{
	static const struct fh_sink_kind kind = { .row = take, .end = end, .close = close_files };
	pthread_mutex_init(&s->lock, NULL);
	return (struct fh_sink){ &kind, s };
}
