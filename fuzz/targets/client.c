/* SPDX-License-Identifier: MIT */
/*
 * All that an engine may say to a client. The input is the engine's half of a conversation. Whenever the client sleeps
 * (ppoll is replaced by the linker, --wrap) the next frames of it come, and behind the last one the end of the
 * connection; so every call of the client's ends too, with what came or with an error.
 */
#include "sandbox/connection/client.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "fuzz.h"
#include "proto/plan.h"

enum { SOCKET_BYTES = 1 << 20 };

static struct fh_plan *a_plan(void)
{
	static const char *const argv[] = { "/bin/true", NULL }, *const outs[] = { "a.txt", "b.txt", NULL };
	struct fh_plan *p = fh_plan_new();
	fh_plan_set_strings(&p->argv, argv);
	fh_plan_set_strings(&p->outs, outs);
	fh_plan_set_text(&p->cwd, "/home/user");
	p->limits.value[FH_LIMIT_OUTPUT] = 1 << 20;
	p->out_max_bytes = 1 << 20;
	return p;
}

/* What is still to be said, and how many frames at once. */
static struct {
	int fd;
	struct fh_fuzz_input rest;
	size_t frames;
} engine;

int __wrap_ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask);
int __real_ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask);

/* The greeting's magic, or one frame; what is none is said whole. */
static size_t next_piece(const struct fh_fuzz_input *in)
{
	size_t n = 0;
	if (in->n >= FH_FRAME_MAGIC_SIZE && memcmp(in->p, FH_FRAME_MAGIC, FH_FRAME_MAGIC_SIZE) == 0)
		return FH_FRAME_MAGIC_SIZE;
	if (in->n < FH_FRAME_HEADER_SIZE)
		return in->n;
	for (size_t i = 0; i < 4; i++)
		n |= (size_t)in->p[i] << (8 * i);
	return FH_MIN(n + FH_FRAME_HEADER_SIZE, in->n);
}

int __wrap_ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask)
{
	if (!engine.rest.n)
		(void)shutdown(engine.fd, SHUT_WR);
	for (size_t i = 0; engine.rest.n && i < engine.frames; i++) {
		struct fh_str s = fh_fuzz_bytes(&engine.rest, next_piece(&engine.rest));
		(void)!send(engine.fd, s.p, s.n, MSG_DONTWAIT | MSG_NOSIGNAL);
	}
	return __real_ppoll(fds, n, timeout, mask);
}

/* Both ends of a socket that takes SOCKET_BYTES at once. */
static bool make_socket(int ret[2])
{
	int room = SOCKET_BYTES;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ret) < 0)
		return false;
	(void)setsockopt(ret[0], SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room));
	(void)setsockopt(ret[1], SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room));
	return true;
}

static void check_result(const struct fh_result *r, const struct fh_plan *plan)
{
	FH_FUZZ_CHECK(r->status < FH_STATUS_COUNT_);
	FH_FUZZ_CHECK(r->stream_size[FH_STDOUT] <= plan->limits.value[FH_LIMIT_OUTPUT]);
	FH_FUZZ_CHECK(r->stream_size[FH_STDERR] <= plan->limits.value[FH_LIMIT_OUTPUT]);
	FH_FUZZ_CHECK(r->status != FH_STATUS_ENGINE_ERROR || r->error.code);
	for (size_t i = 0; i < r->out_count; i++)
		FH_FUZZ_CHECK((r->outs[i].refused || r->outs[i].data) && r->outs[i].size <= plan->out_max_bytes);
	fh_auto_free char *json = fh_result_json(r, 0);
	FH_FUZZ_CHECK(json && json[0] == '{');
}

static void one_run(struct fh_client *c)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_plan *plan = a_plan();
	struct fh_result *result = NULL;
	int r = fh_run(c, plan, NULL, &result, &err);
	FH_FUZZ_CHECK(r < 0 || result);
	FH_FUZZ_CHECK(r >= 0 || err.message[0]);
	if (r >= 0)
		check_result(result, plan);
	fh_result_free(result);
	fh_plan_free(plan);
}

static void read_all(struct fh_process *p, enum fh_stream stream)
{
	struct fh_error err = FH_ERROR_INIT;
	char piece[4096];
	ssize_t n;
	while ((n = fh_process_read(p, stream, piece, sizeof(piece), 0, &err)) > 0)
		;
}

static void a_session(struct fh_client *c)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_plan *plan = a_plan();
	struct fh_sandbox *b = NULL;
	struct fh_process *p = NULL;
	struct fh_exit ended;
	uint8_t *data = NULL;
	size_t n = 0;
	if (fh_sandbox_create(c, plan, NULL, &b, &err) == 0) {
		FH_FUZZ_CHECK(strlen(fh_sandbox_id(b)) == 32);
		if (fh_process_spawn(b, NULL, &p, &err) == 0) {
			read_all(p, FH_STDOUT);
			read_all(p, FH_STDERR);
			if (fh_process_wait(p, 0, &ended, &err) == 0)
				FH_FUZZ_CHECK(ended.status < FH_STATUS_COUNT_);
		}
		if (fh_sandbox_get_file(b, "a.txt", 1000, &data, &n, &err) == 0)
			FH_FUZZ_CHECK(n <= 1000 && data);
		(void)fh_sandbox_destroy(b, &err);
	}
	free(data);
	fh_process_free(p);
	fh_sandbox_free(b);
	fh_plan_free(plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fh_fuzz_input in = { data, size };
	struct fh_reach reach = FH_REACH_INIT;
	struct fh_error err = FH_ERROR_INIT;
	struct fh_client *c = NULL;
	uint64_t choice = fh_fuzz_number(&in, 1);
	int ends[2];
	if (!make_socket(ends))
		return 0;
	engine.fd = ends[0];
	engine.rest = in;
	engine.frames = choice & 2 ? 64 : 1;
	reach.in = reach.out = ends[1];
	int r = fh_client_greet(&fh_placement_attach, &reach, 1000, false, &c, &err);
	FH_FUZZ_CHECK(r == 0 || err.message[0]);
	if (r == 0) {
		if (choice & 1)
			a_session(c);
		else
			one_run(c);
		fh_client_close(c);
	}
	close(ends[0]);
	return 0;
}
