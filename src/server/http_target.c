/* SPDX-License-Identifier: MIT */
#include "server/http_target.h"

#include "fumehood/error.h"

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decodes text in place, up to a character of `ends` or the NUL; *next is the position behind it. False: a bad
 * escape. */
static bool decode(char *text, const char *ends, bool plus_is_space, char **next, char *ret_end)
{
	char *to = text, *from = text;
	while (*from && !strchr(ends, *from)) {
		if (*from == '%') {
			int high = hex(from[1]), low = high < 0 ? -1 : hex(from[2]);
			if (low < 0 || (high | low) == 0)
				return false;
			*to++ = (char)(high << 4 | low);
			from += 3;
			continue;
		}
		*to++ = plus_is_space && *from == '+' ? ' ' : *from;
		from++;
	}
	*ret_end = *from;
	*next = *from ? from + 1 : from;
	*to = '\0';
	return true;
}

static bool parse_path(struct fh_target *t, char **next, char *end)
{
	char *p = *next;
	*end = '/';
	while (*end == '/') {
		if (t->segment_count == FH_TARGET_SEGMENTS_MAX)
			return false;
		t->segment[t->segment_count++] = p;
		if (!decode(p, "/?", false, &p, end))
			return false;
	}
	if (t->segment_count == 1 && !*t->segment[0]) /* the path is "/" */
		t->segment_count = 0;
	*next = p;
	return true;
}

static bool parse_query(struct fh_target *t, char *p)
{
	char end = '&';
	while (end == '&') {
		if (t->query_count == FH_TARGET_QUERY_MAX)
			return false;
		char *name = p, *value;
		if (!decode(p, "=&", true, &p, &end))
			return false;
		value = p;
		if (end == '=' && !decode(p, "&", true, &p, &end))
			return false;
		else if (value == p)
			value = name + strlen(name); /* "a" in "a&b" has an empty value */
		t->name[t->query_count] = name;
		t->value[t->query_count++] = value;
	}
	return true;
}

int fh_target_parse(const char *raw, struct fh_target *ret)
{
	struct fh_target t = { 0 };
	char end = 0;
	if (raw[0] != '/')
		return -FH_E_ARGUMENT;
	for (const char *c = raw; *c; c++)
		if ((unsigned char)*c <= ' ' || (unsigned char)*c >= 0x7f)
			return -FH_E_ARGUMENT;
	t.path = fh_xstrndup(raw, strcspn(raw, "?"));
	t.text = fh_xstrdup(raw);
	char *next = t.text + 1;
	if (!parse_path(&t, &next, &end) || (end == '?' && *next && !parse_query(&t, next))) {
		fh_target_release(&t);
		return -FH_E_ARGUMENT;
	}
	*ret = t;
	return 0;
}

bool fh_target_decode(char *text)
{
	char *next, end;
	return decode(text, "", true, &next, &end);
}

void fh_target_release(struct fh_target *t)
{
	free(t->path);
	free(t->text);
	*t = (struct fh_target){ 0 };
}
