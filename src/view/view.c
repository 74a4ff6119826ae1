/* SPDX-License-Identifier: MIT */
#include "view/view.h"

#include "view/assets.h"
#include "view/reply.h"
#include "view/routes.h"
#include "view/state.h"

int fh_view_open(const struct fh_view_options *o, struct fh_view **ret, struct fh_error *err)
{
	fh_auto_free struct fh_view *v = FH_NEW(struct fh_view);
	int r = fh_view_guard_init(&v->guard, o->names, o->name_count, err);
	if (r < 0)
		return r;
	fh_view_stores_init(&v->stores, NULL);
	fh_view_jobs_init(&v->jobs);
	*ret = FH_TAKE_PTR(v);
	return 0;
}

void fh_view_listening(struct fh_view *v, uint16_t port)
{
	fh_view_guard_listening(&v->guard, port);
}

void fh_view_close(struct fh_view *v)
{
	if (!v)
		return;
	fh_view_stores_release(&v->stores);
	fh_view_jobs_release(&v->jobs);
	free(v);
}

const char *fh_view_token(const struct fh_view *v)
{
	return v->guard.token;
}

/* -------------------------------------------------------------------------------------------------------- routing */

/* The Content-Security-Policy: scripts and styles only from this server, and no text becomes markup (trusted types).
 * Images may be data: URLs, as programs return them; an img element runs no scripts. The one policy of trusted types is
 * web/text.js's for tables in a sandboxed frame; frames that load anything are not allowed at all. */
#define POLICY                                                                                                         \
	"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "        \
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "                \
	"trusted-types fumehood-frame"

static const struct {
	const char *name, *value;
} headers[] = {
	{ "Content-Security-Policy", POLICY },
	{ "X-Content-Type-Options", "nosniff" },
	{ "X-Frame-Options", "DENY" },
	{ "Referrer-Policy", "no-referrer" },
	{ "Cross-Origin-Opener-Policy", "same-origin" },
	{ "Cross-Origin-Resource-Policy", "same-origin" },
	{ "Permissions-Policy", "camera=(), microphone=(), geolocation=(), payment=(), usb=()" },
};

static void reply_page(struct fh_http_request *r, struct fh_str body)
{
	fh_view_asset_reply(fh_view_asset_find("index.html"), r, 200);
}

/* The page says that there is no such page, and leads on. */
static void reply_lost(struct fh_http_request *r, struct fh_str body)
{
	fh_view_asset_reply(fh_view_asset_find("index.html"), r, 404);
}

static void reply_asset(struct fh_http_request *r, struct fh_str body)
{
	const char *path = fh_http_path(r) + strlen("/web/");
	const struct fh_view_asset *a = fh_view_asset_find(path);
	if (a)
		fh_view_asset_reply(a, r, 200);
	else
		fh_view_fail(r, 404, "there is no such file");
}

/* All page URLs serve the same file; its script shows what the URL says. */
static const struct fh_http_route page_routes[] = {
	{ "GET", "/", reply_page },
	{ "GET", "/eval", reply_page },
	{ "GET", "/eval/{id}", reply_page },
	{ "GET", "/evals", reply_page },
	{ "GET", "/compare/{first}/{second}", reply_page },
	{ "GET", "/judgements", reply_page },
	{ "GET", "/runs", reply_page },
	{ "GET", "/playground", reply_page },
	{ "GET", "/start", reply_page },
	{ 0 },
};
static const struct fh_http_route lost_page = { "GET", "/*", reply_lost };
static const struct fh_http_route asset_routes[] = {
	{ "GET", "/web/*", reply_asset },
	{ 0 },
};
static const struct fh_http_route *const tables[] = {
	page_routes,           asset_routes,         fh_view_about_routes,          fh_view_eval_routes,
	fh_view_row_routes,    fh_view_event_routes, fh_view_number_routes,         fh_view_compare_routes,
	fh_view_task_routes,   fh_view_play_routes,  fh_view_promptfoo_routes,      fh_view_report_routes,
	fh_view_export_routes, fh_view_job_routes,   fh_view_promptfoo_list_routes, fh_view_promptfoo_refused_routes,
};

static const struct fh_http_route *find(struct fh_http_request *r, bool *ret_other_method)
{
	const struct fh_http_route *found = NULL;
	for (size_t i = 0; i < FH_ARRAY_SIZE(tables) && !found; i++) {
		bool other = false;
		found = fh_http_route_find(tables[i], r, &other);
		*ret_other_method |= other;
	}
	return found;
}

/* Whether a browser asks for a page that does not exist. */
static bool is_lost(const struct fh_http_request *r)
{
	const char *takes = fh_http_header(r, "Accept"), *path = fh_http_path(r);
	return fh_streq(fh_http_method(r), "GET") && takes && strstr(takes, "text/html") &&
	       !fh_starts_with(path, "/api/") && !fh_starts_with(path, "/web/");
}

const struct fh_http_route *fh_view_route(void *context, struct fh_http_request *r)
{
	struct fh_view *v = context;
	bool other = false;
	for (size_t i = 0; i < FH_ARRAY_SIZE(headers); i++)
		fh_http_reply_header(r, headers[i].name, headers[i].value);
	const struct fh_http_route *found = find(r, &other);
	if (!found && !other && is_lost(r))
		found = &lost_page;
	if (found && (found->flags & FH_VIEW_OPEN) && fh_view_guard_knows_host(&v->guard, fh_http_header(r, "Host")))
		return found;
	if (!fh_view_guard_admit(&v->guard, r, found && found->handle == reply_page))
		return NULL;
	if (!found)
		fh_view_fail(r, other ? 405 : 404, other ? "this method is not allowed for %s" : "there is nothing at %s",
		             fh_http_path(r));
	else if (found->handle != reply_page && found->handle != reply_asset && found != &lost_page)
		fh_http_reply_header(r, "Cache-Control", "no-store");
	return found;
}
