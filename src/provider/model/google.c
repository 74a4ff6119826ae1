/* SPDX-License-Identifier: MIT */
/* Google's Gemini API. */
#include "provider/model/chat.h"
#include "provider/model/wire.h"

static json_t *fh_google_part(const json_t *content)
{
	fh_auto_free char *text = json_is_string(content) ? NULL : fh_json_text(content, 0);
	json_t *string = text ? fh_json_bytes(fh_str(text)) : json_incref((json_t *)(uintptr_t)content);
	return json_pack("[{s:o}]", "text", string);
}

static json_t *fh_google_request(const struct fh_wire_call *call)
{
	static const char *const own[] = { "safetySettings",    "tools",         "toolConfig",
		                               "systemInstruction", "cachedContent", NULL };
	static const char *const settings[] = {
		"topP", "topK", "stopSequences", "responseMimeType", "responseSchema", "candidateCount", "thinkingConfig",
		"seed", NULL
	};
	json_t *body = json_object(), *contents = fh_wire_array(body, "contents"), *message;
	fh_auto_json json_t *messages = fh_chat_messages(call->prompt);
	size_t i;
	json_array_foreach(messages, i, message)
	{
		const char *role = fh_json_str(message, "role", "user");
		json_t *parts = json_object_get(message, "parts");
		parts = json_is_array(parts) ? json_incref(parts) : fh_google_part(json_object_get(message, "content"));
		bool model = fh_streq(role, "assistant") || fh_streq(role, "model");
		if (fh_streq(role, "system"))
			json_object_set_new(body, "systemInstruction", json_pack("{s:o}", "parts", parts));
		else
			json_array_append_new(contents, json_pack("{s:s, s:o}", "role", model ? "model" : "user", "parts", parts));
	}
	json_t *generation = fh_wire_object(body, "generationConfig");
	fh_wire_set_number(generation, "temperature", call->config, "temperature", call->temperature, 0, false);
	const char *max = json_object_get(call->config, "maxOutputTokens") ? "maxOutputTokens" : "max_tokens";
	if (json_object_get(call->config, max))
		fh_wire_set_number(generation, "maxOutputTokens", call->config, max, NULL, 0, true);
	fh_chat_copy(generation, call->config, settings);
	if (json_is_object(json_object_get(call->config, "generationConfig")))
		json_object_update(generation, json_object_get(call->config, "generationConfig"));
	fh_chat_copy(body, call->config, own);
	if (json_is_object(json_object_get(call->config, "passthrough")))
		json_object_update(body, json_object_get(call->config, "passthrough"));
	return body;
}

static char *fh_google_finish(const char *reason)
{
	static const char *const words[][2] = { { "STOP", "stop" },
		                                    { "MAX_TOKENS", "length" },
		                                    { "SAFETY", "content_filter" } };
	for (size_t i = 0; reason && i < FH_ARRAY_SIZE(words); i++)
		if (fh_streq(reason, words[i][0]))
			return fh_xstrdup(words[i][1]);
	return reason ? fh_xstrdup(reason) : NULL;
}

static void fh_google_take(json_t *answer, const json_t *config, struct fh_provider_response *ret)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(FH_HTTP_BODY_MAX), thought = FH_BUF_INIT(FH_HTTP_BODY_MAX);
	const json_t *candidate = json_array_get(json_object_get(answer, "candidates"), 0);
	const json_t *usage = json_object_get(answer, "usageMetadata");
	const char *blocked = fh_json_str(json_object_get(answer, "promptFeedback"), "blockReason", NULL);
	json_t *calls = json_array(), *part;
	size_t i;
	json_array_foreach(json_object_get(json_object_get(candidate, "content"), "parts"), i, part)
	{
		if (json_object_get(part, "functionCall"))
			json_array_append(calls, part);
		fh_buf_adds(json_is_true(json_object_get(part, "thought")) ? &thought : &text, fh_json_str(part, "text", ""));
	}
	int64_t thoughts = fh_wire_count(usage, "thoughtsTokenCount"), out = fh_wire_count(usage, "candidatesTokenCount");
	ret->tokens.prompt = fh_wire_count(usage, "promptTokenCount");
	ret->tokens.completion = out < 0 ? thoughts : out + FH_MAX(thoughts, 0);
	ret->tokens.total = fh_wire_count(usage, "totalTokenCount");
	ret->tokens.cached = fh_wire_count(usage, "cachedContentTokenCount");
	ret->finish_reason = fh_google_finish(fh_json_str(candidate, "finishReason", NULL));
	fh_wire_reasoning(ret, thought.p, thought.n);
	if (json_array_size(calls))
		ret->output = json_incref(calls);
	else if (json_object_get(candidate, "content"))
		ret->output = fh_json_bytes(fh_buf_str(&text));
	else
		fh_response_fail(ret,
		                 blocked ? "API error: the prompt was blocked: %s" : "API error: the answer holds no text (%s)",
		                 blocked              ? blocked
		                 : ret->finish_reason ? ret->finish_reason
		                                      : "no candidates");
	json_decref(calls);
}

static unsigned fh_google_event(json_t *answer, json_t *event)
{
	json_t *from = json_array_get(json_object_get(event, "candidates"), 0), *part;
	json_t *finish = json_object_get(from, "finishReason"), *usage = json_object_get(event, "usageMetadata");
	size_t i;
	unsigned bits = 0;
	if (json_is_object(usage))
		json_object_set(answer, "usageMetadata", usage);
	if (json_object_get(event, "promptFeedback"))
		json_object_set(answer, "promptFeedback", json_object_get(event, "promptFeedback"));
	if (!json_is_object(from))
		return json_object_get(event, "promptFeedback") ? FH_WIRE_END : 0;
	json_t *candidate = fh_wire_item(fh_wire_array(answer, "candidates"), 0);
	json_t *parts = fh_wire_array(fh_wire_object(candidate, "content"), "parts");
	json_array_foreach(json_object_get(json_object_get(from, "content"), "parts"), i, part)
	{
		json_array_append(parts, part);
		bits |= FH_WIRE_TEXT;
	}
	if (json_is_string(finish))
		json_object_set(candidate, "finishReason", finish);
	return bits | (json_is_string(finish) ? FH_WIRE_END : 0);
}

const struct fh_wire fh_wire_google = { .name = "generateContent",
	                                    .chat = true,
	                                    .path = "/v1beta/models/{model}:generateContent",
	                                    .stream_path = "/v1beta/models/{model}:streamGenerateContent?alt=sse",
	                                    .request = fh_google_request,
	                                    .take = fh_google_take,
	                                    .event = fh_google_event };

static json_t *fh_google_embedding_request(const struct fh_wire_call *call)
{
	return json_pack("{s:{s:[{s:o}]}}", "content", "parts", "text", fh_json_bytes(call->prompt));
}

static void fh_google_embedding_take(json_t *answer, const json_t *config, struct fh_provider_response *ret)
{
	fh_wire_vector(json_object_get(json_object_get(answer, "embedding"), "values"), ret);
}

const struct fh_wire fh_wire_google_embedding = { .name = "embedContent",
	                                              .operation = FH_PROVIDER_EMBEDDING,
	                                              .path = "/v1beta/models/{model}:embedContent",
	                                              .request = fh_google_embedding_request,
	                                              .take = fh_google_embedding_take };
