/* SPDX-License-Identifier: MIT */
/* Files into a sandbox and out of it, as its init is asked for them. */
#pragma once
#include "engine/core/stream.h"
#include "init/messages.h"
#include "proto/plan.h"

/* Something that init was asked for: files in, a file out. */
struct fh_transfer {
	struct fh_transfer *next;
	uint32_t token, op;
	struct fh_connection *connection;
	uint64_t request;
	struct fh_output *stream; /* of a file out, until its fate is known */
	bool awaited;             /* at the last look it was under way, */
	uint64_t moved;           /* and that many bytes had come */
	void (*done)(struct fh_sandbox *b, struct fh_transfer *t,
	             const struct fh_init_done *m); /* NULL m: the sandbox died */
};

int fh_transfer_put(struct fh_sandbox *b, const struct fh_plan_file *files, size_t count, const char *base,
                    const uint64_t *append_flags, struct fh_transfer *t, struct fh_error *err);
int fh_transfer_get(struct fh_sandbox *b, const char *name, uint64_t max_bytes, struct fh_transfer *t,
                    struct fh_error *err);
/* FILE: which stream carries the file, before its bytes. */
void fh_transfer_announce(const struct fh_output *s, struct fh_connection *c, uint64_t request, uint64_t index);
/* Entries as PUT reads them, in memory: a descriptor, or -FH_E_SYSTEM. */
int fh_transfer_entries(const struct fh_plan_file *files, size_t count, const uint64_t *append_flags,
                        struct fh_error *err);
const char *fh_transfer_refused(const struct fh_init_done *m, char *buffer, size_t size); /* why, in words */
/* Says why entry m->size of the plan's files could not be put; m is a PUT_DONE that refuses. */
void fh_transfer_explain(const struct fh_plan *plan, const struct fh_init_done *m, struct fh_error *err);
void fh_transfer_on_done(struct fh_sandbox *b, const struct fh_init_done *m);
void fh_transfer_drop_all(struct fh_sandbox *b);
