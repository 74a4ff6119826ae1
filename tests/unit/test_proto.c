/* SPDX-License-Identifier: MIT */
/* Frames, fields and plans on the wire: torn, malformed, too large, unknown; and which plans are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include "proto/frame.h"
#include "proto/plan.h"
#include "proto/wire.h"

static struct fh_error err;
static const struct fh_id none, some = { { 1, 2, 3, 0xff } };

/* ------------------------------------------------------------------------------------------------------------- ids */

static void ids_are_random_and_have_one_spelling(void **state)
{
	struct fh_id a, b, back;
	char hex[33];
	fh_id_random(&a);
	fh_id_random(&b);
	assert_false(fh_id_eq(a, b));
	assert_false(fh_id_is_zero(a));
	assert_true(fh_id_is_zero(none));
	fh_id_hex(a, hex);
	assert_int_equal(strlen(hex), 32);
	assert_true(fh_id_parse(hex, &back));
	assert_true(fh_id_eq(a, back));
}

static void what_is_no_id_is_refused_and_changes_nothing(void **state)
{
	static const char *const wrong[] = { "",
		                                 "0",
		                                 "0102030405060708090a0b0c0d0e0f1",
		                                 "0102030405060708090a0b0c0d0e0f101",
		                                 "0102030405060708090A0b0c0d0e0f10",
		                                 " 102030405060708090a0b0c0d0e0f10",
		                                 "0102030405060708090a0b0c0d0e0f1g",
		                                 "0102030405060708-90a0b0c0d0e0f10" };
	struct fh_id id = some;
	for (size_t i = 0; i < FH_ARRAY_SIZE(wrong); i++) {
		assert_false(fh_id_parse(wrong[i], &id));
		assert_true(fh_id_eq(id, some));
	}
}

/* ---------------------------------------------------------------------------------------------------------- frames */

/* A peer's beginning, a frame with fields, stream bytes, an empty frame, one of a type from the future. */
static void write_conversation(struct fh_buf *out)
{
	fh_buf_adds(out, "Welcome to this host!\nLast login: yesterday\n\nfumehood-frames/\n");
	fh_frame_write_hello(out, "test", 42, NULL);
	size_t mark = fh_frame_begin(out, FH_FRAME_RENEW, 0, 7, some);
	fh_wire_u64(out, F_LEASE_MS, 1234567890123);
	fh_frame_end(out, mark);
	fh_frame_write_data(out, some, FH_DATA_END, 1ULL << 40, (struct fh_str){ "a\0b", 3 });
	fh_frame_write(out, 999, 0xffff, UINT64_MAX, none, (struct fh_str){ "from the future", 15 });
	fh_frame_write_credit(out, some, 99);
}

static const uint16_t conversation[] = { FH_FRAME_HELLO, FH_FRAME_RENEW, FH_FRAME_DATA, 999, FH_FRAME_CREDIT };

static void check_frame(size_t i, const struct fh_frame *f)
{
	struct fh_wire_reader r = fh_wire_reader(f->payload);
	struct fh_wire_field x;
	struct fh_str bytes;
	uint64_t offset;
	assert_true(i < FH_ARRAY_SIZE(conversation));
	assert_int_equal(f->type, conversation[i]);
	if (f->type == FH_FRAME_RENEW) {
		assert_int_equal(f->request, 7);
		assert_true(fh_id_eq(f->id, some));
		assert_true(fh_wire_next(&r, &x));
		assert_int_equal(x.tag, F_LEASE_MS);
		assert_true(fh_wire_get_u64(&r, &x) == 1234567890123);
		assert_false(fh_wire_next(&r, &x));
	} else if (f->type == FH_FRAME_DATA) {
		assert_true(fh_frame_data(f, &offset, &bytes));
		assert_true(offset == 1ULL << 40);
		assert_int_equal(f->flags, FH_DATA_END);
		assert_int_equal(bytes.n, 3);
		assert_memory_equal(bytes.p, "a\0b", 3);
	} else if (f->type == 999) {
		assert_true(f->request == UINT64_MAX);
		assert_int_equal(f->flags, 0xffff);
		assert_int_equal(f->payload.n, 15);
	}
}

static void feed(struct fh_frame_decoder *d, const char *p, size_t n)
{
	assert_int_equal(fh_buf_add(&d->in, p, n), 0);
}

static void frames_are_the_same_however_the_stream_is_torn(void **state)
{
	fh_auto_buf struct fh_buf stream = FH_BUF_INIT(0);
	write_conversation(&stream);
	for (size_t piece = 1; piece <= stream.n; piece = piece < 64 ? piece + 1 : piece * 2) {
		struct fh_frame_decoder d = FH_FRAME_DECODER_INIT;
		struct fh_frame f;
		size_t frames = 0;
		for (size_t at = 0; at < stream.n; at += piece) {
			feed(&d, stream.p + at, FH_MIN(piece, stream.n - at));
			int r;
			while ((r = fh_frame_next(&d, &f, &err)) == 1)
				check_frame(frames++, &f);
			assert_int_equal(r, 0);
		}
		assert_int_equal(frames, FH_ARRAY_SIZE(conversation));
		fh_frame_decoder_release(&d);
	}
}

static void nothing_counts_before_the_greeting(void **state)
{
	struct fh_frame_decoder d = FH_FRAME_DECODER_INIT;
	struct fh_frame f;
	fh_auto_buf struct fh_buf stream = FH_BUF_INIT(0);
	fh_frame_write(&stream, FH_FRAME_LIST, 0, 1, none, (struct fh_str){ "", 0 });
	feed(&d, stream.p, stream.n);
	assert_int_equal(fh_frame_next(&d, &f, &err), 0);
	fh_frame_decoder_release(&d);
}

static void a_peer_that_never_greets_is_given_up(void **state)
{
	struct fh_frame_decoder d = FH_FRAME_DECODER_INIT;
	struct fh_frame f;
	int r = 0;
	for (size_t sent = 0; r == 0 && sent < (size_t)4 * FH_FRAME_BANNER_MAX; sent += 64) {
		feed(&d, "fumehood-frames/0\nThis line has sixty-four bytes and no greeting.\n", 64);
		r = fh_frame_next(&d, &f, &err);
		assert_true(sent <= FH_FRAME_BANNER_MAX + 128 || r < 0);
	}
	assert_int_equal(r, -FH_E_PROTOCOL);
	fh_frame_decoder_release(&d);
}

static void a_frame_that_is_too_large_is_refused_by_its_length_alone(void **state)
{
	struct fh_frame_decoder d = FH_FRAME_DECODER_INIT;
	struct fh_frame f = { .type = 77 };
	char header[FH_FRAME_HEADER_SIZE] = { 1, 0, 0, 1 }; /* 16 MiB + 1 */
	feed(&d, FH_FRAME_MAGIC, FH_FRAME_MAGIC_SIZE);
	feed(&d, header, sizeof(header));
	assert_int_equal(fh_frame_next(&d, &f, &err), -FH_E_PROTOCOL);
	assert_int_equal(f.type, 77);
	fh_frame_decoder_release(&d);
}

static void stream_bytes_need_an_offset(void **state)
{
	struct fh_frame f = { .type = FH_FRAME_DATA, .payload = { "1234567", 7 } };
	struct fh_str bytes;
	uint64_t offset = 5;
	assert_false(fh_frame_data(&f, &offset, &bytes));
	assert_int_equal(offset, 5);
}

static void an_error_arrives_as_it_was_sent(void **state)
{
	struct fh_frame_decoder d = FH_FRAME_DECODER_INIT;
	struct fh_error sent = { .code = FH_E_LIMIT, .phase = FH_PHASE_SPAWN, .sys = 11, .retryable = true }, got;
	struct fh_frame f;
	memset(sent.message, 'm', sizeof(sent.message) - 1);
	snprintf(sent.hint, sizeof(sent.hint), "raise --processes");
	fh_buf_adds(&d.in, FH_FRAME_MAGIC);
	fh_frame_write_error(&d.in, 3, &sent);
	assert_int_equal(fh_frame_next(&d, &f, &err), 1);
	fh_frame_error(&f, &got);
	assert_int_equal(got.code, sent.code);
	assert_int_equal(got.phase, sent.phase);
	assert_int_equal(got.sys, sent.sys);
	assert_true(got.retryable);
	assert_string_equal(got.message, sent.message);
	assert_string_equal(got.hint, sent.hint);
	fh_frame_decoder_release(&d);
}

static void an_error_with_values_out_of_range_is_still_an_error(void **state)
{
	fh_auto_buf struct fh_buf payload = FH_BUF_INIT(0);
	struct fh_error got;
	char text[2000];
	memset(text, 'x', sizeof(text));
	fh_wire_u64(&payload, F_CODE, 12345);
	fh_wire_u64(&payload, F_PHASE, 12345);
	fh_wire_u64(&payload, F_SYS, UINT64_MAX);
	fh_wire_bytes(&payload, F_MESSAGE, text, sizeof(text));
	struct fh_frame f = { .type = FH_FRAME_ERROR, .payload = fh_buf_str(&payload) };
	fh_frame_error(&f, &got);
	assert_int_equal(got.code, FH_E_PROTOCOL);
	assert_int_equal(got.phase, FH_PHASE_NONE);
	assert_int_equal(got.sys, 0);
	assert_int_equal(strlen(got.message), sizeof(got.message) - 1);
}

/* ---------------------------------------------------------------------------------------------------------- fields */

static void an_error_without_words_gets_some(void **state)
{
	struct fh_buf out = FH_BUF_INIT(0);
	struct fh_error got;
	(void)state;
	fh_wire_u64(&out, F_CODE, FH_E_UNAVAILABLE);
	fh_wire_text(&out, F_MESSAGE, "");
	struct fh_frame f = { .type = FH_FRAME_ERROR, .payload = fh_buf_str(&out) };
	fh_frame_error(&f, &got);
	assert_int_equal(got.code, FH_E_UNAVAILABLE);
	assert_non_null(strstr(got.message, "did not say which"));
	fh_buf_release(&out);
}

static void fields_nest_and_repeat(void **state)
{
	fh_auto_buf struct fh_buf b = FH_BUF_INIT(0);
	struct fh_wire_field x, y;
	size_t mark = fh_wire_begin(&b, 5);
	fh_wire_text(&b, 1, "inner");
	fh_wire_end(&b, mark);
	fh_wire_text(&b, 5, "");
	struct fh_wire_reader r = fh_wire_reader(fh_buf_str(&b));
	assert_true(fh_wire_next(&r, &x));
	struct fh_wire_reader nested = fh_wire_reader(x.value);
	assert_true(fh_wire_next(&nested, &y));
	fh_auto_free char *inner = fh_wire_get_text(&nested, &y);
	assert_string_equal(inner, "inner");
	assert_false(fh_wire_next(&nested, &y));
	assert_true(fh_wire_next(&r, &x));
	assert_int_equal(x.value.n, 0);
	assert_false(fh_wire_next(&r, &x));
	assert_false(r.malformed || nested.malformed);
}

static void every_cut_of_a_message_is_malformed_or_shorter_never_read_past(void **state)
{
	fh_auto_buf struct fh_buf b = FH_BUF_INIT(0);
	fh_wire_u64(&b, 1, 1);
	fh_wire_text(&b, 2, "text");
	for (size_t n = 0; n <= b.n; n++) {
		char *exact = fh_xmemdup(b.p, n); /* so that a sanitizer sees one byte too much */
		struct fh_wire_reader r = fh_wire_reader((struct fh_str){ exact, n });
		struct fh_wire_field x;
		int count = 0;
		while (fh_wire_next(&r, &x))
			count++;
		assert_int_equal(r.malformed, n != 0 && n != 16 && n != b.n);
		assert_int_equal(count, n == b.n ? 2 : n >= 16 ? 1 : 0);
		assert_false(fh_wire_next(&r, &x));
		free(exact);
	}
}

static void lengths_that_lie_are_malformed(void **state)
{
	static const char lengths[][9] = { "\1\0\0\0\xff\xff\xff\xff", "\1\0\0\0\1\0\0\0", "\1\0\0\0\0\0\0\x80" };
	for (size_t i = 0; i < FH_ARRAY_SIZE(lengths); i++) {
		struct fh_wire_reader r = fh_wire_reader((struct fh_str){ lengths[i], 8 });
		struct fh_wire_field x = { .tag = 9 };
		assert_false(fh_wire_next(&r, &x));
		assert_true(r.malformed);
		assert_int_equal(x.tag, 9);
	}
}

static void values_of_the_wrong_shape_are_malformed(void **state)
{
	struct fh_wire_reader r = { 0 };
	struct fh_wire_field number = { 1, { "1234567", 7 } }, text = { 1, { "a\0b", 3 } };
	assert_int_equal(fh_wire_get_u64(&r, &number), 0);
	assert_true(r.malformed);
	r.malformed = false;
	fh_auto_free char *s = fh_wire_get_text(&r, &text);
	assert_string_equal(s, "");
	assert_true(r.malformed);
}

/* ----------------------------------------------------------------------------------------------------------- plans */

static struct fh_plan *full_plan(void)
{
	struct fh_plan *p = fh_plan_new();
	fh_plan_add_mount(p, FH_MOUNT_BIND, "/usr", "/usr");
	struct fh_plan_mount *m = fh_plan_add_mount(p, FH_MOUNT_BIND, "/data", "/srv/data");
	m->writable = m->optional = true;
	fh_plan_add_mount(p, FH_MOUNT_SYMLINK, "/bin", "usr/bin");
	m = fh_plan_add_mount(p, FH_MOUNT_FILE, "/etc/hosts", NULL);
	m->content.data = fh_xmemdup("a\0b", 3);
	m->content.size = 3;
	m->mode = 0600;
	fh_plan_add_mount(p, FH_MOUNT_WRITABLE, "/tmp", NULL)->mode = 01777;
	fh_plan_add_mount(p, FH_MOUNT_PROC, "/proc", NULL);
	fh_plan_add_mount(p, FH_MOUNT_DEV, "/dev", NULL);
	for (int i = 0; i < FH_LIMIT_COUNT_; i++)
		p->limits.value[i] = i == 3 ? FH_UNLIMITED : (uint64_t)i << 33;
	fh_plan_add_string(&p->argv, "/bin/sh");
	fh_plan_add_string(&p->argv, "");
	fh_plan_add_string(&p->env, "A=b=c\nd");
	fh_plan_add_file(p, "folder/bad\xff name", "x\0y", 3, 0755);
	fh_plan_add_file(p, "empty", "", 0, 0);
	fh_plan_add_string(&p->outs, "result");
	fh_plan_set_text(&p->cwd, "/tmp");
	fh_plan_set_text(&p->hostname, "box");
	fh_plan_set_text(&p->language, "bash");
	fh_plan_set_text(&p->interpreter, "/bin/sh");
	fh_plan_set_text(&p->code_name, "main.sh");
	p->image = fh_xstrdup("/images/one");
	p->stdin_data.data = fh_xmemdup("in", 2);
	p->stdin_data.size = 2;
	p->uid = p->gid = 0;
	p->require = 1u << FH_LAYER_SECCOMP;
	p->layers &= ~(1u << FH_LAYER_UTS);
	p->out_max_bytes = 12345;
	return p;
}

static void a_plan_survives_the_wire_to_the_last_byte(void **state)
{
	struct fh_plan *plan = full_plan(), *back = NULL;
	fh_auto_buf struct fh_buf once = FH_BUF_INIT(0), twice = FH_BUF_INIT(0);
	fh_plan_encode(&once, plan);
	if (fh_plan_decode(fh_buf_str(&once), &back, &err) < 0)
		fail_msg("%s", err.message);
	fh_plan_encode(&twice, back);
	assert_int_equal(once.n, twice.n);
	assert_memory_equal(once.p, twice.p, once.n);
	fh_auto_free char *a = NULL, *b = NULL; /* and so does what a person sees of it */
	assert_int_equal(fh_plan_to_json(plan, &a, &err), 0);
	assert_int_equal(fh_plan_to_json(back, &b, &err), 0);
	assert_string_equal(a, b);
	fh_plan_free(plan);
	fh_plan_free(back);
}

static void a_plan_cut_anywhere_is_refused_or_whole_in_itself(void **state)
{
	struct fh_plan *plan = full_plan();
	fh_auto_buf struct fh_buf wire = FH_BUF_INIT(0);
	fh_plan_encode(&wire, plan);
	for (size_t n = 0; n < wire.n; n++) {
		char *exact = fh_xmemdup(wire.p, n);
		struct fh_plan *back = NULL;
		int r = fh_plan_decode((struct fh_str){ exact, n }, &back, &err);
		assert_true((r == 0) == (back != NULL));
		if (back)
			assert_int_equal(fh_plan_check(back, &err), 0);
		fh_plan_free(back);
		free(exact);
	}
	fh_plan_free(plan);
}

static void a_plan_with_a_changed_byte_never_breaks_the_reader(void **state)
{
	struct fh_plan *plan = full_plan();
	fh_auto_buf struct fh_buf wire = FH_BUF_INIT(0);
	fh_plan_encode(&wire, plan);
	for (size_t i = 0; i < wire.n; i++) {
		for (unsigned change = 1; change < 256; change *= 4) {
			struct fh_plan *back = NULL;
			wire.p[i] ^= (char)change;
			if (fh_plan_decode(fh_buf_str(&wire), &back, &err) == 0)
				assert_int_equal(fh_plan_check(back, &err), 0);
			wire.p[i] ^= (char)change;
			fh_plan_free(back);
		}
	}
	fh_plan_free(plan);
}

static void fields_from_the_future_are_skipped_but_not_limits_and_mounts(void **state)
{
	struct fh_plan *plan = full_plan(), *back = NULL;
	fh_auto_buf struct fh_buf wire = FH_BUF_INIT(0);
	fh_plan_encode(&wire, plan);
	size_t whole = wire.n;
	fh_wire_text(&wire, 9999, "something new");
	assert_int_equal(fh_plan_decode(fh_buf_str(&wire), &back, &err), 0);
	fh_plan_free(back);
	static const struct {
		uint16_t tag, inner;
	} unknown[] = { { 8 /* P_LIMIT */, 1 }, { 2 /* P_MOUNT */, 1 } };
	for (size_t i = 0; i < FH_ARRAY_SIZE(unknown); i++) {
		fh_buf_truncate(&wire, whole);
		size_t mark = fh_wire_begin(&wire, unknown[i].tag);
		fh_wire_u64(&wire, unknown[i].inner, 1000);
		fh_wire_end(&wire, mark);
		back = NULL;
		assert_int_equal(fh_plan_decode(fh_buf_str(&wire), &back, &err), -FH_E_PROTOCOL);
		assert_null(back);
	}
	fh_plan_free(plan);
}

/* ---------------------------------------------------------------------------------------------------------- checks */

static char long_path[FH_PLAN_PATH_MAX + 2];

static void refuse_target(struct fh_plan *p)
{
	fh_plan_set_text(&p->mounts[0].target, "/usr/../etc");
}
static void refuse_relative_target(struct fh_plan *p)
{
	fh_plan_set_text(&p->mounts[0].target, "usr");
}
static void refuse_root(struct fh_plan *p)
{
	fh_plan_set_text(&p->mounts[0].target, "/");
}
static void refuse_long_target(struct fh_plan *p)
{
	memset(long_path, 'a', sizeof(long_path) - 1);
	long_path[0] = '/';
	fh_plan_set_text(&p->mounts[0].target, long_path);
}
static void refuse_source(struct fh_plan *p)
{
	fh_plan_set_text(&p->mounts[0].source, "relative");
}
static void refuse_no_source(struct fh_plan *p)
{
	fh_plan_set_text(&p->mounts[0].source, "");
}
static void refuse_mount_mode(struct fh_plan *p)
{
	p->mounts[0].mode = 010000;
}
static void refuse_two_devices(struct fh_plan *p)
{
	fh_plan_add_mount(p, FH_MOUNT_DEV, "/dev2", NULL);
}
static void refuse_many_mounts(struct fh_plan *p)
{
	while (p->mount_count <= FH_PLAN_MOUNTS_MAX)
		fh_plan_add_mount(p, FH_MOUNT_DIR, "/d", NULL);
}
static void refuse_image(struct fh_plan *p)
{
	fh_plan_set_text(&p->image, "image");
}
static void refuse_cwd(struct fh_plan *p)
{
	fh_plan_set_text(&p->cwd, "/tmp/");
}
static void refuse_file_up(struct fh_plan *p)
{
	fh_plan_set_text(&p->files[0].name, "a/../../b");
}
static void refuse_file_empty(struct fh_plan *p)
{
	fh_plan_set_text(&p->files[0].name, "");
}
static void refuse_file_folder(struct fh_plan *p)
{
	fh_plan_set_text(&p->files[0].name, "a/");
}
static void refuse_file_double(struct fh_plan *p)
{
	fh_plan_set_text(&p->files[0].name, "a//b");
}
static void refuse_file_mode(struct fh_plan *p)
{
	p->files[0].mode = 0100644;
}
static void refuse_out(struct fh_plan *p)
{
	fh_plan_add_string(&p->outs, "..");
}
static void refuse_uid(struct fh_plan *p)
{
	p->uid = p->gid = 33;
}
static void refuse_gid(struct fh_plan *p)
{
	p->gid = 1000;
}
static void refuse_hostname(struct fh_plan *p)
{
	fh_plan_set_text(&p->hostname, "");
}
static void refuse_layer(struct fh_plan *p)
{
	p->layers |= 1u << FH_LAYER_COUNT_;
}
static void refuse_required_layer(struct fh_plan *p)
{
	p->require |= 1u << 31;
}
static void refuse_without_mounts(struct fh_plan *p)
{
	p->layers &= ~(1u << FH_LAYER_MOUNT);
}
static void refuse_long_argv(struct fh_plan *p)
{
	char text[4096];
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = 0;
	for (int i = 0; i < 33; i++)
		fh_plan_add_string(&p->argv, text);
}

static void plans_that_cannot_be_carried_out_are_refused(void **state)
{
	static void (*const spoil[])(struct fh_plan *) = {
		refuse_target,
		refuse_relative_target,
		refuse_root,
		refuse_long_target,
		refuse_source,
		refuse_no_source,
		refuse_mount_mode,
		refuse_two_devices,
		refuse_many_mounts,
		refuse_image,
		refuse_cwd,
		refuse_file_up,
		refuse_file_empty,
		refuse_file_folder,
		refuse_file_double,
		refuse_file_mode,
		refuse_out,
		refuse_uid,
		refuse_gid,
		refuse_hostname,
		refuse_layer,
		refuse_required_layer,
		refuse_without_mounts,
		refuse_long_argv,
	};
	for (size_t i = 0; i < FH_ARRAY_SIZE(spoil); i++) {
		struct fh_plan *p = full_plan(), *back = NULL;
		assert_int_equal(fh_plan_check(p, &err), 0);
		spoil[i](p);
		err = (struct fh_error)FH_ERROR_INIT;
		if (fh_plan_check(p, &err) >= 0)
			fail_msg("spoiled plan %zu passed", i);
		assert_true(err.message[0] != 0);
		fh_auto_buf struct fh_buf wire = FH_BUF_INIT(0); /* and so by the engine, which gets it over the wire */
		fh_plan_encode(&wire, p);
		assert_true(fh_plan_decode(fh_buf_str(&wire), &back, &err) < 0);
		assert_null(back);
		fh_plan_free(p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ids_are_random_and_have_one_spelling),
		cmocka_unit_test(what_is_no_id_is_refused_and_changes_nothing),
		cmocka_unit_test(frames_are_the_same_however_the_stream_is_torn),
		cmocka_unit_test(nothing_counts_before_the_greeting),
		cmocka_unit_test(a_peer_that_never_greets_is_given_up),
		cmocka_unit_test(a_frame_that_is_too_large_is_refused_by_its_length_alone),
		cmocka_unit_test(stream_bytes_need_an_offset),
		cmocka_unit_test(an_error_arrives_as_it_was_sent),
		cmocka_unit_test(an_error_with_values_out_of_range_is_still_an_error),
		cmocka_unit_test(an_error_without_words_gets_some),
		cmocka_unit_test(fields_nest_and_repeat),
		cmocka_unit_test(every_cut_of_a_message_is_malformed_or_shorter_never_read_past),
		cmocka_unit_test(lengths_that_lie_are_malformed),
		cmocka_unit_test(values_of_the_wrong_shape_are_malformed),
		cmocka_unit_test(a_plan_survives_the_wire_to_the_last_byte),
		cmocka_unit_test(a_plan_cut_anywhere_is_refused_or_whole_in_itself),
		cmocka_unit_test(a_plan_with_a_changed_byte_never_breaks_the_reader),
		cmocka_unit_test(fields_from_the_future_are_skipped_but_not_limits_and_mounts),
		cmocka_unit_test(plans_that_cannot_be_carried_out_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
