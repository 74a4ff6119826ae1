/* SPDX-License-Identifier: MIT */
/* Chooses the part of the server that a request is for, and checks authorization, before any of the body is read. */
#include <stdio.h>

#include "base/text/parse.h"
#include "e2b/address.h"
#include "e2b/common/connect.h"
#include "e2b/control/routes.h"
#include "e2b/envd/routes.h"
#include "e2b/envd/signature.h"
#include "e2b/ingress.h"
#include "e2b/interpreter/routes.h"
#include "e2b/registry/registry.h"
#include "e2b/server.h"
#include "e2b/service/routes.h"
#include "e2b/volumes/routes.h"
#include "server/http_host.h"

/* Whether the request names a sandbox. *ret has port 0 when it names no port that there is. */
static bool read_address(const struct fh_http_request *r, struct fh_e2b_address *ret)
{
	const char *id = fh_http_header(r, "E2b-Sandbox-Id"), *port = fh_http_header(r, "E2b-Sandbox-Port");
	if (!id)
		return fh_e2b_address_of_host(fh_http_header(r, "Host"), ret);
	uint64_t number = FH_ENVD_PORT;
	snprintf(ret->id, sizeof(ret->id), "%s", id);
	ret->port = port && fh_parse_u64(port, 1, 65535, &number, NULL) < 0 ? 0 : (unsigned)number;
	return true;
}

/* A part of a sandbox's API, by its port. */
struct part {
	unsigned port; /* port number; 0: any other port */
	const struct fh_http_route *const *tables;
	const struct fh_http_route *(*enter)(struct fh_http_request *r, struct fh_hosted *h, const struct part *part);
};

static void drop_entry(void *entry)
{
	fh_hosted_drop(((struct fh_e2b_entry *)entry)->hosted);
	free(entry);
}

static const struct fh_http_route *find_route(struct fh_http_request *r, const struct fh_http_route *const *tables)
{
	bool other_method = false, other;
	const struct fh_http_route *route = NULL;
	for (; *tables && !route; tables++) {
		route = fh_http_route_find(*tables, r, &other);
		other_method |= !route && other;
	}
	if (!route && other_method)
		fh_e2b_fail(r, 405, "the method %s is not allowed for this path", fh_http_method(r));
	else if (!route)
		fh_e2b_fail(r, 404, "there is nothing at this path");
	return route;
}

/* Pages of any origin may call envd; its token is what protects it. */
static const struct fh_http_route *preflight(struct fh_http_request *r)
{
	const char *asked = fh_http_header(r, "Access-Control-Request-Headers");
	fh_http_reply_header(r, "Access-Control-Allow-Methods", "GET, HEAD, POST, PUT, PATCH, DELETE");
	fh_http_reply_header(r, "Access-Control-Allow-Headers", asked ? asked : "*");
	fh_http_reply_header(r, "Access-Control-Max-Age", "7200");
	fh_http_reply_empty(r, 204);
	return NULL;
}

/* Calls of another form of the protocol (protobuf, gRPC) would be read as JSON that is malformed. A request without a
 * type is taken for one in ours. */
static bool has_fitting_type(struct fh_http_request *r, const struct fh_http_route *route)
{
	const char *type = fh_http_header(r, "Content-Type"), *wanted = route->flags & FH_E2B_STREAM
	                                                                    ? FH_CONNECT_STREAM_TYPE
	                                                                : route->flags & FH_E2B_CALL ? "application/json"
	                                                                                             : NULL;
	size_t n = type ? strcspn(type, "; \t") : 0;
	if (!wanted || !type || (n == strlen(wanted) && strncasecmp(type, wanted, n) == 0))
		return true;
	fh_http_reply_header(r, "Accept-Post", wanted);
	fh_e2b_fail(r, 415, "the body of this call must have Content-Type: %s", wanted);
	return false;
}

static const struct fh_http_route *enter_envd(struct fh_http_request *r, struct fh_hosted *h, const struct part *part)
{
	const char *token = fh_http_header(r, "X-Access-Token");
	fh_http_reply_header(r, "Access-Control-Allow-Origin", "*");
	if (strcmp(fh_http_method(r), "OPTIONS") == 0)
		return preflight(r);
	const struct fh_http_route *route = find_route(r, part->tables);
	if (route && !has_fitting_type(r, route))
		return NULL;
	if (!route || (route->flags & FH_E2B_OPEN) || (token && fh_secret_equal(token, h->token)))
		return route;
	if ((route->flags & FH_E2B_SIGNED) && !token)
		return fh_e2b_signature_holds(r, h) ? route : NULL;
	fh_e2b_fail(r, 401, "unauthorized access, please provide a valid access token or method signing if supported");
	return NULL;
}

static bool may_use_ports(struct fh_http_request *r, const struct fh_hosted *h)
{
	const char *token = fh_http_header(r, "E2b-Traffic-Access-Token");
	if (!*h->traffic || (token && fh_secret_equal(token, h->traffic)))
		return true;
	fh_e2b_fail(r, 403, "this sandbox's ports need its traffic access token");
	return false;
}

static const struct fh_http_route *enter_interpreter(struct fh_http_request *r, struct fh_hosted *h,
                                                     const struct part *part)
{
	const char *token = fh_http_header(r, "X-Access-Token");
	fh_http_reply_header(r, "Access-Control-Allow-Origin", "*");
	if (strcmp(fh_http_method(r), "OPTIONS") == 0)
		return preflight(r);
	const struct fh_http_route *route = may_use_ports(r, h) ? find_route(r, part->tables) : NULL;
	if (!route || !(route->flags & FH_E2B_TOKEN) || (token && fh_secret_equal(token, h->token)))
		return route;
	fh_e2b_fail(r, 401, "unauthorized access, please provide a valid access token");
	return NULL;
}

static const struct fh_http_route *enter_port(struct fh_http_request *r, struct fh_hosted *h, const struct part *part)
{
	return may_use_ports(r, h) ? part->tables[0] : NULL;
}

static const struct fh_http_route *const envd_tables[] = { fh_e2b_process_routes, fh_e2b_filesystem_routes,
	                                                       fh_e2b_watch_routes, fh_e2b_file_routes, NULL };
static const struct fh_http_route *const interpreter_tables[] = { fh_e2b_interpreter_routes, NULL };
static const struct fh_http_route *const port_tables[] = { fh_e2b_port_routes, NULL };
static const struct fh_http_route *const control_tables[] = {
	fh_e2b_control_routes, fh_e2b_look_routes,  fh_e2b_build_routes,  fh_e2b_copy_routes,    fh_e2b_absent_routes,
	fh_e2b_run_routes,     fh_e2b_judge_routes, fh_e2b_volume_routes, fh_e2b_content_routes, NULL
};

static const struct part parts[] = {
	{ FH_ENVD_PORT, envd_tables, enter_envd },
	{ FH_INTERPRETER_PORT, interpreter_tables, enter_interpreter },
	{ 0, port_tables, enter_port },
};

/* Whether the sandbox runs; one that is paused with its memory is resumed by the request if its creator asked for that.
 */
static bool is_awake(struct fh_hosted *h)
{
	if (!fh_hosted_is_running(h) && h->resumes_on_traffic && !h->files_alone && fh_hosted_resume(h, false, NULL) >= 0)
		fh_hosted_set_lifetime(h, (uint64_t)h->lifetime_ms, true);
	return fh_hosted_is_running(h);
}

static const struct fh_http_route *enter_sandbox(struct fh_http_request *r, struct fh_hosted *h, unsigned port,
                                                 const char *id)
{
	const struct part *part = parts;
	if (!h || !is_awake(h)) {
		if (h)
			fh_hosted_drop(h);
		fh_e2b_gone(r, id);
		return NULL;
	}
	struct fh_e2b_entry *entry = FH_NEW(struct fh_e2b_entry);
	*entry = (struct fh_e2b_entry){ h, port };
	fh_http_request_tag(r, entry, drop_entry);
	while (part->port && part->port != port)
		part++;
	return part->enter(r, h, part);
}

/* Finds the sandbox of a file URL, which does not name it: the one whose signature is valid. Older SDKs send only the
 * token. */
static struct fh_hosted *find_by_secret(struct fh_e2b *s, struct fh_http_request *r)
{
	const char *token = fh_http_header(r, "X-Access-Token");
	return token ? fh_hosted_find_token(s->registry, token) : fh_e2b_signature_find(s->registry, r);
}

/* The key in X-API-Key; for routes that E2B does not have, also in "Authorization: Bearer". */
static const char *offered_key(const struct fh_http_request *r, const struct fh_http_route *route)
{
	const char *key = fh_http_header(r, "X-API-Key"), *bearer = fh_http_header(r, "Authorization");
	if (!key && bearer && (route->flags & FH_E2B_KEYLESS) && strncasecmp(bearer, "Bearer ", 7) == 0)
		return bearer + 7;
	return key;
}

/* Whether `name` is `domain` or below it. */
static bool is_below(const char *name, const char *domain)
{
	size_t n = strlen(name), d = strcspn(domain, ":");
	return n >= d && strncasecmp(name + n - d, domain, d) == 0 && (n == d || name[n - d - 1] == '.');
}

/* Where every key is accepted, a page of another site is kept away by the name under which its browser asks. A name
 * without a dot can be no page's. */
static bool is_asked_by_its_name(const struct fh_e2b *s, const struct fh_http_request *r)
{
	char name[FH_HTTP_HOST_SIZE];
	const char *host = fh_http_header(r, "Host");
	if (!host)
		return true; /* browsers always send it */
	return fh_http_host_name(host, name) && (!strchr(name, '.') || fh_http_host_is_address(name) ||
	                                         is_below(name, "localhost") || is_below(name, s->domain));
}

static const struct fh_http_route *enter_control(struct fh_e2b *s, struct fh_http_request *r)
{
	const struct fh_http_route *route = find_route(r, control_tables);
	if (!route || (route->flags & FH_E2B_OPEN))
		return route;
	if (s->keys.any_key && !is_asked_by_its_name(s, r)) {
		fh_e2b_fail(r, 403,
		            "the request's Host is not this machine: ask by its address or as localhost, or start the server "
		            "with --domain NAME or --api-key-file FILE");
		return NULL;
	}
	const struct fh_key *key = fh_keys_find(&s->keys, offered_key(r, route));
	if (!key && (route->flags & FH_E2B_KEYLESS) && s->keys.any_key)
		key = &s->keys.items[0];
	if (!key) {
		fh_e2b_fail(r, 401, "the API key in the header X-API-Key is missing or not known here");
		return NULL;
	}
	fh_http_request_tag(r, (void *)(uintptr_t)key, NULL);
	return route;
}

const struct fh_http_route *fh_e2b_route(void *context, struct fh_http_request *r)
{
	struct fh_e2b *s = context;
	struct fh_e2b_address a = { .port = FH_ENVD_PORT };
	fh_hosted_note_request(s->registry);
	bool is_addressed = read_address(r, &a);
	if (is_addressed && !a.port) {
		fh_e2b_fail(r, 400, "the header E2b-Sandbox-Port must be a number from 1 to 65535");
		return NULL;
	}
	if (is_addressed)
		return enter_sandbox(r, fh_hosted_find(s->registry, a.id), a.port, a.id);
	if (strcmp(fh_http_path(r), "/files") == 0) {
		struct fh_hosted *h = find_by_secret(s, r);
		if (h)
			return enter_sandbox(r, h, FH_ENVD_PORT, h->id);
		fh_e2b_fail(r, 401, "invalid signature");
		return NULL;
	}
	return enter_control(s, r);
}
