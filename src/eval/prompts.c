/* SPDX-License-Identifier: MIT */
#include "eval/prompts.h"
#include <stdio.h>
#include "base/fd.h"
#include "base/path.h"
#include "base/sha256.h"
#include "eval/csv.h"
#include "eval/text.h"
#include "script/script.h"

#define PROMPT_FILE_MAX ((size_t)16 << 20)
#define PROMPTS_MAX 10000

struct loader {
	struct fh_eval_config *config;
	struct fh_eval_prompts *ret;
	const char *place;             /* of the entry that is being read */
	FH_NULLABLE const char *label; /* what the entry calls it */
	FH_NULLABLE const json_t *prompt_config;
	struct fh_error *err;
};

static int add(struct loader *l, const char *raw, size_t n, FH_OWN char *label)
{
	if (l->ret->count >= PROMPTS_MAX) {
		free(label);
		return fh_document_error(l->config->document, l->place, l->err, "more than %d prompts", PROMPTS_MAX);
	}
	if (memmem(raw, n, "_conversation", strlen("_conversation"))) {
		free(label);
		return fh_document_error(l->config->document, l->place, l->err, "\"_conversation\" is not supported");
	}
	struct fh_eval_prompt *p = &FH_PUSH(l->ret->items, l->ret->count, l->ret->capacity);
	p->raw = fh_xstrndup(raw, n);
	p->label = label;
	struct fh_sha256 hash = FH_SHA256_INIT;
	fh_sha256_add(&hash, p->raw, n);
	fh_sha256_hex(&hash, p->id);
	p->config = json_incref((json_t *)(uintptr_t)l->prompt_config);
	if (n > 0 && strchr("[{\"", *p->raw))
		p->parsed = fh_json_parse((struct fh_str){ p->raw, n }, NULL, NULL);
	return 0;
}

static char *default_label(const struct loader *l, const char *name, const char *text, size_t n)
{
	return l->label ? fh_xstrdup(l->label) : fh_xasprintf("%s: %.*s", name, (int)FH_MIN(n, 100000), text);
}

/* ------------------------------------------------------------------------------------------------- one per file type
 */

/* Parts between lines that are exactly "---". */
static int add_text(struct loader *l, const char *name, struct fh_str text)
{
	struct fh_eval_prompts *all = l->ret;
	size_t first = all->count, start = 0;
	for (size_t at = 0; at <= text.n;) {
		const char *end = at < text.n ? memchr(text.p + at, '\n', text.n - at) : NULL;
		size_t line_end = end ? (size_t)(end - text.p) : text.n;
		struct fh_str line = { text.p + at, line_end - at };
		if (line.n > 0 && line.p[line.n - 1] == '\r')
			line.n--;
		bool separator = fh_str_eq(line, "---"), last = !end;
		if (separator || last) {
			struct fh_str part = fh_text_trim((struct fh_str){ text.p + start, (separator ? at : text.n) - start });
			int r = part.n == 0 ? 0 : add(l, part.p, part.n, default_label(l, name, part.p, part.n));
			if (r < 0)
				return r;
			start = line_end + 1;
		}
		if (last)
			break;
		at = line_end + 1;
	}
	if (all->count == first)
		return fh_document_error(l->config->document, l->place, l->err, "the prompt file %s is empty", name);
	/* Several prompts under one label are told apart by their texts. */
	for (size_t i = first; l->label && all->count - first > 1 && i < all->count; i++) {
		free(all->items[i].label);
		all->items[i].label = fh_xasprintf("%s: %s: %s", l->label, name, all->items[i].raw);
	}
	return 0;
}

static int add_whole(struct loader *l, const char *name, struct fh_str text)
{
	if (l->label)
		return add(l, text.p, text.n, fh_xstrdup(l->label));
	return add(l, text.p, text.n, fh_xasprintf("%s: %.*s...", name, (int)FH_MIN(text.n, 50), text.p));
}

static int add_json(struct loader *l, const char *name, struct fh_str text)
{
	text = fh_text_trim(text);
	return add(l, text.p, text.n, default_label(l, name, text.p, text.n));
}

static int add_jsonl(struct loader *l, const char *name, struct fh_str text)
{
	while (text.n > 0) {
		const char *end = memchr(text.p, '\n', text.n);
		size_t n = end ? (size_t)(end - text.p) : text.n;
		struct fh_str line = fh_text_trim((struct fh_str){ text.p, n });
		int r = line.n == 0 ? 0 : add(l, line.p, line.n, default_label(l, name, line.p, line.n));
		if (r < 0)
			return r;
		n += end != NULL;
		text.p += n;
		text.n -= n;
	}
	return 0;
}

static int add_csv(struct loader *l, const char *name, struct fh_str text)
{
	fh_auto_json json_t *rows = fh_csv_parse(text, ',', name, l->err);
	if (!rows)
		return -FH_E_CONFIG;
	size_t prompt = SIZE_MAX, label = SIZE_MAX;
	const json_t *head = json_array_get(rows, 0);
	for (size_t i = 0; i < json_array_size(head); i++) {
		const char *column = json_string_value(json_array_get(head, i));
		prompt = strcmp(column, "prompt") == 0 ? i : prompt;
		label = strcmp(column, "label") == 0 ? i : label;
	}
	if (prompt == SIZE_MAX)
		return fh_error_at(l->err, name, 1, 0, "no column is named \"prompt\"");
	for (size_t i = 1; i < json_array_size(rows); i++) {
		const json_t *row = json_array_get(rows, i), *raw = json_array_get(row, prompt);
		const char *own = json_string_value(json_array_get(row, label));
		int r = raw ? add(l, json_string_value(raw), json_string_length(raw),
		                  own && *own ? fh_xstrdup(own)
		                              : default_label(l, name, json_string_value(raw), json_string_length(raw)))
		            : 0;
		if (r < 0)
			return r;
	}
	return 0;
}

static int add_yaml(struct loader *l, const char *path, const char *name)
{
	struct fh_document *d = NULL;
	int r = fh_eval_config_document(l->config, path, &d, l->err);
	if (r < 0)
		return r;
	fh_auto_free char *text = fh_json_text(d->root, 0);
	return add(l, text, strlen(text), default_label(l, name, text, strlen(text)));
}

static int add_script(struct loader *l, const char *path, const char *name, const char *function)
{
	fh_auto_buf struct fh_buf source = FH_BUF_INIT(PROMPT_FILE_MAX);
	int r = fh_file_read(path, &source, l->err);
	if (r < 0)
		return r;
	char *label =
	    l->label ? fh_xstrdup(l->label) : fh_xasprintf("%s%s%s", name, function ? ":" : "", function ? function : "");
	if ((r = add(l, fh_buf_cstr(&source), source.n, label)) < 0)
		return r;
	struct fh_eval_prompt *p = &l->ret->items[l->ret->count - 1];
	p->file = fh_xstrdup(path);
	p->function = function ? fh_xstrdup(function) : NULL;
	return 0;
}

static const struct {
	const char *extension;
	int (*add)(struct loader *l, const char *name, struct fh_str text);
} types[] = {
	{ ".txt", add_text },  { ".md", add_whole },    { ".j2", add_whole },
	{ ".json", add_json }, { ".jsonl", add_jsonl }, { ".csv", add_csv },
};

static bool is_yaml(const char *path)
{
	return fh_streq(fh_path_ext(path), ".yaml") || fh_streq(fh_path_ext(path), ".yml");
}

static int add_file(struct loader *l, const char *path, const char *function)
{
	const char *name = fh_eval_config_shorten(l->config, path);
	enum fh_script_language language;
	if (is_yaml(path))
		return add_yaml(l, path, name);
	if (fh_script_language_of(path, &language))
		return add_script(l, path, name, function);
	for (size_t i = 0; i < FH_ARRAY_SIZE(types); i++) {
		if (!fh_streq(fh_path_ext(path), types[i].extension))
			continue;
		fh_auto_buf struct fh_buf text = FH_BUF_INIT(PROMPT_FILE_MAX);
		int r = fh_file_read(path, &text, l->err);
		if (r < 0)
			return fh_document_place(l->config->document, l->place, l->err);
		return types[i].add(l, name, fh_buf_str(&text));
	}
	return fh_document_error(l->config->document, l->place, l->err,
	                         "prompt file %s: \"%s\" is no known type; known are .txt, .md, .j2, .json, .jsonl, .yaml, "
	                         ".csv, .py, .js",
	                         name, fh_path_ext(path));
}

/* --------------------------------------------------------------------------------------------------------- entries */

/* Text names a file when it says so, or when it looks like one and the file is there. */
static bool names_file(const struct loader *l, const char *text)
{
	if (fh_text_is_file(text))
		return true;
	if (strchr(text, '\n') || strlen(text) > 1024 || strstr(text, "{{"))
		return false;
	bool known = is_yaml(text);
	enum fh_script_language language;
	for (size_t i = 0; i < FH_ARRAY_SIZE(types); i++)
		known = known || fh_streq(fh_path_ext(text), types[i].extension);
	fh_auto_free char *path = NULL;
	fh_auto_free char *function = NULL;
	fh_text_split_file(text, l->config->dir, &path, &function);
	return (known || fh_script_language_of(path, &language)) && (strchr(text, '*') || fh_path_exists(path));
}

static int add_entry_text(struct loader *l, const char *text, size_t n)
{
	if (!names_file(l, text))
		return add(l, text, n, fh_xstrdup(l->label ? l->label : text));
	const char *pattern = text + (fh_text_is_file(text) ? strlen("file://") : 0);
	const char *colon = strchr(pattern, ':');
	fh_auto_free char *name = fh_xstrndup(pattern, colon ? (size_t)(colon - pattern) : strlen(pattern));
	FH_CLEANUP(fh_eval_paths_release) struct fh_eval_paths paths = { 0 };
	int r = fh_eval_config_paths(l->config, name, &paths, l->err);
	if (r < 0)
		return fh_document_place(l->config->document, l->place, l->err);
	for (size_t i = 0; i < paths.count && r == 0; i++)
		r = add_file(l, paths.items[i], colon ? colon + 1 : NULL);
	return r;
}

static int add_entry(struct loader *l, const json_t *entry)
{
	l->label = NULL;
	l->prompt_config = NULL;
	if (json_is_string(entry) && json_string_length(entry) > 0)
		return add_entry_text(l, json_string_value(entry), json_string_length(entry));
	const json_t *raw = json_object_get(entry, "raw");
	const char *id = fh_json_str(entry, "id", NULL);
	l->label = fh_json_str(entry, "label", fh_json_str(entry, "display", NULL));
	l->prompt_config = json_object_get(entry, "config");
	if (json_is_string(raw))
		return add(l, json_string_value(raw), json_string_length(raw),
		           fh_xstrdup(l->label ? l->label : json_string_value(raw)));
	if (raw && !json_is_null(raw)) {
		fh_auto_free char *text = fh_json_text(raw, 0);
		return add(l, text, strlen(text), fh_xstrdup(l->label ? l->label : text));
	}
	if (id)
		return add_entry_text(l, id, strlen(id));
	return fh_document_error(l->config->document, l->place, l->err,
	                         "a prompt is text, a file:// path, or an object with \"raw\" or \"id\" and \"label\"");
}

/* {path: label} */
static int add_map(struct loader *l, const json_t *spec)
{
	const char *path;
	json_t *label;
	json_object_foreach((json_t *)(uintptr_t)spec, path, label)
	{
		if (!json_is_string(label))
			return fh_document_error(l->config->document, l->place, l->err, "the label of prompt \"%s\" must be text",
			                         path);
		l->label = json_string_value(label);
		int r = add_entry_text(l, path, strlen(path));
		if (r < 0)
			return r;
	}
	return 0;
}

int fh_eval_prompts_load(struct fh_eval_config *c, const json_t *spec, struct fh_eval_prompts *ret,
                         struct fh_error *err)
{
	struct fh_eval_prompts prompts = { 0 };
	struct loader l = { .config = c, .ret = &prompts, .place = "prompts", .err = err };
	int r = 0;
	if (!spec || json_is_null(spec)) {
		r = add(&l, "{{prompt}}", strlen("{{prompt}}"), fh_xstrdup("{{prompt}}"));
		fh_eval_config_warn(c, c->document, "", "no prompts given; each test's variable \"prompt\" is used as it is");
	} else if (json_is_object(spec)) {
		r = add_map(&l, spec);
	} else if (json_is_array(spec)) {
		for (size_t i = 0; i < json_array_size(spec) && r == 0; i++) {
			fh_auto_free char *place = fh_xasprintf("prompts/%zu", i);
			l.place = place;
			r = add_entry(&l, json_array_get(spec, i));
		}
		l.place = "prompts";
	} else {
		r = add_entry(&l, spec);
	}
	if (r == 0 && prompts.count == 0)
		r = fh_document_error(c->document, "prompts", err, "the list of prompts is empty");
	if (r < 0) {
		fh_eval_prompts_release(&prompts);
		return r;
	}
	*ret = prompts;
	return 0;
}

void fh_eval_prompts_release(struct fh_eval_prompts *p)
{
	for (size_t i = 0; i < p->count; i++) {
		struct fh_eval_prompt *item = &p->items[i];
		free(item->raw);
		free(item->label);
		free(item->file);
		free(item->function);
		json_decref(item->parsed);
		json_decref(item->config);
	}
	free(p->items);
	*p = (struct fh_eval_prompts){ 0 };
}
