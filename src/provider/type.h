/* SPDX-License-Identifier: MIT */
/* What a type of provider is made of: one const struct in a file of its own, listed in provider.c. */
#pragma once
#include "provider/provider.h"
#include "script/environment.h"

struct fh_provider_type {
	const char *name;            /* how messages call it: "openai", "exec" */
	const char *const *prefixes; /* ids begin with one of them, the longest first; NULL-terminated */
	bool whole;                  /* a prefix is the whole id */
	/* In place of prefixes: whether an id is of this type, and the names that messages offer (NULL after the last). */
	bool (*knows)(const char *id);
	const char *(*name_at)(size_t i);
	const char *const *suffixes; /* NULL, or one of them ends the path of the id (before ":function") */
	/* Checks the id's target and the config, keeps what it needs in p->state. NULL: nothing to do. */
	int (*open)(struct fh_provider *p, struct fh_error *err);
	int (*call)(struct fh_provider *p, const struct fh_provider_request *request, struct fh_provider_response *ret,
	            struct fh_error *err);
	void (*free)(struct fh_provider *p); /* p->state only; NULL: nothing to do */
	bool operations; /* call does what request->operation says; without it only answers can be had */
};

struct fh_provider {
	const struct fh_provider_type *type;
	char *id, *label, *base_dir;
	const char *target; /* of the id, behind the prefix */
	json_t *config;     /* object, never NULL */
	json_t *env;        /* object of strings, never NULL */
	char **granted;     /* "NAME=VALUE", NULL-terminated: what its script sees beside what all scripts see */
	struct fh_script_environment environment; /* of its programs, where there is no pool of scripts to ask */
	struct fh_script_pool *scripts;
	struct fh_replay *replay;
	struct fh_record *record;
	struct fh_response_cache *cache;
	char **secrets; /* that no response may hold (secrets.h); NULL: none */
	const volatile int *cancel;
	uint64_t timeout_ms;
	bool look_only;
	void *state;
};

extern const struct fh_provider_type fh_provider_echo, fh_provider_model, fh_provider_request, fh_provider_exec,
    fh_provider_script;

/* Is taken out of everything that this provider answers; NULL is fine. */
void fh_provider_keep_secret(struct fh_provider *p, FH_NULLABLE const char *value);

/* A variable of the provider's env, else of the process; NULL when unset or empty. */
FH_NULLABLE const char *fh_provider_env(const struct fh_provider *p, const char *name);
/* The environment of its programs, as script/environment.h has it. free() the list, not its strings. */
FH_OWN const char **fh_provider_script_env(const struct fh_provider *p);
/* A secret variable that the text names and that its programs do not see; NULL: none. */
FH_NULLABLE const char *fh_provider_withheld(const struct fh_provider *p, const char *text);
/* The config of one call: the provider's with the request's laid over it. New reference. */
FH_OWN json_t *fh_provider_call_config(const struct fh_provider *p, const struct fh_provider_request *request);
/* Makes the response an error with this message; what it already holds stays. */
void fh_response_fail(struct fh_provider_response *ret, const char *format, ...) FH_PRINTF(2, 3);
/* Appends at most `max` bytes of s (whole UTF-8 characters) and says how much was left out. */
void fh_response_excerpt(struct fh_buf *out, struct fh_str s, size_t max);
