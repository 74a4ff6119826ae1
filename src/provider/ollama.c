/* SPDX-License-Identifier: MIT */
#include "provider/ollama.h"

#include "provider/chat.h"

struct fh_ollama {
	const char *model;
	bool chat;
	char *url;
	struct fh_http *http;
};

static const char *const fh_ollama_prefixes[] = { "ollama:completion:", "ollama:chat:", "ollama:", NULL };

static void fh_ollama_free(struct fh_provider *p)
{
	struct fh_ollama *o = p->state;
	if (!o)
		return;
	fh_http_free(o->http);
	free(o->url);
	free(o);
}

static int fh_ollama_open(struct fh_provider *p, struct fh_error *err)
{
	if (!*p->target || fh_starts_with(p->target, "embedding")) {
		fh_error_set(err, FH_E_CONFIG, "provider %s names no model that writes text", p->id);
		fh_error_hint(err, "write ollama:chat:MODEL, for example ollama:chat:llama3.2");
		return -FH_E_CONFIG;
	}
	fh_auto_chat_headers struct fh_chat_headers headers = { 0 };
	if (fh_chat_config_headers(&headers, p->config, err))
		return fh_error_wrap(err, "provider %s", p->id);
	const char *base = fh_json_str(p->config, "apiBaseUrl", NULL);
	base = base && *base ? base : fh_provider_env(p, "OLLAMA_BASE_URL");
	base = base ? base : "http://localhost:11434";
	if (!fh_starts_with(base, "http://") && !fh_starts_with(base, "https://")) {
		fh_error_set(err, FH_E_CONFIG, "provider %s: %s is not an http or https URL", p->id, base);
		fh_error_hint(err, "OLLAMA_BASE_URL looks like http://localhost:11434");
		return -FH_E_CONFIG;
	}
	struct fh_ollama *o = FH_NEW(struct fh_ollama);
	p->state = o;
	o->model = p->target;
	o->chat = fh_starts_with(p->id, "ollama:chat:");
	o->url = fh_chat_url(base, o->chat ? "/api/chat" : "/api/generate");
	o->http = fh_http_new("`ollama serve` starts a server; apiBaseUrl or OLLAMA_BASE_URL names another one");
	return 0;
}

/* Members of config that are ours or at the top of a request; all others are options of the model. */
static bool fh_ollama_is_option(const char *key)
{
	static const char *const others[] = { "apiBaseUrl", "headers",  "timeout",    "maxRetries", "passthrough",
		                                  "options",    "basePath", "keep_alive", "format",     "think",
		                                  "tools",      "raw",      "system",     "template" };
	for (size_t i = 0; i < FH_ARRAY_SIZE(others); i++)
		if (fh_streq(key, others[i]))
			return false;
	return true;
}

json_t *fh_ollama_request(const char *model, bool chat, const json_t *config, struct fh_str prompt)
{
	static const char *const top[] = { "keep_alive", "format", "think", "tools", "raw", "system", "template", NULL };
	json_t *body = json_object();
	json_object_set_new(body, "model", json_string(model));
	if (chat)
		json_object_set_new(body, "messages", fh_chat_messages(prompt));
	else
		json_object_set_new(body, "prompt", fh_json_bytes(prompt));
	json_object_set_new(body, "stream", json_false());
	fh_chat_copy(body, config, top);
	json_t *options = json_object();
	const char *key;
	json_t *value;
	json_object_foreach((json_t *)(uintptr_t)config, key, value)
	{
		if (fh_ollama_is_option(key))
			json_object_set(options, key, value);
	}
	if (json_is_object(json_object_get(config, "options")))
		json_object_update(options, json_object_get(config, "options"));
	/* The common name for what Ollama calls num_predict. */
	json_t *max = json_object_get(options, "max_tokens");
	if (max && !json_object_get(options, "num_predict"))
		json_object_set(options, "num_predict", max);
	json_object_del(options, "max_tokens");
	json_object_set_new(body, "options", options);
	if (json_is_object(json_object_get(config, "passthrough")))
		json_object_update(body, json_object_get(config, "passthrough"));
	return body;
}

static const json_t *fh_ollama_text(const json_t *answer, bool chat)
{
	return chat ? json_object_get(json_object_get(answer, "message"), "content") : json_object_get(answer, "response");
}

/* Lines of a streamed answer put together: the last object, with the whole text. NULL when it is not one. */
static json_t *fh_ollama_join(struct fh_str body, bool chat)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(FH_HTTP_BODY_MAX);
	fh_auto_json json_t *last = NULL;
	while (body.n) {
		const char *nl = memchr(body.p, '\n', body.n);
		size_t n = nl ? (size_t)(nl - body.p) : body.n;
		struct fh_str line = { body.p, n };
		body.p += FH_MIN(n + 1, body.n);
		body.n -= FH_MIN(n + 1, body.n);
		if (!line.n)
			continue;
		json_t *part = fh_json_parse(line, NULL, NULL);
		json_decref(last);
		last = part;
		if (!json_is_object(last))
			return NULL;
		const json_t *piece = fh_ollama_text(last, chat);
		if (json_is_string(piece))
			fh_buf_add(&text, json_string_value(piece), json_string_length(piece));
	}
	if (!fh_json_bool(last, "done", false))
		return NULL;
	json_t *whole = fh_json_bytes(fh_buf_str(&text));
	if (!chat)
		json_object_set_new(last, "response", whole);
	else if (json_object_set_new(json_object_get(last, "message"), "content", whole))
		return NULL;
	return FH_TAKE_PTR(last);
}

static int64_t fh_ollama_count(const json_t *answer, const char *key)
{
	int64_t n = fh_json_int(answer, key, -1);
	return n >= 0 && n <= FH_TOKENS_MAX ? n : -1;
}

void fh_ollama_parse(int status, const char *content_type, struct fh_str body, bool chat,
                     struct fh_provider_response *ret)
{
	fh_auto_json json_t *joined =
	    status == 200 && fh_streq(content_type, "application/x-ndjson") ? fh_ollama_join(body, chat) : NULL;
	json_t *answer = joined ? FH_TAKE_PTR(joined) : fh_chat_body(status, content_type, body, ret);
	if (!answer)
		return;
	ret->raw = answer;
	int64_t prompt = fh_ollama_count(answer, "prompt_eval_count"), completion = fh_ollama_count(answer, "eval_count");
	ret->tokens.prompt = prompt;
	ret->tokens.completion = completion;
	/* A prompt that was in the server's cache is not counted by it. */
	ret->tokens.total = completion < 0 ? -1 : FH_MAX(prompt, 0) + completion;
	const char *finish = fh_json_str(answer, "done_reason", NULL);
	ret->finish_reason = finish ? fh_xstrdup(finish) : NULL;
	const json_t *calls = json_object_get(json_object_get(answer, "message"), "tool_calls");
	const json_t *text = json_array_size(calls) ? calls : fh_ollama_text(answer, chat);
	ret->output = json_incref((json_t *)(uintptr_t)text);
	if (!text)
		fh_response_fail(ret, "API error: the server's answer holds no %s", chat ? "message content" : "response");
}

static int fh_ollama_call(struct fh_provider *p, const struct fh_provider_request *request,
                          struct fh_provider_response *ret, struct fh_error *err)
{
	struct fh_ollama *o = p->state;
	fh_auto_json json_t *config = fh_provider_call_config(p, request);
	fh_auto_chat_headers struct fh_chat_headers headers = { 0 };
	fh_chat_header(&headers, "Content-Type", "application/json", NULL);
	const char *key = fh_provider_env(p, "OLLAMA_API_KEY");
	fh_auto_free char *bearer = key ? fh_xasprintf("Bearer %s", key) : NULL;
	int code = bearer ? fh_chat_header(&headers, "Authorization", bearer, err) : 0;
	if (!code)
		code = fh_chat_config_headers(&headers, config, err);
	if (code)
		return fh_error_wrap(err, "provider %s", p->id);
	fh_auto_json json_t *body = fh_ollama_request(o->model, o->chat, config, request->prompt);
	fh_auto_http_response struct fh_http_response answer = { 0 };
	bool failed = false;
	code = fh_chat_post(p, o->http, o->url, &headers, config, body, &answer, ret, &failed, err);
	if (code || failed)
		return code;
	fh_ollama_parse(answer.status, answer.content_type, fh_buf_str(&answer.body), o->chat, ret);
	return 0;
}

const struct fh_provider_type fh_provider_ollama = {
	.name = "ollama",
	.prefixes = fh_ollama_prefixes,
	.open = fh_ollama_open,
	.call = fh_ollama_call,
	.free = fh_ollama_free,
};
