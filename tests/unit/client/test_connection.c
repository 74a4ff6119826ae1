/* SPDX-License-Identifier: MIT */
/* The line between client and engine: the greeting, peers that break the protocol, many threads, an engine that dies.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/fd.h"
#include "fake_engine.h"
#include "proto/wire.h"
#include "sandbox/connection/client.h"
#include "sandbox/session/session.h"

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
	{ bad_status, "an end that is not possible" },
	{ bad_exit_code, "an end that is not possible" },
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_greeting, fake_setup),
		cmocka_unit_test_setup(test_a_greeting_that_never_comes_later, fake_setup),
		cmocka_unit_test_setup(test_whatever_breaks_the_protocol_breaks_the_connection, fake_setup),
		cmocka_unit_test_setup(test_damaged_frames_never_hang_or_crash, fake_setup),
		cmocka_unit_test_setup(test_when_the_engine_dies_everyone_learns_it, fake_setup),
		cmocka_unit_test_setup(test_answers_find_their_callers, fake_setup),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
