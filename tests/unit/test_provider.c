/* SPDX-License-Identifier: MIT */
/* Providers without a network: ids, recordings, costs, pauses between requests, the cache, secrets, commands. */
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
#include "provider/http/http.h"
#include "provider/cache.h"
#include "provider/http/limiter.h"
#include "provider/http/websocket_frames.h"
#include "provider/model/prices.h"
#include "provider/http/rate_headers.h"
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
	assert_string_equal(fh_provider_id(p), "echo");
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
		{ "file://x.txt", "not a python, javascript, ruby or go file", "file://NAME.py" },
		{ "openai:", "names no model", "openai:chat:MODEL" },
		{ "openai:chat", "names no model", "openai:chat:MODEL" },
		{ "mistral:embedding", "names no model", "mistral:chat:MODEL" },
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

/* ----------------------------------------------------------------------------- costs, pauses, cache and secrets */

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
		{ "Retry-After: Sunday, 09-Sep-01 01:46:45 GMT\n", 5000 },
		{ "Retry-After: Sun Sep  9 01:46:45 2001\n", 5000 },
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
	/* Where the last 429 came, it rises slowly. */
	for (size_t i = 0; i < 14; i++) {
		assert_int_equal(fh_limiter_enter(&l, NULL, &begun[0], NULL), 0);
		fh_limiter_leave(&l, begun[0], false);
	}
	assert_int_equal(fh_limiter_allowed(&l), 7);
	for (size_t i = 0; i < 60; i++) {
		assert_int_equal(fh_limiter_enter(&l, NULL, &begun[0], NULL), 0);
		fh_limiter_leave(&l, begun[0], false);
	}
	assert_int_equal(fh_limiter_allowed(&l), 8);
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

/* The examples of RFC 6455, sections 1.3 and 5.7. */
static void test_websocket_frames(void **state)
{
	static const char pieces[] = "\x01\x03Hel\x89\x05Hello\x80\x02lo";
	char accept[FH_WEBSOCKET_ACCEPT];
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(0), in = FH_BUF_INIT(0);
	FH_CLEANUP(fh_websocket_reader_release) struct fh_websocket_reader r = { .message = FH_BUF_INIT(5) };
	enum fh_websocket_opcode seen[3] = { 0 };
	size_t n = 0;
	(void)state;
	fh_websocket_accept("dGhlIHNhbXBsZSBub25jZQ==", accept);
	assert_string_equal(accept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
	fh_websocket_write(&out, FH_WEBSOCKET_TEXT, fh_str("Hello"), (const uint8_t[]){ 0x37, 0xfa, 0x21, 0x3d });
	assert_int_equal(out.n, 11);
	assert_memory_equal(out.p, "\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58", 11);
	for (size_t i = 0; i < sizeof(pieces) - 1; i++) {
		fh_buf_addc(&in, pieces[i]);
		enum fh_websocket_opcode opcode;
		if (fh_websocket_read(&r, &in, &opcode, NULL) == 1)
			seen[n++] = opcode;
	}
	assert_int_equal(n, 3);
	assert_int_equal(seen[0], FH_WEBSOCKET_CONTINUATION);
	assert_int_equal(seen[1], FH_WEBSOCKET_PING);
	assert_int_equal(seen[2], FH_WEBSOCKET_TEXT);
	assert_string_equal(fh_buf_cstr(&r.message), "Hello");
	fh_buf_addc(&in, (char)0x81), fh_buf_addc(&in, 1), fh_buf_addc(&in, '!');
	assert_int_equal(fh_websocket_read(&r, &in, &seen[0], NULL), -FH_E_LIMIT);
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
		cmocka_unit_test(test_costs),
		cmocka_unit_test(test_when_a_server_wants_to_be_asked_again),
		cmocka_unit_test(test_a_429_halves_what_is_allowed_once_for_all_that_were_under_way),
		cmocka_unit_test(test_the_cache_keeps_answers_for_their_time),
		cmocka_unit_test(test_no_response_holds_a_secret),
		cmocka_unit_test(test_splitting_a_command),
		cmocka_unit_test(test_plain_text_of_a_terminal),
		cmocka_unit_test(test_pauses_between_tries),
		cmocka_unit_test(test_websocket_frames),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
