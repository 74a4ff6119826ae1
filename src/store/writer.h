/* SPDX-License-Identifier: MIT */
/*
 * Writes an eval into the store while it runs. Any thread may add rows; a thread of the writer commits them in groups:
 * while the disk writes one group, the next one is collected. A row counts as done only when its commit has reached the
 * disk, so no row that was shown as done is lost by kill -9, loss of power or a full disk.
 *
 *     begin ─▶ row, row, row … (any thread) ─▶ end          close without end: the eval is left as interrupted
 *
 * The writer holds a kernel lock on the eval (a byte of FILE-writers beside the store), which ends with its process; a
 * second writer is refused.
 */
#pragma once
#include "sink/sink.h"
#include "store/store.h"

struct fh_store_writer;

struct fh_store_begin {
	FH_NULLABLE const char *path; /* path of the store; NULL: the default */
	const char *id;
	enum fh_store_kind kind;
	FH_NULLABLE const char *description;
	int64_t created_ms;
	uint64_t total, rows;                                               /* cells and tests of the plan; 0: unknown */
	FH_NULLABLE const json_t *config, *vars, *options, *columns, *tags; /* as in struct fh_store_documents */
	/* Continue an existing eval with this id; its cells are kept (fh_store_writer_arrange removes some). */
	bool resume;
	/* How long rows are gathered before the disk is waited for, which takes 0.3 ms and more; 0: 20 ms. A crash of the
	 * host loses the rows of that time, so a longer one is for rows that are also in a file. */
	int64_t gather_ms;
	/* The writer's thread calls it after each commit with the number of committed rows. NULL: not called. */
	void (*on_done)(void *context, uint64_t done);
	/* The writer's thread calls it when another terminal makes a request (fh_store_wish). NULL: not called. */
	void (*on_wish)(void *context, enum fh_store_wish wish);
	void *context;
};

/* The eval is in the store when this returns, for every program, and on the disk when the first rows are.
 * FH_E_UNAVAILABLE: another program is writing it. */
int fh_store_writer_begin(const struct fh_store_begin *b, struct fh_store_writer **ret, struct fh_error *err);

/* Copies the row into the queue; waits while the queue is full. No two rows may have the same place. Negative: writing
 * this row or an earlier one failed, and no more rows are accepted. */
int fh_store_writer_row(struct fh_store_writer *w, const struct fh_row *row, struct fh_error *err);
/* Waits until all rows so far are on the disk; for tests. */
int fh_store_writer_flush(struct fh_store_writer *w, struct fh_error *err);

/* Flushes, and records how the eval ended: all of it is on the disk when this returns. Without metrics, those that are
 * stored stay. SQLite then copies its log into the store's file, for which nobody has to wait until
 * fh_store_writer_close, which has to follow. */
int fh_store_writer_finish(struct fh_store_writer *w, const struct fh_sink_end *e, struct fh_error *err);
/* Lets the writer's thread begin with that. `e` has to stay as it is until fh_store_writer_finish returns, which has to
 * follow with the same `e`. */
void fh_store_writer_finish_begin(struct fh_store_writer *w, const struct fh_sink_end *e);
/* fh_store_writer_finish and fh_store_writer_close. */
int fh_store_writer_end(struct fh_store_writer *w, const struct fh_sink_end *e, struct fh_error *err);
/* An eval that is not finished is flushed as far as possible and left as interrupted. NULL is fine. */
void fh_store_writer_close(FH_NULLABLE struct fh_store_writer *w);

/* Prepares the resumption of an eval: removes cells that have to run again, moves others to their tests' new places,
 * and recounts the columns. To be called before the first row is written. */
struct fh_store_place {
	uint32_t row, column;
};
struct fh_store_move {
	struct fh_store_place from, to;
};
int fh_store_writer_arrange(struct fh_store_writer *w, const struct fh_store_place *drops, size_t drop_count,
                            const struct fh_store_move *moves, size_t move_count, struct fh_error *err);
