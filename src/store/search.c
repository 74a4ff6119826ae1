/* SPDX-License-Identifier: MIT */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "store/search.h"

#include <pcre2.h>
#include <strings.h>

#include "json/json.h"

#define MATCH_LIMIT 100000
#define DEPTH_MAX 64

/* Calls `test` for each text below a value until one holds. */
static bool any_text(const json_t *v, unsigned depth, bool (*test)(void *, const char *, size_t), void *context)
{
	const char *name;
	json_t *member;
	if (depth == DEPTH_MAX)
		return false;
	if (json_is_string(v))
		return test(context, json_string_value(v), json_string_length(v));
	for (size_t i = 0; i < json_array_size(v); i++)
		if (any_text(json_array_get(v, i), depth + 1, test, context))
			return true;
	json_object_foreach((json_t *)(uintptr_t)v, name,
	                    member) if (any_text(member, depth + 1, test, context)) return true;
	return false;
}

static bool has_words(void *context, const char *text, size_t n)
{
	const struct fh_str *words = context;
	for (size_t i = 0; i + words->n <= n; i++)
		if (strncasecmp(text + i, words->p, words->n) == 0)
			return true;
	return false;
}

bool fh_search_has(struct fh_str row, struct fh_str words)
{
	fh_auto_json json_t *v = fh_json_parse(row, NULL, NULL);
	return any_text(v, 0, has_words, &words);
}

struct fh_search_cache {
	char *pattern;
	pcre2_code *code; /* NULL: cannot be compiled */
	pcre2_match_data *match;
	pcre2_match_context *limits;
};

void fh_search_cache_free(struct fh_search_cache *c)
{
	if (!c)
		return;
	pcre2_code_free(c->code);
	pcre2_match_data_free(c->match);
	pcre2_match_context_free(c->limits);
	free(c->pattern);
	free(c);
}

static pcre2_code *compile(const char *pattern, size_t n, int *ret_code, size_t *ret_at)
{
	return pcre2_compile((PCRE2_SPTR)pattern, n, PCRE2_UTF | PCRE2_MATCH_INVALID_UTF, ret_code, ret_at, NULL);
}

static struct fh_search_cache *make_cache(struct fh_str pattern)
{
	struct fh_search_cache *c = FH_NEW(struct fh_search_cache);
	int code;
	size_t at;
	c->pattern = fh_xstrndup(pattern.p, pattern.n);
	c->code = compile(pattern.p, pattern.n, &code, &at);
	c->match = pcre2_match_data_create(1, NULL);
	c->limits = pcre2_match_context_create(NULL);
	pcre2_set_match_limit(c->limits, MATCH_LIMIT);
	return c;
}

static bool matches(void *context, const char *text, size_t n)
{
	const struct fh_search_cache *c = context;
	return pcre2_match(c->code, (PCRE2_SPTR)text, n, 0, 0, c->match, c->limits) >= 0;
}

bool fh_search_matches(struct fh_search_cache **cache, struct fh_str row, struct fh_str pattern)
{
	if (*cache && !fh_str_eq(pattern, (*cache)->pattern)) {
		fh_search_cache_free(*cache);
		*cache = NULL;
	}
	if (!*cache)
		*cache = make_cache(pattern);
	if (!(*cache)->code)
		return false;
	fh_auto_json json_t *v = fh_json_parse(row, NULL, NULL);
	return any_text(v, 0, matches, *cache);
}

int fh_search_check(const char *pattern, struct fh_error *err)
{
	int code;
	size_t at;
	char why[160];
	pcre2_code *c = compile(pattern, strlen(pattern), &code, &at);
	if (c) {
		pcre2_code_free(c);
		return 0;
	}
	pcre2_get_error_message(code, (PCRE2_UCHAR *)why, sizeof(why));
	return fh_error_set(err, FH_E_ARGUMENT, "the regular expression %s is wrong at character %zu: %s", pattern, at + 1,
	                    why);
}
