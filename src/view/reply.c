/* SPDX-License-Identifier: MIT */
#include "view/reply.h"

#include <stdio.h>

static void reply(struct fh_http_request *r, unsigned status, const char *message, const char *hint)
{
	json_t *o = json_object();
	json_object_set_new(o, "error", fh_json_bytes(fh_str(message)));
	if (*hint)
		json_object_set_new(o, "hint", fh_json_bytes(fh_str(hint)));
	fh_http_reply_json(r, status, o);
}

void fh_view_fail(struct fh_http_request *r, unsigned status, const char *format, ...)
{
	char message[640];
	va_list args;
	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	reply(r, status, message, "");
}

void fh_view_fail_from(struct fh_http_request *r, const struct fh_error *err)
{
	static const unsigned status[FH_CODE_COUNT_] = {
		[FH_E_ARGUMENT] = 400, [FH_E_CONFIG] = 400,      [FH_E_NOT_FOUND] = 404,
		[FH_E_LIMIT] = 413,    [FH_E_UNAVAILABLE] = 503, [FH_E_TIMEOUT] = 504,
	};
	reply(r, status[err->code] ? status[err->code] : 500, err->message, err->hint);
}

int64_t fh_view_query_int(const struct fh_http_request *r, const char *name, int64_t fallback, int64_t min, int64_t max)
{
	const char *text = fh_http_query(r, name);
	char *end = NULL;
	long long n = text ? strtoll(text, &end, 10) : 0;
	if (!text || end == text || *end)
		return fallback;
	return n < min ? min : n > max ? max : n;
}

FH_OWN char *fh_view_attachment(const char *id, const char *extension)
{
	char *name = fh_xasprintf("attachment; filename=\"%.80s%s\"", id, extension), *end = strrchr(name, '"');
	for (char *p = strchr(name, '"') + 1; p < end; p++)
		if (!((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') || *p == '-' ||
		      *p == '.'))
			*p = '_';
	return name;
}
