/* SPDX-License-Identifier: MIT */
/* Downloads an eval as a report. */
#include "report/report.h"
#include "view/reply.h"
#include "view/routes.h"
#include "view/state.h"

enum { FAILURES_DEFAULT = 100, FAILURES_MAX = 10000, REPORT_MAX = 64 << 20 };

static void get_report(struct fh_http_request *r, struct fh_str body)
{
	fh_auto_visit struct fh_view_visit v = { 0 };
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(REPORT_MAX);
	struct fh_error err = FH_ERROR_INIT;
	const struct fh_report_form *form = NULL;
	const char *asked = fh_http_query(r, "form");
	uint64_t failures = (uint64_t)fh_view_query_int(r, "failures", FAILURES_DEFAULT, 0, FAILURES_MAX);
	if (fh_report_form_for(asked ? asked : "html", &form, &err) < 0) {
		fh_view_fail_from(r, &err);
		return;
	}
	if (!fh_view_visit(r, &v))
		return;
	if (fh_report_write_stored(v.store, &v.eval, form, failures, &text, &err) < 0) {
		fh_view_fail_from(r, &err);
		return;
	}
	fh_auto_free char *name = fh_view_attachment(v.eval.id, form->extension);
	fh_http_reply_header(r, "Content-Disposition", name);
	fh_http_reply(r, 200, form->type, fh_buf_str(&text));
}

const struct fh_http_route fh_view_report_routes[] = {
	{ "GET", "/api/view/evals/{id}/report", get_report },
	{ 0 },
};
