/* SPDX-License-Identifier: MIT */
/*
 * What a client may ask. A function for a frame returns 0 when it has answered or will, or an error that its caller
 * answers.
 */
#pragma once
#include "engine/core/engine.h"

/* One frame from a client. A negative code: the peer is out of order, the connection ends. */
int fh_request(struct fh_connection *c, const struct fh_frame *f, struct fh_error *err);

/* What the files of requests share. */

/* The sandbox that the frame names, if it can be asked for something; NULL: answer with fh_request_no_sandbox. */
struct fh_sandbox *fh_request_sandbox(struct fh_connection *c, const struct fh_frame *f);
int fh_request_no_sandbox(struct fh_error *err);
/* An integer field of a flat message, by tag; absent: the fallback. */
uint64_t fh_request_number(const struct fh_frame *f, uint16_t tag, uint64_t fallback);

/* requests_files.c: PUT and GET */
int fh_request_put(struct fh_connection *c, const struct fh_frame *f, struct fh_error *err);
int fh_request_get(struct fh_connection *c, const struct fh_frame *f, struct fh_error *err);

int fh_request_no_process(struct fh_error *err);
void fh_request_reply(struct fh_connection *c, const struct fh_frame *f); /* an empty REPLY */
/* A text field of less than `size` bytes; *ret stays as it is when there is none. */
int fh_request_text(const struct fh_frame *f, uint16_t tag, size_t size, char **ret, struct fh_error *err);

/* requests_process.c */
int fh_request_spawn(struct fh_connection *c, const struct fh_frame *f, struct fh_error *err);
int fh_request_wait(struct fh_connection *c, const struct fh_frame *f, struct fh_error *err);
int fh_request_signal(struct fh_connection *c, const struct fh_frame *f, struct fh_error *err);
int fh_request_resize(struct fh_connection *c, const struct fh_frame *f, struct fh_error *err);

/* requests_session.c */
int fh_request_processes(struct fh_connection *c, const struct fh_frame *f, struct fh_error *err);
int fh_request_usage(struct fh_connection *c, const struct fh_frame *f, struct fh_error *err);
int fh_request_pause(struct fh_connection *c, const struct fh_frame *f, struct fh_error *err);
int fh_request_resume(struct fh_connection *c, const struct fh_frame *f, struct fh_error *err);
int fh_request_describe(struct fh_connection *c, const struct fh_frame *f, struct fh_error *err);
