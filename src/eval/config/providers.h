/* SPDX-License-Identifier: MIT */
/* The providers of a config, opened. */
#pragma once
#include "eval/config/config.h"
#include "provider/provider.h"

struct fh_eval_provider {
	char *id, *label;  /* label "" when the config gives none */
	json_t *entry;     /* as the config has it, an object: transform, delay, prompts … */
	json_t *json;      /* {id, label, config?}, for scripts and results */
	uint64_t delay_ms; /* pause before each call */
	struct fh_provider *handle;
};
struct fh_eval_providers {
	struct fh_eval_provider **items; /* each stays where it is: rows point to them */
	size_t count, capacity;
};

/* What opening needs beyond the entry itself; all borrowed, and alive as long as the providers are. */
struct fh_eval_provider_needs {
	struct fh_script_pool *scripts;
	FH_NULLABLE struct fh_replay *replay;
	FH_NULLABLE struct fh_record *record;
	FH_NULLABLE struct fh_response_cache *cache;
	FH_NULLABLE const volatile int *cancel;
	uint64_t timeout_ms;
	bool look_only; /* to be checked, not asked: keys need not be there */
};

/* `spec` is what the config has under "providers" or "targets" (`place` says which), or what -r gave. */
int fh_eval_providers_load(struct fh_eval_config *c, const json_t *spec, const char *place,
                           const struct fh_eval_provider_needs *needs, struct fh_eval_providers *ret,
                           struct fh_error *err);
/* One entry (a test's own provider): the one of the list that is just like it, or a new one at the list's end. */
int fh_eval_providers_add(struct fh_eval_config *c, const struct fh_document *d, const json_t *entry, const char *place,
                          const struct fh_eval_provider_needs *needs, struct fh_eval_providers *providers,
                          struct fh_eval_provider **ret, struct fh_error *err);
void fh_eval_providers_release(struct fh_eval_providers *p);
/* "id", {id: …} and {"ID": {options}} as one object with an "id". New reference; NULL when it is none of them. */
FH_OWN FH_NULLABLE json_t *fh_eval_provider_entry(const json_t *entry);
/* label, or the id when there is none. */
const char *fh_eval_provider_name(const struct fh_eval_provider *p);
