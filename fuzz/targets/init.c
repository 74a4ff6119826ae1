/* SPDX-License-Identifier: MIT */
/*
 * All that a sandbox's set-up and init may say to the engine: init lives where hostile code lives. The input chooses
 * between a run and a session with a process, then says records and packets; a byte that chooses one of the known
 * messages gives its size, so that what stands in its fields is what varies.
 */
#include "engine_host.h"
#include "fuzz.h"
#include "proto/wire.h"

enum { STEPS_MAX = 48, PACKET_MAX = 1024 };

static const struct {
	uint32_t op;
	size_t size;
} messages[] = {
	{ FH_INIT_PUT_DONE, sizeof(struct fh_init_done) },     { FH_INIT_SPAWNED, sizeof(struct fh_init_spawned) },
	{ FH_INIT_EXITED, sizeof(struct fh_init_exited) },     { FH_INIT_GET_DONE, sizeof(struct fh_init_done) },
	{ FH_INIT_FINISHED, sizeof(struct fh_init_finished) }, { FH_INIT_USAGE, sizeof(struct fh_init_usage) },
};

static void known_message(struct fh_fuzz_host *h, struct fh_fuzz_input *in)
{
	union {
		struct fh_init_header h;
		char bytes[PACKET_MAX];
	} m = { .bytes = "" };
	size_t i = (size_t)fh_fuzz_number(in, 1) % FH_ARRAY_SIZE(messages);
	uint32_t token = (uint32_t)fh_fuzz_number(in, 1);
	struct fh_str fields = fh_fuzz_bytes(in, (size_t)fh_fuzz_number(in, 1));
	memcpy(m.bytes + sizeof(m.h), fields.p, FH_MIN(fields.n, sizeof(m) - sizeof(m.h)));
	m.h = (struct fh_init_header){ messages[i].op, token };
	fh_fuzz_host_packet(h, 0, &m, messages[i].size);
}

static void any_packet(struct fh_fuzz_host *h, struct fh_fuzz_input *in)
{
	struct fh_str s = fh_fuzz_bytes(in, (size_t)fh_fuzz_number(in, 2));
	fh_fuzz_host_packet(h, 0, s.p, s.n);
}

static void init_answers(struct fh_fuzz_host *h, struct fh_fuzz_input *in)
{
	fh_fuzz_host_answer(h, 0);
}

static void dies(struct fh_fuzz_host *h, struct fh_fuzz_input *in)
{
	fh_fuzz_host_die(h, 0);
}

/* Something to be answered: a process, or a file out. */
static void client_asks(struct fh_fuzz_host *h, struct fh_fuzz_input *in)
{
	bool spawn = fh_fuzz_number(in, 1) & 1;
	fh_auto_buf struct fh_buf frame = FH_BUF_INIT(0);
	size_t mark = fh_frame_begin(&frame, spawn ? FH_FRAME_SPAWN : FH_FRAME_GET, 0, 7, (struct fh_id){ { 1 } });
	fh_wire_text(&frame, spawn ? F_CWD : F_NAME, "x");
	fh_frame_end(&frame, mark);
	fh_fuzz_host_send(h, frame.p, frame.n);
}

static void (*const steps[])(struct fh_fuzz_host *h, struct fh_fuzz_input *in) = {
	known_message, any_packet, init_answers, dies, client_asks,
};

static void any_report(struct fh_fuzz_host *h, struct fh_fuzz_input *in)
{
	struct fh_setup_report r = { 0 };
	struct fh_str s = fh_fuzz_bytes(in, sizeof(r));
	memcpy(&r, s.p, s.n);
	fh_fuzz_host_report(h, 0, &r);
	fh_fuzz_host_step(h);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fh_fuzz_input in = { data, size };
	struct fh_fuzz_host *h = fh_fuzz_host_new();
	uint64_t choice = fh_fuzz_number(&in, 1);
	fh_fuzz_host_send(h, FH_FRAME_MAGIC, FH_FRAME_MAGIC_SIZE);
	fh_fuzz_host_ask(h, choice & 1 ? FH_FRAME_RUN : FH_FRAME_CREATE, 1);
	fh_fuzz_host_step(h);
	if (choice & 2)
		any_report(h, &in);
	fh_fuzz_host_ready(h, 0);
	for (int n = 0; n < STEPS_MAX && in.n && h->connection; n++) {
		steps[fh_fuzz_number(&in, 1) % FH_ARRAY_SIZE(steps)](h, &in);
		fh_fuzz_host_step(h);
	}
	fh_fuzz_host_free(h);
	return 0;
}
