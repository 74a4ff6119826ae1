/* SPDX-License-Identifier: MIT */
/* OpenAI's API, which many other servers offer too: chat, completions, responses, embeddings, moderations. */
#include "provider/model/chat.h"
#include "provider/model/wire.h"

#define FH_OPENAI_MAX_TOKENS 1024

/* Whether the model is a reasoning model, which accepts neither temperature nor max_tokens. */
static bool fh_openai_reasons(const char *model)
{
	static const char *const families[] = { "o1", "o3", "o4", "gpt-5" };
	for (size_t i = 0; i < FH_ARRAY_SIZE(families); i++)
		if (fh_starts_with(model, families[i]))
			return true;
	return false;
}

static void fh_openai_passthrough(json_t *body, const json_t *config)
{
	json_t *passthrough = json_object_get(config, "passthrough");
	if (json_is_object(passthrough))
		json_object_update(body, passthrough);
}

static void fh_openai_stream(json_t *body, const struct fh_wire_call *call)
{
	if (!call->stream)
		return;
	json_object_set_new(body, "stream", json_true());
	json_object_set_new(body, "stream_options", json_pack("{s:b}", "include_usage", 1));
}

static const char *const fh_openai_keys[] = {
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

static json_t *fh_openai_chat_request(const struct fh_wire_call *call)
{
	static const char *const reasoning_keys[] = { "max_completion_tokens", "reasoning_effort", "verbosity", NULL };
	json_t *body = json_object();
	json_object_set_new(body, "model", json_string(call->model));
	json_object_set_new(body, "messages", fh_chat_messages(call->prompt));
	if (!fh_openai_reasons(call->model)) {
		fh_wire_set_number(body, "max_tokens", call->config, "max_tokens", call->max_tokens, FH_OPENAI_MAX_TOKENS,
		                   true);
		fh_wire_set_number(body, "temperature", call->config, "temperature", call->temperature, 0, false);
	}
	fh_chat_copy(body, call->config, reasoning_keys);
	fh_chat_copy(body, call->config, fh_openai_keys);
	fh_openai_stream(body, call);
	fh_openai_passthrough(body, call->config);
	return body;
}

/* Reads the counts under their names in the chat and completion APIs, or in the responses API. */
static void fh_openai_usage(const json_t *usage, struct fh_tokens *ret)
{
	bool responses = json_object_get(usage, "input_tokens") != NULL;
	ret->prompt = fh_wire_count(usage, responses ? "input_tokens" : "prompt_tokens");
	ret->completion = fh_wire_count(usage, responses ? "output_tokens" : "completion_tokens");
	ret->total = fh_wire_count(usage, "total_tokens");
	ret->cached = fh_wire_count(json_object_get(usage, responses ? "input_tokens_details" : "prompt_tokens_details"),
	                            "cached_tokens");
	if (ret->total < 0 && ret->prompt >= 0 && ret->completion >= 0)
		ret->total = ret->prompt + ret->completion;
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

/* The text of a message whose content is a list of parts. */
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
	if (json_array_size(calls) || json_is_object(call)) {
		if (json_is_string(content) && json_string_length(content) > 0)
			return json_incref((json_t *)(uintptr_t)message); /* as in promptfoo, both what was said and the calls */
		return json_incref(json_array_size(calls) ? calls : call);
	}
	if (json_is_array(content))
		return fh_openai_parts(content);
	if (!json_is_string(content))
		return NULL;
	if (fh_streq(fh_json_str(json_object_get(config, "response_format"), "type", NULL), "json_schema")) {
		json_t *value =
		    fh_json_parse((struct fh_str){ json_string_value(content), json_string_length(content) }, NULL, NULL);
		if (value)
			return value;
	}
	return json_incref(content);
}

/* Takes what was spoken: its words are the output. */
static void fh_openai_audio(const json_t *audio, struct fh_provider_response *ret)
{
	static const char *const members[][2] = {
		{ "id", "id" }, { "expires_at", "expiresAt" }, { "data", "data" }, { "transcript", "transcript" }
	};
	json_t *taken = json_pack("{s:s}", "format", fh_json_str(audio, "format", "wav"));
	for (size_t i = 0; i < FH_ARRAY_SIZE(members); i++)
		json_object_set(taken, members[i][1], json_object_get(audio, members[i][0]));
	ret->extra = ret->extra ? ret->extra : json_object();
	json_object_set_new(ret->extra, "audio", taken);
	json_decref(ret->output);
	ret->output = fh_json_bytes(fh_str(fh_json_str(audio, "transcript", "")));
}

/* Notes what the answer has beside its first text: further choices, and the sources that it names. */
static void fh_openai_notes(const json_t *answer, const json_t *message, struct fh_provider_response *ret)
{
	json_t *choices = json_object_get(answer, "choices"), *sources = json_object_get(message, "annotations");
	if (json_array_size(choices) > 1)
		fh_wire_note(ret, "choices", choices);
	if (json_array_size(sources) > 0)
		fh_wire_note(ret, "annotations", sources);
}

static void fh_openai_chat_take(json_t *answer, const json_t *config, struct fh_provider_response *ret)
{
	fh_openai_usage(json_object_get(answer, "usage"), &ret->tokens);
	const json_t *choice = json_array_get(json_object_get(answer, "choices"), 0);
	const json_t *message = json_object_get(choice, "message");
	ret->finish_reason = fh_wire_finish(fh_json_str(choice, "finish_reason", NULL));
	ret->log_probs = fh_openai_log_probs(choice);
	const char *refusal = fh_json_str(message, "refusal", "");
	bool filtered = fh_streq(ret->finish_reason, "content_filter");
	ret->output = *refusal ? fh_json_bytes(fh_str(refusal)) : fh_openai_output(message, config);
	if (*refusal || filtered)
		fh_wire_flag(ret, NULL);
	if (!ret->output && filtered)
		ret->output = json_string("Content filtered by provider");
	const json_t *thought = json_object_get(message, "reasoning_content");
	thought = json_is_string(thought) ? thought : json_object_get(message, "reasoning");
	if (json_is_string(thought))
		fh_wire_reasoning(ret, json_string_value(thought), json_string_length(thought));
	if (json_is_object(json_object_get(message, "audio")))
		fh_openai_audio(json_object_get(message, "audio"), ret);
	fh_openai_notes(answer, message, ret);
	if (!choice)
		fh_response_fail(ret, "API error: the server's answer holds no choices");
	else if (!ret->output)
		fh_response_fail(ret, "API error: the server's answer holds no message content");
}

/* Merges a piece of a tool call into the calls; the function's arguments come in pieces of text. */
static void fh_openai_tool_piece(json_t *calls, json_t *piece)
{
	json_t *call = fh_wire_item(calls, (size_t)FH_MAX(fh_json_int(piece, "index", 0), 0));
	json_t *function = json_object_get(piece, "function");
	static const char *const whole[] = { "id", "type" };
	for (size_t i = 0; call && i < FH_ARRAY_SIZE(whole); i++)
		if (json_is_string(json_object_get(piece, whole[i])))
			json_object_set(call, whole[i], json_object_get(piece, whole[i]));
	if (!call || !json_is_object(function))
		return;
	json_t *to = fh_wire_object(call, "function");
	fh_wire_append(to, "name", json_object_get(function, "name"));
	fh_wire_append(to, "arguments", json_object_get(function, "arguments"));
}

static unsigned fh_openai_chat_event(json_t *answer, json_t *event)
{
	static const char *const texts[] = { "content", "reasoning_content", "reasoning", "refusal" };
	json_t *from = json_array_get(json_object_get(event, "choices"), 0), *delta = json_object_get(from, "delta");
	json_t *usage = json_object_get(event, "usage"), *piece, *logs = json_object_get(from, "logprobs");
	size_t i;
	unsigned bits = 0;
	if (json_is_object(usage))
		json_object_set(answer, "usage", usage);
	if (!json_is_object(from))
		return 0;
	json_t *choice = fh_wire_item(fh_wire_array(answer, "choices"), 0);
	json_t *message = fh_wire_object(choice, "message");
	for (i = 0; i < FH_ARRAY_SIZE(texts); i++) {
		const json_t *text = json_object_get(delta, texts[i]);
		fh_wire_append(message, texts[i], text);
		bits |= json_string_length(text) ? FH_WIRE_TEXT : 0;
	}
	json_array_foreach(json_object_get(delta, "tool_calls"), i, piece)
	{
		fh_openai_tool_piece(fh_wire_array(message, "tool_calls"), piece);
		bits |= FH_WIRE_TEXT;
	}
	json_array_foreach(json_object_get(logs, "content"), i, piece)
	    json_array_append(fh_wire_array(fh_wire_object(choice, "logprobs"), "content"), piece);
	if (!json_is_string(json_object_get(from, "finish_reason")))
		return bits;
	json_object_set(choice, "finish_reason", json_object_get(from, "finish_reason"));
	return bits | FH_WIRE_END;
}

const struct fh_wire fh_wire_openai_chat = { .name = "chat",
	                                         .chat = true,
	                                         .path = "/chat/completions",
	                                         .request = fh_openai_chat_request,
	                                         .take = fh_openai_chat_take,
	                                         .event = fh_openai_chat_event };

/* ---------------------------------------------------------------------------------------------------- completions */

static json_t *fh_openai_completion_request(const struct fh_wire_call *call)
{
	static const char *const more[] = { "best_of", "echo", "suffix", NULL };
	json_t *body = json_object();
	json_object_set_new(body, "model", json_string(call->model));
	json_object_set_new(body, "prompt", fh_json_bytes(call->prompt));
	fh_wire_set_number(body, "max_tokens", call->config, "max_tokens", call->max_tokens, FH_OPENAI_MAX_TOKENS, true);
	fh_wire_set_number(body, "temperature", call->config, "temperature", call->temperature, 0, false);
	fh_chat_copy(body, call->config, fh_openai_keys);
	fh_chat_copy(body, call->config, more);
	fh_openai_stream(body, call);
	fh_openai_passthrough(body, call->config);
	return body;
}

static void fh_openai_completion_take(json_t *answer, const json_t *config, struct fh_provider_response *ret)
{
	fh_openai_usage(json_object_get(answer, "usage"), &ret->tokens);
	const json_t *choice = json_array_get(json_object_get(answer, "choices"), 0);
	json_t *text = json_object_get(choice, "text");
	ret->finish_reason = fh_wire_finish(fh_json_str(choice, "finish_reason", NULL));
	if (json_is_string(text))
		ret->output = json_incref(text);
	else
		fh_response_fail(ret, "API error: the server's answer holds no text");
}

static unsigned fh_openai_completion_event(json_t *answer, json_t *event)
{
	json_t *from = json_array_get(json_object_get(event, "choices"), 0), *usage = json_object_get(event, "usage");
	if (json_is_object(usage))
		json_object_set(answer, "usage", usage);
	if (!json_is_object(from))
		return 0;
	json_t *choice = fh_wire_item(fh_wire_array(answer, "choices"), 0), *text = json_object_get(from, "text");
	json_t *finish = json_object_get(from, "finish_reason");
	fh_wire_append(choice, "text", text);
	if (json_is_string(finish))
		json_object_set(choice, "finish_reason", finish);
	return (json_string_length(text) ? FH_WIRE_TEXT : 0) | (json_is_string(finish) ? FH_WIRE_END : 0);
}

const struct fh_wire fh_wire_openai_completion = { .name = "completion",
	                                               .path = "/completions",
	                                               .request = fh_openai_completion_request,
	                                               .take = fh_openai_completion_take,
	                                               .event = fh_openai_completion_event };

/* ------------------------------------------------------------------------------------------------------ responses */

/* Puts a format in the chat's form (`json_schema: {name, schema}`) or in that of responses into the request. */
static void fh_openai_responses_format(json_t *body, const json_t *format)
{
	const char *type = fh_json_str(format, "type", NULL);
	const json_t *inner = json_object_get(format, "json_schema");
	const json_t *from = json_is_object(inner) ? inner : format;
	if (!type)
		return;
	json_t *sent = json_pack("{s:s}", "type", type);
	if (fh_streq(type, "json_schema")) {
		json_t *strict = json_object_get(from, "strict");
		json_object_set_new(sent, "name", json_string(fh_json_str(from, "name", "response_schema")));
		json_object_set(sent, "schema", json_object_get(from, "schema"));
		json_object_set_new(sent, "strict", strict ? json_incref(strict) : json_true());
	}
	json_t *text = json_copy(json_object_get(body, "text")); /* which may be the config's */
	text = text ? text : json_object();
	json_object_set_new(text, "format", sent);
	json_object_set_new(body, "text", text);
}

static json_t *fh_openai_responses_request(const struct fh_wire_call *call)
{
	static const char *const keys[] = {
		"top_p",     "tools", "tool_choice", "parallel_tool_calls", "instructions", "metadata", "previous_response_id",
		"reasoning", "store", "text",        "truncation",          "user",         "include",  "service_tier",
		NULL
	};
	json_t *body = json_object(), *messages = fh_chat_messages(call->prompt);
	json_object_set_new(body, "model", json_string(call->model));
	bool chat =
	    json_array_size(messages) != 1 || !fh_streq(fh_json_str(json_array_get(messages, 0), "role", ""), "user");
	json_object_set_new(body, "input", chat ? json_incref(messages) : fh_json_bytes(call->prompt));
	json_decref(messages);
	const char *max = json_object_get(call->config, "max_output_tokens") ? "max_output_tokens" : "max_tokens";
	if (!fh_openai_reasons(call->model)) {
		fh_wire_set_number(body, "max_output_tokens", call->config, max, call->max_tokens, FH_OPENAI_MAX_TOKENS, true);
		fh_wire_set_number(body, "temperature", call->config, "temperature", call->temperature, 0, false);
	} else if (json_object_get(call->config, max)) {
		json_object_set(body, "max_output_tokens", json_object_get(call->config, max));
	}
	if (json_is_string(json_object_get(call->config, "reasoning_effort")))
		json_object_set(fh_wire_object(body, "reasoning"), "effort", json_object_get(call->config, "reasoning_effort"));
	fh_chat_copy(body, call->config, keys);
	fh_openai_responses_format(body, json_object_get(call->config, "response_format"));
	if (call->stream)
		json_object_set_new(body, "stream", json_true());
	fh_openai_passthrough(body, call->config);
	return body;
}

struct fh_openai_items {
	struct fh_buf text, thought; /* a line, or several, for each message and each call; what the model thought */
	json_t *calls, *sources;     /* arrays */
};

static void fh_openai_item(const json_t *item, struct fh_openai_items *items)
{
	json_t *part;
	size_t i;
	bool call = fh_streq(fh_json_str(item, "type", ""), "function_call"), empty = items->text.n == 0;
	fh_auto_free char *json = call ? fh_json_text(item, 0) : NULL;
	fh_auto_buf struct fh_buf said = FH_BUF_INIT(FH_HTTP_BODY_MAX);
	fh_buf_adds(&said, json ? json : "");
	if (call)
		json_array_append(items->calls, (json_t *)(uintptr_t)item);
	json_array_foreach(json_object_get(item, "content"), i, part)
	{
		fh_buf_adds(&said, fh_json_str(part, "text", fh_json_str(part, "refusal", "")));
		json_array_extend(items->sources, json_object_get(part, "annotations"));
	}
	json_array_foreach(json_object_get(item, "summary"), i, part)
	    fh_buf_adds(&items->thought, fh_json_str(part, "text", ""));
	fh_buf_adds(&items->text, said.n && !empty ? "\n" : "");
	fh_buf_add(&items->text, said.p, said.n);
}

/* The output is the text of the messages and the function calls as JSON, each on lines of its own as in promptfoo; with
 * callbacks for them it is the calls. */
static void fh_openai_responses_output(const struct fh_openai_items *items, const json_t *config,
                                       struct fh_provider_response *ret)
{
	bool schema = fh_streq(fh_json_str(json_object_get(config, "response_format"), "type", NULL), "json_schema");
	if (json_array_size(items->calls) && json_is_object(json_object_get(config, "functionToolCallbacks")))
		ret->output = json_incref(items->calls);
	else if (schema)
		ret->output = fh_json_parse(fh_buf_str(&items->text), NULL, NULL);
	if (!ret->output)
		ret->output = fh_json_bytes(fh_buf_str(&items->text));
}

static void fh_openai_responses_take(json_t *answer, const json_t *config, struct fh_provider_response *ret)
{
	fh_auto_json json_t *calls = json_array(), *sources = json_array();
	struct fh_openai_items items = { .text = FH_BUF_INIT(FH_HTTP_BODY_MAX),
		                             .thought = FH_BUF_INIT(FH_HTTP_BODY_MAX),
		                             .calls = calls,
		                             .sources = sources };
	const json_t *output = json_object_get(answer, "output");
	const char *why = fh_json_str(json_object_get(answer, "incomplete_details"), "reason", NULL);
	bool cut = why && fh_streq(why, "max_output_tokens");
	fh_openai_usage(json_object_get(answer, "usage"), &ret->tokens);
	for (size_t i = 0; i < json_array_size(output); i++)
		fh_openai_item(json_array_get(output, i), &items);
	fh_wire_reasoning(ret, items.thought.p, items.thought.n);
	fh_wire_note(ret, "responseId", json_object_get(answer, "id"));
	fh_wire_note(ret, "model", json_object_get(answer, "model"));
	fh_wire_note(ret, "annotations", json_array_size(sources) ? sources : NULL);
	ret->finish_reason = fh_xstrdup(cut ? "length" : why ? why : json_array_size(calls) ? "tool_calls" : "stop");
	if (json_array_size(output))
		fh_openai_responses_output(&items, config, ret);
	else
		fh_response_fail(ret, "API error: the server's answer holds no output");
	fh_buf_release(&items.text);
	fh_buf_release(&items.thought);
}

static unsigned fh_openai_responses_event(json_t *answer, json_t *event)
{
	static const char *const ends[] = { "response.completed", "response.incomplete", "response.failed" };
	const char *type = fh_json_str(event, "type", "");
	json_t *whole = json_object_get(event, "response");
	for (size_t i = 0; i < FH_ARRAY_SIZE(ends); i++) {
		if (!fh_streq(type, ends[i]) || !json_is_object(whole))
			continue;
		json_object_update(answer, whole);
		return FH_WIRE_END;
	}
	return strstr(type, ".delta") ? FH_WIRE_TEXT : 0;
}

const struct fh_wire fh_wire_openai_responses = { .name = "responses",
	                                              .chat = true,
	                                              .path = "/responses",
	                                              .request = fh_openai_responses_request,
	                                              .take = fh_openai_responses_take,
	                                              .event = fh_openai_responses_event };

/* --------------------------------------------------------------------------------------- embeddings and moderations */

static json_t *fh_openai_input_request(const struct fh_wire_call *call)
{
	static const char *const keys[] = { "dimensions", "encoding_format", "user", NULL };
	json_t *body = json_object();
	json_object_set_new(body, "model", json_string(call->model));
	json_object_set_new(body, "input", fh_json_bytes(call->prompt));
	fh_chat_copy(body, call->config, keys);
	fh_openai_passthrough(body, call->config);
	return body;
}

static void fh_openai_embedding_take(json_t *answer, const json_t *config, struct fh_provider_response *ret)
{
	fh_openai_usage(json_object_get(answer, "usage"), &ret->tokens);
	fh_wire_vector(json_object_get(json_array_get(json_object_get(answer, "data"), 0), "embedding"), ret);
}

const struct fh_wire fh_wire_openai_embedding = { .name = "embedding",
	                                              .operation = FH_PROVIDER_EMBEDDING,
	                                              .path = "/embeddings",
	                                              .request = fh_openai_input_request,
	                                              .take = fh_openai_embedding_take };

static void fh_openai_moderation_take(json_t *answer, const json_t *config, struct fh_provider_response *ret)
{
	const json_t *result = json_array_get(json_object_get(answer, "results"), 0);
	const json_t *categories = json_object_get(result, "categories"),
	             *scores = json_object_get(result, "category_scores");
	if (!json_is_boolean(json_object_get(result, "flagged"))) {
		fh_response_fail(ret, "API error: the server's answer holds no moderation");
		return;
	}
	json_t *flags = json_array(), *hit;
	const char *name;
	json_object_foreach((json_t *)(uintptr_t)categories, name, hit)
	{
		if (json_is_true(hit))
			json_array_append_new(flags, json_pack("{s:s, s:s, s:f}", "code", name, "description", name, "confidence",
			                                       fh_json_num(scores, name, 0)));
	}
	ret->output = json_pack("{s:O, s:o}", "flagged", json_object_get(result, "flagged"), "flags", flags);
}

const struct fh_wire fh_wire_openai_moderation = { .name = "moderation",
	                                               .operation = FH_PROVIDER_MODERATION,
	                                               .path = "/moderations",
	                                               .request = fh_openai_input_request,
	                                               .take = fh_openai_moderation_take };
