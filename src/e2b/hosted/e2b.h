/* SPDX-License-Identifier: MIT */
/*
 * One server, as its parts know it: its options, what it owns, what a request is for, and how errors are replied.
 * e2b/server.h opens it and chooses the part that serves a request.
 */
#pragma once
#include "e2b/common/engine.h"
#include "e2b/common/keys.h"
#include "e2b/hosted/hosted.h"
#include "fumehood/sandbox.h"
#include "server/http.h"

#define FH_ENVD_VERSION "0.6.4" /* version of envd, in E2B's numbering, whose features the SDKs may use */
enum { FH_ENVD_PORT = 49983, FH_INTERPRETER_PORT = 49999, FH_LIFETIME_DEFAULT_MS = 300 * 1000 };

struct fh_e2b_options {
	const char *domain;    /* the domain that the SDKs' getHost() uses; NULL: "localhost:PORT" */
	bool domain_with_port; /* append the port to a domain that has none */
	const char *key_file;  /* file of API keys; NULL: any key is accepted */
	bool tls;              /* clients use https */
	struct fh_ceilings ceilings;
	const char *const *preload;   /* modules that Python's interpreters import while they wait (ahead.h); or NULL */
	const char *const *data_sets; /* data sets for /judge, as "NAME=FILE"; NULL: none */
	size_t data_set_count;
	const char *state;  /* folder that keeps paused sandboxes, snapshots and templates (state.h); NULL: none */
	unsigned queue_max; /* how many single runs and judgements of one key may wait */
	void (*log)(const char *line); /* gets one line of JSON for each request; NULL: no log */
};

/* What a part of the server keeps for each hosted sandbox, beside its processes and metrics. */
struct fh_hosted_part {
	void (*forget)(struct fh_hosted *h); /* frees what the part keeps; may be called again when nothing is left */
	bool is_of_programs; /* true: also forgotten when all programs of the sandbox are ended, as they are before a
	                        restart */
};

struct fh_state;
struct fh_templates;
struct fh_template_builds;
struct fh_judged;
struct fh_once;
struct fh_volumes;
struct fh_turns;

struct fh_e2b {
	struct fh_e2b_options options;
	struct fh_keys keys;
	struct fh_e2b_engines engines;
	struct fh_hosted_registry *registry;
	struct fh_templates *templates;
	struct fh_template_builds *builds;
	struct fh_once *creates; /* requests to create a sandbox that may be repeated, while they are answered */
	struct fh_volumes *volumes;
	struct fh_state *state; /* NULL: nothing is kept on disk */
	/* number of records in that folder that could not be read; `lost_why` is the reason for the last one */
	size_t lost;
	struct fh_error lost_why;
	struct fh_judged *judged;           /* data sets and rows for /judge and /submit */
	struct fh_turns *turns;             /* queue of single runs and judgements */
	const struct fh_hosted_part *parts; /* array of parts that ends with a zeroed one */
	char domain[256];
	int64_t started_ns;
	atomic_ullong requests, failures, created; /* counters for /metrics */
};

/* Flags of routes, which say what a request needs. */
enum {
	FH_E2B_OPEN = 1,    /* neither a key nor a token */
	FH_E2B_SIGNED = 2,  /* a valid signature in the query, in place of a token */
	FH_E2B_KEYLESS = 4, /* no key if every key is accepted; else a key, which may be a bearer token */
	FH_E2B_TOKEN = 8,   /* the sandbox's token, on a port where the SDKs send it with some requests only */
	FH_E2B_CALL = 16,   /* a unary call of envd's protocol: the body is JSON */
	FH_E2B_STREAM = 32, /* a call of envd's protocol with streams: the body is JSON in frames */
};

/* What routing found out about a request to a sandbox; it is the request's tag. */
struct fh_e2b_entry {
	struct fh_hosted *hosted; /* sandbox of the request, with a reference */
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

/* Replies {"code": status, "message": …}, the form of E2B's control API and its proxy. */
void fh_e2b_fail(struct fh_http_request *r, unsigned status, const char *format, ...) FH_PRINTF(3, 4);
void fh_e2b_fail_from(struct fh_http_request *r, const struct fh_error *err);
/* Replies that a sandbox is gone or paused: status 502 and the text that the SDKs look for. */
void fh_e2b_gone(struct fh_http_request *r, const char *id);

/* The whole number in a query parameter, `otherwise` when it is missing. False after replying with 400. */
bool fh_e2b_query_number(struct fh_http_request *r, const char *name, uint64_t min, uint64_t max, uint64_t otherwise,
                         uint64_t *ret);

/* The object in a request's body; an empty one when the body is empty. NULL after replying with 400: no text in it may
 * have a zero byte. */
FH_OWN FH_NULLABLE json_t *fh_e2b_body(struct fh_http_request *r, struct fh_str body);

/* As fh_e2b_body, for a body whose texts are bytes. */
FH_OWN FH_NULLABLE json_t *fh_e2b_body_of_bytes(struct fh_http_request *r, struct fh_str body);
