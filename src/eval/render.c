/* SPDX-License-Identifier: MIT */
#include "eval/render.h"
#include <ctype.h>
#include "base/fd.h"
#include "base/path.h"
#include "base/process/proc.h"
#include "eval/common/env.h"
#include "eval/common/text.h"
#include "provider/exec.h"
#include "eval/rendering/media.h"
#include "eval/rendering/template_host.h"
#include "script/script.h"

#define TAG_SPACE " \t\r\n"
#define VAR_FILE_MAX ((size_t)64 << 20)
#define VAR_PDF_MS 60000
#define ROUNDS_MAX 5
#define PROGRAM_OUTPUT_MAX ((size_t)16 << 20)
#define PROGRAM_TIMEOUT_MS 300000

/* ------------------------------------------------------------------------------------------- variables from files */

static int var_from_script(struct fh_services *services, enum fh_script_language language, const char *path,
                           const char *function, const char *name, const struct fh_eval_column *column,
                           const json_t *vars, json_t **ret, struct fh_error *err)
{
	bool python = language == FH_SCRIPT_PYTHON;
	fh_auto_json json_t *args = json_pack("[s, s, O]", name, column->prompt->raw, vars);
	if (!python)
		json_array_append(args, column->provider->json);
	fh_auto_script_result struct fh_script_result result = { 0 };
	struct fh_script_call call = { .language = language,
		                           .file = path,
		                           .args = args,
		                           .provider = python ? 0 : 4,
		                           .function = function ? function
		                                       : python ? "get_var"
		                                                : NULL };
	int r = fh_script_call(fh_services_scripts(services), &call, &result, err);
	if (r < 0)
		return r;
	const char *problem =
	    result.outcome == FH_SCRIPT_RETURNED ? fh_json_str(result.value, "error", NULL) : result.error_message;
	json_t *output = json_object_get(result.value, "output");
	if (problem)
		return fh_error_set(err, FH_E_ARGUMENT, "variable \"%s\": error running %s: %s", name, path, problem);
	if (!output || json_is_null(output))
		return fh_error_set(err, FH_E_ARGUMENT, "variable \"%s\": %s did not return {output: …}", name, path);
	if (python && json_is_string(output)) { /* as in promptfoo, which leaves what JavaScript returns as it is */
		struct fh_str trimmed = fh_text_trim((struct fh_str){ json_string_value(output), json_string_length(output) });
		*ret = json_stringn(trimmed.p, trimmed.n);
	} else {
		*ret = json_incref(output);
	}
	return 0;
}

/* Extracts the text of a PDF with pdftotext, which the user has to install. */
static int var_from_pdf(const char *path, const char *name, json_t **ret, struct fh_error *err)
{
	const char *const argv[] = { "pdftotext", "-q", "-enc", "UTF-8", path, "-", NULL };
	const struct fh_proc_options options = { .argv = argv,
		                                     .stdio = { FH_STDIO_NULL, FH_STDIO_PIPE, FH_STDIO_PIPE },
		                                     .own_group = true };
	fh_auto_free char *program = fh_path_which("pdftotext", getenv("PATH"));
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(VAR_FILE_MAX), said = FH_BUF_INIT(1 << 16);
	int status = 0;
	if (!program) {
		fh_error_set(err, FH_E_UNAVAILABLE, "variable \"%s\": pdftotext, which is needed to read %s, is not installed",
		             name, path);
		fh_error_hint(err, "install it: apt install poppler-utils");
		return -FH_E_UNAVAILABLE;
	}
	int r = fh_proc_run(&options, (struct fh_str){ "", 0 }, VAR_PDF_MS, &text, &said, &status, err);
	if (r < 0)
		return fh_error_wrap(err, "variable \"%s\": pdftotext", name);
	if (status != 0)
		return fh_error_set(err, FH_E_ARGUMENT, "variable \"%s\": pdftotext cannot read %s: %s", name, path,
		                    fh_buf_cstr(&said));
	*ret = fh_json_bytes(fh_text_trim(fh_buf_str(&text)));
	return 0;
}

static int var_from_file(const struct fh_eval_plan *plan, struct fh_services *services, const char *name,
                         const char *text, const struct fh_eval_column *column, const json_t *vars, json_t **ret,
                         struct fh_error *err)
{
	fh_auto_free char *path = NULL;
	fh_auto_free char *function = NULL;
	fh_text_split_file(text, plan->config.dir, &path, &function);
	const char *extension = fh_path_ext(path);
	enum fh_script_language language;
	if (fh_script_language_of(path, &language))
		return var_from_script(services, language, path, function, name, column, vars, ret, err);
	if (strcmp(extension, ".pdf") == 0)
		return var_from_pdf(path, name, ret, err);
	if (strcmp(extension, ".yaml") == 0 || strcmp(extension, ".yml") == 0) {
		struct fh_document *d = NULL;
		int r = fh_document_load(path, &d, err);
		if (r < 0)
			return r;
		fh_auto_free char *json = fh_json_text(d->root, 0);
		*ret = json_string(json);
		fh_document_free_list(d);
		return 0;
	}
	fh_auto_buf struct fh_buf content = FH_BUF_INIT(VAR_FILE_MAX);
	int r = fh_file_read(path, &content, err);
	if (r < 0)
		return fh_error_wrap(err, "variable \"%s\"", name);
	if (fh_media_is(path)) {
		fh_auto_buf struct fh_buf encoded = FH_BUF_INIT(0);
		fh_media_text(path, fh_buf_str(&content), &encoded);
		*ret = fh_json_bytes(fh_buf_str(&encoded));
		return 0;
	}
	*ret = fh_json_bytes(fh_text_trim(fh_buf_str(&content)));
	return 0;
}

/* ------------------------------------------------------------------------------------- variables in other variables */

/* Finds the first {{name}} in text, where nothing but a variable's name is between the braces. NULL: there is none. */
static const char *plain_tag(const char *text, size_t *ret_length, char **ret_name)
{
	for (const char *open = text; (open = strstr(open, "{{")); open += 2) {
		const char *name = open + 2 + strspn(open + 2, " \t\r\n"), *end = name;
		while (isalnum((unsigned char)*end) || *end == '_')
			end++;
		const char *close = end + strspn(end, " \t\r\n");
		if (end == name || !fh_starts_with(close, "}}"))
			continue;
		*ret_length = (size_t)(close + 2 - open);
		*ret_name = fh_xstrndup(name, (size_t)(end - name));
		return open;
	}
	return NULL;
}

/* A value as a template renders it. free() it. */
static char *as_text(const json_t *value)
{
	fh_auto_json json_t *vars = json_pack("{s:O}", "v", value);
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(0);
	if (fh_text_template_render_text(fh_str("{{ v }}"), "value", vars, NULL, &out, NULL) < 0)
		return fh_text_of_json(value);
	return fh_buf_take(&out, NULL);
}

static bool substitute_one(json_t *vars, const json_t *stored, const char *key, const char *text)
{
	size_t n = 0;
	fh_auto_free char *name = NULL;
	const char *tag = plain_tag(text, &n, &name);
	const json_t *value = tag ? json_object_get(vars, name) : NULL;
	if (!value)
		return false;
	fh_auto_free char *inner = as_text(value);
	/* What a model answered must not become part of a template. */
	if (json_object_get(stored, name) && fh_text_template_has_tags(fh_str(inner)))
		return false;
	if (strlen(inner) + strlen(text) > VAR_FILE_MAX)
		return false;
	fh_auto_free char *whole = fh_xasprintf("%.*s%s%s", (int)(tag - text), text, inner, tag + n);
	json_object_set_new(vars, key, fh_json_bytes(fh_str(whole)));
	return true;
}

static void substitute(json_t *vars, const json_t *stored)
{
	for (int round = 0, again = 1; again && round < ROUNDS_MAX; round++) {
		const char *key;
		json_t *v;
		void *next;
		again = 0;
		json_object_foreach_safe(vars, next, key, v)
		{
			const char *text = json_string_value(v);
			if (text && strstr(text, "{{") && !json_object_get(stored, key))
				again |= substitute_one(vars, stored, key, text);
		}
	}
}

static size_t name_length(const char *text)
{
	size_t n = 0;
	while (isalnum((unsigned char)text[n]) || text[n] == '_' || text[n] == '$')
		n++;
	return isdigit((unsigned char)*text) ? 0 : n;
}

static bool is_known(const char *name, size_t n, const json_t *vars, const json_t *loops)
{
	fh_auto_free char *word = fh_xstrndup(name, n);
	return n == 0 || json_object_get(vars, word) || json_object_get(loops, word);
}

/* What stands behind the word of a tag, as in "{% for …": NULL where text, which begins with "{%", is another tag. */
static const char *behind_word(const char *text, const char *word)
{
	const char *at = text + 2 + strspn(text + 2, TAG_SPACE);
	if (!fh_starts_with(at, word))
		return NULL;
	at += strlen(word);
	size_t space = strspn(at, TAG_SPACE);
	return space ? at + space : NULL;
}

/* Adds the NAME of each "{% for NAME in LIST %}" in text; promptfoo knows those of no other form of loop. */
static void add_loops(const char *text, json_t *loops)
{
	for (const char *tag = text; (tag = strstr(tag, "{%")); tag += 2) {
		const char *name = behind_word(tag, "for");
		size_t n = name ? name_length(name) : 0;
		const char *in = n ? name + n + strspn(name + n, TAG_SPACE) : "";
		if (!fh_starts_with(in, "in"))
			continue;
		const char *list = in + 2 + strspn(in + 2, TAG_SPACE);
		const char *end = list + name_length(list);
		end += strspn(end, TAG_SPACE);
		fh_auto_free char *word = fh_xstrndup(name, n);
		if (fh_starts_with(end, "%}"))
			json_object_set_new(loops, word, json_true());
	}
}

/* Whether every {{expression}}, {% if … %} and {% for … %} of text begins with a known name, as promptfoo looks for
 * them: text of which a name is not known may be code in a language of templates. */
static bool names_known(const char *text, const json_t *vars)
{
	fh_auto_json json_t *loops = json_object();
	add_loops(text, loops);
	for (const char *open = text; (open = strstr(open, "{{")); open += 2) {
		const char *name = open + 2 + (open[2] == '-');
		name += strspn(name, TAG_SPACE);
		if (!is_known(name, name_length(name), vars, loops))
			return false;
	}
	for (const char *tag = text; (tag = strstr(tag, "{%")); tag += 2) {
		const char *name = behind_word(tag, "if");
		name = name ? name : behind_word(tag, "for");
		if (name && !is_known(name, name_length(name), vars, loops))
			return false;
	}
	return true;
}

static bool has_braces(const json_t *vars)
{
	const char *key;
	json_t *v;
	json_object_foreach((json_t *)(uintptr_t)vars, key,
	                    v) if (json_is_string(v) && strchr(json_string_value(v), '{')) return true;
	return false;
}

static json_t *joined_with_env(const json_t *vars, const json_t *env)
{
	json_t *all = json_copy((json_t *)(uintptr_t)vars);
	if (!json_object_get(all, "env"))
		json_object_set(all, "env", (json_t *)(uintptr_t)env);
	return all;
}

/* Whether a text in the value has a NUL character. Templates end there, and so would a prompt, without a word. */
static bool has_nul(const json_t *value)
{
	const char *key;
	json_t *item;
	size_t i;
	bool found = json_is_string(value) && strlen(json_string_value(value)) != json_string_length(value);
	json_array_foreach(value, i, item) found = found || has_nul(item);
	json_object_foreach((json_t *)(uintptr_t)value, key, item) found = found || has_nul(item);
	return found;
}

int fh_render_vars(const struct fh_eval_plan *plan, struct fh_services *services, const json_t *vars,
                   const struct fh_eval_column *column, json_t **ret, struct fh_error *err)
{
	fh_auto_json json_t *all = json_copy((json_t *)(uintptr_t)vars);
	const char *key;
	json_t *v;
	void *next;
	json_object_foreach_safe(all, next, key, v)
	{
		const char *text = json_string_value(v);
		size_t n = json_string_length(v);
		json_t *loaded = NULL;
		if (fh_text_is_file(text)) {
			int r = var_from_file(plan, services, key, text, column, all, &loaded, err);
			if (r < 0)
				return r;
			json_object_set_new(all, key, loaded);
		} else if (text && n > 0 && text[n - 1] == '\n') {
			json_object_set_new(all, key, json_stringn(text, n - 1));
		}
	}
	json_object_foreach(all, key, v) if (has_nul(v)) return fh_error_set(
	    err, FH_E_ARGUMENT, "variable \"%s\" has a NUL character (U+0000), which no prompt may have", key);
	if (has_braces(all))
		substitute(all, plan->stored);
	*ret = json_incref(all);
	return 0;
}

/* ---------------------------------------------------------------------------------------------------------- prompt */

/* Calls a prompt function, which returns text, messages, or {prompt, config}. */
static int prompt_from_script(struct fh_services *services, const struct fh_eval_column *column, const json_t *vars,
                              char **ret, json_t **ret_config, struct fh_error *err)
{
	const struct fh_eval_prompt *p = column->prompt;
	enum fh_script_language language = FH_SCRIPT_PYTHON;
	fh_script_language_of(p->file, &language);
	fh_auto_json json_t *args = json_pack("[{s:O, s:O, s:o}]", "vars", vars, "provider", column->provider->json,
	                                      "config", p->config ? json_incref(p->config) : json_object());
	fh_auto_script_result struct fh_script_result result = { 0 };
	struct fh_script_call call = { .language = language,
		                           .file = p->file,
		                           .args = args,
		                           .function = p->function                    ? p->function
		                                       : language == FH_SCRIPT_PYTHON ? "get_prompt"
		                                                                      : NULL };
	int r = fh_script_call(fh_services_scripts(services), &call, &result, err);
	if (r < 0)
		return r;
	if (result.outcome != FH_SCRIPT_RETURNED)
		return fh_error_set(err, FH_E_ARGUMENT, "prompt %s: %s", p->label, result.error_message);
	json_t *prompt = json_object_get(result.value, "prompt"), *config = json_object_get(result.value, "config");
	const json_t *text = prompt ? prompt : result.value;
	if (!json_is_string(text) && !json_is_object(text) && !json_is_array(text))
		return fh_error_set(err, FH_E_ARGUMENT, "prompt %s must return text, messages, or {prompt, config}", p->label);
	*ret = fh_text_of_json(text);
	*ret_config = prompt && json_is_object(config) ? json_incref(config) : NULL;
	return 0;
}

/* Runs a command that prints the prompt; its last argument is {vars, provider, config?} as JSON. */
static int prompt_from_program(const struct fh_eval_column *column, const json_t *vars, char **ret,
                               struct fh_error *err)
{
	const struct fh_eval_prompt *p = column->prompt;
	fh_auto_json json_t *context =
	    json_pack("{s:O, s:O, s:O?}", "vars", vars, "provider", column->provider->json, "config", p->config);
	fh_auto_free char *text = fh_json_text(context, 0);
	size_t n = 0;
	while (p->program[n])
		n++;
	fh_auto_free const char **argv = fh_xcalloc(n + 2, sizeof(*argv));
	for (size_t i = 0; i < n; i++)
		argv[i] = p->program[i];
	argv[n] = text;
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(PROGRAM_OUTPUT_MAX);
	int status = 0;
	fh_auto_buf struct fh_buf said = FH_BUF_INIT(1 << 16);
	struct fh_proc_options o = { .argv = argv,
		                         .stdio = { FH_STDIO_NULL, FH_STDIO_PIPE, FH_STDIO_PIPE },
		                         .own_group = true };
	int r = fh_proc_run(&o, fh_str(""), PROGRAM_TIMEOUT_MS, &out, &said, &status, err);
	if (r < 0)
		return fh_error_wrap(err, "prompt %s", p->label);
	if (status != 0)
		return fh_error_set(err, FH_E_ARGUMENT, "prompt %s: %s failed: %.500s", p->label, argv[0], fh_buf_cstr(&said));
	fh_auto_buf struct fh_buf plain = FH_BUF_INIT(0);
	fh_exec_plain(&plain, fh_buf_str(&out));
	*ret = fh_buf_take(&plain, NULL);
	return 0;
}

/* Whether text has a tag that is not closed on its line. promptfoo does not render such text. */
static bool has_open_tag(const char *text)
{
	static const struct {
		const char *open;
		char close;
	} tags[] = { { "{%", '%' }, { "{{", '}' }, { "{#", '#' } };
	for (size_t i = 0; i < FH_ARRAY_SIZE(tags); i++)
		for (const char *p = text; (p = strstr(p, tags[i].open)); p += 2) {
			const char *end = p + 2;
			while (*end && *end != tags[i].close && *end != '\n')
				end++;
			if (*end != tags[i].close)
				return true;
		}
	return false;
}

/* `ready`: the text as a compiled template; NULL: it is compiled here. */
static int render_with(const struct fh_eval_host *h, const char *text, const struct fh_text_template *ready,
                       const json_t *vars, char **ret, struct fh_error *err)
{
	struct fh_str source = fh_str(text);
	if (!fh_text_template_has_tags(source) || fh_eval_templates_off() ||
	    (has_open_tag(text) && !(strstr(text, "{% raw") && strstr(text, "endraw")))) {
		*ret = fh_xstrdup(text);
		return 0;
	}
	fh_auto_template struct fh_text_template *own = ready ? NULL : fh_text_template_compile(source, "template", err);
	const struct fh_text_template *t = ready ? ready : own;
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(0);
	int r = t ? fh_text_template_render(t, vars, &h->host, &out, err) : -FH_E_CONFIG;
	if (r == 0)
		*ret = fh_buf_take(&out, NULL);
	return r;
}

/* Renders each variable with all variables. Text with an unknown name stays unchanged, since it may be code. New
 * reference. */
static int render_vars(const struct fh_eval_plan *plan, struct fh_services *services, const json_t *vars, json_t **ret,
                       struct fh_error *err)
{
	struct fh_eval_host h;
	fh_eval_host_init(&h, plan->filters, services, false);
	fh_auto_json json_t *rendered = NULL;
	const char *key;
	json_t *v;
	json_object_foreach((json_t *)(uintptr_t)vars, key, v)
	{
		const char *text = json_string_value(v);
		fh_auto_free char *out = NULL;
		if (!text || !strchr(text, '{') || strlen(text) != json_string_length(v) || !names_known(text, vars) ||
		    json_object_get(plan->stored, key))
			continue;
		int r = render_with(&h, text, NULL, vars, &out, err);
		if (r < 0)
			return r;
		if (!rendered)
			rendered = json_copy((json_t *)(uintptr_t)vars);
		json_object_set_new(rendered, key, fh_json_bytes(fh_str(out)));
	}
	*ret = json_incref(rendered ? rendered : (json_t *)(uintptr_t)vars);
	return 0;
}

/* Renders each string of a JSON prompt by itself, so that quotes in a variable cannot break the JSON. */
static int render_json(const json_t *value, const json_t *vars, json_t **ret, struct fh_error *err)
{
	const char *key;
	json_t *v, *rendered;
	if (json_is_string(value)) {
		fh_auto_free char *text = NULL;
		int r =
		    fh_render_text((struct fh_str){ json_string_value(value), json_string_length(value) }, vars, &text, err);
		if (r == 0)
			*ret = fh_json_bytes(fh_str(text));
		return r;
	}
	if (!json_is_object(value) && !json_is_array(value)) {
		*ret = json_incref((json_t *)(uintptr_t)value);
		return 0;
	}
	fh_auto_json json_t *copy = json_is_object(value) ? json_object() : json_array();
	for (size_t i = 0; i < json_array_size(value); i++) {
		int r = render_json(json_array_get(value, i), vars, &rendered, err);
		if (r < 0)
			return r;
		json_array_append_new(copy, rendered);
	}
	json_object_foreach((json_t *)(uintptr_t)value, key, v)
	{
		int r = render_json(v, vars, &rendered, err);
		if (r < 0)
			return r;
		json_object_set_new(copy, key, rendered);
	}
	*ret = json_incref(copy);
	return 0;
}

static int render_template(const struct fh_eval_plan *plan, struct fh_services *services, const char *raw,
                           const struct fh_text_template *ready, const json_t *parsed, const json_t *vars, char **ret,
                           struct fh_error *err)
{
	fh_auto_json json_t *rendered = NULL;
	if (parsed && !fh_env_on("PROMPTFOO_DISABLE_JSON_AUTOESCAPE") && render_json(parsed, vars, &rendered, NULL) == 0) {
		*ret = fh_json_text(rendered, 2);
		return 0;
	}
	struct fh_eval_host h;
	fh_eval_host_init(&h, plan->filters, services, true);
	int r = render_vars(plan, services, vars, &rendered, err);
	return r < 0 ? r : render_with(&h, raw, ready, rendered, ret, err);
}

/* A test's prefix or suffix; an empty one does not replace that of defaultTest. */
static const char *text_option(const struct fh_eval_plan *plan, const json_t *options, const char *name)
{
	const char *own = fh_json_str(options, name, "");
	return *own ? own : fh_json_str(json_object_get(plan->default_test, "options"), name, "");
}

char *fh_render_prompt_template(const struct fh_eval_plan *plan, const struct fh_eval_prompt *p, const json_t *options)
{
	return p->file || p->program ? fh_xstrdup(p->raw)
	                             : fh_xasprintf("%s%s%s", text_option(plan, options, "prefix"), p->raw,
	                                            text_option(plan, options, "suffix"));
}

int fh_render_prompt(const struct fh_eval_plan *plan, struct fh_services *services, const struct fh_eval_column *column,
                     const json_t *vars, const json_t *options, char **ret, json_t **ret_config, struct fh_error *err)
{
	const struct fh_eval_prompt *p = column->prompt;
	fh_auto_free char *made = NULL;
	bool called = p->file || p->program;
	if (p->program) {
		int r = prompt_from_program(column, vars, &made, err);
		if (r < 0)
			return r;
	}
	if (p->file) {
		int r = prompt_from_script(services, column, vars, &made, ret_config, err);
		if (r < 0)
			return r;
	}
	const char *prefix = called ? "" : text_option(plan, options, "prefix"),
	           *suffix = called ? "" : text_option(plan, options, "suffix");
	bool whole = !*prefix && !*suffix && !made;
	fh_auto_free char *raw = whole ? NULL : fh_xasprintf("%s%s%s", prefix, made ? made : p->raw, suffix);
	const char *text = whole ? p->raw : raw;
	/* Only a template can use the environment, so it is not copied into the variables for text without a brace. */
	fh_auto_json json_t *all =
	    strchr(text, '{') ? joined_with_env(vars, plan->config.env) : json_incref((json_t *)(uintptr_t)vars);
	fh_auto_json json_t *parsed = whole ? NULL : fh_text_json(fh_str(text));
	return render_template(plan, services, text, whole ? p->compiled : NULL, whole ? p->parsed : parsed, all, ret, err);
}
