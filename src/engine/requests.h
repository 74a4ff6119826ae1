/* SPDX-License-Identifier: MIT */
/*
 * What the files of requests share (engine.h has fh_request, their entrance). A function for a frame returns 0 when it
 * has answered or will, or an error that its caller answers.
 */
#pragma once
#include "engine/engine.h"

/* The sandbox that the frame names, if it can be asked for something; NULL: answer with fh_request_no_sandbox. */
struct fh_sandbox *fh_request_sandbox(struct fh_connection *c, const struct fh_frame *f);
int fh_request_no_sandbox(struct fh_error *err);
/* An integer field of a flat message, by tag; absent: the fallback. */
uint64_t fh_request_number(const struct fh_frame *f, uint16_t tag, uint64_t fallback);

/* requests_files.c: PUT and GET */
int fh_request_put(struct fh_connection *c, const struct fh_frame *f, struct fh_error *err);
int fh_request_get(struct fh_connection *c, const struct fh_frame *f, struct fh_error *err);
