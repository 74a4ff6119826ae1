/* SPDX-License-Identifier: MIT */
#include "engine_host.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/process/child.h"
#include "fuzz.h"
#include "proto/plan.h"
#include "proto/wire.h"

static struct fh_fuzz_host *host; /* the one that lives: the replaced calls have no other way to it */
static uint64_t last_id;

/* --------------------------------------------------------------------------------------- what the linker replaces */

int __wrap_fh_launch(const struct fh_plan *plan, enum fh_part part, const struct fh_cgroup *cgroup,
                     const struct fh_ids *ids, struct fh_launched *ret, struct fh_error *err);
bool __wrap_fh_child_make(const struct fh_child_options *o, pid_t *ret_pid, int *ret_pidfd,
                          struct fh_child_failure *ret);
ssize_t __wrap_getrandom(void *p, size_t n, unsigned flags);
int __wrap_waitid(idtype_t type, id_t id, siginfo_t *info, int options);
long __wrap_syscall(long number, ...);
long __real_syscall(long number, ...);
int __wrap_kill(pid_t pid, int signal);

int __wrap_fh_launch(const struct fh_plan *plan, enum fh_part part, const struct fh_cgroup *cgroup,
                     const struct fh_ids *ids, struct fh_launched *ret, struct fh_error *err)
{
	int init[2], report[2];
	if (host->count == FH_FUZZ_SANDBOXES_MAX)
		return fh_error_set(err, FH_E_LIMIT, "enough sandboxes for one input");
	FH_FUZZ_CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, init) == 0);
	FH_FUZZ_CHECK(pipe2(report, O_CLOEXEC | O_NONBLOCK) == 0);
	struct fh_fuzz_sandbox *b = &host->sandboxes[host->count++];
	*b = (struct fh_fuzz_sandbox){ .init = init[0], .report = report[1], .alive = eventfd(0, EFD_CLOEXEC) };
	*ret = (struct fh_launched){
		.pid = getpid(), .pidfd = dup(b->alive), .socket = init[1], .report = report[0], .go = -1
	};
	return 0;
}

/* A survey starts a program: here none can be started. */
bool __wrap_fh_child_make(const struct fh_child_options *o, pid_t *ret_pid, int *ret_pidfd,
                          struct fh_child_failure *ret)
{
	*ret = (struct fh_child_failure){ 0, EAGAIN };
	return false;
}

ssize_t __wrap_getrandom(void *p, size_t n, unsigned flags)
{
	memset(p, 0, n);
	if (n)
		*(uint8_t *)p = (uint8_t)++last_id;
	return (ssize_t)n;
}

/* The engine asks after a pidfd that is an eventfd of ours. */
int __wrap_waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
	struct epoll_event e = { .events = EPOLLIN };
	*info = (siginfo_t){ 0 };
	fh_auto_close int poll = epoll_create1(EPOLL_CLOEXEC);
	if (poll >= 0 && epoll_ctl(poll, EPOLL_CTL_ADD, (int)id, &e) == 0 && epoll_wait(poll, &e, 1, 0) == 1) {
		info->si_pid = getpid();
		info->si_code = CLD_KILLED;
		info->si_status = SIGKILL;
	}
	return 0;
}

long __wrap_syscall(long number, ...)
{
	static const uint64_t one = 1;
	long a[5]; /* what is in registers: no call of the engine has a sixth */
	va_list list;
	va_start(list, number);
	for (size_t i = 0; i < FH_ARRAY_SIZE(a); i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_pidfd_send_signal)
		return write((int)a[0], &one, sizeof(one)) == sizeof(one) ? 0 : -1;
	if (number == SYS_waitid) /* the C library's has no usage */
		return __wrap_waitid((idtype_t)a[0], (id_t)a[1], (siginfo_t *)a[2], (int)a[3]);
	return __real_syscall(number, a[0], a[1], a[2], a[3], a[4]);
}

/* A sandbox's pid is our own. */
int __wrap_kill(pid_t pid, int signal)
{
	return 0;
}

/* ----------------------------------------------------------------------------------------------------------- host */

struct fh_fuzz_host *fh_fuzz_host_new(void)
{
	struct fh_fuzz_host *h = FH_NEW(struct fh_fuzz_host);
	int ends[2];
	signal(SIGPIPE, SIG_IGN);
	last_id = 0;
	host = h;
	h->answers = (struct fh_frame_decoder)FH_FRAME_DECODER_INIT;
	h->engine = (struct fh_engine){ .handler = &fh_request_handler,
		                            .keeper = { -1, -1 },
		                            .cpus = 2,
		                            .fresh_only = true,
		                            .spare = -1,
		                            .ids = { .lock = -1 } };
	h->engine.loop = fh_loop_new();
	FH_FUZZ_CHECK(h->engine.loop && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0);
	h->client = ends[0];
	h->connection = fh_connection_new(&h->engine, ends[1], ends[1], getpid());
	return h;
}

static void close_sandbox(struct fh_fuzz_sandbox *b)
{
	if (b->init >= 0)
		close(b->init);
	if (b->report >= 0)
		close(b->report);
	b->init = b->report = -1;
}

void fh_fuzz_host_die(struct fh_fuzz_host *h, size_t i)
{
	static const uint64_t one = 1;
	if (i < h->count) {
		close_sandbox(&h->sandboxes[i]);
		FH_FUZZ_CHECK(write(h->sandboxes[i].alive, &one, sizeof(one)) == sizeof(one));
	}
}

void fh_fuzz_host_free(struct fh_fuzz_host *h)
{
	if (h->connection) {
		fh_connection_close(h->connection);
		h->connection = NULL;
	}
	for (size_t i = 0; i < h->count; i++)
		fh_fuzz_host_die(h, i);
	fh_fuzz_host_step(h);
	FH_FUZZ_CHECK(!h->engine.sandboxes && h->engine.sandbox_count == 0);
	FH_FUZZ_CHECK(!h->engine.connections && h->engine.connection_count == 0);
	for (size_t i = 0; i < h->count; i++)
		close(h->sandboxes[i].alive);
	fh_loop_free_loop(h->engine.loop);
	fh_frame_decoder_release(&h->answers);
	close(h->client);
	free(h);
	host = NULL;
}

static void read_answers(struct fh_fuzz_host *h)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_frame f;
	for (;;) {
		char *room = fh_buf_reserve(&h->answers.in, 64 << 10);
		ssize_t n = read(h->client, room, 64 << 10);
		if (n <= 0)
			break;
		h->answers.in.n += (size_t)n;
		int r;
		while ((r = fh_frame_next(&h->answers, &f, &err)) > 0)
			h->answer_count++;
		FH_FUZZ_CHECK(r == 0);
	}
}

static bool is_open(const struct fh_fuzz_host *h)
{
	for (const struct fh_connection *c = h->engine.connections; c; c = c->next)
		if (c == h->connection)
			return true;
	return false;
}

static void stop_round(struct fh_watch *w, uint32_t events)
{
	*(int *)w->owner = 1;
}

/* Rounds of the loop, each ended by a descriptor that is always ready. */
void fh_fuzz_host_step(struct fh_fuzz_host *h)
{
	int stop = 0, ready = eventfd(1, EFD_CLOEXEC);
	struct fh_watch *w = FH_NEW(struct fh_watch);
	*w = (struct fh_watch){ .fd = -1, .on_event = stop_round, .owner = &stop };
	FH_FUZZ_CHECK(ready >= 0 && fh_watch_set(h->engine.loop, w, ready, EPOLLIN));
	for (int round = 0; round < 3; round++) {
		stop = 0;
		fh_loop_run(h->engine.loop, &stop);
		if (h->connection && !is_open(h))
			h->connection = NULL;
		read_answers(h);
	}
	fh_watch_stop(h->engine.loop, w);
	fh_loop_free(h->engine.loop, w);
	close(ready);
}

/* ------------------------------------------------------------------------------------------------------- speaking */

void fh_fuzz_host_send(struct fh_fuzz_host *h, const void *p, size_t n)
{
	(void)!send(h->client, p, n, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void fh_fuzz_host_ask(struct fh_fuzz_host *h, uint16_t type, uint64_t request)
{
	static const char *const argv[] = { "/bin/true", NULL }, *const outs[] = { "out.txt", NULL };
	fh_auto_buf struct fh_buf frame = FH_BUF_INIT(0);
	struct fh_plan *plan = fh_plan_new();
	fh_plan_set_strings(&plan->argv, argv);
	fh_plan_set_strings(&plan->outs, outs);
	fh_plan_set_text(&plan->cwd, "/home/user");
	fh_plan_add_mount(plan, FH_MOUNT_WRITABLE, "/home/user", NULL);
	fh_plan_add_file(plan, "main.txt", "text", 4, 0644);
	plan->require = 0;
	size_t mark = fh_frame_begin(&frame, type, 0, request, (struct fh_id){ { 0 } });
	size_t inner = fh_wire_begin(&frame, F_PLAN);
	fh_plan_encode(&frame, plan);
	fh_wire_end(&frame, inner);
	fh_wire_u64(&frame, F_STDIN_OPEN, 1);
	fh_frame_end(&frame, mark);
	fh_plan_free(plan);
	fh_fuzz_host_send(h, frame.p, frame.n);
}

void fh_fuzz_host_report(struct fh_fuzz_host *h, size_t i, const struct fh_setup_report *r)
{
	if (i < h->count && h->sandboxes[i].report >= 0)
		(void)!write(h->sandboxes[i].report, r, sizeof(*r));
}

void fh_fuzz_host_ready(struct fh_fuzz_host *h, size_t i)
{
	struct fh_setup_report r = { .step = FH_SETUP_READY };
	if (i >= h->count || h->sandboxes[i].report < 0)
		return;
	fh_fuzz_host_report(h, i, &r);
	close(h->sandboxes[i].report);
	h->sandboxes[i].report = -1;
	fh_fuzz_host_step(h);
}

void fh_fuzz_host_packet(struct fh_fuzz_host *h, size_t i, const void *p, size_t n)
{
	if (i < h->count && h->sandboxes[i].init >= 0)
		(void)!send(h->sandboxes[i].init, p, n, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* ------------------------------------------------------------------------------------------- init as it should be */

/* One packet from the engine: its header and descriptors (closed by the caller). False: there is none. */
static bool receive(int fd, char packet[FH_INIT_PACKET_MAX], int fds[4], int *ret_count)
{
	char control[CMSG_SPACE(4 * sizeof(int))];
	struct iovec io = { packet, FH_INIT_PACKET_MAX };
	struct msghdr m = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control) };
	*ret_count = 0;
	if (recvmsg(fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) < (ssize_t)sizeof(struct fh_init_header))
		return false;
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	if (c && c->cmsg_type == SCM_RIGHTS) {
		*ret_count = (int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
		memcpy(fds, CMSG_DATA(c), (size_t)*ret_count * sizeof(int));
	}
	return true;
}

static void answer_one(struct fh_fuzz_host *h, size_t i, const struct fh_init_header *asked, const int *fds, int count)
{
	struct fh_init_done done = { .h = { FH_INIT_PUT_DONE, asked->token }, .size = 1 };
	struct fh_init_spawned spawned = { .h = { FH_INIT_SPAWNED, asked->token }, .pid = 2 };
	struct fh_init_exited exited = { .h = { FH_INIT_EXITED, asked->token }, .user_us = 1000 };
	struct fh_init_finished finished = { .h = { FH_INIT_FINISHED, 0 }, .disk_total = 1 << 20, .disk_free = 1 << 19 };
	switch (asked->op) {
	case FH_INIT_GET:
		done.h.op = FH_INIT_GET_DONE;
		done.size = count == 1 && write(fds[0], "bytes", 5) == 5 ? 5 : 0;
		fh_fuzz_host_packet(h, i, &done, sizeof(done));
		break;
	case FH_INIT_PUT:
		fh_fuzz_host_packet(h, i, &done, sizeof(done));
		break;
	case FH_INIT_SPAWN:
		if (count == 3)
			(void)!write(fds[1], "output\n", 7);
		fh_fuzz_host_packet(h, i, &spawned, sizeof(spawned));
		fh_fuzz_host_packet(h, i, &exited, sizeof(exited));
		break;
	case FH_INIT_FINISH:
		fh_fuzz_host_packet(h, i, &finished, sizeof(finished));
		break;
	default:
		break;
	}
}

void fh_fuzz_host_answer(struct fh_fuzz_host *h, size_t i)
{
	static char packet[FH_INIT_PACKET_MAX];
	int fds[4], count;
	for (int n = 0; n < 64 && i < h->count && h->sandboxes[i].init >= 0; n++) {
		if (!receive(h->sandboxes[i].init, packet, fds, &count))
			break;
		answer_one(h, i, (const struct fh_init_header *)(const void *)packet, fds, count);
		for (int k = 0; k < count; k++)
			close(fds[k]);
		fh_fuzz_host_step(h);
	}
}
