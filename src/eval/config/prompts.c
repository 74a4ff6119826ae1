/* SPDX-License-Identifier: MIT */
#include "eval/config/prompts.h"
#include <stdio.h>
#include <strings.h>
#include <unistd.h>
#include "base/fd.h"
#include "base/path.h"
#include "base/text/sha256.h"
#include "eval/common/csv.h"
#include "eval/config/keys.h"
#include "eval/common/text.h"
#include "provider/exec.h"
#include "script/script.h"
#include "template/template.h"

#define PROMPT_FILE_MAX ((size_t)16 << 20)
#define PROMPTS_MAX 10000

struct loader {
	struct fh_eval_config *config;
	struct fh_script_pool *scripts;
	struct fh_eval_prompts *ret;
	const char *place;              /* place of the prompts entry that is being read */
	FH_NULLABLE const char *label;  /* the label that the entry gives */
	FH_NULLABLE const char *own_id; /* the id that the entry gives besides the text */
	FH_NULLABLE const json_t *prompt_config;
	struct fh_error *err;
};

static int add(struct loader *l, const char *raw, size_t n, FH_OWN char *label)
{
	if (l->ret->count >= PROMPTS_MAX) {
		free(label);
		return fh_document_error(l->config->document, l->place, l->err, "more than %d prompts", PROMPTS_MAX);
	}
	if (memchr(raw, 0, n)) {
		free(label);
		return fh_document_error(l->config->document, l->place, l->err,
		                         "a prompt has a NUL character (U+0000), which none may have");
	}
	struct fh_eval_prompt *p = &FH_PUSH(l->ret->items, l->ret->count, l->ret->capacity);
	p->raw = fh_xstrndup(raw, n);
	p->label = label;
	p->own_id = l->own_id ? fh_xstrdup(l->own_id) : NULL;
	struct fh_sha256 hash = FH_SHA256_INIT;
	fh_sha256_add(&hash, *label ? label : p->raw, *label ? strlen(label) : n);
	fh_sha256_hex(&hash, p->id);
	p->config = json_incref((json_t *)(uintptr_t)l->prompt_config);
	p->parsed = fh_text_json((struct fh_str){ p->raw, n });
	if (fh_text_template_has_tags(fh_str(p->raw)))
		p->compiled = fh_text_template_compile(fh_str(p->raw), "template", NULL);
	return 0;
}

static char *default_label(const struct loader *l, const char *name, const char *text, size_t n)
{
	return l->label ? fh_xstrdup(l->label) : fh_xasprintf("%s: %.*s", name, (int)FH_MIN(n, 100000), text);
}

/* ---------------------------------------------------------------------------------------------- one per file type */

/* A text whose lines end with \n alone, as promptfoo makes of .txt files. */
static void unify_lines(struct fh_str text, struct fh_buf *ret)
{
	for (size_t i = 0; i < text.n; i++)
		if (text.p[i] != '\r' || i + 1 == text.n || text.p[i + 1] != '\n')
			fh_buf_addc(ret, text.p[i]);
}

/* Adds the parts of a text file, which lines of nothing but "---" separate. */
static int add_text(struct loader *l, const char *name, struct fh_str content)
{
	fh_auto_buf struct fh_buf lines = FH_BUF_INIT(PROMPT_FILE_MAX);
	unify_lines(content, &lines);
	struct fh_str text = fh_buf_str(&lines);
	struct fh_eval_prompts *all = l->ret;
	const char *word = getenv("PROMPTFOO_PROMPT_SEPARATOR");
	size_t first = all->count, start = 0;
	for (size_t at = 0; at <= text.n;) {
		const char *end = at < text.n ? memchr(text.p + at, '\n', text.n - at) : NULL;
		size_t line_end = end ? (size_t)(end - text.p) : text.n;
		struct fh_str line = fh_text_trim((struct fh_str){ text.p + at, line_end - at });
		bool separator = fh_str_eq(line, word && *word ? word : "---"), last = !end;
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
	for (size_t i = first; l->label && i < all->count; i++) {
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

/* Adds a JSON prompt: without white space, and with the files that it names loaded. */
static int add_json(struct loader *l, const char *name, struct fh_str text)
{
	fh_auto_json json_t *value = fh_json_parse(text, NULL, NULL);
	fh_auto_json json_t *whole = NULL;
	if (!value)
		return add(l, text.p, text.n, default_label(l, name, text.p, text.n));
	int r = fh_eval_config_expand(l->config, l->config->document, value, &whole, l->err);
	if (r < 0)
		return r;
	fh_auto_free char *compact = fh_json_text(whole, 0);
	return add(l, compact, strlen(compact), default_label(l, name, compact, strlen(compact)));
}

static size_t count_lines(struct fh_str text)
{
	size_t n = 0;
	for (size_t i = 0; i < text.n; i++)
		n += text.p[i] != '\n' && text.p[i] != '\r' && (i == 0 || text.p[i - 1] == '\n');
	return n;
}

static int add_jsonl(struct loader *l, const char *name, struct fh_str text)
{
	bool many = count_lines(text) > 1;
	while (text.n > 0) {
		const char *end = memchr(text.p, '\n', text.n);
		size_t n = end ? (size_t)(end - text.p) : text.n;
		struct fh_str line = { text.p, n > 0 && text.p[n - 1] == '\r' ? n - 1 : n };
		const char *base = l->label ? l->label : name;
		char *label = many ? fh_xasprintf("%s: %.*s", base, (int)FH_MIN(line.n, 100000), line.p) : fh_xstrdup(base);
		int r = 0;
		if (line.n > 0)
			r = add(l, line.p, line.n, label);
		else
			free(label);
		if (r < 0)
			return r;
		n += end != NULL;
		text.p += n;
		text.n -= n;
	}
	return 0;
}

/* The label of a prompt of a CSV file: its own; else made of the entry's label and the text; else the prompt's number
 * and text. */
static char *csv_label(const struct loader *l, const char *own, size_t number, bool many, const char *raw)
{
	if (own && *own)
		return fh_xstrdup(own);
	if (!l->label)
		return fh_xasprintf("Prompt %zu - %s", number, raw);
	return many ? fh_xasprintf("%s: %s", l->label, raw) : fh_xstrdup(l->label);
}

/* In a file without the delimiter each line is a prompt; the first line may be a header. */
static int add_csv_lines(struct loader *l, struct fh_str text)
{
	size_t lines = count_lines(text), number = 0;
	bool first = true;
	while (text.n > 0) {
		const char *end = memchr(text.p, '\n', text.n);
		size_t n = end ? (size_t)(end - text.p) : text.n;
		struct fh_str line = fh_text_trim((struct fh_str){ text.p, n });
		fh_auto_free char *raw = fh_xstrndup(line.p, line.n);
		bool head = first && line.n > 0 && strcasecmp(raw, "prompt") == 0;
		int r = 0;
		if (line.n > 0 && !head)
			r = add(l, raw, line.n, csv_label(l, NULL, ++number, lines > 1, raw));
		first = first && line.n == 0;
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
	const char *delimiter = getenv("PROMPTFOO_CSV_DELIMITER");
	char by = delimiter && *delimiter ? *delimiter : ',';
	if (!memchr(text.p, by, text.n))
		return add_csv_lines(l, text);
	fh_auto_json json_t *rows = fh_csv_parse(text, by, name, l->err);
	if (!rows)
		return -FH_E_CONFIG;
	size_t prompt = SIZE_MAX, label = SIZE_MAX, number = 0;
	const json_t *head = json_array_get(rows, 0);
	for (size_t i = 0; i < json_array_size(head); i++) {
		struct fh_str column = fh_text_trim(fh_str(json_string_value(json_array_get(head, i))));
		prompt = fh_str_eq(column, "prompt") ? i : prompt;
		label = fh_str_eq(column, "label") ? i : label;
	}
	if (prompt == SIZE_MAX)
		return fh_error_at(l->err, name, 1, 0, "no column is named \"prompt\"");
	for (size_t i = 1; i < json_array_size(rows); i++) {
		const json_t *row = json_array_get(rows, i);
		const char *cell = json_string_value(json_array_get(row, prompt));
		struct fh_str raw = fh_text_trim(fh_str(cell ? cell : ""));
		fh_auto_free char *own_text = fh_xstrndup(raw.p, raw.n);
		int r = raw.n == 0 ? 0
		                   : add(l, raw.p, raw.n,
		                         csv_label(l, json_string_value(json_array_get(row, label)), ++number,
		                                   json_array_size(rows) > 2, own_text));
		if (r < 0)
			return r;
	}
	return 0;
}

static int add_yaml(struct loader *l, const char *path, const char *name)
{
	struct fh_document *d = NULL;
	fh_auto_json json_t *whole = NULL;
	int r = fh_eval_config_whole(l->config, path, &d, &whole, l->err);
	if (r < 0)
		return r;
	fh_auto_free char *text = fh_json_text(whole, 0);
	size_t shown = 0, units = 0; /* the label shows at most 80 characters (UTF-8 sequences) of the text */
	while (text[shown] && units < 80)
		units += ((unsigned char)text[++shown] & 0xC0) != 0x80;
	return add(l, text, strlen(text), default_label(l, name, text, shown));
}

/* Shows a JavaScript function's own source as the prompt, as promptfoo does; the whole file stays when its source is
 * not available. */
static void show_function(struct loader *l, struct fh_eval_prompt *p)
{
	enum fh_script_language language;
	fh_auto_json json_t *none = json_array();
	fh_auto_script_result struct fh_script_result result = { 0 };
	struct fh_script_call call = {
		.language = FH_SCRIPT_JAVASCRIPT, .file = p->file, .function = p->function, .source = true, .args = none
	};
	if (!fh_script_language_of(p->file, &language) || language != FH_SCRIPT_JAVASCRIPT || !l->scripts ||
	    fh_script_call(l->scripts, &call, &result, NULL) < 0 || result.outcome != FH_SCRIPT_RETURNED)
		return;
	free(p->raw);
	p->raw = fh_xstrdup(json_string_value(result.value) ? json_string_value(result.value) : "");
}

/* As in promptfoo, a Python file that is named without a function is a program that prints the prompt. */
static int add_script(struct loader *l, const char *path, const char *name, const char *function)
{
	fh_auto_buf struct fh_buf source = FH_BUF_INIT(PROMPT_FILE_MAX);
	enum fh_script_language language = FH_SCRIPT_PYTHON;
	int r = fh_file_read(path, &source, l->err);
	fh_script_language_of(path, &language);
	if (r < 0)
		return r;
	bool program = language != FH_SCRIPT_JAVASCRIPT && !function;
	char *label = l->label ? fh_xstrdup(l->label)
	              : program && language == FH_SCRIPT_PYTHON
	                  ? fh_xasprintf("%s: %s", name, fh_buf_cstr(&source))
	                  : fh_xasprintf("%s%s%s", name, function ? ":" : "", function ? function : "");
	if ((r = add(l, fh_buf_cstr(&source), source.n, label)) < 0)
		return r;
	struct fh_eval_prompt *p = &l->ret->items[l->ret->count - 1];
	json_decref(p->parsed);
	p->parsed = NULL;
	if (program) {
		const char *python = getenv("PROMPTFOO_PYTHON");
		p->program = fh_xcalloc(3, sizeof(*p->program));
		p->program[0] = fh_xstrdup(language == FH_SCRIPT_RUBY ? "ruby" : python && *python ? python : "python3");
		p->program[1] = fh_xstrdup(path);
		return 0;
	}
	p->file = fh_xstrdup(path);
	p->function = function ? fh_xstrdup(function) : NULL;
	show_function(l, p);
	return 0;
}

/* Adds a program that prints the prompt: "exec:COMMAND", or an executable file. Without a label the prompt is labelled
 * with `name`. */
static int add_program(struct loader *l, const char *command, const char *name)
{
	char **words = NULL;
	int r = fh_exec_split(command, &words, l->err);
	if (r < 0)
		return fh_document_place(l->config->document, l->place, l->err);
	fh_auto_free char *path = fh_path_join(l->config->dir, words[0]);
	fh_auto_buf struct fh_buf source = FH_BUF_INIT(102400);
	bool shown =
	    fh_path_exists(path) && fh_file_read(path, &source, NULL) == 0 && !memchr(fh_buf_cstr(&source), '\0', source.n);
	if (fh_path_exists(path)) {
		free(words[0]);
		words[0] = FH_TAKE_PTR(path);
	}
	r = add(l, shown ? fh_buf_cstr(&source) : command, shown ? source.n : strlen(command),
	        fh_xstrdup(l->label ? l->label : name));
	if (r < 0) {
		fh_exec_free_words(words);
		return r;
	}
	struct fh_eval_prompt *p = &l->ret->items[l->ret->count - 1];
	json_decref(p->parsed);
	p->parsed = NULL;
	p->program = words;
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
	if (access(path, X_OK) == 0 && !fh_path_is_dir(path))
		return add_program(l, path, name);
	return fh_document_error(
	    l->config->document, l->place, l->err,
	    "prompt file %s: \"%s\" is not a known type; known are .txt, .md, .j2, .json, .jsonl, .yaml, "
	    ".csv, .py, .js, .ts, .rb, and files that can be executed",
	    name, fh_path_ext(path));
}

/* --------------------------------------------------------------------------------------------------------- entries */

static bool matches_files(const struct loader *l, const char *pattern)
{
	FH_CLEANUP(fh_eval_paths_release) struct fh_eval_paths paths = { 0 };
	return strpbrk(pattern, "?[{") && fh_eval_config_paths(l->config, pattern, &paths, NULL) == 0;
}

/* Whether a text names a file: it begins with file://, or looks like a path and the file exists. */
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
	return (known || fh_script_language_of(path, &language)) &&
	       (strchr(text, '*') || fh_path_exists(path) || matches_files(l, text));
}

static int add_entry_text(struct loader *l, const char *text, size_t n)
{
	if (fh_starts_with(text, "exec:")) {
		const char *command = text + strlen("exec:");
		return add_program(l, command, command + (fh_starts_with(command, "./") ? strlen("./") : 0));
	}
	if (strstr(text, "fuse://") || fh_starts_with(text, "portkey://") || fh_starts_with(text, "helicone://"))
		return fh_document_error(l->config->document, l->place, l->err,
		                         "prompts are not fetched from a service (%.40s); save the prompt in a file", text);
	if (!names_file(l, text))
		return add(l, text, n, fh_xstrdup(l->label ? l->label : text));
	const char *pattern = text + (fh_text_is_file(text) ? strlen("file://") : 0);
	const char *colon = strchr(pattern, ':');
	fh_auto_free char *name = fh_xstrndup(pattern, colon ? (size_t)(colon - pattern) : strlen(pattern));
	FH_CLEANUP(fh_eval_paths_release) struct fh_eval_paths paths = { 0 };
	int r = fh_eval_config_paths(l->config, name, &paths, l->err);
	if (r < 0)
		return fh_document_place(l->config->document, l->place, l->err);
	if (strpbrk(name, "*?[{")) /* as in promptfoo: prompts of a glob are labelled by their files */
		l->label = NULL;
	for (size_t i = 0; i < paths.count && r == 0; i++)
		r = add_file(l, paths.items[i], colon ? colon + 1 : NULL);
	return r;
}

static int add_entry(struct loader *l, const json_t *entry)
{
	l->label = l->own_id = NULL;
	l->prompt_config = NULL;
	if (json_is_object(entry)) {
		int r = fh_eval_keys_check(l->config, l->config->document, entry, l->place, &fh_eval_keys_prompt, l->err);
		if (r < 0)
			return r;
	}
	if (json_is_string(entry) && json_string_length(entry) > 0)
		return add_entry_text(l, json_string_value(entry), json_string_length(entry));
	const json_t *raw = json_object_get(entry, "raw");
	const char *id = fh_json_str(entry, "id", NULL);
	l->label = fh_json_str(entry, "label", fh_json_str(entry, "display", NULL));
	l->prompt_config = json_object_get(entry, "config");
	l->own_id = raw && !json_is_null(raw) ? id : NULL;
	if (json_is_string(raw))
		return add_entry_text(l, json_string_value(raw), json_string_length(raw));
	if (raw && !json_is_null(raw)) {
		fh_auto_free char *text = fh_json_text(raw, 0);
		return add(l, text, strlen(text), fh_xstrdup(l->label ? l->label : text));
	}
	if (id)
		return add_entry_text(l, id, strlen(id));
	return fh_document_error(l->config->document, l->place, l->err,
	                         "a prompt is text, a file:// path, or an object with \"raw\" or \"id\" and \"label\"");
}

/* Adds the prompts of an object {path: label}. */
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

int fh_eval_prompts_load(struct fh_eval_config *c, const json_t *spec, struct fh_script_pool *scripts,
                         struct fh_eval_prompts *ret, struct fh_error *err)
{
	struct fh_eval_prompts prompts = { 0 };
	struct loader l = { .config = c, .scripts = scripts, .ret = &prompts, .place = "prompts", .err = err };
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

static void prompt_release(struct fh_eval_prompt *item)
{
	free(item->raw);
	free(item->label);
	free(item->own_id);
	free(item->file);
	free(item->function);
	if (item->program)
		fh_exec_free_words(item->program);
	json_decref(item->parsed);
	fh_text_template_free(item->compiled);
	json_decref(item->config);
	*item = (struct fh_eval_prompt){ 0 };
}

/* The prompt with this text and label that was not taken yet, or NULL. */
static struct fh_eval_prompt *same_prompt(struct fh_eval_prompts *prompts, const char *raw, const char *label)
{
	for (size_t i = 0; i < prompts->count; i++) {
		struct fh_eval_prompt *p = &prompts->items[i];
		if (p->raw && strcmp(p->raw, raw) == 0 && strcmp(p->label, label) == 0)
			return p;
	}
	return NULL;
}

int fh_eval_prompts_replace(struct fh_eval_config *c, const json_t *list, const char *place,
                            struct fh_eval_prompts *prompts, struct fh_error *err)
{
	struct fh_eval_prompts now = { 0 };
	struct loader l = { .config = c, .ret = &now, .place = place, .err = err };
	int r = 0;
	for (size_t i = 0; i < json_array_size(list) && r == 0; i++) {
		const json_t *entry = json_array_get(list, i);
		const char *raw = json_string_value(json_is_string(entry) ? entry : json_object_get(entry, "raw"));
		const char *label = fh_json_str(entry, "label", raw ? raw : "");
		struct fh_eval_prompt *same = raw ? same_prompt(prompts, raw, label) : NULL;
		l.prompt_config = json_object_get(entry, "config");
		if (same)
			FH_PUSH(now.items, now.count, now.capacity) = FH_TAKE(*same, (struct fh_eval_prompt){ 0 });
		else if (raw && *raw)
			r = add(&l, raw, strlen(raw), fh_xstrdup(label));
		else
			r = fh_document_error(c->document, place, err, "beforeAll gave a prompt without text: {raw, label}");
	}
	fh_eval_prompts_release(r == 0 ? prompts : &now);
	if (r == 0)
		*prompts = now;
	return r;
}

void fh_eval_prompts_release(struct fh_eval_prompts *p)
{
	for (size_t i = 0; i < p->count; i++)
		prompt_release(&p->items[i]);
	free(p->items);
	*p = (struct fh_eval_prompts){ 0 };
}
