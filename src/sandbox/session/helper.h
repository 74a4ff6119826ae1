/* SPDX-License-Identifier: MIT */
/* Helpers of a session (init/helper.h), from the client's side: start one, read its records. */
#pragma once
#include "fumehood/session.h"
#include "init/helper.h"
#include "sandbox/session/process.h"

struct fh_helper {
	FH_NULLABLE struct fh_process *process;
	struct fh_buf in; /* of its stdout */
	size_t used;      /* of `in`: handed out */
	const char *what; /* for errors: "list", and of which path; borrowed */
	const char *path;
	uint64_t count; /* DONE's */
	bool over;      /* DONE was seen */
	/* Every byte of its stdout goes here too; -1: nowhere. */
	int copy_to;
	FH_NULLABLE struct fh_process *pipe_to;
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
	struct fh_str bytes; /* until the next call */
};
/* 1: *ret is a record; 0: it is done, and all is well; negative: it failed, or was cut off. timeout_ms -1: none. */
int fh_helper_next(struct fh_helper *h, struct fh_helper_record *ret, int64_t timeout_ms, struct fh_error *err);
/* Passes over records until it is done. */
int fh_helper_finish(struct fh_helper *h, struct fh_error *err);
void fh_helper_end(struct fh_helper *h); /* kills it when it is not done */
/* begin, finish, end */
int fh_helper_run(struct fh_sandbox *sandbox, FH_NULLABLE const char *user, const char *what, const char *path,
                  const char *const *argv, struct fh_error *err);

/* An ENTRY; its texts are appended to `texts` (which must not move while info is used: reserve before, or copy).
 * False: malformed. */
bool fh_helper_entry(struct fh_str record, struct fh_file_info *ret, struct fh_buf *texts);
uint64_t fh_helper_number(struct fh_str record, unsigned field, uint64_t fallback);
