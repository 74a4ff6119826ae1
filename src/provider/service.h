/* SPDX-License-Identifier: MIT */
/*
 * The servers of models that we know: one table of addresses, names of keys and quirks (service.c). An id is
 * SERVICE:MODEL or SERVICE:KIND:MODEL; each kind is spoken in a wire.
 */
#pragma once
#include "provider/wire.h"

enum fh_auth { FH_AUTH_BEARER, FH_AUTH_X_API_KEY, FH_AUTH_API_KEY, FH_AUTH_GOOGLE };

struct fh_service_kind {
	const char *name; /* "chat"; NULL ends the list. The first is meant when an id names none */
	const struct fh_wire *wire;
};

struct fh_service {
	const char *name;
	const char *base;         /* NULL: it has to be given */
	const char *base_envs[3]; /* variables with another address; unused ones are NULL */
	const char *host_env;     /* one with a host, which takes the place of that in `base`; NULL: none */
	const char *key_envs[3];
	const struct fh_service_kind *kinds;
	enum fh_auth auth;
	bool key_optional;       /* a server of one's own, most often without a key */
	const char *start;       /* how a server of this kind is started, for when nothing listens there */
	const char *path_prefix; /* before a wire's path; NULL: none. {model} stands for the model */
	const char *query;       /* behind it; NULL: none. {apiVersion} stands for config.apiVersion */
	const char *header;      /* "Name: value" of every request; NULL: none */
};

/* NULL after the last. */
FH_NULLABLE const struct fh_service *fh_service_at(size_t i);
FH_NULLABLE const struct fh_service *fh_service_find(struct fh_str name);
