/* SPDX-License-Identifier: MIT */
/* Anthropic's messages API. */
#include "provider/model/chat.h"
#include "provider/model/wire.h"

#define FH_ANTHROPIC_MAX_TOKENS 1024

/* Moves messages of the role "system" into the request's member `system`: this API has no such role. */
static json_t *fh_anthropic_split(struct fh_str prompt, json_t *body)
{
	fh_auto_json json_t *all = fh_chat_messages(prompt);
	fh_auto_buf struct fh_buf system = FH_BUF_INIT(FH_HTTP_BODY_MAX);
	json_t *messages = json_array(), *message;
	size_t i;
	json_array_foreach(all, i, message)
	{
		const json_t *content = json_object_get(message, "content");
		if (!fh_streq(fh_json_str(message, "role", ""), "system") || !json_is_string(content)) {
			json_array_append(messages, message);
			continue;
		}
		if (system.n)
			fh_buf_adds(&system, "\n\n");
		fh_buf_add(&system, json_string_value(content), json_string_length(content));
	}
	if (system.n)
		json_object_set_new(body, "system", fh_json_bytes(fh_buf_str(&system)));
	return messages;
}

static json_t *fh_anthropic_request(const struct fh_wire_call *call)
{
	static const char *const keys[] = { "top_p",    "top_k",    "stop_sequences", "tools", "tool_choice",
		                                "thinking", "metadata", "system",         NULL };
	json_t *body = json_object();
	json_object_set_new(body, "model", json_string(call->model));
	json_object_set_new(body, "messages", fh_anthropic_split(call->prompt, body));
	fh_wire_set_number(body, "max_tokens", call->config, "max_tokens", call->max_tokens, FH_ANTHROPIC_MAX_TOKENS, true);
	/* The API refuses a temperature together with thinking or with top_p. */
	bool thinks = !fh_streq(fh_json_str(json_object_get(call->config, "thinking"), "type", "disabled"), "disabled");
	if (json_object_get(call->config, "temperature") || (!thinks && !json_object_get(call->config, "top_p")))
		fh_wire_set_number(body, "temperature", call->config, "temperature", call->temperature, 0, false);
	fh_chat_copy(body, call->config, keys);
	if (json_is_object(json_object_get(call->config, "output_format")))
		json_object_set(fh_wire_object(body, "output_config"), "format",
		                json_object_get(call->config, "output_format"));
	if (call->stream)
		json_object_set_new(body, "stream", json_true());
	if (json_is_object(json_object_get(call->config, "passthrough")))
		json_object_update(body, json_object_get(call->config, "passthrough"));
	return body;
}

static void fh_anthropic_usage(const json_t *usage, struct fh_tokens *ret)
{
	int64_t read = fh_wire_count(usage, "cache_read_input_tokens");
	int64_t made = fh_wire_count(usage, "cache_creation_input_tokens"), in = fh_wire_count(usage, "input_tokens");
	ret->completion = fh_wire_count(usage, "output_tokens");
	ret->cached = read;
	/* input_tokens does not include tokens that were read from or written to the prompt cache. */
	ret->prompt = in < 0 ? -1 : in + FH_MAX(read, 0) + FH_MAX(made, 0);
	ret->total = ret->prompt < 0 || ret->completion < 0 ? -1 : ret->prompt + ret->completion;
}

/* Says why the prompt was refused, in promptfoo's words. */
static void fh_anthropic_refused(const json_t *details, struct fh_provider_response *ret)
{
	static const char *const keys[] = { "category", "explanation" };
	fh_auto_buf struct fh_buf why = FH_BUF_INIT(1 << 16);
	fh_buf_adds(&why, "Content refused by Anthropic safety filters");
	for (size_t i = 0; i < FH_ARRAY_SIZE(keys); i++) {
		const char *text = fh_json_str(details, keys[i], "");
		if (*text)
			fh_buf_addf(&why, " — %s: %s", keys[i], text);
	}
	fh_wire_flag(ret, fh_buf_cstr(&why));
}

/* Joins texts and tool calls (as JSON) with blank lines, as promptfoo does. */
static void fh_anthropic_take(json_t *answer, const json_t *config, struct fh_provider_response *ret)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(FH_HTTP_BODY_MAX), thought = FH_BUF_INIT(FH_HTTP_BODY_MAX);
	const json_t *blocks = json_object_get(answer, "content");
	bool tools = false, first = true;
	json_t *block;
	size_t i;
	json_array_foreach((json_t *)(uintptr_t)blocks, i, block) tools =
	    tools || fh_streq(fh_json_str(block, "type", ""), "tool_use");
	json_array_foreach((json_t *)(uintptr_t)blocks, i, block)
	{
		const char *type = fh_json_str(block, "type", "");
		if (fh_streq(type, "thinking"))
			fh_buf_adds(&thought, fh_json_str(block, "thinking", ""));
		bool is_text = fh_streq(type, "text");
		if (!is_text && !fh_streq(type, "tool_use"))
			continue;
		fh_auto_free char *json = is_text ? NULL : fh_json_text(block, 0);
		fh_buf_adds(&text, first ? "" : "\n\n");
		fh_buf_adds(&text, json ? json : fh_json_str(block, "text", ""));
		first = false;
	}
	fh_anthropic_usage(json_object_get(answer, "usage"), &ret->tokens);
	ret->finish_reason = fh_wire_finish(fh_json_str(answer, "stop_reason", NULL));
	fh_wire_reasoning(ret, thought.p, thought.n);
	if (fh_streq(fh_json_str(answer, "stop_reason", NULL), "refusal"))
		fh_anthropic_refused(json_object_get(answer, "stop_details"), ret);
	bool schema = fh_streq(fh_json_str(json_object_get(config, "output_format"), "type", NULL), "json_schema");
	if (json_is_array(blocks) && schema && !tools)
		ret->output = fh_json_parse(fh_buf_str(&text), NULL, NULL);
	if (json_is_array(blocks) && !ret->output)
		ret->output = fh_json_bytes(fh_buf_str(&text));
	else if (!ret->output)
		fh_response_fail(ret, "API error: the server's answer holds no content");
}

/* Merges a piece into its block. A tool's input comes as pieces of JSON text, which is parsed when the block ends. */
static unsigned fh_anthropic_delta(json_t *block, json_t *delta)
{
	static const char *const members[][2] = { { "text", "text" },
		                                      { "thinking", "thinking" },
		                                      { "partial_json", "partial_json" } };
	unsigned bits = 0;
	for (size_t i = 0; block && i < FH_ARRAY_SIZE(members); i++) {
		const json_t *piece = json_object_get(delta, members[i][0]);
		if (!json_is_string(piece))
			continue;
		fh_wire_append(block, members[i][1], piece);
		bits |= json_string_length(piece) ? FH_WIRE_TEXT : 0;
	}
	return bits;
}

static void fh_anthropic_block_end(json_t *block)
{
	const json_t *text = json_object_get(block, "partial_json");
	if (!json_is_string(text))
		return;
	json_t *input = fh_json_parse((struct fh_str){ json_string_value(text), json_string_length(text) }, NULL, NULL);
	json_object_set_new(block, "input", input ? input : json_object());
	json_object_del(block, "partial_json");
}

static unsigned fh_anthropic_event(json_t *answer, json_t *event)
{
	const char *type = fh_json_str(event, "type", "");
	json_t *message = json_object_get(event, "message"), *delta = json_object_get(event, "delta");
	json_t *start = json_object_get(event, "content_block"), *usage = json_object_get(event, "usage");
	size_t index = (size_t)FH_MAX(fh_json_int(event, "index", 0), 0);
	if (fh_streq(type, "message_start") && json_is_object(message))
		json_object_update(answer, message);
	if (fh_streq(type, "content_block_start") && json_is_object(start)) {
		json_t *block = fh_wire_item(fh_wire_array(answer, "content"), index);
		if (block)
			json_object_update(block, start);
	}
	if (fh_streq(type, "content_block_delta"))
		return fh_anthropic_delta(fh_wire_item(fh_wire_array(answer, "content"), index), delta);
	if (fh_streq(type, "content_block_stop"))
		fh_anthropic_block_end(fh_wire_item(fh_wire_array(answer, "content"), index));
	if (fh_streq(type, "message_delta")) {
		json_object_update(answer, delta);
		json_object_update(fh_wire_object(answer, "usage"), usage);
	}
	return fh_streq(type, "message_stop") ? FH_WIRE_END : 0;
}

const struct fh_wire fh_wire_anthropic = { .name = "messages",
	                                       .chat = true,
	                                       .path = "/v1/messages",
	                                       .request = fh_anthropic_request,
	                                       .take = fh_anthropic_take,
	                                       .event = fh_anthropic_event };
