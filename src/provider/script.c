/* SPDX-License-Identifier: MIT */
#include "base/path.h"
#include "provider/settings.h"
#include "provider/type.h"
#include "script/script.h"

struct fh_script_provider {
	enum fh_script_language language;
	char *file;
	char *function; /* name of the function; NULL: the language's default function */
	char *program;  /* config.pythonExecutable; NULL: the workers' default */
};

static void fh_script_provider_free(struct fh_provider *p)
{
	struct fh_script_provider *s = p->state;
	if (!s)
		return;
	free(s->file);
	free(s->function);
	free(s->program);
	free(s);
}

/* Splits "x.py:fn" into "x.py" and "fn", at the colon behind the file's extension: a folder's name may contain one. */
static void fh_script_provider_split(const char *target, char **ret_file, char **ret_function)
{
	static const char *const endings[] = { ".py", ".cjs", ".mjs", ".js", ".cts", ".mts", ".ts", ".rb" };
	for (size_t i = 0; i < FH_ARRAY_SIZE(endings); i++) {
		for (const char *at = strstr(target, endings[i]); at; at = strstr(at + 1, endings[i])) {
			const char *end = at + strlen(endings[i]);
			if (*end && *end != ':')
				continue;
			*ret_file = fh_xstrndup(target, (size_t)(end - target));
			*ret_function = *end && end[1] ? fh_xstrdup(end + 1) : NULL;
			return;
		}
	}
	*ret_file = fh_xstrdup(target);
	*ret_function = NULL;
}

static int fh_script_provider_open(struct fh_provider *p, struct fh_error *err)
{
	struct fh_script_provider *s = FH_NEW(struct fh_script_provider);
	p->state = s;
	const char *target = fh_starts_with(p->target, "file://") ? p->target + 7 : p->target;
	fh_auto_free char *file = NULL;
	fh_script_provider_split(target, &file, &s->function);
	s->file = fh_path_join(p->base_dir, file);
	if (!fh_script_language_of(s->file, &s->language))
		return fh_error_set(err, FH_E_CONFIG, "provider %s: %s is not a python, javascript or ruby file", p->id,
		                    s->file);
	const char *program = fh_json_str(p->config, "pythonExecutable", NULL);
	if (program && *program && s->language == FH_SCRIPT_PYTHON)
		s->program = strchr(program, '/') ? fh_path_join(p->base_dir, program) : fh_xstrdup(program);
	if (!fh_path_exists(s->file)) {
		fh_error_set(err, FH_E_CONFIG, "provider %s: there is no file %s", p->id, s->file);
		fh_error_hint(err, "file:// paths are relative to the folder of the config");
		return -FH_E_CONFIG;
	}
	return s->language == FH_SCRIPT_JAVASCRIPT ? 0 : fh_settings_load_all(p, p->config, err);
}

static int64_t fh_script_provider_count(const json_t *usage, const char *key)
{
	double n = fh_json_num(usage, key, -1);
	return n >= 0 && n <= (double)FH_TOKENS_MAX ? (int64_t)n : -1;
}

/* The error that a result tells, as JavaScript sees one: any value but null, false, 0 and "". NULL: it tells none. */
static char *fh_script_provider_error(const json_t *error)
{
	const json_t *message = json_object_get(error, "message");
	if (!error || json_is_null(error) || json_is_false(error) ||
	    (json_is_number(error) && json_number_value(error) == 0))
		return NULL;
	if (json_is_string(message) && json_string_length(message))
		error = message;
	if (json_is_string(error))
		return json_string_length(error) ? fh_xstrdup(json_string_value(error)) : NULL;
	return fh_json_text(error, 0);
}

/* The members of a result that the response has no field for: guardrails, trace, prompt … NULL: no such member. */
static json_t *fh_script_provider_extra(const json_t *value)
{
	static const char *const ours[] = { "output",    "error",        "tokenUsage", "cost",     "cached",
		                                "latencyMs", "finishReason", "metadata",   "logProbs", "raw" };
	json_t *extra = NULL, *v;
	const char *key;
	json_object_foreach((json_t *)(uintptr_t)value, key, v)
	{
		bool own = false;
		for (size_t i = 0; i < FH_ARRAY_SIZE(ours) && !own; i++)
			own = strcmp(ours[i], key) == 0;
		if (own)
			continue;
		extra = extra ? extra : json_object();
		json_object_set(extra, key, v);
	}
	return extra;
}

static const struct {
	const char *python, *javascript; /* name of the script's function for the operation */
	const char *member;              /* member of the function's result that becomes the output */
} fh_script_provider_operations[FH_PROVIDER_OPERATION_COUNT_] = {
	[FH_PROVIDER_ANSWER] = { "call_api", "callApi", "output" },
	[FH_PROVIDER_EMBEDDING] = { "call_embedding_api", "callEmbeddingApi", "embedding" },
	[FH_PROVIDER_CLASSIFICATION] = { "call_classification_api", "callClassificationApi", "classification" },
	[FH_PROVIDER_MODERATION] = { "call_moderation_api", "callModerationApi", "flags" },
};

void fh_provider_take_result(const char *function, const char *file, const char *shape, const char *member,
                             json_t *value, struct fh_provider_response *ret)
{
	json_t *output = json_object_get(value, member);
	const json_t *told = json_object_get(value, "error");
	fh_auto_free char *error = fh_script_provider_error(told);
	json_t *usage = json_object_get(value, "tokenUsage");
	ret->raw = json_incref(value);
	if (!output && !error && !json_is_string(told)) {
		fh_auto_free char *got = fh_json_text(value, 0);
		fh_auto_buf struct fh_buf text = FH_BUF_INIT(1 << 16);
		fh_response_excerpt(&text, fh_str(got), 500);
		fh_response_fail(ret, "%s of %s has to return %s with an `output` or an `error` string, instead got: %s",
		                 function, fh_path_base(file), shape, fh_buf_cstr(&text));
		return;
	}
	ret->tokens.total = fh_script_provider_count(usage, "total");
	ret->tokens.prompt = fh_script_provider_count(usage, "prompt");
	ret->tokens.completion = fh_script_provider_count(usage, "completion");
	ret->tokens.cached = fh_script_provider_count(usage, "cached");
	if (ret->tokens.total < 0 && (ret->tokens.prompt >= 0 || ret->tokens.completion >= 0))
		ret->tokens.total = FH_MAX(ret->tokens.prompt, 0) + FH_MAX(ret->tokens.completion, 0);
	ret->cost = fh_json_num(value, "cost", -1);
	ret->cached = fh_json_bool(value, "cached", false);
	ret->latency_ms = fh_json_num(value, "latencyMs", 0);
	const char *finish = fh_json_str(value, "finishReason", NULL);
	ret->finish_reason = finish ? fh_xstrdup(finish) : NULL;
	if (json_is_object(json_object_get(value, "metadata")))
		ret->metadata = json_incref(json_object_get(value, "metadata"));
	if (json_is_array(json_object_get(value, "logProbs")))
		ret->log_probs = json_incref(json_object_get(value, "logProbs"));
	ret->extra = fh_script_provider_extra(value);
	if (error)
		fh_response_fail(ret, "%s", error);
	ret->output = output ? json_incref(output) : ret->error ? NULL : json_null();
}

static void fh_script_provider_failed(const struct fh_script_provider *s, const struct fh_script_result *r,
                                      struct fh_provider_response *ret)
{
	static const char *const languages[] = { "JavaScript", "Python", "Ruby" };
	const char *language = languages[s->language];
	bool trace = r->outcome == FH_SCRIPT_THREW && r->error_traceback && *r->error_traceback;
	fh_response_fail(ret, "%s error: %s%s%s", language, r->error_message, trace ? "\n" : "",
	                 trace ? r->error_traceback : "");
}

/* The arguments: call_api(prompt, options, context) in Python, callApi(prompt, context, options) in JavaScript. */
static json_t *fh_script_provider_args(const struct fh_provider *p, const struct fh_provider_request *request,
                                       json_t *options)
{
	const struct fh_script_provider *s = p->state;
	json_t *context = request->context ? json_copy((json_t *)(uintptr_t)request->context) : json_object();
	json_t *args = json_array();
	bool options_first = s->language != FH_SCRIPT_JAVASCRIPT;
	if (options_first)
		json_object_del(context, "originalProvider");
	json_array_append_new(args, fh_json_bytes(request->prompt));
	json_array_append(args, options_first ? options : context);
	if (request->operation == FH_PROVIDER_ANSWER || !options_first)
		json_array_append(args, options_first ? context : options);
	json_decref(context);
	return args;
}

static int fh_script_provider_call(struct fh_provider *p, const struct fh_provider_request *request,
                                   struct fh_provider_response *ret, struct fh_error *err)
{
	const struct fh_script_provider *s = p->state;
	bool answer = request->operation == FH_PROVIDER_ANSWER;
	const char *usual = fh_script_provider_operations[request->operation].python;
	const char *function = s->function && answer ? s->function : s->language == FH_SCRIPT_JAVASCRIPT ? NULL : usual;
	if (!p->scripts)
		return fh_error_set(err, FH_E_ARGUMENT, "provider %s was opened without script workers", p->id);
	fh_auto_json json_t *options = json_object();
	/* As in promptfoo, what the prompt and the test set is in context.prompt.config, not here. */
	json_t *config = json_is_object(p->config) ? json_copy(p->config) : json_object();
	int64_t timeout = fh_json_int(config, "timeout", (int64_t)p->timeout_ms);
	json_object_set_new(config, "basePath", fh_provider_base_path(p));
	json_object_set_new(options, "id", json_string(p->id));
	json_object_set_new(options, "config", config);
	json_object_set_new(options, "env", json_is_object(p->env) ? json_incref(p->env) : json_object());
	fh_auto_json json_t *args = fh_script_provider_args(p, request, options);
	struct fh_script_call call = {
		.language = s->language,
		.file = s->file,
		.function = function,
		.method =
		    s->language == FH_SCRIPT_JAVASCRIPT ? fh_script_provider_operations[request->operation].javascript : NULL,
		.construct = options,
		.program = s->program,
		.env = (const char *const *)p->granted,
		.args = args,
		.timeout_ms = timeout > 0 ? (uint64_t)timeout : 0,
	};
	fh_auto_script_result struct fh_script_result r = { 0 };
	struct fh_error why = FH_ERROR_INIT;
	int code = fh_script_call(p->scripts, &call, &r, &why);
	if (code == -FH_E_CANCELLED)
		return fh_error_set(err, FH_E_CANCELLED, "cancelled");
	if (code)
		fh_response_fail(ret, "%s%s%s%s", why.message, why.hint[0] ? " (" : "", why.hint, why.hint[0] ? ")" : "");
	else if (r.outcome != FH_SCRIPT_RETURNED)
		fh_script_provider_failed(s, &r, ret);
	else
		fh_provider_take_result(function ? function : call.method, s->file,
		                        s->language == FH_SCRIPT_PYTHON ? "a dict" : "an object",
		                        fh_script_provider_operations[request->operation].member, r.value, ret);
	return 0;
}

static const char *const fh_script_provider_prefixes[] = { "python:", "ruby:", "file://", NULL };
static const char *const fh_script_provider_suffixes[] = { ".py",  ".js",  ".mjs", ".cjs", ".ts",
	                                                       ".mts", ".cts", ".rb",  NULL };

const struct fh_provider_type fh_provider_script = {
	.name = "python",
	.prefixes = fh_script_provider_prefixes,
	.suffixes = fh_script_provider_suffixes,
	.open = fh_script_provider_open,
	.call = fh_script_provider_call,
	.free = fh_script_provider_free,
	.operations = true,
};
