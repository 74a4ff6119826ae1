/* SPDX-License-Identifier: MIT */
/* The client's side of helpers (init/helpers/helper.h): starts one and reads its records. */
#pragma once
#include "fumehood/session.h"
#include "init/helpers/helper.h"
#include "sandbox/session/process.h"

struct fh_helper {
	FH_NULLABLE struct fh_process *process;
	struct fh_buf in; /* bytes read from its stdout */
	size_t used;      /* bytes of `in` that were passed to the caller already */
	const char *what; /* the operation, for errors ("list"), and the path that it works on; borrowed */
	const char *path;
	uint64_t count; /* COUNT of DONE */
	bool over;      /* DONE was read */
	/* Receives every byte of the helper's stdout too; -1: none. */
	int copy_to;
	/* A helper that receives them instead: there is nothing to read here, and that one's answer tells how it went. */
	FH_NULLABLE const struct fh_process *into;
};
#define FH_HELPER_INIT                                                                                                 \
	{                                                                                                                  \
		.in = FH_BUF_INIT(4 << 20), .copy_to = -1                                                                      \
	}
#define fh_auto_helper __attribute__((cleanup(fh_helper_end)))

int fh_helper_begin(struct fh_helper *h, struct fh_sandbox *sandbox, FH_NULLABLE const char *user,
                    const char *const *argv, bool open_stdin, struct fh_error *err);
struct fh_helper_record {
	unsigned kind;
	struct fh_str bytes; /* the record is valid until the next call */
};
/* Returns 1: *ret is a record; 0: the helper succeeded; negative: it failed, or its output is incomplete. timeout_ms
 * -1: no limit. */
int fh_helper_next(struct fh_helper *h, struct fh_helper_record *ret, int64_t timeout_ms, struct fh_error *err);
/* Skips records until DONE. */
int fh_helper_finish(struct fh_helper *h, struct fh_error *err);
void fh_helper_end(struct fh_helper *h); /* Frees the helper's handle; kills the helper if it is not done. */
/* Runs a helper that returns no records but DONE. */
int fh_helper_run(struct fh_sandbox *sandbox, FH_NULLABLE const char *user, const char *what, const char *path,
                  const char *const *argv, struct fh_error *err);

/* Reads an ENTRY. Its texts are appended to `texts`, which must not move while info is used (reserve memory before, or
 * copy). False: malformed. */
bool fh_helper_entry(struct fh_str record, struct fh_file_info *ret, struct fh_buf *texts);
uint64_t fh_helper_number(struct fh_str record, unsigned field, uint64_t fallback);
