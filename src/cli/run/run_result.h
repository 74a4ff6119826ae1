/* SPDX-License-Identifier: MIT */
/* Handles the result of `fumehood run`: passes output on as it arrives, writes files of --out, explains the end, and
 * chooses the exit status. */
#pragma once
#include "base/host/place.h"
#include "cli/shared/options.h"
#include "fumehood/sandbox.h"

/* Passes output to our own stdout and stderr. On a terminal, control characters are shown as text (unless raw); a
 * character that is split between two pieces waits for its rest. */
struct fh_run_output {
	bool escape[FH_STREAM_COUNT_];
	char held[FH_STREAM_COUNT_][4];
	size_t held_n[FH_STREAM_COUNT_];
	volatile int *cancel; /* set to SIGPIPE when standard output is closed; NULL: the run continues without it */
};
void fh_run_output_init(struct fh_run_output *o, bool raw, FH_NULLABLE volatile int *cancel);
/* For struct fh_run_options; context is a struct fh_run_output. */
void fh_run_output_write(void *context, enum fh_stream stream, const void *data, size_t n);
void fh_run_output_end(struct fh_run_output *o);

/* Opens the destination of each --out NAME[:DEST] before the run, so that changes which the run makes to folders and
 * links on the way have no effect. *ret has a place for each of outs; close them in any case. */
int fh_run_outs_open(const struct fh_opt_list *outs, struct fh_place **ret, struct fh_error *err);
void fh_run_outs_close(const struct fh_opt_list *outs, FH_NULLABLE struct fh_place *places);
/* Writes the files that came back to their places. A file that the sandbox did not give, or that cannot be written, is
 * reported on stderr, and the others are still written. Returns how many are missing. */
size_t fh_run_write_outs(const struct fh_result *r, const struct fh_opt_list *outs, const struct fh_place *places);
/* The NAME of --out NAME[:DEST]; free() it. */
FH_OWN char *fh_run_out_name(const char *option);

/* Says on stderr how the run ended, unless the program ended by itself. */
void fh_run_explain_end(const struct fh_result *r);
int fh_run_exit_status(const struct fh_result *r);
/* The exit status for an error of fumehood's own. */
int fh_run_error_status(const struct fh_error *err);
/* Exit status when requested output was lost: bytes of a stream, or a file of --out. */
enum { FH_RUN_EXIT_LOST = 123 };
extern const char fh_run_exit_help[];
