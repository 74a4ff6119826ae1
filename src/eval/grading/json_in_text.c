/* SPDX-License-Identifier: MIT */
#include "eval/grading/json_in_text.h"
#include "json/yaml.h"

#define OBJECT_MAX ((size_t)100000)
#define TRIES_MAX 2000 /* a text with more braces that begin no object is given up */

/* Turns comments from // to the end of the line into YAML's "#". A // within quotes or behind a colon (a URL) is left
 * alone. */
static void hash_comments(struct fh_buf *b)
{
	char quote = 0;
	for (size_t i = 0; i + 1 < b->n; i++) {
		char c = b->p[i];
		if (quote) {
			i += c == '\\';
			quote = c == quote || c == '\n' ? 0 : quote;
		} else if (c == '"' || c == '\'') {
			quote = c;
		} else if (c == '/' && b->p[i + 1] == '/' && (i == 0 || strchr(" \t\n,{[", b->p[i - 1]))) {
			b->p[i] = ' ';
			b->p[i + 1] = '#';
		}
	}
}

static json_t *lenient(const char *p, size_t n, size_t missing)
{
	json_t *strict = missing == 0 ? fh_json_parse((struct fh_str){ p, n }, NULL, NULL) : NULL;
	if (strict)
		return strict;
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(0);
	fh_buf_add(&text, p, n);
	for (; missing > 0; missing--)
		fh_buf_addc(&text, '}');
	hash_comments(&text);
	json_t *value = fh_yaml_load(fh_buf_str(&text), "text", NULL, NULL);
	if (value && !json_is_object(value)) {
		json_decref(value);
		return NULL;
	}
	return value;
}

/* The object that begins at p; *ret_n is its length in bytes. NULL when there is none. */
static json_t *object_at(const char *p, size_t n, size_t *ret_n)
{
	size_t depth = 0, end = FH_MIN(n, OBJECT_MAX), i = 0;
	if (n < 2)
		return NULL;
	for (; i < end; i++) {
		depth += p[i] == '{';
		depth -= p[i] == '}';
		if (depth == 0)
			break;
	}
	*ret_n = depth == 0 ? i + 1 : end;
	return lenient(p, *ret_n, depth);
}

json_t *fh_json_in_text(struct fh_str text)
{
	json_t *list = json_array();
	unsigned tries = 0;
	for (size_t i = 0; i < text.n && tries < TRIES_MAX; i++) {
		size_t n = 0;
		if (text.p[i] != '{')
			continue;
		json_t *object = object_at(text.p + i, text.n - i, &n);
		tries += object == NULL;
		if (!object)
			continue;
		json_array_append_new(list, object);
		i += n - 1;
	}
	return list;
}
