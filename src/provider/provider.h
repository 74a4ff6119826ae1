/* SPDX-License-Identifier: MIT */
/*
 * Where answers come from: models behind HTTP, programs, the user's own scripts, recordings.
 *
 *     fh_provider_open(id + config) ──▶ provider ──fh_provider_call(prompt)──▶ response
 *
 * An id names a type in fh_provider_types (provider.c) and what that type is to use:
 *
 *     echo                                     the prompt itself
 *     openai:MODEL  openai:chat:MODEL …        a server of models: SERVICE:MODEL, SERVICE:KIND:MODEL (service.c)
 *     http://…  https://…                      any server, by a request that the config describes (request.c)
 *     exec:COMMAND                             a program: prompt, options, context appended to its arguments
 *     file://x.py[:fn]  python:x.py[:fn]       call_api(prompt, options, context) of a python file (ruby alike)
 *     file://x.js[:fn]  (.mjs, .cjs, .ts)      callApi(prompt, context, options) of a javascript file
 *
 * With recordings (`replay`, replay.h), any id is answered from them and nothing is ever asked.
 *
 * A provider may be called from several threads at once. What a provider or its server does wrong is in
 * response.error (the row of an eval becomes an error); a negative return means that nothing was asked: cancelled,
 * or a wrong call.
 */
#pragma once
#include "base/error.h"
#include "json/json.h"

struct fh_provider;
struct fh_replay;
struct fh_record;         /* record.h */
struct fh_response_cache; /* cache.h */
struct fh_script_pool;    /* script/script.h */

struct fh_provider_options {
	const char *id;
	FH_NULLABLE const char *label;     /* how the user calls it; NULL: the id */
	FH_NULLABLE const json_t *config;  /* the entry's `config` */
	FH_NULLABLE const char *base_dir;  /* file:// paths are relative to it (the config's folder); NULL: "." */
	FH_NULLABLE const json_t *env;     /* {NAME: string/number/bool}, before the process's environment; a .env file
	                                    * is put into the latter by the program that reads it */
	FH_NULLABLE const json_t *own_env; /* the part of env that is for this provider alone: its script sees all of it */
	FH_NULLABLE struct fh_script_pool *scripts;  /* for file:// and python: ids; borrowed, outlives the provider */
	FH_NULLABLE struct fh_replay *replay;        /* borrowed, outlives the provider */
	FH_NULLABLE struct fh_record *record;        /* likewise: what is answered is written there */
	FH_NULLABLE struct fh_response_cache *cache; /* likewise; NULL: every call is asked */
	FH_NULLABLE const volatile int *cancel;      /* set to 1 elsewhere: calls end with FH_E_CANCELLED */
	bool look_only;                              /* opened to be checked: keys need not be there */
	uint64_t timeout_ms;                         /* of one call, retries included; 0: 300 s for each try */
};

/* Copies the options (but scripts, replay and cancel). A bad id or a bad config: FH_E_CONFIG, without a place in a
 * file, which the caller knows; an unknown id names the nearest known. Asks nothing and starts nothing. */
int fh_provider_open(const struct fh_provider_options *options, struct fh_provider **ret, struct fh_error *err);
void fh_provider_free(struct fh_provider *provider); /* NULL is fine; no call may be under way */
static inline void fh_provider_freep(struct fh_provider **p)
{
	fh_provider_free(*p);
}
#define fh_auto_provider FH_CLEANUP(fh_provider_freep)

const char *fh_provider_id(const struct fh_provider *provider);
const char *fh_provider_label(const struct fh_provider *provider); /* never NULL */

/* What is asked for: an answer, or one of the services that graders need (the prompt is then the text that it is
 * about). The response's output is then the list of numbers of an embedding, {CLASS: score} of a classification, or
 * {flagged, flags: [{code, description, confidence}]} of a moderation. */
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
	FH_NULLABLE const json_t *config;  /* laid over the provider's config for this call (of a prompt or a test) */
	uint32_t repeat;                   /* which pass over the same request: each has cached answers of its own */
};

/* What a server may say that it counted: sums of two of them do not overflow. Anything beyond counts as not said. */
#define FH_TOKENS_MAX ((int64_t)1 << 53)
struct fh_tokens {
	int64_t total, prompt, completion, cached; /* -1: not said */
};
#define FH_TOKENS_INIT                                                                                                 \
	{                                                                                                                  \
		-1, -1, -1, -1                                                                                                 \
	}

/* Start with FH_PROVIDER_RESPONSE_INIT; release after use. */
struct fh_provider_response {
	FH_NULLABLE json_t
	    *output; /* a string, or any JSON value; JSON null when the provider gave a null; NULL with an error */
	FH_NULLABLE char *error; /* one message for a person; untrusted text */
	struct fh_tokens tokens;
	double cost; /* in US dollars; -1: not known */
	bool cached;
	double latency_ms;               /* from our call to the answer, retries and their pauses included */
	double first_token_ms;           /* of a streamed answer: from our call to its first text; 0: not streamed */
	FH_NULLABLE char *finish_reason; /* "stop", "length" … as the server says */
	FH_NULLABLE json_t *raw;         /* the server's or script's whole answer */
	FH_NULLABLE json_t *metadata;    /* object */
	FH_NULLABLE json_t *log_probs;   /* array of numbers */
	FH_NULLABLE json_t *extra;       /* object: what else a script's answer says (guardrails, trace …), as it is */
};
#define FH_PROVIDER_RESPONSE_INIT                                                                                      \
	{                                                                                                                  \
		.tokens = FH_TOKENS_INIT, .cost = -1                                                                           \
	}
void fh_provider_response_release(struct fh_provider_response *r); /* leaves it as FH_PROVIDER_RESPONSE_INIT */
#define fh_auto_provider_response FH_CLEANUP(fh_provider_response_release)

int fh_provider_call(struct fh_provider *provider, const struct fh_provider_request *request,
                     struct fh_provider_response *ret, struct fh_error *err);
