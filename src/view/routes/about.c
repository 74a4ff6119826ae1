/* SPDX-License-Identifier: MIT */
/* Routes with information about the server itself, in promptfoo's form. */
#include "fumehood/sandbox.h"
#include "view/routes.h"

static void get_health(struct fh_http_request *r, struct fh_str body)
{
	fh_http_reply_json(r, 200, json_pack("{s:s, s:s}", "status", "OK", "version", fh_version()));
}

/* The server does not look for updates: it sends nothing to other machines. */
static void get_version(struct fh_http_request *r, struct fh_str body)
{
	fh_http_reply_json(r, 200,
	                   json_pack("{s:s, s:s, s:b, s:b, s:s}", "currentVersion", fh_version(), "latestVersion",
	                             fh_version(), "updateAvailable", 0, "selfHosted", 1, "program", "fumehood"));
}

static void get_remote_health(struct fh_http_request *r, struct fh_str body)
{
	fh_http_reply_json(r, 200, json_pack("{s:s, s:s}", "status", "DISABLED", "message", "fumehood has no remote part"));
}

const struct fh_http_route fh_view_about_routes[] = {
	{ "GET", "/health", get_health },
	{ "GET", "/api/version", get_version },
	{ "GET", "/api/remote-health", get_remote_health },
	{ 0 },
};
