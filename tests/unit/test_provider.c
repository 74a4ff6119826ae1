/* SPDX-License-Identifier: MIT */
/* Providers without a network: ids, recordings, requests, and answers as real servers give them (tests/data/wire). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/fd.h"
#include "provider/exec.h"
#include "provider/http.h"
#include "provider/cache.h"
#include "provider/limiter.h"
#include "provider/model.h"
#include "provider/prices.h"
#include "provider/rate_headers.h"
#include "provider/secrets.h"
#include "provider/provider.h"
#include "provider/replay.h"

static struct fh_provider *open_provider(const char *id, const char *config, struct fh_error *err)
{
	fh_auto_json json_t *c = config ? fh_json_parse(fh_str(config), NULL, NULL) : NULL;
	struct fh_provider_options o = { .id = id, .config = c };
	struct fh_provider *p = NULL;
	*err = (struct fh_error)FH_ERROR_INIT;
	fh_provider_open(&o, &p, err);
	return p;
}

static void test_echo(void **state)
{
	struct fh_error err;
	fh_auto_provider struct fh_provider *p = open_provider("echo", NULL, &err);
	assert_non_null(p);
	assert_string_equal(fh_provider_label(p), "echo");
	struct fh_provider_request request = { .prompt = fh_str("hello") };
	fh_auto_provider_response struct fh_provider_response r = FH_PROVIDER_RESPONSE_INIT;
	assert_int_equal(fh_provider_call(p, &request, &r, &err), 0);
	assert_string_equal(json_string_value(r.output), "hello");
	assert_true(r.cost == 0);
	assert_null(r.error);
}

static void test_unknown_ids_name_the_nearest(void **state)
{
	static const struct {
		const char *id, *message, *hint;
	} rows[] = {
		{ "opnai:gpt-4o", "unknown provider opnai:gpt-4o", "did you mean openai:gpt-4o?" },
		{ "olama:chat:x", "unknown provider", "ollama:chat:x" },
		{ "echo:x", "unknown provider echo:x", "did you mean echo" },
		{ "file://x.txt", "not a python or javascript file", "file://NAME.py" },
		{ "openai:", "names no model", "openai:chat:MODEL" },
		{ "openai:image:x", "a kind of service that is not supported", "openai:chat:MODEL" },
		{ "anthropic:messages:", "names no model", "anthropic:messages:MODEL" },
		{ "mistrel:x", "unknown provider mistrel:x", "did you mean mistral:x?" },
		{ "exec:", "no command", "exec:" },
		{ "exec:a 'b", "has an open quote", "exec:" },
		{ "file:///nonexistent/p.py", "there is no file /nonexistent/p.py", "relative to the folder" },
	};
	for (size_t i = 0; i < FH_ARRAY_SIZE(rows); i++) {
		struct fh_error err;
		assert_null(open_provider(rows[i].id, NULL, &err));
		assert_int_equal(err.code, FH_E_CONFIG);
		if (!strstr(err.message, rows[i].message) || !strstr(err.hint, rows[i].hint))
			fail_msg("%s: %s / %s", rows[i].id, err.message, err.hint);
	}
}

static void test_configs_that_are_wrong(void **state)
{
	static const struct {
		const char *id, *config, *message;
	} rows[] = {
		{ "openai:x", "{\"apiBaseUrl\": \"ftp://h/v1\"}", "not an http or https URL" },
		{ "openai:x", "{\"apiBaseUrl\": \"http://h\", \"headers\": {\"a\": \"b\\r\\nc: d\"}}",
		  "not a header of one line" },
		{ "openai:x", "{\"apiBaseUrl\": \"http://h\", \"headers\": [1]}", "has to be a mapping" },
		{ "openai:x", "[1]", "config has to be a mapping" },
		{ "ollama:x", "{\"apiBaseUrl\": \"h:1\"}", "not an http or https URL" },
	};
	for (size_t i = 0; i < FH_ARRAY_SIZE(rows); i++) {
		struct fh_error err;
		assert_null(open_provider(rows[i].id, rows[i].config, &err));
		if (!strstr(err.message, rows[i].message))
			fail_msg("%s %s: %s", rows[i].id, rows[i].config, err.message);
	}
}

static void test_a_key_is_needed_for_openai_alone(void **state)
{
	struct fh_error err;
	unsetenv("OPENAI_API_KEY");
	unsetenv("OPENAI_BASE_URL");
	unsetenv("OPENAI_API_BASE_URL");
	unsetenv("OPENAI_API_HOST");
	assert_null(open_provider("openai:gpt-4o", NULL, &err));
	assert_non_null(strstr(err.message, "no API key"));
	assert_null(open_provider("openai:gpt-4o", "{\"apiKeyEnvar\": \"MY_KEY\"}", &err));
	assert_non_null(strstr(err.hint, "MY_KEY"));
	fh_provider_free(open_provider("openai:gpt-4o", "{\"apiBaseUrl\": \"http://127.0.0.1:1/v1\"}", &err));
	assert_int_equal(err.code, FH_OK);
}

/* ---------------------------------------------------------------------------------------------------- recordings */

static struct fh_replay *recordings(const char *text, struct fh_error *err)
{
	char path[] = "/tmp/fumehood-test-XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(fh_write_all(fd, text, strlen(text)), 0);
	close(fd);
	struct fh_replay *r = NULL;
	*err = (struct fh_error)FH_ERROR_INIT;
	fh_replay_open(path, &r, err);
	unlink(path);
	return r;
}

static void ask_expecting(struct fh_replay *r, const char *label, const char *prompt, const char *output)
{
	fh_auto_provider_response struct fh_provider_response got = FH_PROVIDER_RESPONSE_INIT;
	fh_replay_answer(r, "p:1", label, fh_str(prompt), &got);
	if (output)
		assert_string_equal(json_string_value(got.output), output);
	else
		assert_non_null(got.error);
}

static void test_recordings_are_served_in_order_and_again(void **state)
{
	struct fh_error err;
	struct fh_replay *r = recordings("{\"provider\": \"p:1\", \"prompt\": \"a\", \"response\": \"first\"}\n\n"
	                                 "{\"provider\": \"p:1\", \"prompt\": \"a\", \"response\": \"second\"}\n"
	                                 "{\"provider\": \"named\", \"prompt\": \"a\", \"response\": \"by label\"}\n"
	                                 "{\"provider\": \"p:1\", \"prompt\": \"b\", \"error\": \"broke\"}",
	                                 &err);
	assert_non_null(r);
	ask_expecting(r, NULL, "a", "first");
	ask_expecting(r, "other", "a", "second");
	ask_expecting(r, "named", "a", "by label");
	ask_expecting(r, NULL, "a", "first");
	ask_expecting(r, NULL, "b", NULL);
	ask_expecting(r, NULL, "A", NULL);
	ask_expecting(r, NULL, "a ", NULL);
	fh_replay_free(r);
}

static void test_a_recording_brings_its_facts(void **state)
{
	struct fh_error err;
	struct fh_replay *r =
	    recordings("{\"provider\": \"p:1\", \"prompt\": \"a\", \"response\": {\"k\": 1}, \"seconds\": 1.5, "
	               "\"model\": \"m\", \"seed\": 42, \"date\": \"2026-11-21\", \"cost\": 0.25, "
	               "\"finish_reason\": \"stop\", \"tokens\": {\"prompt\": 3, \"completion\": 4, \"total\": 7}}",
	               &err);
	struct fh_provider_options o = { .id = "p:1", .replay = r };
	struct fh_provider *p = NULL;
	/* Recordings stand in for ids that we could not ask. */
	assert_int_equal(fh_provider_open(&o, &p, &err), 0);
	struct fh_provider_request request = { .prompt = fh_str("a") };
	fh_auto_provider_response struct fh_provider_response got = FH_PROVIDER_RESPONSE_INIT;
	assert_int_equal(fh_provider_call(p, &request, &got, &err), 0);
	assert_int_equal(fh_json_int(got.output, "k", 0), 1);
	assert_true(got.latency_ms == 1500);
	assert_true(got.cost == 0.25);
	assert_int_equal(got.tokens.total, 7);
	assert_string_equal(got.finish_reason, "stop");
	assert_int_equal(fh_json_int(json_object_get(got.metadata, "recording"), "seed", 0), 42);
	fh_provider_response_release(&got);
	request.prompt = fh_str("unknown prompt");
	assert_int_equal(fh_provider_call(p, &request, &got, &err), 0);
	assert_non_null(strstr(got.error, "p:1"));
	assert_non_null(strstr(got.error, "unknown prompt"));
	fh_provider_free(p);
	fh_replay_free(r);
}

static void test_bad_recordings_name_their_line(void **state)
{
	static const char *const rows[] = {
		"{\"prompt\": \"a\", \"response\": \"x\"}",
		"{\"provider\": \"p\", \"response\": \"x\"}",
		"{\"provider\": \"p\", \"prompt\": \"a\"}",
		"{\"provider\": \"p\", \"prompt\": \"a\", \"error\": 1}",
		"{\"provider\": \"p\", ",
		"[1]",
	};
	for (size_t i = 0; i < FH_ARRAY_SIZE(rows); i++) {
		struct fh_error err;
		fh_auto_free char *text =
		    fh_xasprintf("{\"provider\": \"p\", \"prompt\": \"a\", \"response\": \"x\"}\n%s\n", rows[i]);
		assert_null(recordings(text, &err));
		assert_int_equal(err.code, FH_E_CONFIG);
		assert_int_equal(err.line, 2);
	}
	struct fh_replay *r = NULL;
	struct fh_error err = FH_ERROR_INIT;
	assert_true(fh_replay_open("/nonexistent", &r, &err) < 0);
	assert_non_null(strstr(err.hint, "FUMEHOOD_REPLAY"));
}

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
		{ 200, "{\"choices\": [{\"message\": {\"content\": \"\"}}]}", NULL },
		{ 200, "{\"error\": {\"message\": \"overloaded\"}}", "overloaded" },
		{ 200, "[]", "not a JSON object" },
		{ 200, "{\"choices\"", "not a JSON object" },
		{ 307, "", "API error: 307 Temporary Redirect" },
		{ 200, "{\"choices\": [{\"message\": {\"content\": [{\"type\": \"text\", \"text\": \"a\"}]}}]}", NULL },
		{ 200, "{\"choices\": [{\"message\": {\"content\": null, \"tool_calls\": [{\"id\": \"1\"}]}}]}", NULL },
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

static void test_costs(void **state)
{
	const struct fh_tokens t = { .total = 3000000, .prompt = 2000000, .completion = 1000000, .cached = 1000000 };
	assert_true(fh_price_of("openai", "no-such-model", NULL, &t) == -1);
	assert_float_equal(fh_price_of("openai", "gpt-4o-2024-08-06", NULL, &t), 2.5 + 1.25 + 10, 1e-9);
	assert_true(fh_price_of("openai", "gpt-4o-nano-new", NULL, &t) == -1);
	fh_auto_json json_t *own = fh_json_parse(fh_str("{\"inputCost\": 1e-6, \"outputCost\": 2e-6}"), NULL, NULL);
	assert_float_equal(fh_price_of("openai", "gpt-4o", own, &t), 4, 1e-9);
}

static void test_when_a_server_wants_to_be_asked_again(void **state)
{
	static const struct {
		const char *headers;
		uint64_t ms;
	} rows[] = {
		{ "Content-Type: x\r\nRetry-After: 7\r\n", 7000 },
		{ "retry-after-ms: 250\n", 250 },
		{ "Retry-After: Sun, 09 Sep 2001 01:46:45 GMT\n", 5000 },
		{ "x-ratelimit-remaining-requests: 0\nx-ratelimit-reset-requests: 1m2.5s\n", 62500 },
		{ "x-ratelimit-remaining-requests: 12\nx-ratelimit-reset-requests: 1m2s\n", 0 },
		{ "anthropic-ratelimit-tokens-remaining: 0\nanthropic-ratelimit-tokens-reset: 2001-09-09T01:46:43Z\n", 3000 },
		{ "x-ratelimit-remaining-tokens: 0\nx-ratelimit-reset-tokens: 20ms\n", 20 },
		{ "x-ratelimit-remaining: 0\nx-ratelimit-reset: 1000000009\n", 9000 },
		{ "retry-after: soon\n", 0 },
		{ "", 0 },
	};
	for (size_t i = 0; i < FH_ARRAY_SIZE(rows); i++)
		assert_int_equal(fh_rate_pause_ms(fh_str(rows[i].headers), 1000000000), rows[i].ms);
}

static void test_a_429_halves_what_is_allowed_once_for_all_that_were_under_way(void **state)
{
	struct fh_limiter l;
	int64_t begun[8];
	fh_limiter_init(&l);
	for (size_t i = 0; i < FH_ARRAY_SIZE(begun); i++)
		assert_int_equal(fh_limiter_enter(&l, NULL, &begun[i], NULL), 0);
	for (size_t i = 0; i < FH_ARRAY_SIZE(begun); i++)
		fh_limiter_leave(&l, begun[i], true);
	assert_int_equal(fh_limiter_allowed(&l), 4);
	for (size_t i = 0; i < 10; i++) {
		assert_int_equal(fh_limiter_enter(&l, NULL, &begun[0], NULL), 0);
		fh_limiter_leave(&l, begun[0], false);
	}
	assert_int_equal(fh_limiter_allowed(&l), 6);
	fh_limiter_hold(&l, 60000);
	const volatile int stop = 1;
	assert_int_equal(fh_limiter_enter(&l, &stop, &begun[0], NULL), -FH_E_CANCELLED);
	fh_limiter_release(&l);
}

static void test_the_cache_keeps_answers_for_their_time(void **state)
{
	char dir[] = "/tmp/fumehood-test-XXXXXX", key[FH_CACHE_KEY];
	assert_non_null(mkdtemp(dir));
	struct fh_response_cache *cache = fh_response_cache_new(dir, 1000);
	fh_auto_json json_t *about = json_pack("{s:i, s:i}", "a", 1, "b", 2), *found = NULL;
	fh_auto_json json_t *turned = json_pack("{s:i, s:i}", "b", 2, "a", 1);
	char other[FH_CACHE_KEY];
	size_t n = 0;
	fh_response_cache_key(about, key);
	fh_response_cache_key(turned, other);
	assert_string_equal(key, other);
	assert_int_equal(fh_response_cache_begin(cache, key, NULL, &found, NULL), 0);
	assert_null(found);
	fh_response_cache_end(cache, key, about);
	assert_int_equal(fh_response_cache_begin(cache, key, NULL, &found, NULL), 0);
	assert_true(json_equal(found, about));
	fh_auto_free char *path = fh_xasprintf("%s/%.2s/%s.json", dir, key, key);
	struct timespec old[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };
	json_decref(found);
	found = NULL;
	assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
	assert_int_equal(fh_response_cache_begin(cache, key, NULL, &found, NULL), 0);
	assert_null(found);
	fh_response_cache_end(cache, key, about);
	assert_int_equal(fh_response_cache_clear(cache, &n, NULL), 0);
	assert_int_equal(n, 1);
	assert_int_equal(rmdir(dir), 0);
	fh_response_cache_free(cache);
}

static void test_no_response_holds_a_secret(void **state)
{
	char **list = NULL;
	fh_auto_json json_t *config = fh_json_parse(fh_str("{\"apiKey\": \"sk-12345678\", \"headers\": {\"Authorization\": "
	                                                   "\"Bearer tok-87654321\"}, \"x\": \"word\"}"),
	                                            NULL, NULL);
	fh_secrets_add_all(&list, config);
	fh_auto_provider_response struct fh_provider_response r = FH_PROVIDER_RESPONSE_INIT;
	r.output = json_pack("{s:s, s:[s]}", "a sk-12345678", "b", "c", "the word tok-87654321 and tok-87654321");
	r.error = fh_xstrdup("refused: Bearer tok-87654321");
	fh_secrets_remove(list, &r);
	fh_auto_free char *text = fh_json_text(r.output, 0);
	assert_string_equal(text, "{\"a [REDACTED]\":\"b\",\"c\":[\"the word [REDACTED] and [REDACTED]\"]}");
	assert_string_equal(r.error, "refused: [REDACTED]");
	fh_secrets_free(list);
}

/* ------------------------------------------------------------------------------------------------- small functions */

static void test_counts_that_nobody_could_count_are_not_said(void **state)
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

static void test_splitting_a_command(void **state)
{
	static const struct {
		const char *command, *words[5];
	} rows[] = {
		{ "a b  c", { "a", "b", "c" } },
		{ "  a 'b  c' \"d $e\" ", { "a", "b  c", "d $e" } },
		{ "a\\ b c\\'d", { "a b", "c'd" } },
		{ "a '' \"\"", { "a", "", "" } },
		{ "python3 -c 'print(\"x\")'", { "python3", "-c", "print(\"x\")" } },
		{ "a\"b\"c", { "abc" } },
	};
	for (size_t i = 0; i < FH_ARRAY_SIZE(rows); i++) {
		char **words = NULL;
		assert_int_equal(fh_exec_split(rows[i].command, &words, NULL), 0);
		for (size_t w = 0; w == 0 || rows[i].words[w - 1]; w++) {
			assert_int_equal(!words[w], !rows[i].words[w]);
			if (words[w])
				assert_string_equal(words[w], rows[i].words[w]);
		}
		fh_exec_free_words(words);
	}
	char **words = NULL;
	assert_int_equal(fh_exec_split("a 'b", &words, NULL), -FH_E_CONFIG);
	assert_int_equal(fh_exec_split("a \\", &words, NULL), -FH_E_CONFIG);
	assert_int_equal(fh_exec_split("  ", &words, NULL), -FH_E_CONFIG);
	assert_null(words);
}

static void test_plain_text_of_a_terminal(void **state)
{
	static const char *const rows[][2] = {
		{ " \n\033[31mred\033[0m text\n", "red text" },
		{ "\033]0;title\atext", "text" },
		{ "\033]8;;x\033\\link", "link" },
		{ "a\033", "a" },
		{ "\033[", "" },
		{ " \033[1m \033[0m ", " " },
	};
	for (size_t i = 0; i < FH_ARRAY_SIZE(rows); i++) {
		fh_auto_buf struct fh_buf out = FH_BUF_INIT(0);
		fh_exec_plain(&out, fh_str(rows[i][0]));
		assert_string_equal(fh_buf_cstr(&out), rows[i][1]);
	}
}

static void test_pauses_between_tries(void **state)
{
	assert_int_equal(fh_http_pause_ms(1000, 1, 0), 1000);
	assert_int_equal(fh_http_pause_ms(1000, 3, 0), 4000);
	assert_int_equal(fh_http_pause_ms(1000, 1, 0.5), 1250);
	assert_int_equal(fh_http_pause_ms(1000, 60, 0), 60000);
	assert_true(fh_http_status_retryable(429));
	assert_true(fh_http_status_retryable(503));
	assert_false(fh_http_status_retryable(400));
	assert_false(fh_http_status_retryable(501));
	assert_false(fh_http_status_retryable(200));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_echo),
		cmocka_unit_test(test_unknown_ids_name_the_nearest),
		cmocka_unit_test(test_configs_that_are_wrong),
		cmocka_unit_test(test_a_key_is_needed_for_openai_alone),
		cmocka_unit_test(test_recordings_are_served_in_order_and_again),
		cmocka_unit_test(test_a_recording_brings_its_facts),
		cmocka_unit_test(test_bad_recordings_name_their_line),
		cmocka_unit_test(test_a_good_answer),
		cmocka_unit_test(test_log_probs),
		cmocka_unit_test(test_refusals_of_real_servers),
		cmocka_unit_test(test_answers_that_lack_something),
		cmocka_unit_test(test_a_schema_makes_the_output_json),
		cmocka_unit_test(test_requests),
		cmocka_unit_test(test_ollama),
		cmocka_unit_test(test_streams_are_put_together),
		cmocka_unit_test(test_a_real_stream),
		cmocka_unit_test(test_other_services),
		cmocka_unit_test(test_which_wire_an_id_speaks),
		cmocka_unit_test(test_costs),
		cmocka_unit_test(test_when_a_server_wants_to_be_asked_again),
		cmocka_unit_test(test_a_429_halves_what_is_allowed_once_for_all_that_were_under_way),
		cmocka_unit_test(test_the_cache_keeps_answers_for_their_time),
		cmocka_unit_test(test_no_response_holds_a_secret),
		cmocka_unit_test(test_counts_that_nobody_could_count_are_not_said),
		cmocka_unit_test(test_splitting_a_command),
		cmocka_unit_test(test_plain_text_of_a_terminal),
		cmocka_unit_test(test_pauses_between_tries),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
