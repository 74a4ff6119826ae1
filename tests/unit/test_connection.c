/* SPDX-License-Identifier: MIT */
/* The client's side of the protocol, against an engine that says what each test wants said. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/fd.h"
#include "fake_engine.h"
#include "proto/wire.h"
#include "sandbox/client.h"
#include "sandbox/session.h"

/* A hang is a failure, with this test's name above it. */
static int setup(void **state)
{
	(void)state;
	alarm(60);
	return 0;
}

/* ------------------------------------------------------------------------------------------------------- greeting */

static void greet_only(struct fake *f)
{
	struct fh_frame x;
	fake_greet(f);
	(void)fake_expect(f, 0xffff, &x); /* stays until the client goes */
}

static void greet_after_a_banner(struct fake *f)
{
	for (int i = 0; i < 100; i++)
		(void)fh_buf_adds(&f->out, "Welcome to host.\nfumehood-frames are not this\n");
	fake_flush(f);
	greet_only(f);
}

static void greet_as_a_later_version(struct fake *f)
{
	struct fh_frame x;
	(void)fh_buf_add(&f->out, FH_FRAME_MAGIC, FH_FRAME_MAGIC_SIZE);
	size_t mark = fh_frame_begin(&f->out, FH_FRAME_HELLO, 0, 0, (struct fh_id){ { 0 } });
	fh_wire_u64(&f->out, F_VERSION, FH_PROTOCOL_VERSION + 5);
	fh_wire_u64(&f->out, 4000, 1);
	fh_frame_end(&f->out, mark);
	fake_unknown(f, 100);
	fake_flush(f);
	(void)fake_expect(f, 0xffff, &x);
}

static void greet_without_version(struct fake *f)
{
	(void)fh_buf_add(&f->out, FH_FRAME_MAGIC, FH_FRAME_MAGIC_SIZE);
	fh_frame_write(&f->out, FH_FRAME_HELLO, 0, 0, fake_id(0), (struct fh_str){ "", 0 });
	fake_flush(f);
}

static void talk_without_end(struct fake *f)
{
	for (int i = 0; i < 4000; i++)
		(void)fh_buf_adds(&f->out, "this is not the protocol, but a program that talks ");
	fake_flush(f);
}

static void refuse_with_a_reason(struct fake *f)
{
	(void)fh_buf_add(&f->out, FH_FRAME_MAGIC, FH_FRAME_MAGIC_SIZE);
	fake_error(f, 0, FH_E_UNAVAILABLE, "user namespaces are switched off here");
	fake_flush(f);
}

static void say_nothing(struct fake *f)
{
	(void)f;
}

static void greets(void (*script)(struct fake *f), int expected, const char *text)
{
	struct fake f;
	struct fh_client *client;
	struct fh_error err = FH_ERROR_INIT;
	int r = fake_start(&f, script, NULL, &client, &err);
	assert_int_equal(r, -expected);
	if (text)
		assert_non_null(strstr(err.message, text));
	fake_end(&f, client);
}

static void test_greeting(void **state)
{
	(void)state;
	greets(greet_only, 0, NULL);
	greets(greet_after_a_banner, 0, NULL);
	greets(greet_as_a_later_version, 0, NULL);
	greets(greet_without_version, FH_E_PROTOCOL, "version");
	greets(talk_without_end, FH_E_PROTOCOL, "does not greet");
	greets(refuse_with_a_reason, FH_E_UNAVAILABLE, "switched off here");
	greets(say_nothing, FH_E_SYSTEM, "closed the connection");
}

static void stay_silent(struct fake *f)
{
	char byte;
	while (read(f->fd, &byte, 1) > 0)
		;
}

/* A client that need not wait for the greeting must not wait for ever either: its first request ends. */
static void test_a_greeting_that_never_comes_later(void **state)
{
	struct fake f;
	struct fh_client *client;
	struct fh_error err = FH_ERROR_INIT;
	(void)state;
	fake_thread(&f, stay_silent, NULL);
	struct fh_reach reach = FH_REACH_INIT;
	reach.in = reach.out = f.peer;
	assert_int_equal(fh_client_greet(&fh_placement_attach, &reach, 60, true, &client, &err), 0);
	for (int i = 0; i < 2; i++) { /* the second finds it broken already */
		assert_int_equal(fh_simple_call(client, FH_FRAME_LIST, fake_id(0), 0, 0, &err), -FH_E_SYSTEM);
		assert_non_null(strstr(err.message, "did not greet within 60 ms"));
		assert_int_equal(err.phase, FH_PHASE_CONNECT);
	}
	fake_end(&f, client);
}

/* ------------------------------------------------------------------------------------------------------------ runs */

struct heard {
	size_t calls, bytes[FH_STREAM_COUNT_];
};

static void hear(void *context, enum fh_stream stream, const void *data, size_t n)
{
	struct heard *h = context;
	(void)data;
	h->calls++;
	h->bytes[stream] += n;
}

static void one_good_run(struct fake *f)
{
	struct fh_frame x;
	fake_greet(f);
	if (!fake_expect(f, FH_FRAME_RUN, &x))
		return;
	uint64_t request = f->request;
	fake_unknown(f, 10);
	fake_started(f, request, 10, 65536);
	fake_data(f, fake_id(12), 0, "hello ", 6, 0);
	fake_unknown(f, 70000);
	fake_data(f, fake_id(13), 0, "oh", 2, FH_DATA_END | FH_DATA_TRUNCATED);
	fake_data(f, fake_id(99), 0, "a stream that nobody knows", 26, 0);
	fake_result(f, request + 1000, 0, 0); /* a request that nobody made */
	fake_data(f, fake_id(12), 6, "world", 5, FH_DATA_END);
	fake_result(f, request, FH_STATUS_RUNTIME_ERROR, 3);
	fake_flush(f);
	(void)fake_expect(f, 0xffff, &x);
}

static void test_a_run_brings_output_and_evidence(void **state)
{
	(void)state;
	struct fake f;
	struct fh_client *client;
	struct fh_result *result;
	struct fh_error err = FH_ERROR_INIT;
	struct heard heard = { 0 };
	struct fh_run_options o = FH_RUN_OPTIONS_INIT;
	struct fh_plan *plan = fake_plan();
	o.on_output = hear;
	o.context = &heard;
	assert_int_equal(fake_start(&f, one_good_run, NULL, &client, &err), 0);
	assert_int_equal(fh_run(client, plan, &o, &result, &err), 0);
	assert_int_equal(result->status, FH_STATUS_RUNTIME_ERROR);
	assert_int_equal(result->exit_code, 3);
	assert_int_equal(result->stream_size[FH_STDOUT], 11);
	assert_string_equal((char *)result->stream_data[FH_STDOUT], "hello world");
	assert_string_equal((char *)result->stream_data[FH_STDERR], "oh");
	assert_false(result->stream_truncated[FH_STDOUT]);
	assert_true(result->stream_truncated[FH_STDERR]);
	assert_int_equal(heard.bytes[FH_STDOUT], 11);
	assert_int_equal(heard.bytes[FH_STDERR], 2);
	assert_int_equal(result->usage.cpu_user_us, 1234);
	assert_int_equal(result->usage.memory_peak_bytes, 5678);
	assert_int_equal(result->layers, 1u << FH_LAYER_PID);
	assert_string_equal(result->layer_missing[FH_LAYER_LANDLOCK], "the kernel has none");
	assert_int_equal(result->enforced[FH_LIMIT_MEMORY], FH_ENFORCED_EXACT);
	assert_int_equal(result->limits.value[FH_LIMIT_OUTPUT], 8 << 20);
	fh_result_free(result);
	fh_plan_free(plan);
	fake_end(&f, client);
}

/* Sends 1 MiB through a window of 64 KiB, and never more than the credit allows. */
static void large_output(struct fake *f)
{
	struct fh_frame x;
	static char block[16384];
	uint64_t sent = 0, credited = 0;
	fake_greet(f);
	if (!fake_expect(f, FH_FRAME_RUN, &x))
		return;
	uint64_t request = f->request;
	fake_started(f, request, 10, 65536);
	while (sent < 1 << 20) {
		while (sent - credited + sizeof(block) > 65536) {
			fake_flush(f);
			struct fh_wire_field field = { 0 };
			if (!fake_expect(f, FH_FRAME_CREDIT, &x) || !fh_id_eq(x.id, fake_id(12)))
				return;
			struct fh_wire_reader r = fh_wire_reader(x.payload);
			(void)fh_wire_next(&r, &field);
			credited = fh_wire_get_u64(&r, &field);
		}
		memset(block, 'a' + (int)(sent / sizeof(block) % 26), sizeof(block));
		fake_data(f, fake_id(12), sent, block, sizeof(block), 0);
		sent += sizeof(block);
	}
	fake_data(f, fake_id(12), sent, "", 0, FH_DATA_END);
	fake_data(f, fake_id(13), 0, "", 0, FH_DATA_END);
	fake_result(f, request, FH_STATUS_OK, 0);
	fake_flush(f);
	(void)fake_expect(f, 0xffff, &x);
}

static void test_output_larger_than_a_window_flows_by_credit(void **state)
{
	(void)state;
	struct fake f;
	struct fh_client *client;
	struct fh_result *result;
	struct fh_plan *plan = fake_plan();
	assert_int_equal(fake_start(&f, large_output, NULL, &client, NULL), 0);
	assert_int_equal(fh_run(client, plan, NULL, &result, NULL), 0);
	assert_int_equal(result->stream_size[FH_STDOUT], 1 << 20);
	for (size_t i = 0; i < 1 << 20; i += 16384)
		assert_int_equal(result->stream_data[FH_STDOUT][i + 5], 'a' + (int)(i / 16384 % 26));
	fh_result_free(result);
	fh_plan_free(plan);
	fake_end(&f, client);
}

/* Two files: one comes as a stream, one begins to and is refused after all. */
static void with_files(struct fake *f)
{
	struct fh_frame x;
	fake_greet(f);
	if (!fake_expect(f, FH_FRAME_RUN, &x))
		return;
	fake_file(f, f->request, 0, fake_id(50));
	fake_data(f, fake_id(50), 0, "bytes", 5, FH_DATA_END);
	fake_file(f, f->request, 1, fake_id(51));
	fake_data(f, fake_id(51), 0, "half of it", 10, 0);
	size_t mark = fh_frame_begin(&f->out, FH_FRAME_RESULT, 0, f->request, fake_id(1));
	size_t e = fh_wire_begin(&f->out, F_EXIT);
	fh_wire_u64(&f->out, F_STATUS, FH_STATUS_OK);
	fh_wire_u64(&f->out, F_EXIT_CODE, 0);
	fh_wire_end(&f->out, e);
	size_t out = fh_wire_begin(&f->out, F_OUT);
	fh_wire_text(&f->out, F_NAME, "a");
	fh_wire_u64(&f->out, F_SIZE, 5);
	fh_wire_end(&f->out, out);
	out = fh_wire_begin(&f->out, F_OUT);
	fh_wire_text(&f->out, F_NAME, "b");
	fh_wire_text(&f->out, F_REFUSED, "it is a link");
	fh_wire_end(&f->out, out);
	fh_frame_end(&f->out, mark);
	fake_flush(f);
	(void)fake_expect(f, 0xffff, &x);
}

static void test_files_come_back_or_say_why_not(void **state)
{
	(void)state;
	struct fake f;
	struct fh_client *client;
	struct fh_result *result;
	struct fh_plan *plan = fake_plan();
	fh_plan_add_string(&plan->outs, "a");
	fh_plan_add_string(&plan->outs, "b");
	fh_plan_add_string(&plan->outs, "c");
	assert_int_equal(fake_start(&f, with_files, NULL, &client, NULL), 0);
	assert_int_equal(fh_run(client, plan, NULL, &result, NULL), 0);
	assert_int_equal(result->out_count, 3);
	assert_string_equal(result->outs[0].name, "a");
	assert_memory_equal(result->outs[0].data, "bytes", 5);
	assert_null(result->outs[0].refused);
	assert_string_equal(result->outs[1].refused, "it is a link");
	assert_non_null(result->outs[2].refused); /* the engine forgot it: that is said, not invented */
	fh_result_free(result);
	fh_plan_free(plan);
	fake_end(&f, client);
}

static void with_half_a_file(struct fake *f)
{
	struct fh_frame x;
	fake_greet(f);
	if (!fake_expect(f, FH_FRAME_RUN, &x))
		return;
	fake_file(f, f->request, 0, fake_id(50));
	fake_data(f, fake_id(50), 0, "by", 2, FH_DATA_END);
	size_t mark = fh_frame_begin(&f->out, FH_FRAME_RESULT, 0, f->request, fake_id(1));
	size_t out = fh_wire_begin(&f->out, F_OUT);
	fh_wire_u64(&f->out, F_SIZE, 5);
	fh_wire_end(&f->out, out);
	fh_frame_end(&f->out, mark);
	fake_flush(f);
	(void)fake_expect(f, 0xffff, &x);
}

static void test_half_a_file_is_none(void **state)
{
	(void)state;
	struct fake f;
	struct fh_client *client;
	struct fh_result *result;
	struct fh_error err = FH_ERROR_INIT;
	struct fh_plan *plan = fake_plan();
	fh_plan_add_string(&plan->outs, "a");
	assert_int_equal(fake_start(&f, with_half_a_file, NULL, &client, NULL), 0);
	assert_int_equal(fh_run(client, plan, NULL, &result, &err), -FH_E_PROTOCOL);
	assert_non_null(strstr(err.message, "2 bytes of a file of 5"));
	fh_plan_free(plan);
	fake_end(&f, client);
}

static void answer_with_error(struct fake *f)
{
	struct fh_frame x;
	fake_greet(f);
	if (!fake_expect(f, FH_FRAME_RUN, &x))
		return;
	fake_error(f, f->request, FH_E_UNAVAILABLE, "no user namespaces");
	fake_flush(f);
	(void)fake_expect(f, 0xffff, &x);
}

static void test_an_engine_error_is_a_result(void **state)
{
	(void)state;
	struct fake f;
	struct fh_client *client;
	struct fh_result *result;
	struct fh_plan *plan = fake_plan();
	assert_int_equal(fake_start(&f, answer_with_error, NULL, &client, NULL), 0);
	assert_int_equal(fh_run(client, plan, NULL, &result, NULL), 0);
	assert_int_equal(result->status, FH_STATUS_ENGINE_ERROR);
	assert_int_equal(result->error.code, FH_E_UNAVAILABLE);
	assert_string_equal(result->error.message, "no user namespaces");
	assert_int_equal(result->exit_code, -1);
	fh_result_free(result);
	fh_plan_free(plan);
	fake_end(&f, client);
}

/* -------------------------------------------------------------------------------------------------------- compiling */

struct compile_script {
	uint64_t status;
	int64_t exit_code;
	uint64_t fired;
	const char *artifact;
	size_t runs;
	bool artifact_arrived;
};

static void result_with_artifact(struct fake *f, const struct compile_script *s)
{
	if (s->artifact) {
		fake_file(f, f->request, 0, fake_id(50));
		fake_data(f, fake_id(50), 0, s->artifact, strlen(s->artifact), FH_DATA_END);
	}
	size_t mark = fh_frame_begin(&f->out, FH_FRAME_RESULT, 0, f->request, fake_id(1));
	size_t e = fh_wire_begin(&f->out, F_EXIT);
	fh_wire_u64(&f->out, F_STATUS, s->status);
	fh_wire_u64(&f->out, F_EXIT_CODE, (uint64_t)s->exit_code);
	fh_wire_u64(&f->out, F_FIRED, s->fired);
	fh_wire_end(&f->out, e);
	size_t out = fh_wire_begin(&f->out, F_OUT);
	if (s->artifact)
		fh_wire_u64(&f->out, F_SIZE, strlen(s->artifact));
	else
		fh_wire_text(&f->out, F_REFUSED, "there is no such file");
	fh_wire_end(&f->out, out);
	fh_frame_end(&f->out, mark);
}

static void compile_then_run(struct fake *f)
{
	struct compile_script *s = f->context;
	struct fh_frame x;
	fake_greet(f);
	while (fake_expect(f, FH_FRAME_RUN, &x)) {
		fake_started(f, f->request, 10, 65536);
		if (s->runs++ == 0) {
			fake_data(f, fake_id(13), 0, "prog.c:1: no", 12, FH_DATA_END);
			fake_data(f, fake_id(12), 0, "", 0, FH_DATA_END);
			result_with_artifact(f, s);
		} else {
			s->artifact_arrived = memmem(x.payload.p, x.payload.n, "ELF of the program", 18) != NULL;
			fake_data(f, fake_id(13), 0, "", 0, FH_DATA_END);
			fake_data(f, fake_id(12), 0, "ran", 3, FH_DATA_END);
			fake_result(f, f->request, FH_STATUS_OK, 0);
		}
		fake_flush(f);
	}
}

static struct fh_result *run_compiling(struct compile_script *s, struct heard *heard)
{
	struct fake f;
	struct fh_client *client;
	struct fh_result *result = NULL;
	struct fh_run_options o = FH_RUN_OPTIONS_INIT;
	struct fh_plan *plan = fake_plan();
	plan->compile = fake_plan();
	plan->compile->limits.value[FH_LIMIT_CPU_TIME] = 30000;
	fh_plan_add_string(&plan->compile->outs, "program");
	plan->artifact = fh_xstrdup("program");
	o.on_output = hear;
	o.context = heard;
	assert_int_equal(fake_start(&f, compile_then_run, s, &client, NULL), 0);
	assert_int_equal(fh_run(client, plan, &o, &result, NULL), 0);
	fh_plan_free(plan);
	fake_end(&f, client);
	return result;
}

static void test_a_program_is_compiled_and_then_run(void **state)
{
	(void)state;
	struct compile_script s = { .status = FH_STATUS_OK, .artifact = "ELF of the program" };
	struct heard heard = { 0 };
	struct fh_result *r = run_compiling(&s, &heard);
	assert_int_equal(r->status, FH_STATUS_OK);
	assert_true(s.artifact_arrived);
	assert_string_equal((char *)r->stream_data[FH_STDOUT], "ran");
	assert_int_equal(heard.bytes[FH_STDERR], 0); /* a compiler's warnings are not the program's output */
	fh_result_free(r);
}

static void test_what_the_compiler_says_is_the_result(void **state)
{
	(void)state;
	struct compile_script s = { .status = FH_STATUS_RUNTIME_ERROR, .exit_code = 1 };
	struct heard heard = { 0 };
	struct fh_result *r = run_compiling(&s, &heard);
	assert_int_equal(r->status, FH_STATUS_COMPILE_ERROR);
	assert_int_equal(r->exit_code, -1);
	assert_string_equal((char *)r->stream_data[FH_STDERR], "prog.c:1: no");
	assert_int_equal(heard.bytes[FH_STDERR], 12);
	assert_int_equal(s.runs, 1);
	fh_result_free(r);
}

static void test_a_limit_of_the_compilers_is_named(void **state)
{
	(void)state;
	struct compile_script s = { .status = FH_STATUS_CPU_TIME_LIMIT, .exit_code = -1, .fired = 1 << FH_LIMIT_CPU_TIME };
	struct heard heard = { 0 };
	struct fh_result *r = run_compiling(&s, &heard);
	assert_int_equal(r->status, FH_STATUS_COMPILE_ERROR);
	assert_int_equal(r->fired, 0);
	assert_non_null(strstr((char *)r->stream_data[FH_STDERR], "cpu_time limit of 30000 ms"));
	fh_result_free(r);
}

static void test_a_compiler_that_leaves_nothing_failed(void **state)
{
	(void)state;
	struct compile_script s = { .status = FH_STATUS_OK };
	struct heard heard = { 0 };
	struct fh_result *r = run_compiling(&s, &heard);
	assert_int_equal(r->status, FH_STATUS_COMPILE_ERROR);
	assert_non_null(strstr((char *)r->stream_data[FH_STDERR], "left no program: there is no such file"));
	fh_result_free(r);
}

/* ----------------------------------------------------------------------------------------------------- broken peers */

/* Each writes what no engine may; the connection must break, with a reason, and nothing else happen. */
static void bad_oversize(struct fake *f)
{
	uint32_t n = FH_FRAME_PAYLOAD_MAX + 1;
	char header[FH_FRAME_HEADER_SIZE] = { 0 };
	memcpy(header, &n, 4);
	(void)fh_buf_add(&f->out, header, sizeof(header));
}
static void bad_data_without_offset(struct fake *f)
{
	fh_frame_write(&f->out, FH_FRAME_DATA, 0, 0, fake_id(12), (struct fh_str){ "abc", 3 });
}
static void bad_offset(struct fake *f)
{
	fake_data(f, fake_id(12), 7, "abc", 3, 0);
}
static void bad_after_end(struct fake *f)
{
	fake_data(f, fake_id(12), 0, "abc", 3, FH_DATA_END);
	fake_data(f, fake_id(12), 3, "abc", 3, 0);
}
static void bad_too_much_at_once(struct fake *f)
{
	static char big[FH_FRAME_DATA_MAX + 1];
	fake_data(f, fake_id(12), 0, big, sizeof(big), 0);
}
static void bad_beyond_credit(struct fake *f)
{
	static char big[FH_FRAME_DATA_MAX];
	for (uint64_t i = 0; i < 3; i++) /* faster than any credit can come, and in one write */
		fake_data(f, fake_id(13), i * 4000, big, 4000, 0);
}
static void bad_started_twice(struct fake *f)
{
	fake_started(f, f->request, 30, 4096);
}
static void bad_result_without_exit(struct fake *f)
{
	fh_frame_write(&f->out, FH_FRAME_RESULT, 0, f->request, fake_id(1), (struct fh_str){ "", 0 });
}
static void bad_early_result(struct fake *f)
{
	fake_data(f, fake_id(12), 0, "abc", 3, 0);
	fake_result(f, f->request, FH_STATUS_OK, 0);
}
static void bad_status(struct fake *f)
{
	fake_result(f, f->request, 4711, 0);
}
static void bad_exit_code(struct fake *f)
{
	fake_result(f, f->request, 0, -77);
}
static void bad_answer(struct fake *f)
{
	fake_reply(f, f->request);
}
static void bad_fields(struct fake *f)
{
	fh_frame_write(&f->out, FH_FRAME_RESULT, 0, f->request, fake_id(1),
	               (struct fh_str){ "\x01\0\0\0\xff\xff\0\0xx", 10 });
}
static void bad_file(struct fake *f)
{
	fake_file(f, f->request, 7, fake_id(50)); /* the plan wants none */
}
static void bad_credit(struct fake *f)
{
	fh_frame_write_credit(&f->out, fake_id(11), 1000); /* for input that was never sent */
}

static const struct {
	void (*write)(struct fake *f);
	const char *text;
} bad_table[] = {
	{ bad_oversize, "at most" },
	{ bad_data_without_offset, "without its offset" },
	{ bad_offset, "where byte 0 was due" },
	{ bad_after_end, "after the end" },
	{ bad_too_much_at_once, "at once" },
	{ bad_beyond_credit, "credit" },
	{ bad_started_twice, "twice" },
	{ bad_result_without_exit, "malformed result" },
	{ bad_early_result, "before the end of the output" },
	{ bad_status, "makes no sense" },
	{ bad_exit_code, "makes no sense" },
	{ bad_answer, "frame of type 48" },
	{ bad_fields, "malformed result" },
	{ bad_credit, "took byte" },
	{ bad_file, "description of a file" },
};

static void break_the_protocol(struct fake *f)
{
	struct fh_frame x;
	fake_greet(f);
	if (!fake_expect(f, FH_FRAME_RUN, &x))
		return;
	fake_started(f, f->request, 10, 10000);
	bad_table[*(size_t *)f->context].write(f);
	fake_flush(f);
	(void)fake_expect(f, 0xffff, &x);
}

static void test_whatever_breaks_the_protocol_breaks_the_connection(void **state)
{
	(void)state;
	for (size_t i = 0; i < FH_ARRAY_SIZE(bad_table); i++) {
		struct fake f;
		struct fh_client *client;
		struct fh_result *result;
		struct fh_error err = FH_ERROR_INIT;
		struct fh_plan *plan = fake_plan();
		assert_int_equal(fake_start(&f, break_the_protocol, &i, &client, &err), 0);
		int r = fh_run(client, plan, NULL, &result, &err);
		if (r != -FH_E_PROTOCOL || !strstr(err.message, bad_table[i].text))
			print_error("case %zu: %d %s\n", i, r, err.message);
		assert_int_equal(r, -FH_E_PROTOCOL);
		assert_non_null(strstr(err.message, bad_table[i].text));
		/* and it stays broken, with the same reason */
		struct fh_error again = FH_ERROR_INIT;
		assert_int_equal(fh_run(client, plan, NULL, &result, &again), -FH_E_PROTOCOL);
		assert_string_equal(again.message, err.message);
		fh_plan_free(plan);
		fake_end(&f, client);
	}
}

/* A good answer with random damage: it may be understood or refused, but always ends, and never takes memory. */
static void damaged_run(struct fake *f)
{
	unsigned *seed = f->context;
	struct fh_frame x;
	fake_greet(f);
	if (!fake_expect(f, FH_FRAME_RUN, &x))
		return;
	uint64_t request = f->request;
	fake_started(f, request, 10, 65536);
	fake_data(f, fake_id(12), 0, "hello", 5, FH_DATA_END);
	fh_frame_write_credit(&f->out, fake_id(11), 0);
	fake_data(f, fake_id(13), 0, "world", 5, FH_DATA_END);
	fake_result(f, request, 1, 1);
	for (unsigned n = 1 + (unsigned)rand_r(seed) % 8; n > 0; n--)
		f->out.p[(size_t)rand_r(seed) % f->out.n] = (char)rand_r(seed);
	if (rand_r(seed) % 4 == 0)
		fh_buf_truncate(&f->out, (size_t)rand_r(seed) % f->out.n);
	fake_flush(f);
	shutdown(f->fd, SHUT_WR);
	(void)fake_expect(f, 0xffff, &x);
}

static void test_damaged_frames_never_hang_or_crash(void **state)
{
	(void)state;
	struct fh_plan *plan = fake_plan();
	for (unsigned i = 0; i < 2000; i++) {
		struct fake f;
		struct fh_client *client;
		struct fh_result *result;
		unsigned seed = i * 7919 + 1;
		assert_int_equal(fake_start(&f, damaged_run, &seed, &client, NULL), 0);
		if (fh_run(client, plan, NULL, &result, NULL) == 0)
			fh_result_free(result);
		fake_end(&f, client);
	}
	fh_plan_free(plan);
}

/* ------------------------------------------------------------------------------------------- many threads, one line */

enum { THREADS = 8 };

struct worker {
	pthread_t thread;
	struct fh_client *client;
	struct fh_plan *plan;
	int result;
	struct fh_error err;
};

static void *run_once(void *arg)
{
	struct worker *w = arg;
	struct fh_result *result = NULL;
	w->result = fh_run(w->client, w->plan, NULL, &result, &w->err);
	if (w->result == 0 && result->exit_code != (int)result->stream_data[FH_STDOUT][0])
		w->result = -1000; /* someone else's output */
	if (w->result == 0)
		fh_result_free(result);
	return NULL;
}

/* Takes all requests, then dies. */
static void die_in_the_middle(struct fake *f)
{
	struct fh_frame x;
	fake_greet(f);
	for (int i = 0; i < THREADS; i++) {
		if (!fake_expect(f, FH_FRAME_RUN, &x))
			return;
		fake_started(f, f->request, (uint8_t)(20 * (i + 1)), 65536);
		fake_flush(f);
	}
}

/* Answers in the opposite order, in small pieces. */
static void answer_backwards(struct fake *f)
{
	struct fh_frame x;
	uint64_t requests[THREADS];
	fake_greet(f);
	for (int i = 0; i < THREADS; i++) {
		if (!fake_expect(f, FH_FRAME_RUN, &x))
			return;
		requests[i] = f->request;
	}
	for (int i = THREADS - 1; i >= 0; i--)
		fake_started(f, requests[i], (uint8_t)(20 * (i + 1)), 65536);
	for (int i = 0; i < THREADS; i++) {
		char c = (char)(i + 1);
		fake_data(f, fake_id((uint8_t)(20 * (i + 1) + 2)), 0, &c, 1, FH_DATA_END);
	}
	for (int i = THREADS - 1; i >= 0; i--) {
		fake_data(f, fake_id((uint8_t)(20 * (i + 1) + 3)), 0, "", 0, FH_DATA_END);
		fake_result(f, requests[i], FH_STATUS_RUNTIME_ERROR, i + 1);
	}
	for (size_t at = 0; at < f->out.n; at += 7)
		(void)!fh_write_all(f->fd, f->out.p + at, FH_MIN(f->out.n - at, (size_t)7));
	(void)fake_expect(f, 0xffff, &x);
}

static void run_threads(void (*script)(struct fake *f), struct worker *w)
{
	struct fake f;
	struct fh_client *client;
	struct fh_plan *plan = fake_plan();
	assert_int_equal(fake_start(&f, script, NULL, &client, NULL), 0);
	for (int i = 0; i < THREADS; i++) {
		w[i] = (struct worker){ .client = client, .plan = plan };
		assert_int_equal(pthread_create(&w[i].thread, NULL, run_once, &w[i]), 0);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(w[i].thread, NULL);
	fh_plan_free(plan);
	fake_end(&f, client);
}

static void test_when_the_engine_dies_everyone_learns_it(void **state)
{
	(void)state;
	struct worker w[THREADS];
	run_threads(die_in_the_middle, w);
	for (int i = 0; i < THREADS; i++) {
		assert_int_equal(w[i].result, -FH_E_SYSTEM);
		assert_string_equal(w[i].err.message, "the engine closed the connection");
		assert_true(w[i].err.retryable);
	}
}

static void test_answers_find_their_callers(void **state)
{
	(void)state;
	struct worker w[THREADS];
	for (int round = 0; round < 20; round++) {
		run_threads(answer_backwards, w);
		for (int i = 0; i < THREADS; i++)
			assert_int_equal(w[i].result, 0);
	}
}

/* -------------------------------------------------------------------------------------------------------- sessions */

/* Starts two processes. The first one's output fills its window; then the second one speaks. Once the first is read it
 * goes on. */
static void two_processes(struct fake *f)
{
	struct fh_frame x;
	static char block[4096];
	fake_greet(f);
	if (!fake_expect(f, FH_FRAME_CREATE, &x))
		return;
	fake_reply(f, f->request);
	fake_flush(f);
	for (uint8_t i = 0; i < 2; i++) {
		if (!fake_expect(f, FH_FRAME_SPAWN, &x))
			return;
		fake_started(f, f->request, (uint8_t)(20 * (i + 1)), sizeof(block));
		fake_flush(f);
	}
	memset(block, 'A', sizeof(block));
	fake_data(f, fake_id(22), 0, block, sizeof(block), 0);
	fake_data(f, fake_id(42), 0, "here", 4, FH_DATA_END);
	fake_flush(f);
	do
		if (!fake_expect(f, FH_FRAME_CREDIT, &x))
			return;
	while (!fh_id_eq(x.id, fake_id(22)));
	fake_data(f, fake_id(22), sizeof(block), "Z", 1, FH_DATA_END);
	fake_flush(f);
	(void)fake_expect(f, 0xffff, &x);
}

static void test_a_slow_reader_stalls_only_its_own_stream(void **state)
{
	(void)state;
	struct fake f;
	struct fh_client *client;
	struct fh_sandbox *s;
	struct fh_process *slow, *quick;
	struct fh_plan *plan = fake_plan();
	char bytes[8192];
	assert_int_equal(fake_start(&f, two_processes, NULL, &client, NULL), 0);
	assert_int_equal(fh_sandbox_create(client, plan, NULL, &s, NULL), 0);
	assert_int_equal(fh_process_spawn(s, NULL, &slow, NULL), 0);
	assert_int_equal(fh_process_spawn(s, NULL, &quick, NULL), 0);
	assert_int_equal(fh_process_read(quick, FH_STDOUT, bytes, sizeof(bytes), 10000, NULL), 4);
	assert_int_equal(fh_process_read(quick, FH_STDOUT, bytes, sizeof(bytes), 10000, NULL), 0);
	size_t n = 0;
	ssize_t r;
	while ((r = fh_process_read(slow, FH_STDOUT, bytes, 1000, 10000, NULL)) > 0)
		n += (size_t)r;
	assert_int_equal(r, 0);
	assert_int_equal(n, 4097);
	fh_process_free(slow);
	fh_process_free(quick);
	fh_sandbox_free(s);
	fh_plan_free(plan);
	fake_end(&f, client);
}

static void one_process_silent(struct fake *f)
{
	struct fh_frame x;
	fake_greet(f);
	if (!fake_expect(f, FH_FRAME_CREATE, &x))
		return;
	fake_reply(f, f->request);
	fake_flush(f);
	if (!fake_expect(f, FH_FRAME_SPAWN, &x))
		return;
	fake_started(f, f->request, 20, 4096);
	fake_flush(f);
	while (fake_expect(f, FH_FRAME_WAIT, &x)) {
		fake_error(f, f->request, FH_E_TIMEOUT, "it still runs");
		fake_flush(f);
	}
}

static void test_reading_and_waiting_time_out(void **state)
{
	(void)state;
	struct fake f;
	struct fh_client *client;
	struct fh_sandbox *s;
	struct fh_process *p;
	struct fh_exit e;
	struct fh_plan *plan = fake_plan();
	char c;
	assert_int_equal(fake_start(&f, one_process_silent, NULL, &client, NULL), 0);
	assert_int_equal(fh_sandbox_create(client, plan, NULL, &s, NULL), 0);
	assert_int_equal(fh_process_spawn(s, NULL, &p, NULL), 0);
	assert_int_equal(fh_process_read(p, FH_STDOUT, &c, 1, 0, NULL), -FH_E_TIMEOUT);
	assert_int_equal(fh_process_read(p, FH_STDERR, &c, 1, 30, NULL), -FH_E_TIMEOUT);
	assert_int_equal(fh_process_wait(p, 1, &e, NULL), -FH_E_TIMEOUT);
	fh_process_free(p);
	fh_sandbox_free(s);
	fh_plan_free(plan);
	fake_end(&f, client);
}

/* A peer that writes 8 MiB before it reads anything, while we send it 12 MiB. */
static void flood_before_reading(struct fake *f)
{
	struct fh_frame x;
	fake_greet(f);
	if (!fake_expect(f, FH_FRAME_CREATE, &x))
		return;
	fake_reply(f, f->request);
	fake_flush(f);
	fh_sleep_ns(20 * FH_NS_PER_MS);
	for (int i = 0; i < 8; i++)
		fake_unknown(f, 1 << 20);
	fake_flush(f);
	while (fake_expect(f, FH_FRAME_PUT, &x)) {
		fake_reply(f, f->request);
		fake_flush(f);
	}
}

static void test_two_floods_do_not_lock_each_other(void **state)
{
	(void)state;
	struct fake f;
	struct fh_client *client;
	struct fh_sandbox *s;
	struct fh_plan *plan = fake_plan();
	size_t n = 12 << 20;
	fh_auto_free char *big = fh_xcalloc(1, n);
	struct fh_file file = { .name = "big", .content = { big, n } };
	assert_int_equal(fake_start(&f, flood_before_reading, NULL, &client, NULL), 0);
	assert_int_equal(fh_sandbox_create(client, plan, NULL, &s, NULL), 0);
	assert_int_equal(fh_sandbox_put_file(s, &file, NULL), 0);
	fh_sandbox_free(s);
	fh_plan_free(plan);
	fake_end(&f, client);
}

/* Collects what PUT brings; checks that pieces follow each other. */
struct put_log {
	uint64_t size, frames;
	bool in_order;
};

static void take_puts(struct fake *f)
{
	struct put_log *log = f->context;
	struct fh_frame x;
	fake_greet(f);
	if (!fake_expect(f, FH_FRAME_CREATE, &x))
		return;
	fake_reply(f, f->request);
	fake_flush(f);
	log->in_order = true;
	while (fake_expect(f, FH_FRAME_PUT, &x)) {
		struct fh_wire_reader r = fh_wire_reader(x.payload), file = { 0 };
		struct fh_wire_field field;
		uint64_t offset = 0;
		while (fh_wire_next(&r, &field))
			if (field.tag == F_FILE)
				file = fh_wire_reader(field.value);
		while (fh_wire_next(&file, &field)) {
			if (field.tag == F_OFFSET)
				offset = fh_wire_get_u64(&file, &field);
			if (field.tag == F_CONTENT) {
				log->in_order = log->in_order && offset == log->size;
				log->size += field.value.n;
			}
		}
		log->frames++;
		fake_reply(f, f->request);
		fake_flush(f);
	}
}

static void test_a_file_larger_than_a_frame_goes_in_pieces(void **state)
{
	(void)state;
	struct fake f;
	struct fh_client *client;
	struct fh_sandbox *s;
	struct put_log log = { 0 };
	struct fh_plan *plan = fake_plan();
	size_t n = (33 << 20) + 5;
	fh_auto_free char *big = fh_xcalloc(1, n);
	struct fh_file file = { .name = "big", .content = { big, n } };
	assert_int_equal(fake_start(&f, take_puts, &log, &client, NULL), 0);
	assert_int_equal(fh_sandbox_create(client, plan, NULL, &s, NULL), 0);
	assert_int_equal(fh_sandbox_put_file(s, &file, NULL), 0);
	fh_sandbox_free(s);
	fh_plan_free(plan);
	fake_end(&f, client);
	assert_int_equal(log.size, n);
	assert_int_equal(log.frames, 3);
	assert_true(log.in_order);
}

/* ------------------------------------------------------------------------------------------------- cancel and stdin */

static void confirm_cancel(struct fake *f)
{
	struct fh_frame x;
	fake_greet(f);
	if (!fake_expect(f, FH_FRAME_RUN, &x))
		return;
	uint64_t request = f->request;
	fake_started(f, request, 10, 65536);
	fake_flush(f);
	if (!fake_expect(f, FH_FRAME_CANCEL, &x))
		return;
	fake_error(f, f->request == request ? request : 0, FH_E_CANCELLED, "cancelled");
	fake_flush(f);
	(void)fake_expect(f, 0xffff, &x);
}

static volatile int cancel_flag;

static void *set_cancel(void *arg)
{
	fh_sleep_ns(30 * FH_NS_PER_MS);
	__atomic_store_n(&cancel_flag, 1, __ATOMIC_RELAXED);
	return arg;
}

static void test_a_run_is_cancelled_by_its_number(void **state)
{
	(void)state;
	struct fake f;
	struct fh_client *client;
	struct fh_result *result;
	struct fh_run_options o = FH_RUN_OPTIONS_INIT;
	struct fh_plan *plan = fake_plan();
	pthread_t thread;
	cancel_flag = 0;
	o.cancel = &cancel_flag;
	assert_int_equal(fake_start(&f, confirm_cancel, NULL, &client, NULL), 0);
	assert_int_equal(pthread_create(&thread, NULL, set_cancel, NULL), 0);
	assert_int_equal(fh_run(client, plan, &o, &result, NULL), -FH_E_CANCELLED);
	pthread_join(thread, NULL);
	fh_plan_free(plan);
	fake_end(&f, client);
}

/* Takes 1,000 bytes of input at a time and counts; fails the run when more came than it gave credit for. */
static void take_input(struct fake *f)
{
	struct fh_frame x;
	uint64_t got = 0, credit = 1000, offset;
	struct fh_str bytes;
	bool honest = true;
	fake_greet(f);
	if (!fake_expect(f, FH_FRAME_RUN, &x))
		return;
	uint64_t request = f->request;
	fake_started(f, request, 10, 1000);
	fake_flush(f);
	while (fake_expect(f, FH_FRAME_DATA, &x) && fh_frame_data(&x, &offset, &bytes)) {
		honest = honest && offset == got && got + bytes.n <= credit && fh_id_eq(x.id, fake_id(11));
		got += bytes.n;
		if (x.flags & FH_DATA_END)
			break;
		if (got == credit) {
			credit += 1000;
			fh_frame_write_credit(&f->out, fake_id(11), got);
			fake_flush(f);
		}
	}
	fake_data(f, fake_id(12), 0, "", 0, FH_DATA_END);
	fake_data(f, fake_id(13), 0, "", 0, FH_DATA_END);
	fake_result(f, request, FH_STATUS_RUNTIME_ERROR, honest && got == 12345 ? 42 : 1);
	fake_flush(f);
	(void)fake_expect(f, 0xffff, &x);
}

static void test_stdin_is_streamed_by_credit(void **state)
{
	(void)state;
	struct fake f;
	struct fh_client *client;
	struct fh_result *result;
	struct fh_run_options o = FH_RUN_OPTIONS_INIT;
	struct fh_plan *plan = fake_plan();
	static char bytes[12345];
	int pipes[2];
	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	assert_int_equal(fh_write_all(pipes[1], bytes, sizeof(bytes)), 0);
	close(pipes[1]);
	o.stdin_from_fd = true;
	o.stdin_fd = pipes[0];
	assert_int_equal(fake_start(&f, take_input, NULL, &client, NULL), 0);
	assert_int_equal(fh_run(client, plan, &o, &result, NULL), 0);
	assert_int_equal(result->exit_code, 42);
	fh_result_free(result);
	close(pipes[0]);
	fh_plan_free(plan);
	fake_end(&f, client);
}

/* A run ends although its stdin never does, and although it took none of it. */
static void ignore_input(struct fake *f)
{
	struct fh_frame x;
	fake_greet(f);
	if (!fake_expect(f, FH_FRAME_RUN, &x))
		return;
	uint64_t request = f->request;
	fake_started(f, request, 10, 10);
	fake_flush(f);
	(void)fake_expect(f, FH_FRAME_DATA, &x);
	fake_data(f, fake_id(12), 0, "", 0, FH_DATA_END);
	fake_data(f, fake_id(13), 0, "", 0, FH_DATA_END);
	fake_result(f, request, FH_STATUS_OK, 0);
	fake_flush(f);
	(void)fake_expect(f, 0xffff, &x);
}

static void test_a_run_ends_while_its_stdin_is_open(void **state)
{
	(void)state;
	for (int i = 0; i < 50; i++) {
		struct fake f;
		struct fh_client *client;
		struct fh_result *result;
		struct fh_run_options o = FH_RUN_OPTIONS_INIT;
		struct fh_plan *plan = fake_plan();
		int pipes[2];
		assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
		assert_int_equal(fh_write_all(pipes[1], "more than the ten bytes of the window", 37), 0);
		o.stdin_from_fd = true;
		o.stdin_fd = pipes[0];
		assert_int_equal(fake_start(&f, ignore_input, NULL, &client, NULL), 0);
		assert_int_equal(fh_run(client, plan, &o, &result, NULL), 0);
		fh_result_free(result);
		close(pipes[0]);
		close(pipes[1]);
		fh_plan_free(plan);
		fake_end(&f, client);
	}
}

/* --------------------------------------------------------------------------------------------------- large plans */

static void session_instead_of_run(struct fake *f)
{
	struct put_log *log = f->context;
	struct fh_frame x;
	fake_greet(f);
	if (!fake_expect(f, FH_FRAME_CREATE, &x) || x.payload.n > 1 << 20)
		return;
	fake_reply(f, f->request);
	fake_flush(f);
	while (log->frames < 2 && fake_expect(f, FH_FRAME_PUT, &x)) {
		log->frames++;
		log->size += x.payload.n;
		fake_reply(f, f->request);
		fake_flush(f);
	}
	if (!fake_expect(f, FH_FRAME_SPAWN, &x))
		return;
	fake_started(f, f->request, 20, 65536);
	fake_flush(f);
	if (!fake_expect(f, FH_FRAME_WAIT, &x))
		return;
	fake_data(f, fake_id(22), 0, "done", 4, FH_DATA_END);
	fake_data(f, fake_id(23), 0, "", 0, FH_DATA_END);
	size_t mark = fh_frame_begin(&f->out, FH_FRAME_EXIT, 0, f->request, fake_id(20));
	size_t e = fh_wire_begin(&f->out, F_EXIT);
	fh_wire_u64(&f->out, F_STATUS, FH_STATUS_RUNTIME_ERROR);
	fh_wire_u64(&f->out, F_EXIT_CODE, 9);
	fh_wire_end(&f->out, e);
	fh_frame_end(&f->out, mark);
	fake_flush(f);
	if (!fake_expect(f, FH_FRAME_GET, &x))
		return;
	fake_file(f, f->request, 0, fake_id(60));
	fake_data(f, fake_id(60), 0, "file", 4, FH_DATA_END);
	fake_reply(f, f->request);
	fake_flush(f);
	if (!fake_expect(f, FH_FRAME_DESTROY, &x))
		return;
	log->in_order = true;
	fake_reply(f, f->request);
	fake_flush(f);
	(void)fake_expect(f, 0xffff, &x);
}

static void test_a_plan_larger_than_a_frame_gives_the_same_result(void **state)
{
	(void)state;
	struct fake f;
	struct fh_client *client;
	struct fh_result *result;
	struct put_log log = { 0 };
	struct fh_plan *plan = fake_plan();
	size_t n = 20 << 20;
	fh_auto_free char *big = fh_xcalloc(1, n);
	fh_plan_add_file(plan, "big", big, n, 0644);
	fh_plan_add_string(&plan->outs, "back");
	assert_int_equal(fake_start(&f, session_instead_of_run, &log, &client, NULL), 0);
	assert_int_equal(fh_run(client, plan, NULL, &result, NULL), 0);
	assert_int_equal(result->status, FH_STATUS_RUNTIME_ERROR);
	assert_int_equal(result->exit_code, 9);
	assert_string_equal((char *)result->stream_data[FH_STDOUT], "done");
	assert_int_equal(result->out_count, 1);
	assert_memory_equal(result->outs[0].data, "file", 4);
	fh_result_free(result);
	fh_plan_free(plan);
	fake_end(&f, client);
	assert_true(log.in_order);
	assert_true(log.size > n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_greeting, setup),
		cmocka_unit_test_setup(test_a_greeting_that_never_comes_later, setup),
		cmocka_unit_test_setup(test_a_run_brings_output_and_evidence, setup),
		cmocka_unit_test_setup(test_output_larger_than_a_window_flows_by_credit, setup),
		cmocka_unit_test_setup(test_files_come_back_or_say_why_not, setup),
		cmocka_unit_test_setup(test_half_a_file_is_none, setup),
		cmocka_unit_test_setup(test_an_engine_error_is_a_result, setup),
		cmocka_unit_test_setup(test_a_program_is_compiled_and_then_run, setup),
		cmocka_unit_test_setup(test_what_the_compiler_says_is_the_result, setup),
		cmocka_unit_test_setup(test_a_limit_of_the_compilers_is_named, setup),
		cmocka_unit_test_setup(test_a_compiler_that_leaves_nothing_failed, setup),
		cmocka_unit_test_setup(test_whatever_breaks_the_protocol_breaks_the_connection, setup),
		cmocka_unit_test_setup(test_damaged_frames_never_hang_or_crash, setup),
		cmocka_unit_test_setup(test_when_the_engine_dies_everyone_learns_it, setup),
		cmocka_unit_test_setup(test_answers_find_their_callers, setup),
		cmocka_unit_test_setup(test_a_slow_reader_stalls_only_its_own_stream, setup),
		cmocka_unit_test_setup(test_reading_and_waiting_time_out, setup),
		cmocka_unit_test_setup(test_two_floods_do_not_lock_each_other, setup),
		cmocka_unit_test_setup(test_a_file_larger_than_a_frame_goes_in_pieces, setup),
		cmocka_unit_test_setup(test_a_run_is_cancelled_by_its_number, setup),
		cmocka_unit_test_setup(test_stdin_is_streamed_by_credit, setup),
		cmocka_unit_test_setup(test_a_run_ends_while_its_stdin_is_open, setup),
		cmocka_unit_test_setup(test_a_plan_larger_than_a_frame_gives_the_same_result, setup),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
