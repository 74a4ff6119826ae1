/* SPDX-License-Identifier: MIT */
#include "e2b/hosted/e2b.h"

#include <stdio.h>

#include "base/text/parse.h"
#include "e2b/common/fields.h"

static json_t *error_object(unsigned status, const char *message)
{
	json_t *o = json_object();
	json_object_set_new(o, "code", json_integer(status));
	json_object_set_new(o, "message", fh_json_bytes(fh_str(message)));
	return o;
}

void fh_e2b_fail(struct fh_http_request *r, unsigned status, const char *format, ...)
{
	char message[1024];
	va_list args;
	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	/* Python's SDK retries these by itself unless this header forbids it. */
	if (status == 429 || (status >= 502 && status <= 504))
		fh_http_reply_header(r, "Should-Retry", "false");
	fh_http_reply_json(r, status, error_object(status, message));
}

void fh_e2b_fail_from(struct fh_http_request *r, const struct fh_error *err)
{
	static const unsigned status[FH_CODE_COUNT_] = {
		[FH_E_ARGUMENT] = 400, [FH_E_CONFIG] = 400,      [FH_E_NOT_FOUND] = 404,
		[FH_E_LIMIT] = 429,    [FH_E_UNAVAILABLE] = 503, [FH_E_TIMEOUT] = 504,
	};
	fh_e2b_fail(r, status[err->code] ? status[err->code] : 500, "%s", err->message);
}

void fh_e2b_gone(struct fh_http_request *r, const char *id)
{
	json_t *o = error_object(502, "The sandbox was not found");
	json_object_set_new(o, "sandboxId", fh_json_bytes(fh_str(id)));
	fh_http_reply_json(r, 502, o);
}

bool fh_e2b_query_number(struct fh_http_request *r, const char *name, uint64_t min, uint64_t max, uint64_t otherwise,
                         uint64_t *ret)
{
	const char *text = fh_http_query(r, name);
	uint64_t number = otherwise;
	if (text && fh_parse_u64(text, min, max, &number, NULL) < 0) {
		if (max == UINT64_MAX)
			fh_e2b_fail(r, 400, "%s must be a whole number", name);
		else
			fh_e2b_fail(r, 400, "%s must be from %llu to %llu", name, (unsigned long long)min, (unsigned long long)max);
		return false;
	}
	*ret = number;
	return true;
}

json_t *fh_e2b_body_of_bytes(struct fh_http_request *r, struct fh_str body)
{
	struct fh_error err = FH_ERROR_INIT;
	json_t *o = body.n ? fh_json_parse(body, NULL, &err) : json_object();
	if (json_is_object(o))
		return o;
	json_decref(o);
	fh_e2b_fail(r, 400, "the body is not a JSON object%s%s", err.code ? ": " : "", err.code ? err.message : "");
	return NULL;
}

json_t *fh_e2b_body(struct fh_http_request *r, struct fh_str body)
{
	json_t *o = fh_e2b_body_of_bytes(r, body);
	if (!o || !fh_fields_have_zero(o, NULL))
		return o;
	json_decref(o);
	fh_e2b_fail(r, 400, "a text in the body has a zero byte");
	return NULL;
}
