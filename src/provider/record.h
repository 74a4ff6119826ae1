/* SPDX-License-Identifier: MIT */
/* Records providers' answers in the form that replay.h reads: a line for each answer. */
#pragma once
#include "base/error.h"
#include "provider/response.h"

struct fh_record;

/* Opens the file; lines are appended to an existing one. */
int fh_record_open(const char *path, struct fh_record **ret, struct fh_error *err);
/* Returns in *err the first write error. NULL is fine: 0. */
int fh_record_close(struct fh_record *record, struct fh_error *err);
/* Appends an answer; answers from the cache are recorded too. Thread-safe. */
void fh_record_add(struct fh_record *record, const char *id, const char *label, struct fh_str prompt,
                   const struct fh_provider_response *response);
