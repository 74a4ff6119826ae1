/* SPDX-License-Identifier: MIT */
/* Ollama's own API: chat, generate, embed. */
#include "provider/model/chat.h"
#include "provider/model/wire.h"

/* Whether a member of config is an option of the model; others are fumehood's own, or go to the request's top level. */
static bool fh_ollama_is_option(const char *key)
{
	static const char *const others[] = { "apiBaseUrl",   "headers",    "timeout",    "apiKey",      "apiKeyEnvar",
		                                  "stream",       "cost",       "inputCost",  "outputCost",  "tls",
		                                  "stallTimeout", "scriptEnv",  "maxRetries", "passthrough", "options",
		                                  "basePath",     "keep_alive", "format",     "think",       "tools",
		                                  "raw",          "system",     "template" };
	for (size_t i = 0; i < FH_ARRAY_SIZE(others); i++)
		if (fh_streq(key, others[i]))
			return false;
	return true;
}

static json_t *fh_ollama_request(const struct fh_wire_call *call, bool chat)
{
	const json_t *config = call->config;
	static const char *const top[] = { "keep_alive", "format", "think", "tools", "raw", "system", "template", NULL };
	json_t *body = json_object();
	json_object_set_new(body, "model", json_string(call->model));
	if (chat)
		json_object_set_new(body, "messages", fh_chat_messages(call->prompt));
	else
		json_object_set_new(body, "prompt", fh_json_bytes(call->prompt));
	json_object_set_new(body, "stream", json_boolean(call->stream));
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
	/* max_tokens is the common name of Ollama's num_predict. */
	json_t *max = json_object_get(options, "max_tokens");
	if (max && !json_object_get(options, "num_predict"))
		json_object_set(options, "num_predict", max);
	json_object_del(options, "max_tokens");
	json_object_set_new(body, "options", options);
	if (json_is_object(json_object_get(config, "passthrough")))
		json_object_update(body, json_object_get(config, "passthrough"));
	return body;
}

static json_t *fh_ollama_chat_request(const struct fh_wire_call *call)
{
	return fh_ollama_request(call, true);
}

static json_t *fh_ollama_completion_request(const struct fh_wire_call *call)
{
	return fh_ollama_request(call, false);
}

static void fh_ollama_take(const json_t *answer, bool chat, struct fh_provider_response *ret)
{
	const json_t *message = json_object_get(answer, "message"), *calls = json_object_get(message, "tool_calls");
	const json_t *thought = json_object_get(chat ? message : answer, "thinking");
	const char *finish = fh_json_str(answer, "done_reason", NULL);
	ret->tokens.prompt = fh_wire_count(answer, "prompt_eval_count");
	ret->tokens.completion = fh_wire_count(answer, "eval_count");
	/* Ollama does not count a prompt that its cache holds. */
	ret->tokens.total = ret->tokens.completion < 0 ? -1 : FH_MAX(ret->tokens.prompt, 0) + ret->tokens.completion;
	ret->finish_reason = finish ? fh_xstrdup(finish) : NULL;
	if (json_is_string(thought))
		fh_wire_reasoning(ret, json_string_value(thought), json_string_length(thought));
	const json_t *text = chat ? json_object_get(message, "content") : json_object_get(answer, "response");
	text = json_array_size(calls) ? calls : text;
	ret->output = json_incref((json_t *)(uintptr_t)text);
	if (!text)
		fh_response_fail(ret, "API error: the server's answer holds no %s", chat ? "message content" : "response");
}

static void fh_ollama_chat_take(json_t *answer, const json_t *config, struct fh_provider_response *ret)
{
	fh_ollama_take(answer, true, ret);
}

static void fh_ollama_completion_take(json_t *answer, const json_t *config, struct fh_provider_response *ret)
{
	fh_ollama_take(answer, false, ret);
}

/* Merges one line, which is an object; the last has the counts and "done". */
static unsigned fh_ollama_event(json_t *answer, json_t *event)
{
	json_t *message = json_object_get(event, "message"), *calls = json_object_get(message, "tool_calls"), *call, *v;
	const json_t *text = message ? json_object_get(message, "content") : json_object_get(event, "response");
	const json_t *thought = json_object_get(message ? message : event, "thinking");
	json_t *to = message ? fh_wire_object(answer, "message") : answer;
	const char *key;
	size_t i;
	json_object_foreach(event, key, v)
	{
		if (!json_is_object(v) && !fh_streq(key, "response") && !fh_streq(key, "thinking"))
			json_object_set(answer, key, v);
	}
	fh_wire_append(to, message ? "content" : "response", text);
	fh_wire_append(to, "thinking", thought);
	json_array_foreach(calls, i, call) json_array_append(fh_wire_array(to, "tool_calls"), call);
	bool any = json_string_length(text) || json_string_length(thought) || json_array_size(calls);
	return (any ? FH_WIRE_TEXT : 0) | (fh_json_bool(event, "done", false) ? FH_WIRE_END : 0);
}

const struct fh_wire fh_wire_ollama_chat = { .name = "chat",
	                                         .chat = true,
	                                         .path = "/api/chat",
	                                         .request = fh_ollama_chat_request,
	                                         .take = fh_ollama_chat_take,
	                                         .event = fh_ollama_event };

const struct fh_wire fh_wire_ollama_completion = { .name = "completion",
	                                               .path = "/api/generate",
	                                               .request = fh_ollama_completion_request,
	                                               .take = fh_ollama_completion_take,
	                                               .event = fh_ollama_event };

static json_t *fh_ollama_embedding_request(const struct fh_wire_call *call)
{
	return json_pack("{s:s, s:o}", "model", call->model, "input", fh_json_bytes(call->prompt));
}

static void fh_ollama_embedding_take(json_t *answer, const json_t *config, struct fh_provider_response *ret)
{
	ret->tokens.prompt = ret->tokens.total = fh_wire_count(answer, "prompt_eval_count");
	fh_wire_vector(json_array_get(json_object_get(answer, "embeddings"), 0), ret);
}

const struct fh_wire fh_wire_ollama_embedding = { .name = "embedding",
	                                              .operation = FH_PROVIDER_EMBEDDING,
	                                              .path = "/api/embed",
	                                              .request = fh_ollama_embedding_request,
	                                              .take = fh_ollama_embedding_take };
