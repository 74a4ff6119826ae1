/* SPDX-License-Identifier: MIT */
/* A type of provider: one const struct in a file of its own (those that ask a server: model/), listed in provider.c. */
#pragma once
#include "provider/provider.h"
#include "script/environment.h"

struct fh_provider_type {
	const char *name;            /* name of the type in messages: "openai", "exec" */
	const char *const *prefixes; /* ids begin with one of them; the longest first; NULL-terminated */
	bool whole;                  /* the prefix is the complete id */
	/* In place of prefixes: tells whether an id is of this type, and lists the names that messages suggest (NULL behind
	 * the last). */
	bool (*knows)(const char *id);
	const char *(*name_at)(size_t i);
	const char *const *suffixes; /* the id's path (without ":function") has to end with one of them; NULL: any */
	/* Checks the id's target and the config, and keeps its data in p->state. NULL: nothing to check. */
	int (*open)(struct fh_provider *p, struct fh_error *err);
	int (*call)(struct fh_provider *p, const struct fh_provider_request *request, struct fh_provider_response *ret,
	            struct fh_error *err);
	void (*free)(struct fh_provider *p); /* frees p->state; NULL: nothing to free */
	bool operations;                     /* call handles request->operation; otherwise it only gives answers */
	/* call asks request->original (never NULL then); recordings hold that provider's answers, not this one's. */
	bool asks_another;
	/* Needs a model of its own: the one in config.provider, or else the one that grades the test. */
	bool needs_model;
};

struct fh_provider {
	const struct fh_provider_type *type;
	char *id, *label, *base_dir;
	const char *target;                       /* the id behind the prefix */
	json_t *config;                           /* object, never NULL */
	json_t *env;                              /* object of strings, never NULL */
	char **granted;                           /* "NAME=VALUE", NULL-terminated: variables of only this script */
	struct fh_script_environment environment; /* for the provider's programs, without a pool of scripts */
	struct fh_script_pool *scripts;
	struct fh_replay *replay;
	struct fh_record *record;
	struct fh_response_cache *cache;
	char **secrets; /* texts that are removed from every response (secrets.h); NULL: none */
	const volatile int *cancel;
	uint64_t timeout_ms;
	bool look_only;
	void *state;
};

extern const struct fh_provider_type fh_provider_echo, fh_provider_model, fh_provider_request, fh_provider_websocket,
    fh_provider_exec, fh_provider_script, fh_provider_golang, fh_provider_sequence, fh_provider_simulated_user;

/* Fills the response from what the user's function returned: an object in promptfoo's form, whose `member` is the
 * output. shape: how such an object is called in its language. */
void fh_provider_take_result(const char *function, const char *file, const char *shape, const char *member,
                             json_t *value, struct fh_provider_response *ret);

/* Adds a secret that is removed from all responses of this provider; NULL is fine. */
void fh_provider_keep_secret(struct fh_provider *p, FH_NULLABLE const char *value);

/* A variable of the provider's env, else of the process; NULL when unset or empty. */
FH_NULLABLE const char *fh_provider_env(const struct fh_provider *p, const char *name);
/* The environment for its programs (script/environment.h). free() the list, not its strings. */
FH_OWN const char **fh_provider_script_env(const struct fh_provider *p);
/* The name of a secret variable that the text mentions and that the provider's programs do not see; NULL: none. */
FH_NULLABLE const char *fh_provider_withheld(const struct fh_provider *p, const char *text);
/* config.basePath of programs and scripts: the folder of the config, "." when that is the current one. New reference.
 */
FH_OWN json_t *fh_provider_base_path(const struct fh_provider *p);
/* The provider's config overlaid with the request's. New reference. */
FH_OWN json_t *fh_provider_call_config(const struct fh_provider *p, const struct fh_provider_request *request);
