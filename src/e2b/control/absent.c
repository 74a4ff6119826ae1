/* SPDX-License-Identifier: MIT */
#include "e2b/control/absent.h"

#include "e2b/control/routes.h"
#include "e2b/hosted/logs.h"

#define NO_TOKENS "this server issues no identity tokens: give the sandbox what it needs by its variables (envs)"
#define NO_SIDECARS                                                                                                    \
	"this server starts nothing beside a sandbox: start the service in it (commands.run, a start command)"
#define NO_SECRETS "this server keeps no secrets: no traffic leaves its sandboxes into which they could be put"

/* 501, since the SDKs make "not found" of a 404 and try again after some of the statuses above 500. */
enum { ABSENT = 501 };

static const struct {
	const char *member, *why;
} members[] = { { "iam", NO_TOKENS }, { "sidecars", NO_SIDECARS } };

static bool is_empty(const json_t *value)
{
	return json_is_array(value) ? json_array_size(value) == 0 : json_object_size(value) == 0;
}

bool fh_control_wants_absent(struct fh_http_request *r, const json_t *body)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(members); i++) {
		if (is_empty(json_object_get(body, members[i].member)))
			continue;
		fh_e2b_fail(r, 400, "%s: %s", members[i].member, members[i].why);
		return true;
	}
	return false;
}

static const char *const opening[] = { "allowOut", "egressProxy", "rules" };

void fh_control_note_closed(struct fh_hosted *h, const json_t *rules)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(opening); i++)
		if (!is_empty(json_object_get(rules, opening[i])))
			fh_hosted_note(h, "warn",
			               "network.%s is stored, but has no effect: sandboxes of this server have no network",
			               opening[i]);
}

static void no_secrets(struct fh_http_request *r, struct fh_str body)
{
	fh_e2b_fail(r, ABSENT, NO_SECRETS);
}

const struct fh_http_route fh_e2b_absent_routes[] = {
	{ "GET", "/secrets", no_secrets },         { "POST", "/secrets", no_secrets },
	{ "GET", "/secrets/{id}", no_secrets },    { "POST", "/secrets/{id}", no_secrets },
	{ "DELETE", "/secrets/{id}", no_secrets }, { 0 },
};
