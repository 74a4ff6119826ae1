/* SPDX-License-Identifier: MIT */
/*
 * All that a client may say to an engine, in any order, while sandboxes come and go. The input is a list of steps: a
 * byte that chooses, then what that step needs.
 */
#include "engine_host.h"
#include "fuzz.h"

enum { STEPS_MAX = 48 };

/* A frame whose head is made of few bytes, with any payload. */
static void any_frame(struct fh_fuzz_host *h, struct fh_fuzz_input *in)
{
	fh_auto_buf struct fh_buf frame = FH_BUF_INIT(0);
	uint16_t type = (uint16_t)fh_fuzz_number(in, 1), flags = (uint16_t)fh_fuzz_number(in, 1);
	uint64_t request = fh_fuzz_number(in, 1);
	struct fh_id id = { { (uint8_t)fh_fuzz_number(in, 1) } };
	struct fh_str payload = fh_fuzz_bytes(in, (size_t)fh_fuzz_number(in, 2));
	fh_frame_write(&frame, type, flags, request, id, payload);
	fh_fuzz_host_send(h, frame.p, frame.n);
}

static void raw_bytes(struct fh_fuzz_host *h, struct fh_fuzz_input *in)
{
	struct fh_str s = fh_fuzz_bytes(in, (size_t)fh_fuzz_number(in, 2));
	fh_fuzz_host_send(h, s.p, s.n);
}

static void ask_run(struct fh_fuzz_host *h, struct fh_fuzz_input *in)
{
	fh_fuzz_host_ask(h, FH_FRAME_RUN, fh_fuzz_number(in, 1));
}

static void ask_create(struct fh_fuzz_host *h, struct fh_fuzz_input *in)
{
	fh_fuzz_host_ask(h, FH_FRAME_CREATE, fh_fuzz_number(in, 1));
}

static void set_up(struct fh_fuzz_host *h, struct fh_fuzz_input *in)
{
	fh_fuzz_host_ready(h, (size_t)fh_fuzz_number(in, 1));
}

static void init_answers(struct fh_fuzz_host *h, struct fh_fuzz_input *in)
{
	fh_fuzz_host_answer(h, (size_t)fh_fuzz_number(in, 1));
}

static void dies(struct fh_fuzz_host *h, struct fh_fuzz_input *in)
{
	fh_fuzz_host_die(h, (size_t)fh_fuzz_number(in, 1));
}

/* Much of the engine's life in one step: a session that is made, ready to be asked for things. */
static void a_session(struct fh_fuzz_host *h, struct fh_fuzz_input *in)
{
	size_t i = h->count;
	fh_fuzz_host_ask(h, FH_FRAME_CREATE, 1 + fh_fuzz_number(in, 1));
	fh_fuzz_host_step(h);
	fh_fuzz_host_ready(h, i);
	fh_fuzz_host_answer(h, i);
}

static void (*const steps[])(struct fh_fuzz_host *h, struct fh_fuzz_input *in) = {
	any_frame, raw_bytes, ask_run, ask_create, set_up, init_answers, dies, a_session,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fh_fuzz_input in = { data, size };
	struct fh_fuzz_host *h = fh_fuzz_host_new();
	if (fh_fuzz_number(&in, 1) & 1) /* else the input greets by itself, or does not */
		fh_fuzz_host_send(h, FH_FRAME_MAGIC, FH_FRAME_MAGIC_SIZE);
	for (int n = 0; n < STEPS_MAX && in.n && h->connection; n++) {
		steps[fh_fuzz_number(&in, 1) % FH_ARRAY_SIZE(steps)](h, &in);
		fh_fuzz_host_step(h);
	}
	fh_fuzz_host_free(h);
	return 0;
}
