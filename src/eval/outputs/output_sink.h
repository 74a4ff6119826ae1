/* SPDX-License-Identifier: MIT */
/*
 * The output files of an eval as a sink of its rows (sink/sink.h): JSONL files get each row as it finishes, and at the
 * end every file is written anew.
 */
#pragma once
#include <pthread.h>

#include "eval/outputs/output.h"
#include "eval/results/results.h"
#include "sink/sink.h"

/* All members but the lock are borrowed. */
struct fh_output_sink {
	struct fh_output_files *files;
	const struct fh_eval_plan *plan;
	struct fh_eval_results *results; /* complete when the sink's end is called */
	json_t *config;                  /* from fh_output_config */
	pthread_mutex_t lock;
};
/* Initializes the lock. Closing the sink closes the files. */
struct fh_sink fh_output_sink(struct fh_output_sink *s);
