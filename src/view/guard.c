/* SPDX-License-Identifier: MIT */
#include "view/guard.h"

#include <errno.h>
#include <stdio.h>
#include <strings.h>
#include <sys/random.h>
#include <unistd.h>

#include "server/http_host.h"

int fh_view_guard_init(struct fh_view_guard *g, const char *const *names, size_t name_count, struct fh_error *err)
{
	unsigned char bytes[FH_VIEW_TOKEN_MAX / 2];
	*g = (struct fh_view_guard){ .names = names, .name_count = name_count };
	while (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		if (errno != EINTR)
			return fh_error_sys(err, errno, "cannot make a token");
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(g->token + 2 * i, 3, "%02x", bytes[i]);
	fh_view_guard_listening(g, 0);
	return 0;
}

void fh_view_guard_listening(struct fh_view_guard *g, uint16_t port)
{
	snprintf(g->cookie, sizeof(g->cookie), "fumehood-view-%u", port);
}

/* ---------------------------------------------------------------------------------------------------------- Host,
 * Origin
 */

bool fh_view_guard_knows_host(const struct fh_view_guard *g, const char *host)
{
	char name[FH_HTTP_HOST_SIZE];
	if (!host || !fh_http_host_name(host, name))
		return false;
	bool known = fh_http_host_is_address(name) || strcasecmp(name, "localhost") == 0;
	for (size_t i = 0; i < g->name_count && !known; i++)
		known = strcasecmp(name, g->names[i]) == 0;
	return known;
}

static bool is_same_origin(const char *origin, const char *host)
{
	static const char *const schemes[] = { "http://", "https://" }; /* https: when a proxy before us does TLS */
	for (size_t i = 0; i < FH_ARRAY_SIZE(schemes); i++)
		if (fh_starts_with(origin, schemes[i]))
			return strcasecmp(origin + strlen(schemes[i]), host) == 0;
	return false;
}

static bool follows_link(const struct fh_http_request *r)
{
	const char *mode = fh_http_header(r, "Sec-Fetch-Mode");
	return mode && strcmp(mode, "navigate") == 0 && strcmp(fh_http_method(r), "GET") == 0;
}

/* Why a request was made by a page of another site; NULL: it was not. */
static const char *foreign(const struct fh_http_request *r, const char *host, bool is_page)
{
	const char *origin = fh_http_header(r, "Origin"), *site = fh_http_header(r, "Sec-Fetch-Site");
	if (origin && !is_same_origin(origin, host))
		return "the request comes from a page of another origin";
	if (site && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0 && !(is_page && follows_link(r)))
		return "the request comes from a page of another site";
	return NULL;
}

/* ---------------------------------------------------------------------------------------------------------- token */

/* Compares in constant time, so that the time does not tell how much of a guess is right. */
static bool is_token(const struct fh_view_guard *g, const char *text, size_t n)
{
	unsigned char different = n != FH_VIEW_TOKEN_MAX;
	for (size_t i = 0; i < FH_VIEW_TOKEN_MAX; i++)
		different |= (unsigned char)g->token[i] ^ (unsigned char)(i < n ? text[i] : 0);
	return different == 0;
}

static bool has_cookie(const struct fh_view_guard *g, const struct fh_http_request *r)
{
	const char *at = fh_http_header(r, "Cookie");
	size_t name = strlen(g->cookie);
	while (at && *at) {
		at += strspn(at, "; ");
		size_t n = strcspn(at, ";");
		if (n > name && at[name] == '=' && strncmp(at, g->cookie, name) == 0)
			return is_token(g, at + name + 1, n - name - 1);
		at += n;
	}
	return false;
}

static bool has_bearer(const struct fh_view_guard *g, const struct fh_http_request *r)
{
	static const char scheme[] = "Bearer ";
	const char *value = fh_http_header(r, "Authorization");
	return value && fh_starts_with(value, scheme) &&
	       is_token(g, value + strlen(scheme), strlen(value) - strlen(scheme));
}

static bool is_same_user(const struct fh_http_request *r)
{
	uid_t uid;
	return fh_http_from_loopback(r) && fh_http_peer_uid(r, &uid) && uid == getuid();
}

/* The target without the token, to keep the token out of histories and logs. Two slashes at its beginning are reduced
 * to one, since a redirect to them would lead to another host. */
static FH_OWN char *target_without_token(const struct fh_http_request *r)
{
	const char *raw = fh_http_target(r), *query = strchr(raw, '?');
	while (raw[0] == '/' && (raw[1] == '/' || raw[1] == '\\'))
		raw++;
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(0);
	fh_buf_add(&out, raw, query ? (size_t)(query - raw) : strlen(raw));
	char mark = '?';
	while (query) {
		const char *part = query + 1;
		size_t n = strcspn(part, "&");
		if (!fh_str_begins((struct fh_str){ part, n }, "token=")) {
			fh_buf_addc(&out, mark);
			fh_buf_add(&out, part, n);
			mark = '&';
		}
		query = part[n] ? part + n : NULL;
	}
	return fh_buf_take(&out, NULL);
}

static void take_token(const struct fh_view_guard *g, struct fh_http_request *r)
{
	fh_auto_free char *cookie = fh_xasprintf("%s=%s; Path=/; HttpOnly; SameSite=Strict", g->cookie, g->token);
	fh_auto_free char *target = target_without_token(r);
	fh_http_reply_header(r, "Set-Cookie", cookie);
	fh_http_reply_header(r, "Location", target);
	fh_http_reply_empty(r, 303);
}

/* What a person sees in place of a page that is refused. It has nothing of the request in it. */
static void refuse_page(struct fh_http_request *r, unsigned status, const char *error, const char *hint)
{
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(0);
	fh_buf_addf(&out,
	            "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content=\"width=device-width\">"
	            "<meta name=color-scheme content=\"light dark\"><title>fumehood: refused</title>"
	            "<h1>The viewer refuses this page</h1><p>Why: %s.<p>What to do: %s.</html>\n",
	            error, hint);
	fh_http_reply(r, status, "text/html; charset=utf-8", fh_buf_str(&out));
}

static void refuse(struct fh_http_request *r, unsigned status, bool is_page, const char *error, const char *hint)
{
	const char *accept = fh_http_header(r, "Accept");
	if (is_page && accept && strstr(accept, "text/html"))
		refuse_page(r, status, error, hint);
	else
		fh_http_reply_json(r, status, json_pack("{s:s, s:s}", "error", error, "hint", hint));
}

bool fh_view_guard_admit(const struct fh_view_guard *g, struct fh_http_request *r, bool is_page)
{
	const char *host = fh_http_header(r, "Host"), *why, *given;
	if (!fh_view_guard_knows_host(g, host)) {
		refuse(r, 403, is_page, "the request names a host that is not this machine",
		       "open the viewer by its address or as localhost, or start it with --name NAME");
		return false;
	}
	if ((why = foreign(r, host, is_page))) {
		refuse(r, 403, is_page, why, "open the viewer in a tab of its own");
		return false;
	}
	given = is_page ? fh_http_query(r, "token") : NULL;
	if (given && is_token(g, given, strlen(given))) {
		take_token(g, r);
		return false;
	}
	if (has_cookie(g, r) || has_bearer(g, r) || is_same_user(r))
		return true;
	refuse(r, 401, is_page, given ? "the token is not that of this viewer" : "the request has no token",
	       "open the URL that `fumehood view` has printed, with its token; each start has a new one");
	return false;
}
