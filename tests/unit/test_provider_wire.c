/* SPDX-License-Identifier: MIT */
/* The wire formats of model servers: requests as sent, and answers and streams as real servers give them
 * (tests/data/wire). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "provider/model/model.h"
#include "provider/model/prices.h"
#include "provider/provider.h"

/* -------------------------------------------------------------------------------------------------- real answers */

static void from_wire(const char *name, struct fh_provider_response *ret)
{
	fh_auto_free char *path = fh_xasprintf("%s/wire/%s.json", FH_TEST_DATA, name);
	fh_auto_json json_t *exchange = fh_json_load_file(path, 1 << 20, NULL);
	const json_t *response = json_object_get(exchange, "response");
	assert_non_null(response);
	const char *type = "";
	size_t i;
	json_t *header;
	json_array_foreach(json_object_get(response, "headers"), i, header)
	{
		if (fh_streq(json_string_value(json_array_get(header, 0)), "content-type"))
			type = json_string_value(json_array_get(header, 1));
	}
	fh_auto_json json_t *config = json_object();
	fh_model_answer(&fh_wire_openai_chat, (int)fh_json_int(response, "status", 0), type,
	                fh_str(fh_json_str(response, "body", "")), config, ret);
}

static void test_a_good_answer(void **state)
{
	fh_auto_provider_response struct fh_provider_response r = FH_PROVIDER_RESPONSE_INIT;
	from_wire("chat", &r);
	assert_null(r.error);
	assert_true(fh_starts_with(json_string_value(r.output), "Hello there, welcome"));
	assert_int_equal(r.tokens.prompt, 33);
	assert_int_equal(r.tokens.completion, 28);
	assert_int_equal(r.tokens.total, 61);
	assert_int_equal(r.tokens.cached, -1);
	assert_string_equal(r.finish_reason, "stop");
	assert_null(r.log_probs);
}

static void test_why_an_answer_ended_is_told_in_the_same_words(void **state)
{
	static const struct {
		const struct fh_wire *wire;
		const char *body;
	} rows[] = {
		{ &fh_wire_openai_chat, "{\"choices\": [{\"finish_reason\": \"%s\", \"message\": {\"content\": \"x\"}}]}" },
		{ &fh_wire_openai_completion, "{\"choices\": [{\"finish_reason\": \"%s\", \"text\": \"x\"}]}" },
		{ &fh_wire_anthropic, "{\"stop_reason\": \"%s\", \"content\": [{\"type\": \"text\", \"text\": \"x\"}]}" },
	};
	static const char *const reasons[][2] = { { "stop", "stop" },
		                                      { "STOP", "stop" },
		                                      { "end_turn", "stop" },
		                                      { "max_tokens", "length" },
		                                      { "function_call", "tool_calls" },
		                                      { "tool_use", "tool_calls" },
		                                      { "refusal", "content_filter" },
		                                      { "a_new_one", "a_new_one" } };
	for (size_t i = 0; i < FH_ARRAY_SIZE(rows); i++) {
		for (size_t j = 0; j < FH_ARRAY_SIZE(reasons); j++) {
			fh_auto_provider_response struct fh_provider_response r = FH_PROVIDER_RESPONSE_INIT;
			fh_auto_free char *start = fh_xstrndup(rows[i].body, (size_t)(strstr(rows[i].body, "%s") - rows[i].body));
			fh_auto_free char *body = fh_xasprintf("%s%s%s", start, reasons[j][0], strstr(rows[i].body, "%s") + 2);
			fh_model_answer(rows[i].wire, 200, "application/json", fh_str(body), NULL, &r);
			assert_null(r.error);
			assert_string_equal(r.finish_reason, reasons[j][1]);
		}
	}
}

static void test_what_a_server_refused_or_filtered_is_flagged(void **state)
{
	static const struct {
		const struct fh_wire *wire;
		const char *body, *output, *flagged; /* flagged: the reason, "" if none is given; NULL: it is not */
	} rows[] = {
		{ &fh_wire_openai_chat, "{\"choices\": [{\"message\": {\"content\": \"x\", \"refusal\": \"no\"}}]}", "\"no\"",
		  "" },
		{ &fh_wire_openai_chat,
		  "{\"choices\": [{\"finish_reason\": \"content_filter\", \"message\": {\"content\": null}}]}",
		  "\"Content filtered by provider\"", "" },
		{ &fh_wire_openai_chat,
		  "{\"choices\": [{\"finish_reason\": \"content_filter\", \"message\": {\"content\": \"x\"}}]}", "\"x\"", "" },
		{ &fh_wire_openai_chat, "{\"choices\": [{\"message\": {\"content\": \"x\", \"refusal\": null}}]}", "\"x\"",
		  NULL },
		{ &fh_wire_anthropic,
		  "{\"stop_reason\": \"refusal\", \"stop_details\": {\"category\": \"bio\"}, \"content\": [{\"type\": "
		  "\"text\", "
		  "\"text\": \"a\"}, {\"type\": \"text\", \"text\": \"b\"}]}",
		  "\"a\\n\\nb\"", "Content refused by Anthropic safety filters — category: bio" },
		{ &fh_wire_anthropic, "{\"stop_reason\": \"end_turn\", \"content\": []}", "\"\"", NULL },
	};
	for (size_t i = 0; i < FH_ARRAY_SIZE(rows); i++) {
		fh_auto_provider_response struct fh_provider_response r = FH_PROVIDER_RESPONSE_INIT;
		fh_model_answer(rows[i].wire, 200, "application/json", fh_str(rows[i].body), NULL, &r);
		const json_t *guardrails = json_object_get(r.extra, "guardrails");
		fh_auto_free char *output = r.output ? fh_json_text(r.output, 0) : fh_xstrdup(r.error);
		assert_string_equal(output, rows[i].output);
		assert_int_equal(json_is_true(json_object_get(guardrails, "flagged")), rows[i].flagged != NULL);
		assert_string_equal(fh_json_str(guardrails, "reason", ""), rows[i].flagged ? rows[i].flagged : "");
	}
}

static void test_log_probs(void **state)
{
	fh_auto_provider_response struct fh_provider_response r = FH_PROVIDER_RESPONSE_INIT;
	from_wire("chat-logprobs", &r);
	assert_int_equal(json_array_size(r.log_probs), 3);
	assert_true(json_number_value(json_array_get(r.log_probs, 0)) < -1.88);
}

static void test_refusals_of_real_servers(void **state)
{
	static const struct {
		const char *name, *error;
	} rows[] = {
		{ "err-bad-json", "API error: 500 Internal Server Error: Internal Server Error" },
		{ "err-auth", "API error: 401 Unauthorized: Invalid API key" },
		{ "err-context", "API error: 400 Bad Request: This model's maximum context length is 2048 tokens." },
		{ "err-not-found", "API error: 404 Not Found: Not Found" },
		{ "chat-parts", "API error: 500 Internal Server Error: can only concatenate str" },
	};
	for (size_t i = 0; i < FH_ARRAY_SIZE(rows); i++) {
		fh_auto_provider_response struct fh_provider_response r = FH_PROVIDER_RESPONSE_INIT;
		from_wire(rows[i].name, &r);
		if (!r.error || !fh_starts_with(r.error, rows[i].error) || r.output)
			fail_msg("%s: %s", rows[i].name, r.error ? r.error : "no error");
	}
}

static void test_answers_that_lack_something(void **state)
{
	static const struct {
		int status;
		const char *body, *error; /* error NULL: fine */
	} rows[] = {
		{ 200, "", "empty body" },
		{ 200, "{}", "no choices" },
		{ 200, "{\"choices\": []}", "no choices" },
		{ 200, "{\"choices\": [{\"message\": {\"content\": null}}]}", "no message content" },
		{ 200, "{\"choices\": [{\"message\": {\"content\": \"\"}}]}" },
		{ 200, "{\"error\": {\"message\": \"overloaded\"}}", "overloaded" },
		{ 200, "[]", "not a JSON object" },
		{ 200, "{\"choices\"", "not a JSON object" },
		{ 307, "", "API error: 307 Temporary Redirect" },
		{ 200, "{\"choices\": [{\"message\": {\"content\": [{\"type\": \"text\", \"text\": \"a\"}]}}]}" },
		{ 200, "{\"choices\": [{\"message\": {\"content\": null, \"tool_calls\": [{\"id\": \"1\"}]}}]}" },
		{ 200, "{\"choices\": [{\"message\": {\"content\": \"x\"}}], \"usage\": {\"prompt_tokens\": \"many\"}}", NULL },
	};
	for (size_t i = 0; i < FH_ARRAY_SIZE(rows); i++) {
		fh_auto_provider_response struct fh_provider_response r = FH_PROVIDER_RESPONSE_INIT;
		fh_model_answer(&fh_wire_openai_chat, rows[i].status, "application/json", fh_str(rows[i].body), NULL, &r);
		assert_true(!r.error != !r.output);
		if (!r.error != !rows[i].error || (r.error && !strstr(r.error, rows[i].error)))
			fail_msg("%s: %s", rows[i].body, r.error ? r.error : "no error");
		assert_int_equal(r.tokens.prompt, -1);
	}
}

static void test_a_schema_makes_the_output_json(void **state)
{
	fh_auto_json json_t *config =
	    fh_json_parse(fh_str("{\"response_format\": {\"type\": \"json_schema\"}, \"cost\": 0.5}"), NULL, NULL);
	fh_auto_provider_response struct fh_provider_response r = FH_PROVIDER_RESPONSE_INIT;
	fh_model_answer(&fh_wire_openai_chat, 200, "application/json",
	                fh_str("{\"choices\": [{\"message\": {\"content\": \"{\\\"a\\\": 1}\"}}], "
	                       "\"usage\": {\"prompt_tokens\": 2, \"completion_tokens\": 2}}"),
	                config, &r);
	assert_int_equal(fh_json_int(r.output, "a", 0), 1);
	assert_true(fh_price_of("openai", "m", config, &r.tokens) == 2);
	assert_int_equal(r.tokens.total, 4);
}

/* -------------------------------------------------------------------------------------------------------- requests */

static void expect_request(const struct fh_wire *wire, const char *model, const char *config, const char *prompt,
                           const char *body)
{
	fh_auto_json json_t *c = fh_json_parse(fh_str(config), NULL, NULL);
	struct fh_wire_call call = { .model = model, .config = c, .prompt = fh_str(prompt) };
	fh_auto_json json_t *got = wire->request(&call);
	fh_auto_free char *text = fh_json_text(got, 0);
	assert_string_equal(text, body);
}

static void test_requests(void **state)
{
	expect_request(&fh_wire_openai_chat, "m", "{}", "hi",
	               "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}],\"max_tokens\":1024,"
	               "\"temperature\":0}");
	expect_request(&fh_wire_openai_chat, "m",
	               "{\"temperature\": 0.2, \"seed\": 7, \"stop\": [\"x\"], \"max_tokens\": null, \"apiKey\": \"k\"}",
	               "[{\"role\": \"system\", \"content\": \"s\"}]",
	               "{\"model\":\"m\",\"messages\":[{\"role\":\"system\",\"content\":\"s\"}],\"temperature\":0.2,"
	               "\"stop\":[\"x\"],\"seed\":7}");
	expect_request(&fh_wire_openai_chat, "o3-mini", "{\"max_completion_tokens\": 5, \"passthrough\": {\"top_k\": 1}}",
	               "[1, 2]",
	               "{\"model\":\"o3-mini\",\"messages\":[{\"role\":\"user\",\"content\":\"[1, 2]\"}],"
	               "\"max_completion_tokens\":5,\"top_k\":1}");
}

static void test_ollama(void **state)
{
	fh_auto_json json_t *config =
	    fh_json_parse(fh_str("{\"temperature\": 0.5, \"max_tokens\": 9, \"format\": \"json\", "
	                         "\"apiBaseUrl\": \"http://h\", \"options\": {\"seed\": 1}}"),
	                  NULL, NULL);
	struct fh_wire_call call = { .model = "m", .config = config, .prompt = fh_str("hi") };
	fh_auto_json json_t *body = fh_wire_ollama_completion.request(&call);
	fh_auto_free char *text = fh_json_text(body, 0);
	assert_string_equal(text, "{\"model\":\"m\",\"prompt\":\"hi\",\"stream\":false,\"format\":\"json\",\"options\":"
	                          "{\"temperature\":0.5,\"seed\":1,\"num_predict\":9}}");
	fh_auto_provider_response struct fh_provider_response r = FH_PROVIDER_RESPONSE_INIT;
	fh_model_answer(&fh_wire_ollama_chat, 200, "application/json",
	                fh_str("{\"message\": {\"role\": \"assistant\", \"content\": \"yes\"}, \"done\": true, "
	                       "\"done_reason\": \"stop\", \"prompt_eval_count\": 3, \"eval_count\": 2}"),
	                NULL, &r);
	assert_string_equal(json_string_value(r.output), "yes");
	assert_int_equal(r.tokens.total, 5);
	fh_provider_response_release(&r);
	fh_model_answer(&fh_wire_ollama_chat, 200, "application/x-ndjson",
	                fh_str("{\"message\": {\"content\": \"a\"}, \"done\": false}\n"
	                       "{\"message\": {\"content\": \"b\"}, \"done\": true}\n"),
	                NULL, &r);
	assert_string_equal(json_string_value(r.output), "ab");
	fh_provider_response_release(&r);
	fh_model_answer(&fh_wire_ollama_chat, 404, "application/json", fh_str("{\"error\": \"model 'x' not found\"}"), NULL,
	                &r);
	assert_string_equal(r.error, "API error: 404 Not Found: model 'x' not found");
	fh_provider_response_release(&r);
	/* A stream that was cut: no last object. */
	fh_model_answer(&fh_wire_ollama_chat, 200, "application/x-ndjson",
	                fh_str("{\"message\": {\"content\": \"a\"}, \"done\": false}\n{\"mess"), NULL, &r);
	assert_non_null(r.error);
}

static void expect_stream(const struct fh_wire *wire, const char *body, const char *output, const char *finish,
                          int64_t total)
{
	fh_auto_provider_response struct fh_provider_response r = FH_PROVIDER_RESPONSE_INIT;
	fh_model_answer(wire, 200, "text/event-stream; charset=utf-8", fh_str(body), NULL, &r);
	fh_auto_free char *got = r.output ? fh_json_text(r.output, 0) : fh_xstrdup(r.error);
	assert_string_equal(got, output);
	assert_true(fh_streq(r.finish_reason, finish));
	assert_int_equal(r.tokens.total, total);
}

static void test_streams_are_put_together(void **state)
{
	expect_stream(&fh_wire_openai_chat,
	              "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"He\"}}]}\n\n"
	              ": a comment\nevent: x\r\n"
	              "data: {\"choices\":[{\"delta\":{\"content\":\"llo\"},\"finish_reason\":null}]}\r\n\r\n"
	              "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
	              "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2}}\n\ndata: [DONE]\n\n",
	              "\"Hello\"", "stop", 3);
	expect_stream(
	    &fh_wire_openai_chat,
	    "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"type\":\"function\","
	    "\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"x\\\"\"}}]}}]}\n"
	    "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\":1}\"}}]},"
	    "\"finish_reason\":\"tool_calls\"}]}\n",
	    "[{\"id\":\"a\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"x\\\":1}\"}}]",
	    "tool_calls", -1);
	expect_stream(&fh_wire_openai_chat, "data: {\"choices\":[{\"delta\":{\"content\":\"He\"}}]}\n",
	              "API error: the stream ended in the middle of the answer", NULL, -1);
	expect_stream(&fh_wire_openai_chat, "data: {\"error\":{\"message\":\"overloaded\"}}\n",
	              "API error: 200: overloaded", NULL, -1);
	expect_stream(
	    &fh_wire_openai_responses,
	    "data: {\"type\":\"response.output_text.delta\",\"delta\":\"a\"}\n"
	    "data: {\"type\":\"response.completed\",\"response\":{\"output\":[{\"type\":\"reasoning\"},{\"type\":"
	    "\"message\",\"content\":[{\"type\":\"output_text\",\"text\":\"ab\"}]}],\"usage\":{\"input_tokens\":1,"
	    "\"output_tokens\":1,\"total_tokens\":2}}}\n",
	    "\"ab\"", "stop", 2);
	expect_stream(
	    &fh_wire_openai_completion,
	    "data: {\"choices\":[{\"text\":\"a\"}]}\ndata: {\"choices\":[{\"text\":\"b\",\"finish_reason\":\"length\"}]}\n",
	    "\"ab\"", "length", -1);
	expect_stream(
	    &fh_wire_anthropic,
	    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":4}}}\n"
	    "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n"
	    "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"hi\"}}\n"
	    "data: {\"type\":\"content_block_stop\",\"index\":0}\n"
	    "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":2}}\n"
	    "data: {\"type\":\"message_stop\"}\n",
	    "\"hi\"", "stop", 6);
	expect_stream(
	    &fh_wire_google,
	    "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\"}]}}]}\n"
	    "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"b\"},{\"text\":\"so\",\"thought\":true}]},"
	    "\"finishReason\":\"MAX_TOKENS\"}],\"usageMetadata\":{\"totalTokenCount\":9}}\n",
	    "\"ab\"", "length", 9);
}

#define SAID(text) "{\"choices\":[{\"delta\":{\"content\":\"" text "\"}}]}"
#define ENDED "{\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}"

/* What the standard of server-sent events lets a server write, and what proxies make of it. */
static void test_events_in_every_form(void **state)
{
	static const struct {
		const char *body, *output;
	} rows[] = {
		{ "data: " SAID("a") "\r\rdata: " SAID("b") "\r\rdata: " ENDED "\r\rdata: [DONE]\r\r", "\"ab\"" },
		{ "data: " SAID("a") "\r\n\r\ndata: " SAID("b") "\n\rdata: " ENDED "\r\n\r\n", "\"ab\"" },
		{ "\xef\xbb\xbf"
		  "data: " SAID("a") "\n\ndata: " SAID("b") "\n\ndata: " ENDED "\n\n",
		  "\"ab\"" },
		{ "data: {\"choices\":\ndata: [{\"delta\":\ndata:{\"content\":\"a\"}}]}\n\ndata: " ENDED "\n\n", "\"a\"" },
		{ "data: {\"choices\":\ndata: [{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}", "\"a\"" },
		{ "data: " SAID("a") "\n\ndata: " ENDED "\n\ndata: [DONE]\n\ndata: bye\n\n", "\"a\"" },
		{ "data\n\ndata:\n\ndata: " SAID("a") "\n\ndata: " ENDED "\n\n", "\"a\"" },
		{ "data: {\"choices\":\ndata: " SAID("b") "\n\ndata: " ENDED "\n\n",
		  "API error: part of the stream was not JSON, so that part of the answer is missing" },
		{ "event: error\ndata: {\"type\":\"error\",\"message\":\"too many\"}\n\n", "API error: 200: too many" },
		{ "data: " SAID("a") "\n\nevent: error\ndata: out of memory\n\n", "API error: 200: out of memory" },
	};
	for (size_t i = 0; i < FH_ARRAY_SIZE(rows); i++)
		expect_stream(&fh_wire_openai_chat, rows[i].body, rows[i].output, *rows[i].output == '"' ? "stop" : NULL, -1);
	/* A proxy that calls the stream JSON. */
	fh_auto_provider_response struct fh_provider_response r = FH_PROVIDER_RESPONSE_INIT;
	fh_model_answer(&fh_wire_openai_chat, 200, "application/json", fh_str("data: " SAID("a") "\n\ndata: " ENDED "\n\n"),
	                NULL, &r);
	assert_string_equal(json_string_value(r.output), "a");
}

/* As Anthropic, Google and Azure describe their streams: pings, input of tools in pieces, signatures, errors. */
static void test_streams_of_vendors(void **state)
{
	expect_stream(
	    &fh_wire_anthropic,
	    "event: message_start\ndata: "
	    "{\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"type\":\"message\",\"role\":"
	    "\"assistant\",\"content\":[],\"stop_reason\":null,\"usage\":{\"input_tokens\":3,\"cache_read_input_tokens\":4,"
	    "\"output_tokens\":1}}}\n\nevent: ping\ndata: {\"type\": \"ping\"}\n\n"
	    "data: "
	    "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\"}}\n\n"
	    "data: "
	    "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"hm\"}}\n\n"
	    "data: "
	    "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"signature_delta\",\"signature\":\"Eq\"}}"
	    "\n\n"
	    "data: {\"type\":\"content_block_stop\",\"index\":0}\n\n"
	    "data: "
	    "{\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t\",\"name\":"
	    "\"f\",\"input\":{}}}\n\n"
	    "data: "
	    "{\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"\"}}"
	    "\n\n"
	    "data: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":"
	    "\"{\\\"x\\\": \"}}\n\n"
	    "data: "
	    "{\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"1}"
	    "\"}}\n\n"
	    "data: {\"type\":\"content_block_stop\",\"index\":1}\n\n"
	    "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\",\"stop_sequence\":null},\"usage\":"
	    "{\"output_tokens\":9}}\n\ndata: {\"type\":\"message_stop\"}\n\n",
	    "\"{\\\"type\\\":\\\"tool_use\\\",\\\"id\\\":\\\"t\\\",\\\"name\\\":\\\"f\\\",\\\"input\\\":{\\\"x\\\":1}}\"",
	    "tool_calls", 16);
	expect_stream(&fh_wire_anthropic,
	              "event: error\ndata: "
	              "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n",
	              "API error: 200: Overloaded", NULL, -1);
	expect_stream(
	    &fh_wire_google,
	    "data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"functionCall\":{\"name\":\"f\",\"args\":"
	    "{\"x\":1}}}]},\"finishReason\":\"STOP\",\"index\":0}],\"usageMetadata\":{\"promptTokenCount\":1,"
	    "\"candidatesTokenCount\":2,\"totalTokenCount\":3},\"modelVersion\":\"gemini\"}\r\n\r\n",
	    "[{\"functionCall\":{\"name\":\"f\",\"args\":{\"x\":1}}}]", "stop", 3);
	expect_stream(&fh_wire_google,
	              "data: {\"error\":{\"code\":503,\"message\":\"overloaded\",\"status\":\"UNAVAILABLE\"}}\n",
	              "API error: 200: overloaded", NULL, -1);
	expect_stream(
	    &fh_wire_openai_chat,
	    "data: {\"choices\":[],\"created\":0,\"id\":\"\",\"model\":\"\",\"object\":\"\",\"prompt_filter_results\":"
	    "[{\"prompt_index\":0,\"content_filter_results\":{\"hate\":{\"filtered\":false,\"severity\":\"safe\"}}}]}\n\n"
	    "data: {\"choices\":[{\"content_filter_results\":{},\"delta\":{\"content\":\"\",\"refusal\":null,\"role\":"
	    "\"assistant\"},\"finish_reason\":null,\"index\":0,\"logprobs\":null}]}\n\n"
	    "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"},\"finish_reason\":null,\"index\":0}]}\n\n"
	    "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\",\"index\":0}]}\n\ndata: [DONE]\n\n",
	    "\"hi\"", "stop", -1);
}

static void test_a_real_stream(void **state)
{
	fh_auto_provider_response struct fh_provider_response r = FH_PROVIDER_RESPONSE_INIT;
	from_wire("chat-stream", &r);
	assert_null(r.error);
	assert_true(json_string_length(r.output) > 0);
}

static void expect_answer(const struct fh_wire *wire, const char *body, const char *output)
{
	fh_auto_provider_response struct fh_provider_response r = FH_PROVIDER_RESPONSE_INIT;
	fh_model_answer(wire, 200, "application/json", fh_str(body), NULL, &r);
	fh_auto_free char *got = r.output ? fh_json_text(r.output, 0) : fh_xstrdup(r.error);
	assert_string_equal(got, output);
}

static void test_other_services(void **state)
{
	expect_request(&fh_wire_anthropic, "claude", "{}",
	               "[{\"role\": \"system\", \"content\": \"s\"}, {\"role\": \"user\", \"content\": \"u\"}]",
	               "{\"model\":\"claude\",\"system\":\"s\",\"messages\":[{\"role\":\"user\",\"content\":\"u\"}],"
	               "\"max_tokens\":1024,\"temperature\":0}");
	expect_request(&fh_wire_google, "gemini", "{\"maxOutputTokens\": 5}",
	               "[{\"role\": \"assistant\", \"content\": \"a\"}, {\"role\": \"user\", \"content\": \"u\"}]",
	               "{\"contents\":[{\"role\":\"model\",\"parts\":[{\"text\":\"a\"}]},{\"role\":\"user\",\"parts\":"
	               "[{\"text\":\"u\"}]}],\"generationConfig\":{\"temperature\":0,\"maxOutputTokens\":5}}");
	expect_request(&fh_wire_openai_embedding, "e", "{\"dimensions\": 3}", "text",
	               "{\"model\":\"e\",\"input\":\"text\",\"dimensions\":3}");
	expect_answer(
	    &fh_wire_anthropic,
	    "{\"content\": [{\"type\": \"thinking\", \"thinking\": \"hm\"}, {\"type\": \"text\", \"text\": \"a\"},"
	    " {\"type\": \"tool_use\", \"id\": \"1\", \"name\": \"f\", \"input\": {}}]}",
	    "\"a\\n\\n{\\\"type\\\":\\\"tool_use\\\",\\\"id\\\":\\\"1\\\",\\\"name\\\":\\\"f\\\",\\\"input\\\":{}}\"");
	expect_answer(&fh_wire_google, "{\"promptFeedback\": {\"blockReason\": \"SAFETY\"}}",
	              "API error: the prompt was blocked: SAFETY");
	expect_answer(&fh_wire_openai_embedding, "{\"data\": [{\"embedding\": [1, 2.5]}]}", "[1,2.5]");
	expect_answer(&fh_wire_openai_embedding, "{\"data\": [{\"embedding\": [\"x\"]}]}",
	              "API error: the server's answer holds no embedding");
	expect_answer(&fh_wire_ollama_embedding, "{\"embeddings\": [[0.5]]}", "[0.5]");
	expect_answer(&fh_wire_openai_moderation,
	              "{\"results\": [{\"flagged\": true, \"categories\": {\"hate\": true, \"violence\": false},"
	              " \"category_scores\": {\"hate\": 0.5}}]}",
	              "{\"flagged\":true,\"flags\":[{\"code\":\"hate\",\"description\":\"hate\",\"confidence\":0.5}]}");
}

#define MESSAGE(text) "{\"type\": \"message\", \"content\": [{\"type\": \"output_text\", \"text\": \"" text "\"}]}"
#define CALL "{\"type\": \"function_call\", \"name\": \"f\"}"

/* The output of OpenAI's responses is text, also when functions are called, and what was spoken is its words. */
static void test_responses_and_audio(void **state)
{
	expect_answer(&fh_wire_openai_responses, "{\"output\": [" MESSAGE("a") ", " CALL ", " MESSAGE("b") "]}",
	              "\"a\\n{\\\"type\\\":\\\"function_call\\\",\\\"name\\\":\\\"f\\\"}\\nb\"");
	expect_answer(&fh_wire_openai_responses, "{\"output\": []}", "API error: the server's answer holds no output");
	expect_answer(&fh_wire_openai_chat,
	              "{\"choices\": [{\"message\": {\"content\": null, \"audio\": {\"transcript\": \"hello\"}}}]}",
	              "\"hello\"");
	expect_request(
	    &fh_wire_openai_responses, "gpt-4.1",
	    "{\"response_format\": {\"type\": \"json_schema\", \"json_schema\": {\"name\": \"n\", \"schema\": {}}}, "
	    "\"text\": {\"verbosity\": \"low\"}, \"temperature\": null, \"max_output_tokens\": 5}",
	    "hi",
	    "{\"model\":\"gpt-4.1\",\"input\":\"hi\",\"max_output_tokens\":5,\"text\":{\"verbosity\":\"low\","
	    "\"format\":{\"type\":\"json_schema\",\"name\":\"n\",\"schema\":{},\"strict\":true}}}");
}

static void test_which_wire_an_id_speaks(void **state)
{
	static const struct {
		const char *id;
		const struct fh_wire *wire;
		const char *model;
	} rows[] = {
		{ "openai:gpt-4o", &fh_wire_openai_chat, "gpt-4o" },
		{ "openai:responses:gpt-5", &fh_wire_openai_responses, "gpt-5" },
		{ "openai:embeddings:e", &fh_wire_openai_embedding, "e" },
		{ "openai:embedding", &fh_wire_openai_embedding, "text-embedding-3-large" },
		{ "openai:moderation", &fh_wire_openai_moderation, "omni-moderation-latest" },
		{ "openai:moderation:", &fh_wire_openai_moderation, "omni-moderation-latest" },
		{ "groq:llama-3:8b", &fh_wire_openai_chat, "llama-3:8b" },
		{ "ollama:llama3.2:1b", &fh_wire_ollama_completion, "llama3.2:1b" },
		{ "ollama:chat:llama3.2:1b", &fh_wire_ollama_chat, "llama3.2:1b" },
		{ "anthropic:claude", &fh_wire_anthropic, "claude" },
		{ "openrouter:a/b:free", &fh_wire_openai_chat, "a/b:free" },
		{ "nosuch:x", NULL, NULL },
	};
	for (size_t i = 0; i < FH_ARRAY_SIZE(rows); i++) {
		const struct fh_service *service = NULL;
		const char *model = NULL, *wrong = NULL;
		assert_ptr_equal(fh_model_parse_id(rows[i].id, &service, &model, &wrong), rows[i].wire);
		assert_true(fh_streq(model, rows[i].model));
	}
}

static void test_counts_that_no_server_can_mean_are_left_out(void **state)
{
	(void)state;
	fh_auto_provider_response struct fh_provider_response openai = FH_PROVIDER_RESPONSE_INIT;
	fh_auto_provider_response struct fh_provider_response ollama = FH_PROVIDER_RESPONSE_INIT;
	fh_model_answer(&fh_wire_openai_chat, 200, "application/json",
	                fh_str("{\"choices\": [{\"message\": {\"content\": \"x\"}}],"
	                       " \"usage\": {\"prompt_tokens\": 1e300, \"completion_tokens\": 9223372036854775807}}"),
	                NULL, &openai);
	assert_int_equal(openai.tokens.prompt, -1);
	assert_int_equal(openai.tokens.completion, -1);
	assert_int_equal(openai.tokens.total, -1);
	fh_model_answer(&fh_wire_ollama_chat, 200, "application/json",
	                fh_str("{\"message\": {\"content\": \"x\"}, \"prompt_eval_count\": 9223372036854775807,"
	                       " \"eval_count\": 1}"),
	                NULL, &ollama);
	assert_int_equal(ollama.tokens.prompt, -1);
	assert_int_equal(ollama.tokens.total, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_good_answer),
		cmocka_unit_test(test_why_an_answer_ended_is_told_in_the_same_words),
		cmocka_unit_test(test_what_a_server_refused_or_filtered_is_flagged),
		cmocka_unit_test(test_log_probs),
		cmocka_unit_test(test_refusals_of_real_servers),
		cmocka_unit_test(test_answers_that_lack_something),
		cmocka_unit_test(test_a_schema_makes_the_output_json),
		cmocka_unit_test(test_requests),
		cmocka_unit_test(test_ollama),
		cmocka_unit_test(test_streams_are_put_together),
		cmocka_unit_test(test_events_in_every_form),
		cmocka_unit_test(test_streams_of_vendors),
		cmocka_unit_test(test_a_real_stream),
		cmocka_unit_test(test_other_services),
		cmocka_unit_test(test_responses_and_audio),
		cmocka_unit_test(test_which_wire_an_id_speaks),
		cmocka_unit_test(test_counts_that_no_server_can_mean_are_left_out),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
