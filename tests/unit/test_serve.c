/* SPDX-License-Identifier: MIT */
/* What the server takes apart before it trusts anything of it: targets, framed messages, keys, ceilings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/fd.h"
#include "e2b/chunks.h"
#include "e2b/common/connect.h"
#include "e2b/common/keys.h"
#include "e2b/control/build_text.h"
#include "server/http_target.h"

/* -------------------------------------------------------------------------------------------------------- targets */

static void test_a_target_is_split_before_it_is_decoded(void **state)
{
	(void)state;
	fh_auto_target struct fh_target t = { 0 };
	assert_int_equal(fh_target_parse("/templates/a%2Fb%3Adefault/x?path=%2Ftmp%2Fa+b&flag&empty=&k=a%3Db", &t), 0);
	assert_int_equal(t.segment_count, 3);
	assert_string_equal(t.segment[1], "a/b:default");
	assert_string_equal(t.path, "/templates/a%2Fb%3Adefault/x");
	assert_int_equal(t.query_count, 4);
	assert_string_equal(t.value[0], "/tmp/a b");
	assert_string_equal(t.name[1], "flag");
	assert_string_equal(t.value[1], "");
	assert_string_equal(t.value[2], "");
	assert_string_equal(t.value[3], "a=b");
}

static void test_the_root_has_no_segment_and_a_slash_at_the_end_an_empty_one(void **state)
{
	(void)state;
	struct fh_target t;
	assert_int_equal(fh_target_parse("/", &t), 0);
	assert_int_equal(t.segment_count, 0);
	fh_target_release(&t);
	assert_int_equal(fh_target_parse("/a/", &t), 0);
	assert_int_equal(t.segment_count, 2);
	assert_string_equal(t.segment[1], "");
	fh_target_release(&t);
	assert_int_equal(fh_target_parse("/a?", &t), 0);
	assert_int_equal(t.query_count, 0);
	fh_target_release(&t);
}

static void test_malformed_targets_are_refused(void **state)
{
	(void)state;
	static const char *const bad[] = { "*",      "http://host/", "/%00",  "/a?b=%00", "/%4", "/%zz",
		                               "/a?b=%", "/a b",         "/\x01", "/\x80",    "" };
	struct fh_target t;
	for (size_t i = 0; i < FH_ARRAY_SIZE(bad); i++)
		assert_int_equal(fh_target_parse(bad[i], &t), -FH_E_ARGUMENT);
	fh_auto_buf struct fh_buf many = FH_BUF_INIT(0);
	for (int i = 0; i < FH_TARGET_SEGMENTS_MAX + 1; i++)
		fh_buf_adds(&many, "/a");
	assert_int_equal(fh_target_parse(fh_buf_cstr(&many), &t), -FH_E_ARGUMENT);
	fh_buf_truncate(&many, 2);
	for (int i = 0; i < FH_TARGET_QUERY_MAX + 1; i++)
		fh_buf_adds(&many, i ? "&a" : "?a");
	assert_int_equal(fh_target_parse(fh_buf_cstr(&many), &t), -FH_E_ARGUMENT);
}

/* ------------------------------------------------------------------------------------------------------- messages */

struct taken {
	int count;
	json_int_t sum;
};

static int take(void *context, const json_t *message, struct fh_connect_error *e)
{
	struct taken *t = context;
	t->count++;
	t->sum += fh_json_int(message, "n", 0);
	return t->sum < 100 ? 0 : fh_connect_fail(e, FH_CONNECT_CANCELED, "enough");
}

static void add_message(struct fh_buf *to, int n)
{
	fh_auto_json json_t *o = json_object();
	json_object_set_new(o, "n", json_integer(n));
	fh_connect_frame(to, o);
}

static void test_messages_are_found_however_the_stream_is_cut(void **state)
{
	(void)state;
	fh_auto_buf struct fh_buf stream = FH_BUF_INIT(0);
	for (int n = 1; n <= 3; n++)
		add_message(&stream, n);
	for (size_t step = 1; step <= stream.n; step++) {
		struct fh_connect_parser p;
		struct fh_connect_error e = FH_CONNECT_ERROR_INIT;
		struct taken t = { 0 };
		fh_connect_parser_init(&p);
		for (size_t at = 0; at < stream.n; at += step)
			assert_int_equal(
			    fh_connect_parser_add(&p, (struct fh_str){ stream.p + at, FH_MIN(step, stream.n - at) }, take, &t, &e),
			    0);
		assert_int_equal(t.count, 3);
		assert_int_equal(t.sum, 6);
		assert_int_equal(p.pending.n, 0);
		fh_connect_parser_release(&p);
	}
}

static void test_broken_streams_say_what_is_wrong(void **state)
{
	(void)state;
	static const struct {
		struct fh_str bytes;
		enum fh_connect_code code;
	} bad[] = {
		{ { "\x01\0\0\0\x02{}", 7 }, FH_CONNECT_UNIMPLEMENTED },
		{ { "\0\xff\xff\xff\xff{}", 7 }, FH_CONNECT_RESOURCE_EXHAUSTED },
		{ { "\0\0\0\0\x02[]", 7 }, FH_CONNECT_INVALID_ARGUMENT },
		{ { "\0\0\0\0\x02{x", 7 }, FH_CONNECT_INVALID_ARGUMENT },
	};
	for (size_t i = 0; i < FH_ARRAY_SIZE(bad); i++) {
		struct fh_connect_parser p;
		struct fh_connect_error e = FH_CONNECT_ERROR_INIT;
		struct taken t = { 0 };
		fh_connect_parser_init(&p);
		assert_true(fh_connect_parser_add(&p, bad[i].bytes, take, &t, &e) < 0);
		assert_int_equal(e.code, bad[i].code);
		assert_int_equal(t.count, 0);
		fh_connect_parser_release(&p);
	}
}

static void test_a_request_of_a_stream_is_one_message(void **state)
{
	(void)state;
	struct fh_connect_error e = FH_CONNECT_ERROR_INIT;
	fh_auto_buf struct fh_buf one = FH_BUF_INIT(0);
	add_message(&one, 5);
	fh_auto_json json_t *o = fh_connect_stream_request(fh_buf_str(&one), &e);
	assert_int_equal(fh_json_int(o, "n", 0), 5);
	assert_null(fh_connect_stream_request((struct fh_str){ one.p, one.n - 1 }, &e));
	add_message(&one, 6);
	assert_null(fh_connect_stream_request(fh_buf_str(&one), &e));
	assert_null(fh_connect_stream_request((struct fh_str){ "", 0 }, &e));
	assert_int_equal(e.code, FH_CONNECT_INVALID_ARGUMENT);
}

/* ----------------------------------------------------------------------------------------------------------- keys */

static struct fh_ceilings usual_ceilings(void)
{
	struct fh_ceilings c;
	for (size_t i = 0; i < FH_CEILING_COUNT_; i++)
		c.value[i] = fh_ceiling_table[i].usual;
	return c;
}

static char key_path[] = "/tmp/fumehood-test-keys-XXXXXX";

static int load(const char *text, mode_t mode, struct fh_keys *ret, struct fh_error *err)
{
	struct fh_ceilings usual = usual_ceilings();
	assert_int_equal(fh_file_write_atomic(key_path, text, strlen(text), mode, NULL), 0);
	assert_int_equal(chmod(key_path, mode), 0);
	return fh_keys_load(key_path, &usual, ret, err);
}

static void test_keys_are_known_plain_and_hashed_each_with_its_ceilings(void **state)
{
	(void)state;
	struct fh_keys k;
	struct fh_error err = FH_ERROR_INIT;
	/* printf %s e2b_beef | sha256sum */
	int r = load("# who may\n"
	             "e2b_cafe name=ci sandboxes=3 memory=2G\n"
	             "\n"
	             "sha256:9c4fb5b1d6ac64d2f9b1cfbfd4e0f6f7a1f3b7c2d5e8a9b0c1d2e3f4a5b6c7d8 cpus=0.5 # somebody\n",
	             0600, &k, &err);
	assert_int_equal(r, 0);
	const struct fh_key *ci = fh_keys_find(&k, "e2b_cafe");
	assert_non_null(ci);
	assert_string_equal(ci->name, "ci");
	assert_int_equal(ci->ceilings.value[FH_CEILING_SANDBOXES], 3);
	assert_int_equal(ci->ceilings.value[FH_CEILING_MEMORY], (uint64_t)2 << 30);
	assert_int_equal(k.items[1].ceilings.value[FH_CEILING_CPUS], 500);
	assert_null(fh_keys_find(&k, "e2b_caf"));
	assert_null(fh_keys_find(&k, ""));
	assert_null(fh_keys_find(&k, NULL));
	fh_keys_release(&k);
}

static void test_a_hashed_key_is_the_one_that_has_this_hash(void **state)
{
	(void)state;
	struct fh_keys k;
	struct fh_sha256 h = FH_SHA256_INIT;
	char hex[FH_SHA256_HEX];
	fh_sha256_add(&h, "e2b_beef", 8);
	fh_sha256_hex(&h, hex);
	fh_auto_free char *line = fh_xasprintf("sha256:%s\n", hex);
	assert_int_equal(load(line, 0600, &k, NULL), 0);
	assert_non_null(fh_keys_find(&k, "e2b_beef"));
	assert_null(fh_keys_find(&k, hex));
	fh_keys_release(&k);
}

static void test_a_key_file_that_is_wrong_says_where(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		mode_t mode;
		uint32_t line;
	} bad[] = {
		{ "e2b_a\n", 0644, 0 },
		{ "# none\n", 0600, 0 },
		{ "e2b_a\nsha256:12\n", 0600, 2 },
		{ "e2b_a memroy=2G\n", 0600, 1 },
		{ "e2b_a memory=lots\n", 0600, 1 },
		{ "e2b_a memory\n", 0600, 1 },
	};
	for (size_t i = 0; i < FH_ARRAY_SIZE(bad); i++) {
		struct fh_keys k;
		struct fh_error err = FH_ERROR_INIT;
		assert_true(load(bad[i].text, bad[i].mode, &k, &err) < 0);
		assert_int_equal(err.line, bad[i].line);
	}
}

static void test_without_a_file_any_key_is_one_tenant(void **state)
{
	(void)state;
	struct fh_keys k;
	struct fh_ceilings usual = usual_ceilings();
	assert_int_equal(fh_keys_load(NULL, &usual, &k, NULL), 0);
	assert_non_null(fh_keys_find(&k, "anything"));
	assert_ptr_equal(fh_keys_find(&k, "anything"), fh_keys_find(&k, "else"));
	assert_null(fh_keys_find(&k, NULL));
	fh_keys_release(&k);
}

static void test_ceilings_become_the_limits_of_a_sandbox(void **state)
{
	(void)state;
	struct fh_ceilings c = usual_ceilings();
	struct fh_limits l;
	struct fh_error err = FH_ERROR_INIT;
	assert_int_equal(fh_ceilings_set(&c, "memory", "64M", NULL), 0);
	assert_int_equal(fh_ceilings_set(&c, "cpus", "1.5", NULL), 0);
	assert_int_equal(fh_ceilings_set(&c, "disk", "unlimited", NULL), 0);
	assert_true(fh_ceilings_set(&c, "processess", "1", &err) < 0);
	assert_non_null(strstr(err.hint, "processes"));
	fh_ceilings_limits(&c, &l);
	assert_int_equal(l.value[FH_LIMIT_MEMORY], 64 << 20);
	assert_int_equal(l.value[FH_LIMIT_CPU_RATE], 1500);
	assert_int_equal(l.value[FH_LIMIT_DISK], 48 << 20); /* the memory would end before */
	assert_true(l.value[FH_LIMIT_WALL_TIME] == FH_UNLIMITED);
	assert_int_equal(fh_ceilings_set(&c, "memory", "unlimited", NULL), 0);
	fh_ceilings_limits(&c, &l);
	assert_true(l.value[FH_LIMIT_DISK] == FH_UNLIMITED);
}

/* --------------------------------------------------------------------------------------------------------- chunks */

/* The body of `stream`, which arrives in pieces of `step` bytes; NULL when it is malformed. */
static char *unchunked(const char *stream, size_t step, enum fh_chunks_state *ret_state)
{
	struct fh_chunks chunks = { 0 };
	fh_auto_buf struct fh_buf body = FH_BUF_INIT(0);
	fh_auto_free char *bytes = fh_xstrdup(stream);
	ssize_t got = 0;
	for (size_t at = 0, n = strlen(stream); at < n && got >= 0; at += step)
		if ((got = fh_chunks_take(&chunks, bytes + at, FH_MIN(step, n - at))) > 0)
			fh_buf_add(&body, bytes + at, (size_t)got);
	*ret_state = chunks.state;
	return got < 0 ? NULL : fh_xstrdup(fh_buf_cstr(&body));
}

static void test_chunks_are_one_body_however_they_arrive(void **state)
{
	(void)state;
	static const char stream[] =
	    "5\r\nhello\r\n1;name=\"a;b\"\r\n \r\nA \r\n0123\r\n6789\r\n00\r\nTrailer: x\r\n\r\nmore";
	enum fh_chunks_state end;
	for (size_t step = 1; step <= sizeof(stream); step++) {
		fh_auto_free char *body = unchunked(stream, step, &end);
		assert_string_equal(body, "hello 0123\r\n6789");
		assert_int_equal(end, FH_CHUNKS_OVER);
	}
	fh_auto_free char *cut = unchunked("5\r\nhello\r\n", 100, &end);
	assert_string_equal(cut, "hello");
	assert_int_not_equal(end, FH_CHUNKS_OVER);
}

static void test_malformed_chunks_are_no_body(void **state)
{
	(void)state;
	static const char *const bad[] = { "\r\n",
		                               "zz\r\n",
		                               "-1\r\n",
		                               "0x5\r\n",
		                               " 5\r\n",
		                               "5\nhello",
		                               "5\rx",
		                               "2\r\nabc\r\n",
		                               "2\r\nab\n",
		                               ";a\r\n",
		                               "1;a\nb\r\n",
		                               "5,\r\n",
		                               "1000000000000000\r\n",
		                               "0\r\nTrailer: x\n" };
	enum fh_chunks_state end;
	for (size_t i = 0; i < FH_ARRAY_SIZE(bad); i++) {
		assert_null(unchunked(bad[i], 1, &end));
		assert_null(unchunked(bad[i], 100, &end));
	}
	fh_auto_buf struct fh_buf endless = FH_BUF_INIT(0);
	fh_buf_adds(&endless, "1;");
	for (int i = 0; i < 100 << 10; i++)
		fh_buf_addc(&endless, 'x');
	assert_null(unchunked(fh_buf_cstr(&endless), 1000, &end));
}

/* ------------------------------------------------------------------------------------------------- texts of builds */

static void test_variables_of_a_step_are_replaced(void **state)
{
	(void)state;
	const char *const env[] = { "A=1", "AB=two words", "E=", "SELF=$A", NULL };
	static const char *const cases[][2] = {
		{ "$A", "1" },
		{ "$AB/$A", "two words/1" },
		{ "x${A}B$B", "x1B" },
		{ "${E:-other}${C:-}${A:-not}", "other1" },
		{ "\\$A \\\\ \\n", "$A \\\\ \\n" },
		{ "$ $1 ${ ${} ${A ${A:+x} $", "$ $1 ${ ${} ${A ${A:+x} $" },
		{ "$SELF", "$A" },
		{ "", "" },
		{ "\\", "\\" },
	};
	for (size_t i = 0; i < FH_ARRAY_SIZE(cases); i++) {
		fh_auto_free char *text = fh_build_expand(cases[i][0], env);
		assert_string_equal(text, cases[i][1]);
	}
}

static void test_a_text_that_grows_without_bound_is_refused(void **state)
{
	(void)state;
	fh_auto_buf struct fh_buf value = FH_BUF_INIT(0);
	fh_buf_adds(&value, "A=");
	while (value.n < 100 << 10)
		fh_buf_addc(&value, 'x');
	const char *const env[] = { value.p, NULL };
	fh_auto_free char *once = fh_build_expand("$A", env);
	assert_int_equal(strlen(once), value.n - 2);
	assert_null(fh_build_expand("$A$A", env));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_target_is_split_before_it_is_decoded),
		cmocka_unit_test(test_the_root_has_no_segment_and_a_slash_at_the_end_an_empty_one),
		cmocka_unit_test(test_malformed_targets_are_refused),
		cmocka_unit_test(test_messages_are_found_however_the_stream_is_cut),
		cmocka_unit_test(test_broken_streams_say_what_is_wrong),
		cmocka_unit_test(test_chunks_are_one_body_however_they_arrive),
		cmocka_unit_test(test_malformed_chunks_are_no_body),
		cmocka_unit_test(test_a_request_of_a_stream_is_one_message),
		cmocka_unit_test(test_keys_are_known_plain_and_hashed_each_with_its_ceilings),
		cmocka_unit_test(test_a_hashed_key_is_the_one_that_has_this_hash),
		cmocka_unit_test(test_a_key_file_that_is_wrong_says_where),
		cmocka_unit_test(test_without_a_file_any_key_is_one_tenant),
		cmocka_unit_test(test_ceilings_become_the_limits_of_a_sandbox),
		cmocka_unit_test(test_variables_of_a_step_are_replaced),
		cmocka_unit_test(test_a_text_that_grows_without_bound_is_refused),
	};
	int fd = mkstemp(key_path);
	(void)close(fd);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	(void)unlink(key_path);
	return failed;
}
