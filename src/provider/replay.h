/* SPDX-License-Identifier: MIT */
/*
 * Recorded answers, so that an eval runs again without a model, a key or a network.
 *
 * A file of recordings is JSONL: one object a line, blank lines allowed. Read by us:
 *
 *     provider       string, needed: the provider's id ("openai:chat:gpt-4o"), or its label when recordings of the
 *                    same model with other settings are to be told apart; the label is looked for first
 *     prompt         string, needed: the rendered prompt, matched exactly
 *     response       string, or any JSON value; needed unless `error` is there
 *     error          string: the provider's failure is replayed
 *     tokens         {prompt, completion, total, cached}: integers
 *     cost, seconds  numbers: US dollars; how long the model took (becomes the latency)
 *     finish_reason  string
 *
 * Kept in the response's metadata under "recording": model, seed, temperature, date, server, source (all as they
 * are). Any other key is allowed and not read. Several recordings of one provider and prompt are served in their
 * order in the file, one each call, and again from the first after the last. A prompt without a recording is an
 * error of that call, never a request.
 */
#pragma once
#include "provider/provider.h"

/* Reads all recordings of a file; FH_E_CONFIG with file and line for a bad one. Thread-safe afterwards. */
int fh_replay_open(const char *path, struct fh_replay **ret, struct fh_error *err);
void fh_replay_free(struct fh_replay *replay); /* NULL is fine */

/* Answers with the next recording of provider `id` or `label` for the prompt; without a recording, with
 * response.error. */
void fh_replay_answer(struct fh_replay *replay, const char *id, FH_NULLABLE const char *label, struct fh_str prompt,
                      struct fh_provider_response *ret);
