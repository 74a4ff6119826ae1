/* SPDX-License-Identifier: MIT */
/*
 * The known servers of models: one table of addresses, names of keys and peculiarities (service.c). An id is
 * SERVICE:MODEL or SERVICE:KIND:MODEL; each kind is an API, which a wire (wire.h) implements.
 */
#pragma once
#include "provider/model/wire.h"

enum fh_auth { FH_AUTH_BEARER, FH_AUTH_X_API_KEY, FH_AUTH_API_KEY, FH_AUTH_GOOGLE };

struct fh_service_kind {
	const char *name; /* name of the kind, such as "chat"; NULL ends the list. The first kind is the default */
	const struct fh_wire *wire;
	const char *usual; /* model of an id that ends with the kind; NULL: it has to name one */
};

struct fh_service {
	const char *name;
	const char *base;         /* address; NULL: the user has to give it */
	const char *base_envs[3]; /* variables that override the address; unused ones are NULL */
	const char *host_env;     /* variable whose host replaces the one in `base`; NULL: no such variable */
	const char *key_envs[3];
	const struct fh_service_kind *kinds;
	enum fh_auth auth;
	bool usual_models;       /* the kinds' usual models are this service's */
	bool model_optional;     /* such a server has one model, so that the id may be the service alone */
	bool key_optional;       /* servers of this kind usually run locally, without a key */
	const char *start;       /* how a server of this kind is started, shown when none listens at the address */
	const char *path_prefix; /* precedes a wire's path; NULL: none. {model} is replaced by the model */
	const char *query;       /* follows the path; NULL: none. {apiVersion} is replaced by config.apiVersion */
	const char *header;      /* header "Name: value" of every request; NULL: no header */
	const char *example;     /* a model, for a hint; NULL: gpt-4o */
	/* variables that give what a config leaves out; NULL: no such variables */
	const char *organization_env, *temperature_env, *max_tokens_env;
};

/* The i-th service; NULL behind the last. */
FH_NULLABLE const struct fh_service *fh_service_at(size_t i);
FH_NULLABLE const struct fh_service *fh_service_find(struct fh_str name);
