/* SPDX-License-Identifier: MIT */
#include "eval/common/text.h"
#include "base/path.h"
#include "base/text/case.h"
#include "json/yaml.h"

char *fh_text_lower(struct fh_str s)
{
	struct fh_buf out = FH_BUF_INIT(0);
	fh_case_lower(&out, s);
	return fh_buf_take(&out, NULL);
}

char *fh_text_of_json(const json_t *value)
{
	if (json_is_string(value))
		return fh_xstrndup(json_string_value(value), json_string_length(value));
	return fh_json_text(value, 0);
}

size_t fh_text_space_at(struct fh_str s)
{
	static const char *const wide[] = { "\xc2\xa0",     "\xe1\x9a\x80", "\xe2\x80\xa8", "\xe2\x80\xa9",
		                                "\xe2\x80\xaf", "\xe2\x81\x9f", "\xe3\x80\x80", "\xef\xbb\xbf" };
	if (s.n == 0 || (unsigned char)*s.p < 0x80)
		return s.n > 0 && *s.p && strchr(" \t\n\v\f\r", *s.p);
	if (s.n >= 3 && memcmp(s.p, "\xe2\x80", 2) == 0 && (unsigned char)s.p[2] <= 0x8a) /* U+2000 to U+200A */
		return 3;
	for (size_t i = 0; i < FH_ARRAY_SIZE(wide); i++)
		if (s.n >= strlen(wide[i]) && memcmp(s.p, wide[i], strlen(wide[i])) == 0)
			return strlen(wide[i]);
	return 0;
}

struct fh_str fh_text_trim(struct fh_str s)
{
	size_t n;
	while ((n = fh_text_space_at(s)) > 0) {
		s.p += n;
		s.n -= n;
	}
	/* Strips from the end each UTF-8 sequence of 1 to 3 bytes that is a space. */
	for (bool again = true; again;) {
		again = false;
		for (size_t k = 1; k <= 3 && k <= s.n; k++)
			if (fh_text_space_at((struct fh_str){ s.p + s.n - k, k }) == k) {
				s.n -= k;
				again = true;
				break;
			}
	}
	return s;
}

json_t *fh_text_json(struct fh_str text)
{
	struct fh_str inner = fh_text_trim(text);
	return inner.n > 0 && strchr("[{\"", *inner.p) ? fh_json_parse(text, NULL, NULL) : NULL;
}

static bool is_chat(const json_t *value)
{
	for (size_t i = 0; i < json_array_size(value); i++)
		if (!json_is_string(json_object_get(json_array_get(value, i), "role")))
			return false;
	return json_array_size(value) > 0;
}

json_t *fh_text_chat(const char *prompt)
{
	json_t *chat = fh_text_json(fh_str(prompt));
	if (json_is_object(chat) || json_is_array(chat))
		return chat;
	json_decref(chat);
	struct fh_error ignored = { 0 };
	chat = strstr(prompt, "role:") ? fh_yaml_load(fh_str(prompt), "prompt", NULL, &ignored) : NULL;
	if (is_chat(chat))
		return chat;
	json_decref(chat);
	return NULL;
}

void fh_text_split_file(const char *text, const char *dir, char **ret_path, char **ret_function)
{
	const char *name = text + (fh_text_is_file(text) ? strlen("file://") : 0);
	const char *colon = strchr(name, ':');
	fh_auto_free char *file = colon ? fh_xstrndup(name, (size_t)(colon - name)) : fh_xstrdup(name);
	*ret_path = fh_path_join(dir, file);
	*ret_function = colon && colon[1] ? fh_xstrdup(colon + 1) : NULL;
}

/* Reads a quoted field that starts behind its opening quote; returns the position behind the closing one, or NULL. */
static const char *quoted_field(const char *s, struct fh_buf *field)
{
	for (; *s && (*s != '"' || s[1] == '"'); s++) {
		if (*s == '"' || (*s == '\\' && (s[1] == '"' || s[1] == '\\')))
			s++;
		fh_buf_addc(field, *s);
	}
	return *s ? s + 1 : NULL;
}

int fh_text_split_list(const char *text, json_t **ret, struct fh_error *err)
{
	static const char blanks[] = " \t\r\n\v\f";
	fh_auto_json json_t *list = json_array();
	for (const char *s = text;;) {
		fh_auto_buf struct fh_buf field = FH_BUF_INIT(0);
		s += strspn(s, " \t\r\n\v\f,");
		if (!*s)
			break;
		if (*s == '"') {
			s = quoted_field(s + 1, &field);
			if (!s)
				return fh_error_set(err, FH_E_ARGUMENT, "a quote in the list is not closed: %s", text);
			s += strspn(s, blanks);
			if (*s && *s != ',')
				return fh_error_set(err, FH_E_ARGUMENT, "after a quoted part of the list a comma must follow: %s",
				                    text);
			json_array_append_new(list, fh_json_bytes(fh_buf_str(&field)));
			continue;
		}
		struct fh_str part = fh_text_trim((struct fh_str){ s, strcspn(s, ",") });
		json_array_append_new(list, fh_json_bytes(part));
		s += strcspn(s, ",");
	}
	*ret = json_incref(list);
	return 0;
}
