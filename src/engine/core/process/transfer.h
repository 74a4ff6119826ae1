/* SPDX-License-Identifier: MIT */
/* Files into and out of a sandbox, moved by its init. */
#pragma once
#include "engine/core/process/stream.h"
#include "init/messages.h"
#include "proto/plan.h"

/* A request to init that is not answered yet: to write files, or to read one. */
struct fh_transfer {
	struct fh_transfer *next;
	uint32_t token, op;
	struct fh_connection *connection;
	uint64_t request;
	struct fh_output *stream; /* carries the file, when one is read */
	bool awaited;             /* init had not answered the request at the previous check, … */
	uint64_t moved;           /* … when this many bytes of the file had arrived */
	void (*done)(struct fh_sandbox *b, struct fh_transfer *t,
	             const struct fh_init_done *m); /* called with init's answer; m is NULL if the sandbox died first */
};

int fh_transfer_put(struct fh_sandbox *b, const struct fh_plan_file *files, size_t count, const char *base,
                    const uint64_t *append_flags, struct fh_transfer *t, struct fh_error *err);
int fh_transfer_get(struct fh_sandbox *b, const char *name, uint64_t max_bytes, struct fh_transfer *t,
                    struct fh_error *err);
/* Sends FILE: announces the stream that will carry the file's bytes. */
void fh_transfer_announce(const struct fh_output *s, struct fh_connection *c, uint64_t request, uint64_t index);
/* Writes the files into memory, in the format that PUT reads. Returns a descriptor, or -FH_E_SYSTEM. */
int fh_transfer_entries(const struct fh_plan_file *files, size_t count, const uint64_t *append_flags,
                        struct fh_error *err);
const char *fh_transfer_refused(const struct fh_init_done *m, char *buffer, size_t size); /* the reason in words */
/* Sets err to the reason why the plan's file number m->size could not be written. m is a PUT_DONE with an error. */
void fh_transfer_explain(const struct fh_plan *plan, const struct fh_init_done *m, struct fh_error *err);
void fh_transfer_on_done(struct fh_sandbox *b, const struct fh_init_done *m);
void fh_transfer_drop_all(struct fh_sandbox *b);
