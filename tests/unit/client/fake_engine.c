/* SPDX-License-Identifier: MIT */
#include "fake_engine.h"

#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "proto/wire.h"

static void *fake_main(void *arg)
{
	struct fake *f = arg;
	sigset_t pipe_only;
	sigemptyset(&pipe_only);
	sigaddset(&pipe_only, SIGPIPE); /* the client may go first */
	pthread_sigmask(SIG_BLOCK, &pipe_only, NULL);
	f->script(f);
	fake_close(f);
	return NULL;
}

void fake_thread(struct fake *f, void (*script)(struct fake *f), void *context)
{
	int pair[2];
	*f = (struct fake){ .in = FH_FRAME_DECODER_INIT, .out = FH_BUF_INIT(0), .script = script, .context = context };
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		abort();
	f->fd = pair[1];
	f->peer = pair[0];
	if (pthread_create(&f->thread, NULL, fake_main, f) != 0)
		abort();
}

int fake_start(struct fake *f, void (*script)(struct fake *f), void *context, struct fh_client **ret,
               struct fh_error *err)
{
	*ret = NULL;
	fake_thread(f, script, context);
	struct fh_reach reach = FH_REACH_INIT;
	reach.in = reach.out = f->peer;
	return fh_client_greet(&fh_placement_attach, &reach, 2000, false, ret, err);
}

void fake_end(struct fake *f, struct fh_client *client)
{
	fh_client_close(client);
	pthread_join(f->thread, NULL);
	fh_frame_decoder_release(&f->in);
	fh_buf_release(&f->out);
}

void fake_close(struct fake *f)
{
	if (f->fd >= 0)
		close(FH_TAKE_FD(f->fd));
}

void fake_flush(struct fake *f)
{
	if (f->fd >= 0)
		(void)!fh_write_all(f->fd, f->out.p, f->out.n);
	fh_buf_truncate(&f->out, 0);
}

void fake_greet(struct fake *f)
{
	struct fh_frame hello;
	fh_frame_write_hello(&f->out, "fake", 4242, NULL);
	fake_flush(f);
	(void)fake_expect(f, FH_FRAME_HELLO, &hello);
}

bool fake_expect(struct fake *f, uint16_t type, struct fh_frame *ret)
{
	for (;;) {
		int r = fh_frame_next(&f->in, ret, NULL);
		if (r < 0)
			return false;
		if (r > 0 && ret->type == type) {
			f->request = ret->request;
			f->id = ret->id;
			f->flags = ret->flags;
			return true;
		}
		if (r > 0)
			continue;
		char *to = fh_buf_reserve(&f->in.in, 65536);
		ssize_t n = to ? read(f->fd, to, 65536) : -1;
		if (n <= 0)
			return false;
		f->in.in.n += (size_t)n;
	}
}

struct fh_id fake_id(uint8_t n)
{
	struct fh_id id = { { n, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x77 } };
	return id;
}

void fake_started(struct fake *f, uint64_t request, uint8_t base, uint64_t window)
{
	size_t mark = fh_frame_begin(&f->out, FH_FRAME_STARTED, 0, request, fake_id(base));
	fh_wire_bytes(&f->out, F_SANDBOX_ID, fake_id((uint8_t)(base + 9)).b, 16);
	fh_wire_text(&f->out, 60000, "a field of a later version");
	for (uint8_t kind = FH_KIND_STDIN; kind <= FH_KIND_STDERR; kind++) {
		size_t stream = fh_wire_begin(&f->out, F_STREAM);
		fh_wire_u64(&f->out, F_KIND, kind);
		fh_wire_bytes(&f->out, F_ID, fake_id((uint8_t)(base + 1 + kind)).b, 16);
		fh_wire_u64(&f->out, F_WINDOW, window);
		fh_wire_u64(&f->out, 60001, 1);
		fh_wire_end(&f->out, stream);
	}
	fh_frame_end(&f->out, mark);
}

void fake_data(struct fake *f, struct fh_id stream, uint64_t offset, const void *p, size_t n, uint16_t flags)
{
	fh_frame_write_data(&f->out, stream, flags, offset, (struct fh_str){ p, n });
}

void fake_result(struct fake *f, uint64_t request, uint64_t status, int64_t exit_code)
{
	size_t mark = fh_frame_begin(&f->out, FH_FRAME_RESULT, 0, request, fake_id(1));
	size_t e = fh_wire_begin(&f->out, F_EXIT);
	fh_wire_u64(&f->out, F_STATUS, status);
	fh_wire_u64(&f->out, F_EXIT_CODE, (uint64_t)exit_code);
	fh_wire_u64(&f->out, F_CPU_USER_US, 1234);
	fh_wire_u64(&f->out, F_MEMORY, 5678);
	fh_wire_u64(&f->out, 60002, 7);
	fh_wire_end(&f->out, e);
	fh_wire_u64(&f->out, F_LAYERS, 1u << FH_LAYER_PID | 1u << 31);
	size_t missing = fh_wire_begin(&f->out, F_LAYER_MISSING);
	fh_wire_u64(&f->out, F_KIND, FH_LAYER_LANDLOCK);
	fh_wire_text(&f->out, F_MESSAGE, "the kernel has none");
	fh_wire_end(&f->out, missing);
	size_t enforced = fh_wire_begin(&f->out, F_ENFORCED);
	fh_wire_u64(&f->out, F_KIND, FH_LIMIT_MEMORY);
	fh_wire_u64(&f->out, F_STATUS, FH_ENFORCED_EXACT);
	fh_wire_end(&f->out, enforced);
	fh_frame_end(&f->out, mark);
}

void fake_reply(struct fake *f, uint64_t request)
{
	fh_frame_write(&f->out, FH_FRAME_REPLY, 0, request, fake_id(9), (struct fh_str){ "", 0 });
}

void fake_file(struct fake *f, uint64_t request, uint64_t index, struct fh_id stream)
{
	size_t mark = fh_frame_begin(&f->out, FH_FRAME_FILE, 0, request, fake_id(1));
	fh_wire_u64(&f->out, F_COUNT, index);
	fh_wire_bytes(&f->out, F_STREAM, stream.b, 16);
	fh_frame_end(&f->out, mark);
}

void fake_error(struct fake *f, uint64_t request, enum fh_code code, const char *message)
{
	struct fh_error e = FH_ERROR_INIT;
	(void)fh_error_set(&e, code, "%s", message);
	fh_frame_write_error(&f->out, request, &e);
}

void fake_unknown(struct fake *f, size_t n)
{
	fh_auto_free char *bytes = fh_xcalloc(1, n ? n : 1);
	fh_frame_write(&f->out, 999, 0xffff, 77, fake_id(200), (struct fh_str){ bytes, n });
}

int fake_setup(void **state)
{
	(void)state;
	alarm(60);
	return 0;
}

struct fh_plan *fake_plan(void)
{
	static const char *const argv[] = { "/bin/true", NULL };
	struct fh_plan *p = fh_plan_new();
	fh_plan_set_strings(&p->argv, argv);
	p->limits.value[FH_LIMIT_OUTPUT] = 8 << 20;
	return p;
}
