/* SPDX-License-Identifier: MIT */
/* Routes of promptfoo's server for which fumehood has none of the same form: the answer names the way to the same
 * end. */
#include "view/routes.h"

#define SHARE "nothing is shared over a network; `fumehood report` makes one file"

/* Method, path, and what to do instead. */
#define REFUSED(X)                                                                                                     \
	X("GET", "/api/results/share/check-domain", SHARE)                                                                 \
	X("POST", "/api/results/share", SHARE)                                                                             \
	X("POST", "/api/dataset/generate", "write the tests, or let promptfoo's own command generate them")                \
	X("POST", "/api/telemetry", "fumehood records nothing about its users")                                            \
	X("POST", "/api/eval", "`fumehood import FILE` takes an eval that promptfoo exported")                             \
	X("POST", "/api/eval/job", "POST /api/view/jobs starts an eval of a configuration in the viewer's folder")         \
	X("GET", "/api/eval/job/{id}", "GET /api/view/jobs lists the evals that were started here")                        \
	X("POST", "/api/eval/replay", "POST /api/view/jobs with \"retry\", \"cell\" and \"prompt\" runs a cell again")     \
	X("POST", "/api/eval/{id}/copy", "`fumehood export` and `fumehood import` make a copy")                            \
	X("POST", "/api/eval/{id}/results", "`fumehood eval` writes rows; `fumehood import FILE` takes those of others")   \
	X("PATCH", "/api/eval/{id}/author", "the store keeps no author; PATCH /api/view/evals/ID sets a tag")

struct refused {
	const char *method, *path, *instead;
};

static void refuse(struct fh_http_request *r, struct fh_str body)
{
#define ROW(m, p, i) { m, p, i },
	static const struct refused rows[] = { REFUSED(ROW) };
#undef ROW
	const struct fh_http_route *route = fh_http_route_of(r);
	for (size_t i = 0; i < FH_ARRAY_SIZE(rows); i++)
		if (strcmp(rows[i].path, route->pattern) == 0 && strcmp(rows[i].method, route->method) == 0)
			fh_http_reply_json(r, 501,
			                   json_pack("{s:s, s:s}", "error", "fumehood does not do this", "hint", rows[i].instead));
}

#define ROUTE(m, p, i) { m, p, refuse },
const struct fh_http_route fh_view_promptfoo_refused_routes[] = { REFUSED(ROUTE){ 0 } };
