/* SPDX-License-Identifier: MIT */
/*
 * `fumehood serve`: a server that E2B's own SDKs talk to, on one plain HTTP port.
 *
 *     control API      sandboxes, templates, snapshots            control.c, templates.c
 *     envd             processes, files, watchers                 process.c, filesystem.c, files.c    (port 49983)
 *     interpreter      code contexts                              interpreter.c                       (port 49999)
 *     ingress          every other port of a sandbox              ingress.c
 *
 * Which of them a request is for is told by its headers (E2b-Sandbox-Id, E2b-Sandbox-Port) or by its Host
 * (PORT-ID.DOMAIN); a request that names no sandbox is for the control API, but for signed file URLs (routing.c).
 * What the SDKs send and expect is E2B's public API; where their versions differ, both forms are taken.
 *
 * One engine makes all sandboxes (engine.h). Handlers run on the threads of connections, so that everything here may
 * block.
 */
#pragma once
#include "e2b/engine.h"
#include "e2b/keys.h"
#include "e2b/sandboxes.h"
#include "fumehood/sandbox.h"
#include "server/http.h"

#define FH_ENVD_VERSION "0.6.4" /* what the SDKs may expect of envd, in E2B's own numbering */
enum { FH_ENVD_PORT = 49983, FH_INTERPRETER_PORT = 49999, FH_LIFETIME_DEFAULT_MS = 300 * 1000 };

struct fh_e2b_options {
	const char *domain;    /* what getHost() of the SDKs ends in; NULL: "localhost:PORT" */
	bool domain_with_port; /* the port is added to the domain that names none */
	const char *key_file;  /* NULL: any key */
	bool tls;              /* it is https that clients speak */
	struct fh_ceilings ceilings;
	const char *const *data_sets; /* "NAME=FILE"; NULL: none */
	size_t data_set_count;
	unsigned queue_max;            /* requests of one key for single runs and judgements that may wait */
	void (*log)(const char *line); /* one line of JSON for each request; NULL: none */
};

struct fh_templates;
struct fh_template_builds;
struct fh_judged;
struct fh_turns;

struct fh_e2b {
	struct fh_e2b_options options;
	struct fh_keys keys;
	struct fh_e2b_engines engines;
	struct fh_hosted_registry *registry;
	struct fh_templates *templates;
	struct fh_template_builds *builds;
	struct fh_judged *judged; /* what /judge and /submit know */
	struct fh_turns *turns;   /* of single runs and judgements */
	char domain[256];
	int64_t started_ns;
	atomic_ullong requests, failures, created; /* for /metrics */
};

/* Listening is the caller's, who says the port when it is known. */
int fh_e2b_open(const struct fh_e2b_options *o, struct fh_e2b **ret, struct fh_error *err);
void fh_e2b_listening(struct fh_e2b *s, uint16_t port);
/* Ends all sandboxes, so that every stream comes to its end; then the caller stops its HTTP server, then closes this.
 */
void fh_e2b_stop(struct fh_e2b *s);
void fh_e2b_close(struct fh_e2b *s);
/* For struct fh_http_options; context is the struct fh_e2b. */
const struct fh_http_route *fh_e2b_route(void *context, struct fh_http_request *r);
void fh_e2b_done(void *context, const struct fh_http_request *r, unsigned status, int64_t took_ns);

/* Flags of routes. */
enum {
	FH_E2B_OPEN = 1,    /* needs neither key nor token */
	FH_E2B_SIGNED = 2,  /* a good signature in the query does as well as a token */
	FH_E2B_KEYLESS = 4, /* where every key is accepted none is needed; a bearer token is a key as well */
};

/* What routing found out of a request to a sandbox; its tag. */
struct fh_e2b_entry {
	struct fh_hosted *hosted; /* with a reference */
	unsigned port;
};
static inline struct fh_hosted *fh_e2b_hosted(const struct fh_http_request *r)
{
	return ((struct fh_e2b_entry *)fh_http_request_tagged(r))->hosted;
}
/* The key of a request to the control API. */
static inline const struct fh_key *fh_e2b_key(const struct fh_http_request *r)
{
	return fh_http_request_tagged(r);
}

/* {"code": status, "message": …}, as E2B's control API and its proxy answer. */
void fh_e2b_fail(struct fh_http_request *r, unsigned status, const char *format, ...) FH_PRINTF(3, 4);
void fh_e2b_fail_from(struct fh_http_request *r, const struct fh_error *err);
/* What a client gets of a sandbox that is not there or not awake: status 502 and the words that the SDKs look for. */
void fh_e2b_gone(struct fh_http_request *r, const char *id);

uint64_t fh_e2b_processors(void); /* that this process may use */

/* Makes the sandbox of a hosted one: as a copy of another, or from its template. */
int fh_hosted_boot(struct fh_hosted *h, FH_NULLABLE struct fh_sandbox *branch_of, struct fh_error *err);
/* Kills every program and context of a sandbox that goes on; its files stay. */
void fh_hosted_end_programs(struct fh_hosted *h);
/* Drops what hangs on a sandbox that has ended: processes, watchers, contexts. */
void fh_hosted_release_parts(struct fh_hosted *h);
