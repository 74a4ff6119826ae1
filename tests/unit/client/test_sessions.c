/* SPDX-License-Identifier: MIT */
/* Sessions, and plans that become one: processes beside each other, files in pieces. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "fake_engine.h"
#include "proto/wire.h"
#include "sandbox/connection/client.h"
#include "sandbox/session/session.h"

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
		cmocka_unit_test_setup(test_a_slow_reader_stalls_only_its_own_stream, fake_setup),
		cmocka_unit_test_setup(test_reading_and_waiting_time_out, fake_setup),
		cmocka_unit_test_setup(test_two_floods_do_not_lock_each_other, fake_setup),
		cmocka_unit_test_setup(test_a_file_larger_than_a_frame_goes_in_pieces, fake_setup),
		cmocka_unit_test_setup(test_a_plan_larger_than_a_frame_gives_the_same_result, fake_setup),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
