/* SPDX-License-Identifier: MIT */
/* What providers answer, written as recordings that replay.h reads: one line each, whole or not at all. */
#pragma once
#include "provider/provider.h"

/* Lines are added to a file that is there already. */
int fh_record_open(const char *path, struct fh_record **ret, struct fh_error *err);
/* Reports, in *err, the first line that could not be written. NULL is fine: 0. */
int fh_record_close(struct fh_record *record, struct fh_error *err);
/* From any thread. Answers from a cache are recorded like others. */
void fh_record_add(struct fh_record *record, const char *id, const char *label, struct fh_str prompt,
                   const struct fh_provider_response *response);
