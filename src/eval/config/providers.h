/* SPDX-License-Identifier: MIT */
/* Reads a config's list of providers and opens them. */
#pragma once
#include "eval/config/config.h"
#include "provider/provider.h"

struct fh_eval_provider {
	char *id, *label;    /* label: "" when the config gives no label */
	const char *written; /* the id in the config, where `id` is promptfoo's name for that; else the same */
	json_t *entry;       /* the config's entry as an object: transform, delay, prompts … */
	json_t *json;        /* {id, label, config?} for scripts and results */
	uint64_t delay_ms;   /* pause before each call */
	struct fh_provider *handle;
};
struct fh_eval_providers {
	struct fh_eval_provider **items; /* each is allocated on its own, as rows point to it */
	size_t count, capacity;
};

/* What opening a provider needs beside its entry; all borrowed, and valid as long as the providers are. */
struct fh_eval_provider_needs {
	struct fh_script_pool *scripts;
	FH_NULLABLE struct fh_replay *replay;
	FH_NULLABLE struct fh_record *record;
	FH_NULLABLE struct fh_response_cache *cache;
	FH_NULLABLE const volatile int *cancel;
	uint64_t timeout_ms;
	bool look_only; /* the providers are only checked, not called: no API key is needed */
};

/* `spec` is the config's value of "providers" or "targets" (`place` says which), or the value of -r. */
int fh_eval_providers_load(struct fh_eval_config *c, const json_t *spec, const char *place,
                           const struct fh_eval_provider_needs *needs, struct fh_eval_providers *ret,
                           struct fh_error *err);
/* Gives the provider of one entry (a test's own provider): an equal one of the list, or a new one at the list's end. */
int fh_eval_providers_add(struct fh_eval_config *c, const struct fh_document *d, const json_t *entry, const char *place,
                          const struct fh_eval_provider_needs *needs, struct fh_eval_providers *providers,
                          struct fh_eval_provider **ret, struct fh_error *err);
/* The entry of a test's own provider, to add. One that needs a model and names none gets the merged test's grader. New
 * reference; NULL: the test has no provider of its own. */
FH_OWN FH_NULLABLE json_t *fh_eval_providers_own_entry(const struct fh_eval_providers *p,
                                                       FH_NULLABLE const json_t *entry, const json_t *merged);
void fh_eval_providers_release(struct fh_eval_providers *p);
/* An entry ("id", {id: …} or {"ID": {options}}) as an object with an "id". New reference; NULL when it has another
 * form. */
FH_OWN FH_NULLABLE json_t *fh_eval_provider_entry(const json_t *entry);
/* The label, or the id when there is no label. */
const char *fh_eval_provider_name(const struct fh_eval_provider *p);
