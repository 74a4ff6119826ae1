/* SPDX-License-Identifier: MIT */
/* What a handler reads of a request, and which route a request takes. */
#include <arpa/inet.h>
#include <poll.h>

#include "server/http_internal.h"
#include "server/http_peer.h"

const char *fh_http_method(const struct fh_http_request *r)
{
	return r->method;
}

const char *fh_http_path(const struct fh_http_request *r)
{
	return r->target.path ? r->target.path : "";
}

const char *fh_http_target(const struct fh_http_request *r)
{
	return r->raw;
}

const char *fh_http_segment(const struct fh_http_request *r, size_t n)
{
	return n < r->captured_count ? r->captured[n] : "";
}

const char *fh_http_header(const struct fh_http_request *r, const char *name)
{
	return MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, name);
}

const char *fh_http_query_nth(const struct fh_http_request *r, const char *name, size_t n)
{
	for (size_t i = 0; i < r->target.query_count; i++)
		if (strcmp(r->target.name[i], name) == 0 && n-- == 0)
			return r->target.value[i];
	return NULL;
}

const char *fh_http_query(const struct fh_http_request *r, const char *name)
{
	return fh_http_query_nth(r, name, 0);
}

struct visit {
	bool (*visit)(void *context, const char *name, const char *value);
	void *context;
};

static enum MHD_Result visit_header(void *context, enum MHD_ValueKind kind, const char *name, const char *value)
{
	struct visit *v = context;
	return v->visit(v->context, name, value ? value : "") ? MHD_YES : MHD_NO;
}

void fh_http_headers(const struct fh_http_request *r, bool (*visit)(void *context, const char *name, const char *value),
                     void *context)
{
	struct visit v = { visit, context };
	MHD_get_connection_values(r->connection, MHD_HEADER_KIND, visit_header, &v);
}

bool fh_http_from_loopback(const struct fh_http_request *r)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(r->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	const struct sockaddr *a = info ? info->client_addr : NULL;
	if (a && a->sa_family == AF_INET)
		return ntohl(((const struct sockaddr_in *)(const void *)a)->sin_addr.s_addr) >> 24 == 127;
	if (a && a->sa_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)a)->sin6_addr);
	return false;
}

bool fh_http_peer_uid(const struct fh_http_request *r, uid_t *ret)
{
	return fh_http_socket_peer_uid(fh_http_connection_fd(r), ret);
}

bool fh_http_peer_gone(const struct fh_http_request *r)
{
	struct pollfd p = { .fd = fh_http_connection_fd(r), .events = POLLRDHUP };
	return p.fd < 0 || (poll(&p, 1, 0) == 1 && (p.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)));
}

bool fh_http_stopping(const struct fh_http_request *r)
{
	return atomic_load(&r->server->stopping);
}

void fh_http_request_tag(struct fh_http_request *r, void *tag, void (*release)(void *tag))
{
	fh_http_carry(&r->tag, tag, release);
}

void *fh_http_request_tagged(const struct fh_http_request *r)
{
	return r->tag.thing;
}

void fh_http_request_keep(struct fh_http_request *r, void *kept, void (*release)(void *kept))
{
	fh_http_carry(&r->kept, kept, release);
}

void *fh_http_request_kept(const struct fh_http_request *r)
{
	return r->kept.thing;
}

void *fh_http_context(const struct fh_http_request *r)
{
	return r->server->options.context;
}

const struct fh_http_route *fh_http_route_of(const struct fh_http_request *r)
{
	return r->route;
}
/* --------------------------------------------------------------------------------------------------------- routes */

static bool pattern_fits(const char *pattern, struct fh_http_request *r)
{
	const struct fh_target *t = &r->target;
	size_t i = 0;
	r->captured_count = 0;
	for (const char *p = pattern; *p == '/' && p[1]; i++) {
		size_t n = strcspn(++p, "/");
		if (n == 1 && *p == '*')
			return true;
		if (i == t->segment_count)
			return false;
		if (*p == '{') {
			if (!*t->segment[i])
				return false;
			r->captured[r->captured_count++] = t->segment[i];
		} else if (strlen(t->segment[i]) != n || memcmp(t->segment[i], p, n) != 0) {
			return false;
		}
		p += n;
	}
	return i == t->segment_count;
}

const struct fh_http_route *fh_http_route_find(const struct fh_http_route *table, struct fh_http_request *r,
                                               bool *ret_other_method)
{
	bool other = false;
	for (; table->method; table++) {
		if (!pattern_fits(table->pattern, r))
			continue;
		if (strcmp(table->method, r->method) == 0 ||
		    (strcmp(r->method, "HEAD") == 0 && strcmp(table->method, "GET") == 0))
			return table;
		other = true;
	}
	if (ret_other_method)
		*ret_other_method = other;
	return NULL;
}
