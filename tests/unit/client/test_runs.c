/* SPDX-License-Identifier: MIT */
/* Runs, as the client asks for them and hears of them: output, files, compiling, cancel and stdin. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/fd.h"
#include "fake_engine.h"
#include "proto/wire.h"
#include "sandbox/connection/client.h"
#include "sandbox/session/session.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_a_run_brings_output_and_evidence, fake_setup),
		cmocka_unit_test_setup(test_output_larger_than_a_window_flows_by_credit, fake_setup),
		cmocka_unit_test_setup(test_files_come_back_or_say_why_not, fake_setup),
		cmocka_unit_test_setup(test_half_a_file_is_none, fake_setup),
		cmocka_unit_test_setup(test_an_engine_error_is_a_result, fake_setup),
		cmocka_unit_test_setup(test_a_program_is_compiled_and_then_run, fake_setup),
		cmocka_unit_test_setup(test_what_the_compiler_says_is_the_result, fake_setup),
		cmocka_unit_test_setup(test_a_limit_of_the_compilers_is_named, fake_setup),
		cmocka_unit_test_setup(test_a_compiler_that_leaves_nothing_failed, fake_setup),
		cmocka_unit_test_setup(test_a_run_is_cancelled_by_its_number, fake_setup),
		cmocka_unit_test_setup(test_stdin_is_streamed_by_credit, fake_setup),
		cmocka_unit_test_setup(test_a_run_ends_while_its_stdin_is_open, fake_setup),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
