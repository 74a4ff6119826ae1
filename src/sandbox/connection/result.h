/* SPDX-License-Identifier: MIT */
/* Reads results that an engine sends. They come from the peer, so they are bounded and checked, and trusted to be no
 * more than text and numbers. */
#pragma once
#include "base/buf.h"
#include "base/error.h"
#include "fumehood/sandbox.h"

/* Which isolation the kernel was seen to enforce (F_LAYERS, F_LAYER_MISSING, F_ENFORCED), and how the program started.
 * Zeroed memory means no evidence. */
struct fh_evidence {
	uint32_t layers;
	char *missing[FH_LAYER_COUNT_];
	enum fh_enforced enforced[FH_LIMIT_COUNT_];
	enum fh_start start;
	char *start_why; /* NULL: no reason to give */
};
/* Reads the fields about isolation of a message and skips the others. */
void fh_evidence_read(struct fh_evidence *e, struct fh_str message);
void fh_evidence_release(struct fh_evidence *e);

/* Reads the content of F_EXIT; or a payload that contains an F_EXIT. */
int fh_exit_read(struct fh_str message, struct fh_exit *ret, struct fh_error *err);
int fh_exit_read_frame(struct fh_str payload, struct fh_exit *ret, struct fh_error *err);

/* A result of this plan in which nothing has run yet. */
FH_OWN struct fh_result *fh_result_new(const struct fh_plan *plan);
void fh_result_set_exit(struct fh_result *r, const struct fh_exit *e);
/* Moves the content; *e is empty afterwards. */
void fh_result_set_evidence(struct fh_result *r, struct fh_evidence *e);
/* Moves the buffer's memory. */
void fh_result_set_stream(struct fh_result *r, enum fh_stream stream, struct fh_buf *bytes, bool truncated);
