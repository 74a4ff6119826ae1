/* SPDX-License-Identifier: MIT */
/* What `fumehood run` does with what comes back: output as it comes, files brought out, words and exit status. */
#pragma once
#include "base/place.h"
#include "cli/shared/options.h"
#include "fumehood/sandbox.h"

/* Output on its way to our own stdout and stderr. On a terminal, what could steer it is shown as text instead (unless
 * raw); a character that is cut by the end of a piece waits for the rest. */
struct fh_run_output {
	bool escape[FH_STREAM_COUNT_];
	char held[FH_STREAM_COUNT_][4];
	size_t held_n[FH_STREAM_COUNT_];
	volatile int *cancel; /* set to SIGPIPE when standard output cannot be written any more; NULL: the run goes on */
};
void fh_run_output_init(struct fh_run_output *o, bool raw, FH_NULLABLE volatile int *cancel);
/* As struct fh_run_options wants it; context: struct fh_run_output. */
void fh_run_output_write(void *context, enum fh_stream stream, const void *data, size_t n);
void fh_run_output_end(struct fh_run_output *o);

/* Opens, before anything runs, where each --out NAME[:DEST] goes: what the run does to folders and links on the way
 * changes nothing then. One place for each of outs, to be closed in any case. */
int fh_run_outs_open(const struct fh_opt_list *outs, struct fh_place **ret, struct fh_error *err);
void fh_run_outs_close(const struct fh_opt_list *outs, FH_NULLABLE struct fh_place *places);
/* Writes each file that came back to its place. Each that is not written, because the sandbox did
 * not give it or the disk did not take it, is told on stderr, and the others are written all the same. Returns how many
 * are missing. */
size_t fh_run_write_outs(const struct fh_result *r, const struct fh_opt_list *outs, const struct fh_place *places);
/* The NAME of --out NAME[:DEST]; free() it. */
FH_OWN char *fh_run_out_name(const char *option);

/* Says on stderr what ended the run, if it was not the program itself. */
void fh_run_explain_end(const struct fh_result *r);
int fh_run_exit_status(const struct fh_result *r);
/* The status for an error of ours. */
int fh_run_error_status(const struct fh_error *err);
/* Something that was asked for is lost: bytes of a stream, or a file of --out. */
enum { FH_RUN_EXIT_LOST = 123 };
extern const char fh_run_exit_help[];
