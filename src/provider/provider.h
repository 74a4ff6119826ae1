/* SPDX-License-Identifier: MIT */
/*
 * Where answers come from: models behind HTTP, programs, the user's own scripts, recordings.
 *
 *     fh_provider_open(id + config) ──▶ provider ──fh_provider_call(prompt)──▶ response
 *
 * An id names a type in fh_provider_types (provider.c) and the type's target:
 *
 *     echo                                     answers with the prompt itself
 *     openai:MODEL  openai:chat:MODEL …        a server of models: SERVICE:MODEL, SERVICE:KIND:MODEL (model/service.c)
 *     http://…  https://…                      any server, by a request that the config describes (model/request.c)
 *     exec:COMMAND                             a program: prompt, options, context appended to its arguments
 *     file://x.py[:fn]  python:x.py[:fn]       call_api(prompt, options, context) of a python file (ruby alike)
 *     file://x.js[:fn]  (.mjs, .cjs, .ts)      callApi(prompt, context, options) of a javascript file
 *     sequence                                 asks the request's original provider once for each of a list of inputs
 *     promptfoo:simulated-user                 lets a model that plays a user talk to that provider
 *
 * With recordings (`replay`, replay.h) any id is answered from them, and no request is ever made.
 *
 * Calls are thread-safe. An error of a provider or its server is in response.error (the row of an eval becomes an
 * error); a negative return means that no request was made: the call was cancelled, or its arguments are wrong.
 */
#pragma once
#include "base/error.h"
#include "provider/response.h"

struct fh_provider;
struct fh_replay;
struct fh_record;         /* record.h */
struct fh_response_cache; /* cache.h */
struct fh_script_pool;    /* script/script.h */

struct fh_provider_options {
	const char *id;
	FH_NULLABLE const char *label;    /* the user's name for it; NULL: the id */
	FH_NULLABLE const json_t *config; /* the entry's `config` */
	FH_NULLABLE const char *base_dir; /* base of relative file:// paths (the config's folder); NULL: "." */
	FH_NULLABLE const json_t *env; /* {NAME: string/number/bool}; overrides the process's environment and so .env files,
	                                  which callers load into that */
	FH_NULLABLE const json_t *own_env;          /* the part of env for this provider alone: its script sees all of it */
	FH_NULLABLE struct fh_script_pool *scripts; /* for file:// and python: ids; borrowed, outlives the provider */
	FH_NULLABLE struct fh_replay *replay;       /* recordings to answer from; borrowed, outlives the provider */
	FH_NULLABLE struct fh_record *record;       /* file to record answers in; borrowed, outlives the provider */
	FH_NULLABLE struct fh_response_cache *cache; /* borrowed, outlives the provider; NULL: no caching */
	FH_NULLABLE const volatile int *cancel;      /* set to 1 elsewhere: running calls end with FH_E_CANCELLED */
	bool look_only;                              /* opened only to be checked: no API key is needed */
	uint64_t timeout_ms;                         /* time limit of a call, retries included; 0: 300 s for each try */
};

/* Opens a provider; makes no request and starts no process. Copies the options (except scripts, replay and cancel). A
 * bad id or config is FH_E_CONFIG without a position, which the caller adds; for an unknown id the message names the
 * most similar one. */
int fh_provider_open(const struct fh_provider_options *options, struct fh_provider **ret, struct fh_error *err);
void fh_provider_free(struct fh_provider *provider); /* NULL is fine; no call may be running */
static inline void fh_provider_freep(struct fh_provider **p)
{
	fh_provider_free(*p);
}
#define fh_auto_provider FH_CLEANUP(fh_provider_freep)

const char *fh_provider_id(const struct fh_provider *provider);
/* Whether it answers only by asking another provider, which each request names (`original`). */
bool fh_provider_asks_another(const struct fh_provider *provider);
/* Whether a provider with this id needs a model of its own, which its config may name as `provider`; else whoever opens
 * it names the model that grades its test. */
bool fh_provider_needs_model(const char *id);
/* The config, with what the files that it names hold (settings.h). An object, borrowed. */
const json_t *fh_provider_config(const struct fh_provider *provider);

/* What a call asks for: an answer, or a service that graders need (the prompt is then the text that it is applied to).
 * The response's output is the list of numbers of an embedding, {CLASS: score} of a classification, or {flagged, flags:
 * [{code, description, confidence}]} of a moderation. */
enum fh_provider_operation {
	FH_PROVIDER_ANSWER,
	FH_PROVIDER_EMBEDDING,
	FH_PROVIDER_CLASSIFICATION,
	FH_PROVIDER_MODERATION,
	FH_PROVIDER_OPERATION_COUNT_
};

struct fh_provider_request {
	enum fh_provider_operation operation;
	struct fh_str prompt;              /* rendered; a JSON array of messages makes a chat */
	FH_NULLABLE const json_t *context; /* for exec and scripts: {vars, prompt: {raw, label}, test …} */
	FH_NULLABLE const json_t *config;  /* overrides the provider's config in this call (of a prompt or a test) */
	uint32_t repeat;                   /* number of the repeat of this request: each repeat has its own cached answer */
	/* For a type that asks another provider (fh_provider_asks_another): which one, and the pause behind each call. */
	FH_NULLABLE struct fh_provider *original;
	uint64_t original_delay_ms;
};

int fh_provider_call(struct fh_provider *provider, const struct fh_provider_request *request,
                     struct fh_provider_response *ret, struct fh_error *err);
