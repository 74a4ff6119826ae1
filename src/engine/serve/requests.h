/* SPDX-License-Identifier: MIT */
/*
 * The requests of clients. A function for a frame returns 0 if it has answered or will answer, or an error that its
 * caller answers with.
 */
#pragma once
#include "engine/core/engine.h"

/* Handles one frame from a client. A negative code means that the client broke the protocol; its connection is
 * closed. */
int fh_request(struct fh_connection *c, const struct fh_frame *f, struct fh_error *err);

/* Helpers for the files that implement requests. */

/* The session's sandbox that the frame names, if it is ready; NULL: answer with fh_request_no_sandbox. */
struct fh_sandbox *fh_request_sandbox(struct fh_connection *c, const struct fh_frame *f);
int fh_request_no_sandbox(struct fh_error *err);
/* The integer field with that tag; `fallback` if there is none. */
uint64_t fh_request_number(const struct fh_frame *f, uint16_t tag, uint64_t fallback);

/* requests_files.c: PUT and GET */
int fh_request_put(struct fh_connection *c, const struct fh_frame *f, struct fh_error *err);
int fh_request_get(struct fh_connection *c, const struct fh_frame *f, struct fh_error *err);

int fh_request_no_process(struct fh_error *err);
void fh_request_reply(struct fh_connection *c, const struct fh_frame *f); /* Answers a request with an empty REPLY. */
/* Copies a text field of less than `size` bytes; leaves *ret untouched if there is none. */
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
