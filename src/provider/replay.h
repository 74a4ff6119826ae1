/* SPDX-License-Identifier: MIT */
/*
 * Recorded answers, with which an eval can be repeated without a model, a key or a network.
 *
 * A file of recordings is JSONL: one object on each line; blank lines are allowed. The members:
 *
 *     provider       string, required: the provider's id ("openai:chat:gpt-4o"), or its label, which tells recordings
 *                    of the same model with other settings apart; the label is looked up first
 *     prompt         string, required: the rendered prompt, matched exactly
 *     response       string, or any JSON value; required without `error`
 *     error          string: the provider's error, which is replayed
 *     tokens         {prompt, completion, total, cached}: integers
 *     cost, seconds  numbers: US dollars; how long the model took (becomes the latency)
 *     finish_reason  string
 *
 * The members model, seed, temperature, date, server and source are copied to "recording" in the response's metadata.
 * Other members are ignored. Several recordings of one provider and prompt are used in the file's order, one for each
 * call; after the last the first follows again. A prompt without a recording is an error of that call, never a request.
 */
#pragma once
#include "base/error.h"
#include "provider/response.h"

struct fh_replay;

/* Reads all recordings of a file; FH_E_CONFIG with file and line for a bad one. Thread-safe afterwards. */
int fh_replay_open(const char *path, struct fh_replay **ret, struct fh_error *err);
void fh_replay_free(struct fh_replay *replay); /* NULL is fine */

/* Answers with the next recording of provider `id` or `label` for the prompt; without a recording, with
 * response.error. */
void fh_replay_answer(struct fh_replay *replay, const char *id, FH_NULLABLE const char *label, struct fh_str prompt,
                      struct fh_provider_response *ret);
