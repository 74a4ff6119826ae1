/* SPDX-License-Identifier: MIT */
#include "e2b/answer_head.h"

#include <stdio.h>

#include "server/http_field.h"

bool fh_header_is_of_connection(const char *name)
{
	static const char *const names[] = { "Connection", "Keep-Alive",     "Proxy-Connection",
		                                 "TE",         "Trailer",        "Transfer-Encoding",
		                                 "Upgrade",    "Content-Length", "Proxy-Authorization",
		                                 "Expect",     "E2b-Sandbox-Id", "E2b-Sandbox-Port",
		                                 "X-API-Key",  "X-Access-Token", "E2b-Traffic-Access-Token" };
	for (size_t i = 0; i < FH_ARRAY_SIZE(names); i++)
		if (strcasecmp(name, names[i]) == 0)
			return true;
	return false;
}

/* Reads the value of Content-Length. False: it is empty, larger than 18 digits, or has other characters than digits. */
static bool read_length(const char *text, uint64_t *ret)
{
	char *end;
	size_t digits = strspn(text, "0123456789");
	if (digits == 0 || digits > 18 || text[digits + strspn(text + digits, " \t")])
		return false;
	*ret = strtoull(text, &end, 10);
	return true;
}

unsigned fh_answer_head_read(char *text, bool upgrade, struct fh_answer_end *ret_end,
                             void (*on_header)(void *context, const char *name, const char *value), void *context)
{
	unsigned status = 0;
	char *rest = text, *line = strsep(&rest, "\n");
	if (sscanf(line, "HTTP/1.%*1[01] %3u", &status) != 1 || status < 100 || status > 599)
		return 0;
	struct fh_answer_end end = { .left = FH_HTTP_SIZE_UNKNOWN };
	while ((line = strsep(&rest, "\n"))) {
		uint64_t length;
		line[strcspn(line, "\r")] = '\0';
		char *value = strchr(line, ':');
		if (!value)
			continue;
		*value++ = '\0';
		if (!fh_http_is_field_name(line))
			return 0; /* also a line that continues the one before, which readers take in different ways */
		value += strspn(value, " \t");
		if (strcasecmp(line, "Content-Length") == 0) {
			if (!read_length(value, &length) || (end.left != FH_HTTP_SIZE_UNKNOWN && end.left != length))
				return 0;
			end.left = length;
		}
		if (strcasecmp(line, "Transfer-Encoding") == 0) {
			value[strcspn(value, " \t")] = '\0';
			if (end.chunked || strcasecmp(value, "chunked") != 0)
				return 0;
			end.chunked = true;
		}
		if (!fh_header_is_of_connection(line) || (upgrade && strcasecmp(line, "Upgrade") == 0))
			on_header(context, line, value);
	}
	if (end.chunked && end.left != FH_HTTP_SIZE_UNKNOWN)
		return 0; /* two lengths, of which readers choose different ones */
	*ret_end = end;
	return status;
}
