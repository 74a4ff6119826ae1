/* SPDX-License-Identifier: MIT */
#include "eval/common/env.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>
#include "base/fd.h"
#include "base/path.h"
#include "eval/common/text.h"

#define ENV_FILE_MAX ((size_t)1 << 20)

static size_t name_length(const char *s)
{
	size_t n = 0;
	while (isalnum((unsigned char)s[n]) || s[n] == '_' || s[n] == '.' || (s[n] == '-' && n > 0))
		n++;
	return isdigit((unsigned char)s[0]) ? 0 : n;
}

/* Reads a quoted value that starts at s and may span several lines. Returns the position behind it, or NULL. */
static const char *read_quoted(const char *s, struct fh_buf *value, uint32_t *line)
{
	char quote = *s++;
	for (; *s && *s != quote; s++) {
		*line += *s == '\n';
		if (quote == '"' && *s == '\\' && s[1]) {
			s++;
			fh_buf_addc(value, *s == 'n' ? '\n' : *s == 't' ? '\t' : *s == 'r' ? '\r' : *s);
		} else {
			fh_buf_addc(value, *s);
		}
	}
	return *s ? s + 1 : NULL;
}

static const char *read_plain(const char *s, struct fh_buf *value)
{
	const char *start = s;
	while (*s && *s != '\n' && !(*s == '#' && (s == start || isspace((unsigned char)s[-1]))))
		s++;
	fh_buf_add(value, start, (size_t)(s - start));
	while (value->n > 0 && isspace((unsigned char)value->p[value->n - 1]))
		fh_buf_truncate(value, value->n - 1);
	return s;
}

/* Reads one line, which begins at s with a character that is not blank. */
static const char *read_line(const char *s, const char *path, bool over, uint32_t *line, struct fh_error *err)
{
	uint32_t at = *line;
	if (fh_starts_with(s, "export ")) {
		s += strlen("export ");
		s += strspn(s, " \t");
	}
	size_t n = name_length(s);
	const char *equals = s + n + strspn(s + n, " \t");
	if (n == 0 || *equals != '=') {
		fh_error_at(err, path, at, 0, "not of the form NAME=VALUE");
		return NULL;
	}
	fh_auto_free char *name = fh_xstrndup(s, n);
	fh_auto_buf struct fh_buf value = FH_BUF_INIT(0);
	s = equals + 1;
	s += strspn(s, " \t");
	s = *s == '"' || *s == '\'' ? read_quoted(s, &value, line) : read_plain(s, &value);
	if (!s) {
		fh_error_at(err, path, at, 0, "the quote after %s= is not closed", name);
		return NULL;
	}
	s += strspn(s, " \t\r");
	if (*s && *s != '\n' && *s != '#') {
		fh_error_at(err, path, *line, 0, "text follows the closing quote");
		return NULL;
	}
	setenv(name, fh_buf_cstr(&value), over);
	return s + strcspn(s, "\n");
}

int fh_env_file_load(const char *path, bool over, struct fh_error *err)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(ENV_FILE_MAX);
	int r = fh_file_read(path, &text, err);
	if (r < 0)
		return r;
	if (memchr(text.p, '\0', text.n)) {
		fh_error_set(err, FH_E_CONFIG, "%s has zero bytes in it, as no text has", path);
		fh_error_hint(err, "save it as plain text (UTF-8)");
		return -FH_E_CONFIG;
	}
	uint32_t line = 1;
	bool marked = fh_starts_with(fh_buf_cstr(&text), "\xef\xbb\xbf"); /* a byte order mark */
	for (const char *s = fh_buf_cstr(&text) + (marked ? 3 : 0); *s;) {
		s += strspn(s, " \t\r");
		if (*s == '#')
			s += strcspn(s, "\n");
		if (*s && *s != '\n' && !(s = read_line(s, path, over, &line, err)))
			return -FH_E_CONFIG;
		if (*s == '\n') {
			s++;
			line++;
		}
	}
	return 0;
}

int fh_env_files_load(const char *const *words, size_t count, struct fh_error *err)
{
	int r = 0;
	if (!count)
		return fh_path_exists(".env") && !fh_path_is_dir(".env") ? fh_env_file_load(".env", false, err) : 0;
	for (size_t i = 0; i < count && r == 0; i++)
		for (const char *s = words[i]; *s && r == 0;) {
			size_t n = strcspn(s, ",");
			const char *begin = s + strspn(s, " "), *end = s + n;
			while (end > begin && end[-1] == ' ')
				end--;
			fh_auto_free char *path = fh_xstrndup(begin, (size_t)(FH_MAX(end, begin) - begin));
			if (*path)
				r = fh_env_file_load(path, true, err);
			s += n + (s[n] == ',');
		}
	return r;
}

/* Variables by which promptfoo changes what is asked, checked or written, and that are not read here. */
static const struct {
	const char *name, *effect;
} unread[] = {
	{ "PROMPTFOO_REQUIRE_JSON_PROMPTS", "a prompt may be any text" },
	{ "PROMPTFOO_STRICT_FILES", "a file that does not exist is an error in any case" },
	{ "PROMPTFOO_CSV_STRICT", "tables are read by one set of rules" },
	{ "PROMPTFOO_DISABLE_CSV_FORMULA_ESCAPING", "cells that a spreadsheet would compute are escaped" },
	{ "PROMPTFOO_DISABLE_PDF_AS_TEXT", "a PDF in a variable is its text" },
	{ "PROMPTFOO_DISABLE_TEMPLATE_ENV_VARS", "templates of the config see the environment" },
	{ "PROMPTFOO_SELF_HOSTED", "templates of the config see the environment" },
	{ "PROMPTFOO_DISABLE_REF_PARSER", "$ref is resolved" },
	{ "PROMPTFOO_DISABLE_OBJECT_STRINGIFY", "objects in templates are written as JSON" },
	{ "PROMPTFOO_DISABLE_AJV_STRICT_MODE", "an unknown word in a schema is an error" },
};

int fh_env_check(struct fh_error *err)
{
	static const char *const off[] = { "", "0", "false" };
	for (size_t i = 0; i < FH_ARRAY_SIZE(unread); i++) {
		const char *value = getenv(unread[i].name);
		bool set = value != NULL;
		for (size_t k = 0; k < FH_ARRAY_SIZE(off) && set; k++)
			set = !fh_streq(value, off[k]);
		if (!set)
			continue;
		fh_error_set(err, FH_E_CONFIG, "%s is set, but has no effect here: %s", unread[i].name, unread[i].effect);
		fh_error_hint(err, "unset %s", unread[i].name);
		return -FH_E_CONFIG;
	}
	return 0;
}

int fh_env_number(const char *name, uint64_t max, uint64_t *ret, struct fh_error *err)
{
	const char *value = getenv(name);
	char *end;
	if (!value || !*value) {
		*ret = 0;
		return 0;
	}
	errno = 0;
	unsigned long long n = strtoull(value, &end, 10);
	if (*value < '0' || *value > '9' || *end || errno || n > max)
		return fh_error_set(err, FH_E_CONFIG, "%s=%s: not a number of 0 to %llu", name, value, (unsigned long long)max);
	*ret = n;
	return 0;
}

void fh_eval_env_add(json_t *env, const json_t *overlay)
{
	const char *key;
	json_t *v;
	json_object_foreach((json_t *)(uintptr_t)overlay, key, v)
	{
		/* Numbers and booleans stay such: {% if env.DEBUG %} must not hold for `DEBUG: false`. */
		if (json_is_number(v) || json_is_boolean(v)) {
			json_object_set(env, key, v);
			continue;
		}
		fh_auto_free char *text = fh_text_of_json(v);
		json_object_set_new(env, key, fh_json_bytes(fh_str(text)));
	}
}

json_t *fh_env_object(const json_t *overlay)
{
	json_t *env = json_object();
	for (char **e = environ; *e; e++) {
		const char *equals = strchr(*e, '=');
		if (!equals || equals == *e)
			continue;
		fh_auto_free char *name = fh_xstrndup(*e, (size_t)(equals - *e));
		json_object_set_new(env, name, fh_json_bytes(fh_str(equals + 1)));
	}
	fh_eval_env_add(env, overlay);
	return env;
}

bool fh_env_on(const char *name)
{
	static const char *const words[] = { "1", "true", "yes", "yup", "yeppers" };
	const char *value = getenv(name);
	for (size_t i = 0; value && i < FH_ARRAY_SIZE(words); i++)
		if (strcasecmp(value, words[i]) == 0)
			return true;
	return false;
}
