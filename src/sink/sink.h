/* SPDX-License-Identifier: MIT */
/*
 * Places to which rows go as they finish: the results file of a judgement (judge/rows/results.h), the output files of
 * an eval (eval/outputs/output_sink.h), the store (eval/results/kept.h, cli/judge/judge_keep.h). Evals and judgements
 * know only this interface.
 *
 *     begin ─▶ recall each ─▶ row, row, row … (any thread) ─▶ end ─▶ close        close without end: after a failure
 *
 * A sink begins with a function of its own, which checks all that can be wrong before any work is done. A row that came
 * to a sink survives kill -9 as its kind says. So an interrupted work goes on: every sink is asked to recall its rows
 * first, work is done only for rows that none recalls, and a recalled row goes to all sinks again, marked `again`, so
 * that those which lack it can add it.
 */
#pragma once
#include "json/json.h"
#include "sink/row.h"

struct fh_sink_end {
	bool complete;                     /* every row of the work is there; false: it was interrupted */
	int64_t duration_ms;               /* duration of this run of the work, which may continue an earlier one */
	FH_NULLABLE const json_t *metrics; /* array: each column's metrics; NULL: the work has none */
	FH_NULLABLE const json_t *vars;    /* array: names of all variables; NULL: those that the work began with */
};

/* Functions get the sink's `self`. NULL members are allowed but for `row`. */
struct fh_sink_kind {
	/* Reads the row that need not be made again, as JSON, into `out`, whose content is replaced. False: this sink has
	 * none. Called before the first row, by one thread. */
	bool (*recall)(void *self, size_t index, struct fh_buf *out);
	/* Takes a row. Thread-safe. The sink that recalled a row ignores it. */
	int (*row)(void *self, const struct fh_row *row, struct fh_error *err);
	/* Begins with what `end` brings about, while other sinks end. `end` follows with the same struct. */
	void (*begin_end)(void *self, const struct fh_sink_end *end);
	/* Brings everything into its final form. Rows are safe when it returns 0. */
	int (*end)(void *self, const struct fh_sink_end *end, struct fh_error *err);
	/* Frees the sink; without an end, the rows that came stay for the next run of the work. */
	void (*close)(void *self);
};
struct fh_sink {
	const struct fh_sink_kind *kind;
	void *self;
};

/* The sinks of one work, in the order in which a row goes to them. */
enum { FH_SINKS_MAX = 4 };
struct fh_sinks {
	struct fh_sink items[FH_SINKS_MAX];
	size_t count;
};
void fh_sinks_add(struct fh_sinks *s, struct fh_sink sink);
/* Asks one sink after another. */
bool fh_sinks_recall(const struct fh_sinks *s, size_t index, struct fh_buf *out);
/* Stops at the first sink that fails: none of those after it has a row that those before it lack. */
int fh_sinks_row(const struct fh_sinks *s, const struct fh_row *row, struct fh_error *err);
/* Ends all of them, those that have begun with it (begin_end) last, and returns the first error. */
int fh_sinks_end(const struct fh_sinks *s, const struct fh_sink_end *end, struct fh_error *err);
/* Closes all and forgets them. */
void fh_sinks_close(struct fh_sinks *s);
