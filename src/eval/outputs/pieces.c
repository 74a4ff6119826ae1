/* SPDX-License-Identifier: MIT */
#include "eval/outputs/output.h"
#include <sys/utsname.h>
#include "base/clock.h"
#include "fumehood/sandbox.h"

char *fh_output_text(const json_t *value)
{
	if (!value || json_is_null(value))
		return fh_xstrdup("");
	if (json_is_string(value))
		return fh_xmemdup(json_string_value(value), json_string_length(value));
	return fh_json_text(value, 0);
}

const char *fh_output_status(const json_t *row)
{
	if (json_is_true(json_object_get(row, "success")))
		return "PASS";
	return fh_json_int(row, "failureReason", 0) == 2 ? "ERROR" : "FAIL";
}

char *fh_output_column_name(const struct fh_output_data *d, uint32_t column)
{
	const json_t *c = json_array_get(d->columns, column);
	return fh_xasprintf("[%s] %s", fh_json_str(c, "provider", ""), fh_json_str(c, "label", ""));
}

char *fh_output_answer(const json_t *row)
{
	return fh_output_text(json_object_get(json_object_get(row, "response"), "output"));
}

const char *fh_output_reason(const json_t *row)
{
	const char *error = fh_json_str(row, "error", "");
	return fh_json_str(json_object_get(row, "gradingResult"), "reason", error);
}

json_t *fh_output_about(const struct fh_output_data *d)
{
	struct utsname host = { 0 };
	char now[32], started[32];
	uname(&host);
	return json_pack("{s:s, s:s, s:s, s:s, s:s}", "fumehoodVersion", fh_version(), "platform", "linux", "arch",
	                 host.machine, "exportedAt", fh_iso_time(fh_wall_ms(), now), "evaluationCreatedAt",
	                 fh_iso_time(d->started_wall_ms, started));
}
