/* SPDX-License-Identifier: MIT */
/* webhook: a server of the user's gives the verdict. It gets POST {output, context: {prompt, vars}} and answers {pass,
 * score?, reason?} within five seconds, or WEBHOOK_TIMEOUT milliseconds. A failed request is not repeated. */
#include "eval/assertions/kinds.h"
#include "eval/grading/grade.h"
#include "eval/services/services.h"
#include "provider/http/http.h"

#define TIMEOUT_MS 5000
#define ANSWER_MAX ((size_t)1 << 20)

static int wrong(const struct fh_assertion_call *call, struct fh_grade *ret, const char *why)
{
	ret->pass = false;
	ret->score = 0;
	ret->reason = fh_xasprintf("Webhook error: %s", why);
	return 0;
}

static int take(const struct fh_assertion_call *call, const struct fh_http_response *response, struct fh_grade *ret)
{
	fh_auto_json json_t *answer = fh_json_parse(fh_buf_str(&response->body), NULL, NULL);
	const json_t *pass = json_object_get(answer, "pass"), *score = json_object_get(answer, "score");
	if (response->status < 200 || response->status > 299) {
		fh_auto_free char *why = fh_xasprintf("Webhook response status: %d", response->status);
		return wrong(call, ret, why);
	}
	if (!json_is_boolean(pass))
		return wrong(call, ret, "the answer has no \"pass\" that is true or false");
	const char *reason = fh_json_str(answer, "reason", NULL);
	fh_grade_set(ret, call, json_is_true(pass), "%s", reason ? reason : "Webhook returned false");
	if (reason && ret->pass) {
		free(ret->reason);
		ret->reason = fh_xstrdup(reason);
	}
	if (json_is_number(score))
		ret->score = call->inverse ? 1 - json_number_value(score) : json_number_value(score);
	return 0;
}

static int check(const struct fh_assertion_call *call, struct fh_grade *ret, struct fh_error *err)
{
	static const char *const headers[] = { "Content-Type: application/json", NULL };
	const char *url = json_string_value(call->value), *limit = getenv("WEBHOOK_TIMEOUT");
	if (!url)
		return fh_error_set(err, FH_E_ARGUMENT, "\"webhook\" assertion type must have a URL value");
	fh_auto_json json_t *about =
	    json_pack("{s:O, s:{s:s, s:O}}", "output", call->output, "context", "prompt", call->prompt, "vars", call->vars);
	fh_auto_free char *body = fh_json_text(about, 0);
	struct fh_http *http = fh_http_new("start the webhook's server");
	struct fh_http_fetch request = { .url = url,
		                             .headers = headers,
		                             .post = true,
		                             .body = fh_str(body),
		                             .timeout_ms = limit && atoi(limit) > 0 ? (uint64_t)atoi(limit) : TIMEOUT_MS,
		                             .body_max = ANSWER_MAX,
		                             .cancel = fh_services_cancel(call->services) };
	fh_auto_http_response struct fh_http_response response = { 0 };
	struct fh_error why = FH_ERROR_INIT;
	int r = fh_http_send(http, &request, &response, &why);
	fh_http_free(http);
	if (r == -FH_E_CANCELLED)
		return fh_error_set(err, FH_E_CANCELLED, "cancelled");
	return r < 0 ? wrong(call, ret, why.message) : take(call, &response, ret);
}

const struct fh_assertion fh_assertion_webhook = { .name = "webhook", .check = check };
