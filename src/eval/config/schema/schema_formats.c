/* SPDX-License-Identifier: MIT */
#include "eval/config/schema/schema_formats.h"
#include <arpa/inet.h>
#include <ctype.h>
#include <math.h>
#include "eval/common/pattern.h"

/* -------------------------------------------------------------------------------------- dates and times, RFC 3339 */

static bool digits(const char **p, unsigned count, unsigned *ret)
{
	*ret = 0;
	for (unsigned i = 0; i < count; i++, (*p)++) {
		if (!isdigit((unsigned char)**p))
			return false;
		*ret = *ret * 10 + (unsigned)(**p - '0');
	}
	return true;
}

static bool take_date(const char **p)
{
	static const unsigned char lengths[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	unsigned y, m, d;
	if (!digits(p, 4, &y) || *(*p)++ != '-' || !digits(p, 2, &m) || *(*p)++ != '-' || !digits(p, 2, &d))
		return false;
	bool leap = (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;
	return m >= 1 && m <= 12 && d >= 1 && d <= lengths[m - 1] + (m == 2 && leap ? 1u : 0u);
}

static bool take_zone(const char **p, bool needed)
{
	unsigned h, m = 0;
	if (**p == 'z' || **p == 'Z') {
		(*p)++;
		return true;
	}
	if (**p != '+' && **p != '-')
		return !needed;
	(*p)++;
	if (!digits(p, 2, &h))
		return false;
	*p += **p == ':';
	return (!**p || digits(p, 2, &m)) && h <= 23 && m <= 59;
}

static bool take_time(const char **p, bool zone)
{
	unsigned h, m, s;
	if (!digits(p, 2, &h) || *(*p)++ != ':' || !digits(p, 2, &m) || *(*p)++ != ':' || !digits(p, 2, &s))
		return false;
	if (**p == '.')
		for ((*p)++; isdigit((unsigned char)**p);)
			(*p)++;
	/* A leap second is at the end of a day in UTC, which a zone may show as another hour. */
	return h <= 23 && m <= 59 && s <= 60 && take_zone(p, zone);
}

static bool is_date(const char *s)
{
	return take_date(&s) && !*s;
}

static bool is_time(const char *s)
{
	return take_time(&s, true) && !*s;
}

static bool is_iso_time(const char *s)
{
	return take_time(&s, false) && !*s;
}

static bool date_time(const char *s, bool zone)
{
	if (!take_date(&s) || !*s || !strchr("tT ", *s))
		return false;
	s++;
	return take_time(&s, zone) && !*s;
}

static bool is_date_time(const char *s)
{
	return date_time(s, true);
}

static bool is_iso_date_time(const char *s)
{
	return date_time(s, false);
}

/* ------------------------------------------------------------------------------------------------------- addresses */

static bool is_ipv4(const char *s)
{
	struct in_addr a;
	return inet_pton(AF_INET, s, &a) == 1;
}

static bool is_ipv6(const char *s)
{
	struct in6_addr a;
	return inet_pton(AF_INET6, s, &a) == 1;
}

static bool is_regex(const char *s)
{
	fh_auto_pattern pcre2_code *code = NULL;
	return fh_pattern_compile(fh_str(s), &code, NULL) >= 0;
}

/* -------------------------------------------------------------------------------------------------------- patterns */

#define URI_CHARS "(?:[A-Za-z0-9\\-._~!$&'()*+,;=:@/?\\[\\]]|%[0-9A-Fa-f]{2})"
#define POINTER "(?:/(?:[^~/]|~[01])*)*"

static const struct {
	const char *format;
	bool (*is)(const char *text); /* NULL: the pattern decides */
	const char *pattern;          /* anchored at both ends by the match */
} texts[] = {
	{ "date", is_date, NULL },
	{ "time", is_time, NULL },
	{ "date-time", is_date_time, NULL },
	{ "iso-time", is_iso_time, NULL },
	{ "iso-date-time", is_iso_date_time, NULL },
	{ "duration", NULL, "P(?!$)(?:(?:\\d+Y)?(?:\\d+M)?(?:\\d+D)?(?:T(?=\\d)(?:\\d+H)?(?:\\d+M)?(?:\\d+S)?)?|\\d+W)" },
	{ "uri", NULL, "[A-Za-z][A-Za-z0-9+.\\-]*:" URI_CHARS "+(?:#" URI_CHARS "*)?" },
	{ "uri-reference", NULL, URI_CHARS "*(?:#" URI_CHARS "*)?" },
	{ "uri-template", NULL, "(?:[^\\x00-\\x20\"'<>%\\\\^`{|}]|%[0-9A-Fa-f]{2}|\\{[+#./;?&=,!@|]?[\\w.%:*,]+\\})*" },
	{ "url", NULL,
	  "(?i:https?|ftp)://(?:[^\\s/?#@]+@)?[^\\s/?#:@.]+(?:\\.[^\\s/?#:@.]+)+\\.?(?::\\d{2,5})?(?:[/?#]\\S*)?" },
	{ "email", NULL,
	  "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*@"
	  "(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?\\.)+[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?" },
	{ "hostname", NULL,
	  "(?=.{1,253}\\.?$)[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])"
	  "?)*\\.?" },
	{ "ipv4", is_ipv4, NULL },
	{ "ipv6", is_ipv6, NULL },
	{ "regex", is_regex, NULL },
	{ "uuid", NULL, "(?:urn:uuid:)?[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}" },
	{ "json-pointer", NULL, POINTER },
	{ "json-pointer-uri-fragment", NULL, "#(?:/(?:[A-Za-z0-9_\\-.!$&'()*+,;:=@]|%[0-9A-Fa-f]{2}|~0|~1)*)*" },
	{ "relative-json-pointer", NULL, "(?:0|[1-9]\\d*)(?:#|" POINTER ")" },
	{ "byte", NULL, "(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?" },
	{ "password", NULL, "(?s:.*)" },
	{ "binary", NULL, "(?s:.*)" },
};

static bool matches(const char *pattern, const char *text)
{
	return fh_pattern_own_found(pattern, PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_ANCHORED | PCRE2_ENDANCHORED,
	                            fh_str(text));
}

/* --------------------------------------------------------------------------------------------------------- numbers */

static bool number_format(const char *format, const json_t *value, bool *ret_holds)
{
	double n = json_number_value(value);
	bool whole = json_is_integer(value) || n == floor(n);
	if (strcmp(format, "int32") == 0)
		*ret_holds = !json_is_number(value) || (whole && n >= INT32_MIN && n <= INT32_MAX);
	else if (strcmp(format, "int64") == 0)
		*ret_holds = !json_is_number(value) || whole;
	else if (strcmp(format, "float") == 0 || strcmp(format, "double") == 0)
		*ret_holds = true;
	else
		return false;
	return true;
}

bool fh_schema_format(const char *format, const json_t *value, bool *ret_holds)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(texts); i++) {
		if (strcmp(texts[i].format, format) != 0)
			continue;
		const char *text = json_string_value(value);
		/* A text with a NUL in it is of no format. */
		*ret_holds = !text || (strlen(text) == json_string_length(value) &&
		                       (texts[i].is ? texts[i].is(text) : matches(texts[i].pattern, text)));
		return true;
	}
	return number_format(format, value, ret_holds);
}
