/* SPDX-License-Identifier: MIT */
#include "eval/checking/rubric.h"
#include "base/fd.h"
#include "eval/common/text.h"
#include "eval/grading/json_in_text.h"
#include "eval/rendering/template_host.h"
#include "script/script.h"

#define PROMPT_MAX ((size_t)4 << 20)

const json_t *fh_rubric_prompt(const struct fh_rubric_call *c)
{
	const json_t *own = json_object_get(c->assertion, "rubricPrompt");
	const json_t *prompt =
	    own && !json_is_null(own) ? own : json_object_get(json_object_get(c->test, "options"), "rubricPrompt");
	bool empty = !prompt || json_is_null(prompt) || (json_is_string(prompt) && json_string_length(prompt) == 0) ||
	             (json_is_object(prompt) && json_object_size(prompt) == 0);
	return empty ? NULL : prompt;
}

/* Loads a rubric prompt: "file://x.txt" is read; the function in "file://x.js[:fn]" is called and returns the
 * prompt. */
static int load_file(const struct fh_rubric_call *c, const char *text, char **ret, struct fh_error *err)
{
	fh_auto_free char *path = NULL;
	fh_auto_free char *function = NULL;
	enum fh_script_language language;
	fh_text_split_file(text, c->config_dir, &path, &function);
	if (fh_script_language_of(path, &language)) {
		fh_auto_json json_t *none = json_array();
		fh_auto_script_result struct fh_script_result result = { 0 };
		struct fh_script_call call = { .language = language, .file = path, .function = function, .args = none };
		int r = fh_script_call(fh_services_scripts(c->services), &call, &result, err);
		if (r < 0)
			return r;
		if (result.outcome != FH_SCRIPT_RETURNED)
			return fh_error_set(err, FH_E_ARGUMENT, "rubricPrompt %s: %s", text, result.error_message);
		*ret = fh_text_of_json(result.value);
		return 0;
	}
	fh_auto_buf struct fh_buf content = FH_BUF_INIT(PROMPT_MAX);
	int r = fh_file_read(path, &content, err);
	if (r == 0)
		*ret = fh_buf_take(&content, NULL);
	return r < 0 ? fh_error_wrap(err, "rubricPrompt") : 0;
}

/* A copy of vars in which objects are JSON text, since a template would not show their members. New reference. */
static json_t *flattened(const json_t *vars)
{
	json_t *flat = json_object(), *v;
	const char *key;
	json_object_foreach((json_t *)(uintptr_t)vars, key, v)
	{
		if (json_is_object(v)) {
			fh_auto_free char *text = fh_json_text(v, 0);
			json_object_set_new(flat, key, fh_json_bytes(fh_str(text)));
			continue;
		}
		json_t *list = json_is_array(v) ? json_array() : NULL;
		for (size_t i = 0; list && i < json_array_size(v); i++) {
			const json_t *item = json_array_get(v, i);
			fh_auto_free char *text = json_is_object(item) || json_is_array(item) ? fh_json_text(item, 0) : NULL;
			json_array_append_new(list, text ? fh_json_bytes(fh_str(text)) : json_incref((json_t *)(uintptr_t)item));
		}
		json_object_set_new(flat, key, list ? list : json_incref(v));
	}
	return flat;
}

static int render_strings(json_t *value, const json_t *vars, struct fh_error *err)
{
	const char *key;
	json_t *v;
	void *next;
	int r = 0;
	for (size_t i = 0; i < json_array_size(value) && r == 0; i++) {
		fh_auto_free char *text = NULL;
		json_t *item = json_array_get(value, i);
		if (!json_is_string(item))
			r = render_strings(item, vars, err);
		else if ((r = fh_render_text(fh_str(json_string_value(item)), vars, &text, err)) == 0)
			json_array_set_new(value, i, fh_json_bytes(fh_str(text)));
	}
	json_object_foreach_safe(value, next, key, v)
	{
		fh_auto_free char *text = NULL;
		if (r < 0)
			break;
		if (!json_is_string(v))
			r = render_strings(v, vars, err);
		else if ((r = fh_render_text(fh_str(json_string_value(v)), vars, &text, err)) == 0)
			json_object_set_new(value, key, fh_json_bytes(fh_str(text)));
	}
	return r;
}

static int render(const char *prompt, const json_t *vars, char **ret, struct fh_error *err)
{
	fh_auto_json json_t *flat = flattened(vars);
	fh_auto_json json_t *chat = fh_text_chat(prompt);
	if (!chat)
		return fh_render_text(fh_str(prompt), flat, ret, err);
	int r = render_strings(chat, flat, err);
	if (r == 0)
		*ret = fh_json_text(chat, 0);
	return r;
}

int fh_rubric_ask_with(const struct fh_rubric_call *c, const json_t *prompt, const char *usual, char **ret,
                       json_t *tokens, struct fh_error *err)
{
	fh_auto_free char *given = NULL;
	fh_auto_free char *rendered = NULL;
	int r = 0;
	if (prompt && fh_text_is_file(json_string_value(prompt)))
		r = load_file(c, json_string_value(prompt), &given, err);
	else if (prompt)
		given = fh_text_of_json(prompt);
	if (r == 0)
		r = render(given ? given : usual, c->vars, &rendered, err);
	if (r < 0)
		return r;
	struct fh_grader_request request = {
		.what = c->what, .assertion = c->assertion, .test = c->test, .prompt = fh_str(rendered), .vars = c->vars
	};
	fh_auto_provider_response struct fh_provider_response response = FH_PROVIDER_RESPONSE_INIT;
	r = fh_graders_call(c->graders, &request, &response, tokens, err);
	if (r < 0)
		return r;
	if (c->about) {
		json_object_update(c->about, response.metadata);
		json_object_set_new(c->about, "renderedGradingPrompt", fh_json_bytes(fh_str(rendered)));
		if (response.cached)
			json_object_set_new(c->about, "cachedResponse", json_true());
	}
	*ret = fh_text_of_json(response.output);
	return 0;
}

int fh_rubric_ask(const struct fh_rubric_call *c, const char *usual, char **ret, json_t *tokens, struct fh_error *err)
{
	return fh_rubric_ask_with(c, fh_rubric_prompt(c), usual, ret, tokens, err);
}

json_t *fh_rubric_parsed(const json_t *output)
{
	struct fh_str text = { json_string_value(output), json_string_length(output) };
	json_t *parsed = text.p ? fh_json_parse(text, NULL, NULL) : NULL;
	return parsed ? parsed : json_incref((json_t *)(uintptr_t)output);
}

json_t *fh_rubric_object(const char *answer)
{
	/* Valid JSON from the first brace to the last one is read as it is: its texts may have braces, too. */
	const char *begin = strchr(answer, '{'), *end = strrchr(answer, '}');
	json_t *whole =
	    begin && end > begin ? fh_json_parse((struct fh_str){ begin, (size_t)(end - begin) + 1 }, NULL, NULL) : NULL;
	if (whole)
		return whole;
	fh_auto_json json_t *all = fh_json_in_text(fh_str(answer));
	json_t *first = json_array_get(all, 0);
	return first ? json_incref(first) : NULL;
}
