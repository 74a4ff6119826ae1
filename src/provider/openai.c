/* SPDX-License-Identifier: MIT */
#include "provider/openai.h"

#include "base/parse.h"
#include "provider/chat.h"

#define FH_OPENAI_MAX_TOKENS 1024

struct fh_openai {
	const char *model;
	char *url;
	char *key; /* NULL: a server that needs none */
	struct fh_http *http;
};

static void fh_openai_free(struct fh_provider *p)
{
	struct fh_openai *o = p->state;
	if (!o)
		return;
	fh_http_free(o->http);
	free(o->url);
	free(o->key);
	free(o);
}

/* The server, by the first of these that is set; *ret_own tells whether it is another than OpenAI's. */
static char *fh_openai_base(const struct fh_provider *p, bool *ret_own)
{
	const char *host = fh_json_str(p->config, "apiHost", NULL);
	const char *base = fh_json_str(p->config, "apiBaseUrl", NULL);
	*ret_own = true;
	if (base && *base)
		return fh_xstrdup(base);
	host = host && *host ? host : fh_provider_env(p, "OPENAI_API_HOST");
	if (host)
		return fh_xasprintf("https://%s/v1", host);
	base = fh_provider_env(p, "OPENAI_BASE_URL");
	base = base ? base : fh_provider_env(p, "OPENAI_API_BASE_URL");
	if (base)
		return fh_xstrdup(base);
	*ret_own = false;
	return fh_xstrdup("https://api.openai.com/v1");
}

static const char *fh_openai_key(const struct fh_provider *p)
{
	const char *key = fh_json_str(p->config, "apiKey", NULL);
	const char *name = fh_json_str(p->config, "apiKeyEnvar", NULL);
	if (key && *key)
		return key;
	return fh_provider_env(p, name && *name ? name : "OPENAI_API_KEY");
}

static const char *const fh_openai_prefixes[] = { "openai:chat:", "openai:", NULL };

/* Other OpenAI services that promptfoo names in this place, so that "openai:embedding:x" is not taken for a model. */
static const char *const fh_openai_others[] = {
	"completion:", "responses:", "embedding:",       "embeddings:", "moderation:", "assistant:", "image:",
	"realtime:",   "codex-sdk",  "codex-app-server", "agents:",     "video:",      "speech:",    "transcription:",
};

static int fh_openai_check_id(const struct fh_provider *p, struct fh_error *err)
{
	if (!fh_starts_with(p->id, fh_openai_prefixes[0])) {
		for (size_t i = 0; i < FH_ARRAY_SIZE(fh_openai_others); i++) {
			if (!fh_starts_with(p->target, fh_openai_others[i]))
				continue;
			fh_error_set(err, FH_E_CONFIG, "provider %s: only chat models are supported", p->id);
			fh_error_hint(err, "write openai:chat:MODEL");
			return -FH_E_CONFIG;
		}
	}
	if (*p->target)
		return 0;
	fh_error_set(err, FH_E_CONFIG, "provider %s names no model", p->id);
	fh_error_hint(err, "write openai:chat:MODEL, for example openai:chat:gpt-4o");
	return -FH_E_CONFIG;
}

static int fh_openai_open(struct fh_provider *p, struct fh_error *err)
{
	int code = fh_openai_check_id(p, err);
	if (code)
		return code;
	if (fh_json_bool(json_object_get(p->config, "passthrough"), "stream", false))
		return fh_error_set(err, FH_E_CONFIG, "provider %s: passthrough.stream is not supported", p->id);
	fh_auto_chat_headers struct fh_chat_headers headers = { 0 };
	code = fh_chat_config_headers(&headers, p->config, err);
	if (code)
		return fh_error_wrap(err, "provider %s", p->id);
	struct fh_openai *o = FH_NEW(struct fh_openai);
	p->state = o;
	bool own;
	fh_auto_free char *base = fh_openai_base(p, &own);
	o->model = p->target;
	o->url = fh_chat_url(base, "/chat/completions");
	const char *key = fh_openai_key(p);
	o->key = key ? fh_xstrdup(key) : NULL;
	o->http = fh_http_new("start the server, or name another one with apiBaseUrl or OPENAI_BASE_URL");
	if (!fh_starts_with(o->url, "http://") && !fh_starts_with(o->url, "https://")) {
		fh_error_set(err, FH_E_CONFIG, "provider %s: %s is not an http or https URL", p->id, base);
		fh_error_hint(err, "apiBaseUrl and OPENAI_BASE_URL look like http://127.0.0.1:8080/v1");
		return -FH_E_CONFIG;
	}
	if (!o->key && !own) {
		fh_error_set(err, FH_E_CONFIG, "provider %s: no API key", p->id);
		fh_error_hint(err, "set %s in the environment or in .env, or OPENAI_BASE_URL for a server of your own",
		              fh_json_str(p->config, "apiKeyEnvar", "OPENAI_API_KEY"));
		return -FH_E_CONFIG;
	}
	return 0;
}

/* Models that think before they answer take neither temperature nor max_tokens. */
static bool fh_openai_reasons(const char *model)
{
	static const char *const families[] = { "o1", "o3", "o4", "gpt-5" };
	for (size_t i = 0; i < FH_ARRAY_SIZE(families); i++)
		if (fh_starts_with(model, families[i]))
			return true;
	return false;
}

static json_t *fh_openai_number(const json_t *config, const char *key, const char *env, double fallback, bool integer)
{
	json_t *given = json_object_get(config, key);
	double n = fallback;
	if (given)
		return json_is_null(given) ? NULL : json_incref(given);
	if (env && fh_parse_double(env, -1e9, 1e9, &n, NULL))
		n = fallback;
	return integer || n == (double)(int64_t)n ? json_integer((json_int_t)n) : json_real(n);
}

static void fh_openai_set(json_t *body, const char *key, FH_OWN json_t *value)
{
	if (value)
		json_object_set_new(body, key, value);
}

json_t *fh_openai_request(const char *model, const json_t *config, const struct fh_openai_defaults *defaults,
                          struct fh_str prompt)
{
	static const char *const keys[] = {
		"top_p",
		"presence_penalty",
		"frequency_penalty",
		"logit_bias",
		"logprobs",
		"top_logprobs",
		"functions",
		"function_call",
		"tools",
		"tool_choice",
		"parallel_tool_calls",
		"response_format",
		"stop",
		"seed",
		"user",
		"service_tier",
		"metadata",
		"store",
		"n",
		NULL,
	};
	static const char *const reasoning_keys[] = { "max_completion_tokens", "reasoning_effort", "verbosity", NULL };
	json_t *body = json_object();
	json_object_set_new(body, "model", json_string(model));
	json_object_set_new(body, "messages", fh_chat_messages(prompt));
	if (!fh_openai_reasons(model)) {
		fh_openai_set(body, "max_tokens",
		              fh_openai_number(config, "max_tokens", defaults->max_tokens, FH_OPENAI_MAX_TOKENS, true));
		fh_openai_set(body, "temperature", fh_openai_number(config, "temperature", defaults->temperature, 0, false));
	}
	fh_chat_copy(body, config, reasoning_keys);
	fh_chat_copy(body, config, keys);
	json_t *passthrough = json_object_get(config, "passthrough");
	if (json_is_object(passthrough))
		json_object_update(body, passthrough);
	return body;
}

static int64_t fh_openai_count(const json_t *object, const char *key)
{
	double n = fh_json_num(object, key, -1);
	return n >= 0 && n <= FH_TOKENS_MAX ? (int64_t)n : -1;
}

static void fh_openai_usage(const json_t *usage, struct fh_tokens *ret)
{
	ret->prompt = fh_openai_count(usage, "prompt_tokens");
	ret->completion = fh_openai_count(usage, "completion_tokens");
	ret->total = fh_openai_count(usage, "total_tokens");
	ret->cached = fh_openai_count(json_object_get(usage, "prompt_tokens_details"), "cached_tokens");
	if (ret->total < 0 && ret->prompt >= 0 && ret->completion >= 0)
		ret->total = ret->prompt + ret->completion;
}

/* Prices per token as the config gives them; we know none ourselves, as they change. */
static double fh_openai_cost(const json_t *config, const struct fh_tokens *t)
{
	double both = fh_json_num(config, "cost", -1);
	double in = fh_json_num(config, "inputCost", both), out = fh_json_num(config, "outputCost", both);
	if (in < 0 || out < 0 || t->prompt < 0 || t->completion < 0)
		return -1;
	return in * (double)t->prompt + out * (double)t->completion;
}

static json_t *fh_openai_log_probs(const json_t *choice)
{
	const json_t *content = json_object_get(json_object_get(choice, "logprobs"), "content");
	if (!json_is_array(content))
		return NULL;
	json_t *list = json_array();
	for (size_t i = 0; i < json_array_size(content); i++)
		json_array_append_new(list, json_real(fh_json_num(json_array_get(content, i), "logprob", 0)));
	return list;
}

/* Text of a message whose content is a list of parts. */
static json_t *fh_openai_parts(const json_t *parts)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(FH_HTTP_BODY_MAX);
	for (size_t i = 0; i < json_array_size(parts); i++)
		fh_buf_adds(&text, fh_json_str(json_array_get(parts, i), "text", ""));
	return fh_json_bytes(fh_buf_str(&text));
}

static json_t *fh_openai_output(const json_t *message, const json_t *config)
{
	json_t *content = json_object_get(message, "content");
	json_t *calls = json_object_get(message, "tool_calls");
	json_t *call = json_object_get(message, "function_call");
	json_t *refusal = json_object_get(message, "refusal");
	if (json_array_size(calls))
		return json_incref(calls);
	if (json_is_object(call))
		return json_incref(call);
	if (json_is_array(content))
		return fh_openai_parts(content);
	if (!json_is_string(content))
		return json_is_string(refusal) ? json_incref(refusal) : NULL;
	if (fh_streq(fh_json_str(json_object_get(config, "response_format"), "type", NULL), "json_schema")) {
		json_t *value =
		    fh_json_parse((struct fh_str){ json_string_value(content), json_string_length(content) }, NULL, NULL);
		if (value)
			return value;
	}
	return json_incref(content);
}

void fh_openai_parse(int status, const char *content_type, struct fh_str body, const json_t *config,
                     struct fh_provider_response *ret)
{
	json_t *answer = fh_chat_body(status, content_type, body, ret);
	if (!answer)
		return;
	ret->raw = answer;
	fh_openai_usage(json_object_get(answer, "usage"), &ret->tokens);
	ret->cost = fh_openai_cost(config, &ret->tokens);
	const json_t *choice = json_array_get(json_object_get(answer, "choices"), 0);
	const char *finish = fh_json_str(choice, "finish_reason", NULL);
	ret->finish_reason = finish ? fh_xstrdup(finish) : NULL;
	ret->log_probs = fh_openai_log_probs(choice);
	ret->output = fh_openai_output(json_object_get(choice, "message"), config);
	if (!choice)
		fh_response_fail(ret, "API error: the server's answer holds no choices");
	else if (!ret->output)
		fh_response_fail(ret, "API error: the server's answer holds no message content");
}

static int fh_openai_call(struct fh_provider *p, const struct fh_provider_request *request,
                          struct fh_provider_response *ret, struct fh_error *err)
{
	struct fh_openai *o = p->state;
	fh_auto_json json_t *config = fh_provider_call_config(p, request);
	fh_auto_chat_headers struct fh_chat_headers headers = { 0 };
	fh_chat_header(&headers, "Content-Type", "application/json", NULL);
	const char *organization = fh_json_str(config, "organization", fh_provider_env(p, "OPENAI_ORGANIZATION"));
	fh_auto_free char *bearer = o->key ? fh_xasprintf("Bearer %s", o->key) : NULL;
	int code = bearer ? fh_chat_header(&headers, "Authorization", bearer, err) : 0;
	if (!code && organization)
		code = fh_chat_header(&headers, "OpenAI-Organization", organization, err);
	if (!code)
		code = fh_chat_config_headers(&headers, config, err);
	if (code)
		return fh_error_wrap(err, "provider %s", p->id);
	struct fh_openai_defaults defaults = { fh_provider_env(p, "OPENAI_TEMPERATURE"),
		                                   fh_provider_env(p, "OPENAI_MAX_TOKENS") };
	fh_auto_json json_t *body = fh_openai_request(o->model, config, &defaults, request->prompt);
	fh_auto_http_response struct fh_http_response answer = { 0 };
	bool failed = false;
	code = fh_chat_post(p, o->http, o->url, &headers, config, body, &answer, ret, &failed, err);
	if (code || failed)
		return code;
	fh_openai_parse(answer.status, answer.content_type, fh_buf_str(&answer.body), config, ret);
	return 0;
}

const struct fh_provider_type fh_provider_openai = {
	.name = "openai",
	.prefixes = fh_openai_prefixes,
	.open = fh_openai_open,
	.call = fh_openai_call,
	.free = fh_openai_free,
};
